//! The compiled entry points of the carry chains: one function per machine, kernel and width of window.

/// Implements [`zariz_kernels::carry::Kernels`] for a machine, as `entry_points!` implements
/// [`zariz_kernels::batch::Kernels`].
///
/// `$features` is the list for `#[target_feature]`, empty for a machine that needs none.
macro_rules! carry_entry_points {
    ($machine:ty, features: [$($features:literal)?]) => {
        mod entry_points {
            #![allow(unused_unsafe)] // an entry point without target features is safe to call
            use super::*;
            use zariz_kernels::carry::{self, Kernels, Modulus, SCRATCH, WIDEST};
            type This = $machine;

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn amm<const V: usize>(
                m: This,
                out: &mut [Digits],
                scratch: &mut [Digits; SCRATCH],
                a: &[Digits],
                b: &[Digits],
                modulus: Modulus,
            ) {
                carry::amm::<This, V>(m, out, scratch, a, b, modulus)
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
                    scratch: &mut [Digits; SCRATCH],
                    a: &[Digits],
                    b: &[Digits],
                    modulus: Modulus,
                ) {
                    type EntryPoint = unsafe fn(This, &mut [Digits], &mut [Digits; SCRATCH], &[Digits], &[Digits], Modulus);
                    let entry_point: EntryPoint = match out.len() {
                        1 => amm::<1>,
                        _ => amm::<WIDEST>,
                    };
                    // SAFETY: `self` proves that the processor has the target features of this machine's
                    // entry points.
                    unsafe { entry_point(self, out, scratch, a, b, modulus) }
                }
                fn select(self, out: &mut [Digits], table: &[Digits], index: u32) {
                    let entry_point: unsafe fn(This, &mut [Digits], &[Digits], u32) = match out.len() {
                        1 => select::<1>,
                        _ => select::<WIDEST>,
                    };
                    // SAFETY: `self` proves that the processor has the target features of this machine's
                    // entry points.
                    unsafe { entry_point(self, out, table, index) }
                }
            }
        }
    };
}
