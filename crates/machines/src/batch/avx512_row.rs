//! Rows of products on AVX-512F without IFMA, in assembly.
//!
//! The operations are those of [`mac`](super::Avx512Fma), each product's sums directly behind it. The compiler delays
//! sums until columns no longer fit registers, and its order is slower (docs/notes/performance.md).

use std::arch::asm;
use std::arch::x86_64::*;

use super::avx512_fma::{C1, C2};

/// The digits of the widest tile.
const WIDEST: usize = 20;

/// Functions for `C += A·b`, one to five digits: `C[j] += lo(A[j]·b)`, `C[j + 1] += hi(A[j]·b)`, each with its bias. A
/// bracket has a product's lower column, its upper one, and the offset of its digit.
macro_rules! products {
    ($($name:ident: $n:literal, $first:ident $([$low:ident $high:ident $at:literal])*;)*) => {$(
        #[inline]
        #[target_feature(enable = "avx512f")]
        fn $name(columns: &mut [__m512i; $n + 1], a: &[__m512d; $n], b: __m512d) {
            let [mut $first, $(mut $high),*] = *columns;
            // SAFETY: the caller has AVX-512F. All offsets are within `a`; nothing else is read or written.
            unsafe {
                asm!(
                    $(
                        concat!("vmovapd {digit}, zmmword ptr [{a} + ", $at, "]"),
                        "vmovapd {h}, {c1}",
                        "vfmadd231pd {h}, {b}, {digit}, {{rz-sae}}",
                        "vsubpd {l}, {c2}, {h}",
                        "vfmadd231pd {l}, {b}, {digit}",
                        concat!("vpaddq {", stringify!($low), "}, {", stringify!($low), "}, {l}"),
                        concat!("vpaddq {", stringify!($high), "}, {", stringify!($high), "}, {h}"),
                    )*
                    $first = inout(zmm_reg) $first,
                    $($high = inout(zmm_reg) $high,)*
                    a = in(reg) a.as_ptr(),
                    b = in(zmm_reg) b,
                    c1 = in(zmm_reg) _mm512_set1_pd(C1),
                    c2 = in(zmm_reg) _mm512_set1_pd(C2),
                    digit = out(zmm_reg) _,
                    h = out(zmm_reg) _,
                    l = out(zmm_reg) _,
                    // MXCSR stays as it is for digits (see `avx512_fma.rs`), not for other numbers.
                    options(pure, readonly, nostack)
                );
            }
            *columns = [$first, $($high),*];
        }
    )*};
}

products! {
    one: 1, k0 [k0 k1 0];
    two: 2, k0 [k0 k1 0] [k1 k2 64];
    three: 3, k0 [k0 k1 0] [k1 k2 64] [k2 k3 128];
    four: 4, k0 [k0 k1 0] [k1 k2 64] [k2 k3 128] [k3 k4 192];
    five: 5, k0 [k0 k1 0] [k1 k2 64] [k2 k3 128] [k3 k4 192] [k4 k5 256];
}

/// [`mac_row`](zariz_kernels::batch::Machine::mac_row), for up to 20 digits; returns the lowest column. Cost: `T`
/// products.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn row<const T: usize>(
    columns: &mut [__m512i; T],
    entering: __m512i,
    a: &[__m512d; T],
    b: __m512d,
) -> __m512i {
    const { assert!(T <= WIDEST) };
    let mut all = [entering; WIDEST + 1];
    all[..T].copy_from_slice(columns);
    macro_rules! add {
        ($products:ident, $from:expr) => {
            $products(all[$from..].first_chunk_mut().expect("columns"), a[$from..].first_chunk().expect("digits"), b)
        };
    }
    // Not a loop: columns are to be in registers, and the compiler may not unroll one.
    if T >= 5 {
        add!(five, 0);
    }
    if T >= 10 {
        add!(five, 5);
    }
    if T >= 15 {
        add!(five, 10);
    }
    if T >= 20 {
        add!(five, 15);
    }
    match T % 5 {
        1 => add!(one, T - 1),
        2 => add!(two, T - 2),
        3 => add!(three, T - 3),
        4 => add!(four, T - 4),
        _ => {}
    }
    columns.copy_from_slice(&all[1..=T]);
    all[0]
}
