//! A row of products on AVX2, in assembly.
//!
//! These are the operations of [`mac`](super::Avx2Fma), product by product. The compiler reads a digit into a
//! register and multiplies from there; two multiply-adds that each read it from memory, the first onto a
//! copied constant, take one instruction less, and on Zen 3 a row takes 11 to 18 % less time (see
//! docs/notes/performance.md).

use std::arch::asm;
use std::arch::x86_64::*;

/// `C1` and `C2` of the head of `avx2_fma.rs`.
pub(super) const C1: f64 = (1u128 << 103) as f64;
pub(super) const C2: f64 = ((1u128 << 103) + (3 << 51)) as f64;

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

/// A row: for each digit, the columns that its product belongs to, the place of the lower one in the window
/// that has moved up by one, and its offset.
macro_rules! row {
    (
        $columns:ident, $entering:ident, $a:ident, $b:ident,
        [$first:ident $second:ident], $([$to:ident $low:ident $high:ident $at:literal])*, [$end:ident $top:ident $last:literal]
    ) => {{
        let [mut $first, $(mut $low,)* mut $top] = *$columns.first_chunk().expect("as wide as the row");
        let lowest;
        // SAFETY: the caller has AVX2 and FMA. `a` holds as many digits as there are columns: all offsets are
        // within it, and nothing else is read or written.
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
