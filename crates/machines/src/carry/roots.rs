//! The compiled roots of the carry chains: one function per machine, kernel and width of window.

/// Implements [`zariz_kernels::carry::Kernels`] for a machine, as `roots!` implements
/// [`zariz_kernels::batch::Kernels`].
///
/// `$features` is the list for `#[target_feature]`, empty for a machine that needs none.
macro_rules! carry_roots {
    ($machine:ty, features: [$($features:literal)?]) => {
        mod root {
            #![allow(unused_unsafe)] // a root without target features is safe to call
            use super::*;
            use zariz_kernels::carry::{self, Kernels, Modulus, SPARE, WIDEST};
            type This = $machine;

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn amm<const V: usize>(
                m: This,
                out: &mut [Digits],
                spare: &mut [Digits; SPARE],
                a: &[Digits],
                b: &[Digits],
                modulus: Modulus,
            ) {
                carry::amm::<This, V>(m, out, spare, a, b, modulus)
            }

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn select<const V: usize>(m: This, out: &mut [Digits], table: &[Digits], index: u32) {
                carry::select::<This, V>(m, out, table, index)
            }

            impl Kernels for $machine {
                fn amm(
                    self,
                    out: &mut [Digits],
                    spare: &mut [Digits; SPARE],
                    a: &[Digits],
                    b: &[Digits],
                    modulus: Modulus,
                ) {
                    type Root = unsafe fn(This, &mut [Digits], &mut [Digits; SPARE], &[Digits], &[Digits], Modulus);
                    let root: Root = match out.len() {
                        1 => amm::<1>,
                        _ => amm::<WIDEST>,
                    };
                    // SAFETY: `self` proves that the processor has the target features of this machine's
                    // roots.
                    unsafe { root(self, out, spare, a, b, modulus) }
                }
                fn select(self, out: &mut [Digits], table: &[Digits], index: u32) {
                    let root: unsafe fn(This, &mut [Digits], &[Digits], u32) = match out.len() {
                        1 => select::<1>,
                        _ => select::<WIDEST>,
                    };
                    // SAFETY: `self` proves that the processor has the target features of this machine's
                    // roots.
                    unsafe { root(self, out, table, index) }
                }
            }
        }
    };
}
