//! A row of products on AVX2, in assembly.
//!
//! These are the operations of [`mac`](super::Avx2Fma), product by product. The compiler reads a digit into a register
//! and multiplies from there; two multiply-adds that each read it from memory, the first onto a copied constant, take
//! one instruction less, and on Zen 3 a row takes 11 to 18 % less time (see docs/notes/performance.md).

use std::arch::asm;
use std::arch::x86_64::*;

use super::avx2_fma::{C1, C2};

/// `h` and `l` of the product of `b` and the digit at an offset.
macro_rules! product {
    ($at:literal) => {
        concat!(
            "vmovapd {h}, {c1}\n",
            "vfmadd231pd {h}, {b}, ymmword ptr [{a} + ",
            $at,
            "]\n",
            "vsubpd {l}, {c2}, {h}\n",
            "vfmadd231pd {l}, {b}, ymmword ptr [{a} + ",
            $at,
            "]\n",
        )
    };
}

/// A row: for each digit, the columns that its product belongs to, the place of the lower one in the window that has
/// moved up by one, and its offset.
macro_rules! row {
    (
        $columns:ident, $entering:ident, $a:ident, $b:ident,
        [$first:ident $second:ident], $([$to:ident $low:ident $high:ident $at:literal])*, [$end:ident $top:ident $last:literal]
    ) => {{
        let [mut $first, $(mut $low,)* mut $top] = *$columns.first_chunk().expect("as wide as the row");
        let lowest;
        // SAFETY: the caller has AVX2 and FMA. `a` holds as many digits as there are columns: all offsets are within
        // it, and nothing else is read or written.
        unsafe {
            asm!(
                product!(0),
                concat!("vpaddq {lowest}, {", stringify!($first), "}, {l}"),
                concat!("vpaddq {", stringify!($second), "}, {", stringify!($second), "}, {h}"),
                $(
                    product!($at),
                    concat!("vpaddq {", stringify!($to), "}, {", stringify!($low), "}, {l}"),
                    concat!("vpaddq {", stringify!($high), "}, {", stringify!($high), "}, {h}"),
                )*
                product!($last),
                concat!("vpaddq {", stringify!($end), "}, {", stringify!($top), "}, {l}"),
                concat!("vpaddq {", stringify!($top), "}, {entering}, {h}"),
                $first = inout(ymm_reg) $first,
                $($low = inout(ymm_reg) $low,)*
                $top = inout(ymm_reg) $top,
                lowest = out(ymm_reg) lowest,
                entering = in(ymm_reg) $entering,
                a = in(reg) $a.as_ptr(),
                b = in(ymm_reg) $b,
                c1 = in(ymm_reg) _mm256_set1_pd(C1),
                c2 = in(ymm_reg) _mm256_set1_pd(C2),
                h = out(ymm_reg) _,
                l = out(ymm_reg) _,
                // It changes MXCSR: sums are inexact.
                options(pure, readonly, nostack)
            );
        }
        for (column, new) in $columns.iter_mut().zip([$first, $($low,)* $top]) {
            *column = new;
        }
        lowest
    }};
}

/// [`mac_row`](zariz_kernels::batch::Machine::mac_row), for 2 to 7 digits; returns the lowest column.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn row<const T: usize>(
    columns: &mut [__m256i; T],
    entering: __m256i,
    a: &[__m256d; T],
    b: __m256d,
) -> __m256i {
    match T {
        2 => row!(columns, entering, a, b, [k0 k1], , [k0 k1 32]),
        3 => row!(columns, entering, a, b, [k0 k1], [k0 k1 k2 32], [k1 k2 64]),
        4 => row!(columns, entering, a, b, [k0 k1], [k0 k1 k2 32] [k1 k2 k3 64], [k2 k3 96]),
        5 => row!(columns, entering, a, b, [k0 k1], [k0 k1 k2 32] [k1 k2 k3 64] [k2 k3 k4 96], [k3 k4 128]),
        6 => row!(
            columns, entering, a, b,
            [k0 k1], [k0 k1 k2 32] [k1 k2 k3 64] [k2 k3 k4 96] [k3 k4 k5 128], [k4 k5 160]
        ),
        7 => row!(
            columns, entering, a, b,
            [k0 k1], [k0 k1 k2 32] [k1 k2 k3 64] [k2 k3 k4 96] [k3 k4 k5 128] [k4 k5 k6 160], [k5 k6 192]
        ),
        _ => unreachable!("no row of {T} digits"),
    }
}

#[cfg(test)]
mod tests {
    use zariz_kernels::batch::{Digit, Machine};

    use super::super::Avx2Fma;

    type Words = [u64; 4];

    /// Digits and columns at their extremes among others, by a fixed sequence.
    fn words(seed: &mut u64, most: u64) -> Words {
        std::array::from_fn(|_| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match *seed >> 61 {
                0 => 0,
                1 => most,
                2 => 1 << 50,
                3 => (1 << 50) - 1,
                _ => (*seed >> 8) % (most + 1),
            }
        })
    }

    fn check<const T: usize>(m: Avx2Fma, seed: &mut u64) {
        let mut digit = || m.digit(m.column_from(&words(seed, (1 << 51) - 1)));
        let (a, b): ([Digit<Avx2Fma>; T], _) = (std::array::from_fn(|_| digit()), digit());
        let mut column = || m.column_from(&words(seed, u64::MAX >> 1));
        let (mut columns, mut lowest, entering) = (std::array::from_fn(|_| column()), column(), column());
        let mut expected: Vec<_> = columns.into_iter().chain([entering]).collect();
        m.mac_row::<T>(&mut columns, &mut lowest, entering, &a, b);
        for j in 0..T {
            (expected[j], expected[j + 1]) = m.mac(expected[j], expected[j + 1], a[j], b);
        }
        for (k, (found, expected)) in [lowest].into_iter().chain(columns).zip(expected).enumerate() {
            let [mut left, mut right] = [[0; 4]; 2];
            m.column_store(found, &mut left);
            m.column_store(expected, &mut right);
            assert_eq!(left, right, "{T} digits, column {k}");
        }
    }

    #[test]
    fn a_row_is_its_products() {
        let Some(m) = Avx2Fma::new() else { return println!("skipped: no AVX2") };
        let mut seed = 1;
        m.held(|| {
            for _ in 0..2000 {
                check::<1>(m, &mut seed);
                check::<2>(m, &mut seed);
                check::<3>(m, &mut seed);
                check::<4>(m, &mut seed);
                check::<5>(m, &mut seed);
                check::<6>(m, &mut seed);
                check::<7>(m, &mut seed);
            }
        });
    }
}
