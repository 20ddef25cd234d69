//! The scalar half of a machine, which is the same for all; factors that lie in columns; and the compiled
//! entry points.

/// The operations on single words, for the `impl Machine` of a machine whose words are `u64`, and digits
/// `u32`.
macro_rules! rsaz_words {
    () => {
        #[inline(always)]
        fn digit(self, value: u32) -> u32 {
            value
        }
        #[inline(always)]
        fn value(self, digit: u32) -> u32 {
            digit
        }
        #[inline(always)]
        fn word(self, digit: u32) -> u64 {
            u64::from(digit)
        }
        #[inline(always)]
        fn word_add(self, a: u64, b: u64) -> u64 {
            a.wrapping_add(b)
        }
        #[inline(always)]
        fn word_mac(self, sum: u64, a: u64, b: u64) -> u64 {
            sum.wrapping_add(a.wrapping_mul(b))
        }
        #[inline(always)]
        fn word_low<const M: u32>(self, a: u64) -> u32 {
            a as u32 & ((1 << M) - 1)
        }
        #[inline(always)]
        fn word_carry<const M: u32>(self, a: u64) -> u64 {
            a >> M
        }
        #[inline(always)]
        fn word_quotient<const M: u32>(self, a: u64, b: u64) -> u32 {
            (a as u32).wrapping_mul(b as u32) & ((1 << M) - 1)
        }
    };
}

/// The operations on factors, for a machine whose factors lie in columns.
macro_rules! rsaz_wide_factors {
    () => {
        #[inline(always)]
        fn no_factors(self) -> Self::Factors {
            self.zero()
        }
        #[inline(always)]
        fn double(self, a: Self::Factors) -> Self::Factors {
            self.add(a, a)
        }
        #[inline(always)]
        fn shift(self, words: &mut [u64], a: Self::Factors, below: Self::Factors) {
            let words = &mut words[..SHIFTED];
            let [a, b, c, d] = self.ups(a, below);
            self.store(words, a);
            self.store(&mut words[4..], b);
            self.store(&mut words[8..], c);
            self.store(&mut words[12..], d);
        }
        #[inline(always)]
        fn shifted(self, words: &[u64; SHIFTED]) -> [Self::Factors; 4] {
            [self.load(words), self.load(&words[4..]), self.load(&words[8..]), self.load(&words[12..])]
        }
    };
}

/// Implements [`zariz_kernels::rsaz::Kernels`] for a machine.
///
/// `$features` is the list for `#[target_feature]`, empty for a machine that needs none; `$tuned` are pairs
/// of radix and fours of digits for which there is code of its own. Other lengths have loops.
macro_rules! rsaz_entry_points {
    ($machine:ty, features: [$($features:literal)?], mac_tenths: $tenths:literal, tuned: [$(($m:literal, $g:literal))*]) => {
        mod entry_points {
            #![allow(unused_unsafe)] // an entry point without target features is safe to call
            use super::*;
            use zariz_kernels::rsaz::{self, Quotients, Machine, Workspace};
            type This = $machine;
            type Digit = <This as Machine>::Digit;

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn multiply<const M: u32, const FRIENDLY: bool, const G: usize>(
                w: This,
                space: &mut Workspace<This>,
                x: &mut [Digit],
                y: &[Digit],
            ) {
                rsaz::multiply::<This, M, FRIENDLY, G>(w, space, x, y, &mut ());
            }

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn square<const M: u32, const FRIENDLY: bool, const G: usize>(
                w: This,
                space: &mut Workspace<This>,
                x: &mut [Digit],
                times: usize,
            ) {
                rsaz::square::<This, M, FRIENDLY, G>(w, space, x, times, &mut ());
            }

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn select(w: This, out: &mut [Digit], table: &[Digit], index: u64) {
                rsaz::select(w, out, table, index);
            }

            impl rsaz::Kernels for $machine {
                const MAC_TENTHS: u32 = $tenths;

                fn multiply(self, space: &mut Workspace<Self>, x: &mut [Digit], y: &[Digit]) {
                    let entry_point: unsafe fn(This, &mut Workspace<This>, &mut [Digit], &[Digit]) =
                        rsaz_entry_points!(@choose multiply space [$(($m, $g))*]);
                    // SAFETY: `self` proves that the processor has the target features of this machine's
                    // entry points.
                    unsafe { entry_point(self, space, x, y) }
                }

                fn square(self, space: &mut Workspace<Self>, x: &mut [Digit], times: usize) {
                    let entry_point: unsafe fn(This, &mut Workspace<This>, &mut [Digit], usize) =
                        rsaz_entry_points!(@choose square space [$(($m, $g))*]);
                    // SAFETY: `self` proves that the processor has the target features of this machine's
                    // entry points.
                    unsafe { entry_point(self, space, x, times) }
                }

                fn select(self, out: &mut [Digit], table: &[Digit], index: u64) {
                    // SAFETY: `self` proves that the processor has the target features of this machine's
                    // entry points.
                    unsafe { select(self, out, table, index) }
                }
            }
        }
    };

    (@choose $kernel:ident $space:ident [$(($m:literal, $g:literal))*]) => {
        match ($space.quotients(), $space.digit_bits(), $space.groups()) {
            $(
                #[cfg(feature = "papers")]
                (Quotients::Chained, $m, $g) => $kernel::<$m, false, $g>,
            )*
            $((Quotients::Friendly, $m, $g) => $kernel::<$m, true, $g>,)*
            #[cfg(feature = "papers")]
            (Quotients::Chained, 28, _) => $kernel::<28, false, 0>,
            (Quotients::Friendly, 28, _) => $kernel::<28, true, 0>,
            #[cfg(feature = "papers")]
            (Quotients::Chained, 29, _) => $kernel::<29, false, 0>,
            (Quotients::Friendly, 29, _) => $kernel::<29, true, 0>,
            (_, m, _) => unreachable!("no digits of {m} bits"),
        }
    };
}
