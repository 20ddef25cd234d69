//! Rows of products on AVX-512F without IFMA, in assembly.
//!
//! The operations are those of [`mac`](super::Avx512Fma); products overlap (`pipelined`). The compiler delays
//! sums until columns no longer fit registers, and its order is slower (docs/notes/performance.md).

use std::arch::asm;
use std::arch::x86_64::*;

/// `C1` and `C2` of the head of `avx512_fma.rs`.
pub(super) const C1: f64 = (1u128 << 104) as f64;
pub(super) const C2: f64 = ((1u128 << 104) + (1 << 52)) as f64;

/// The digits of the widest tile.
const WIDEST: usize = 20;
/// Ones in the bits of a digit.
static DIGIT_MASK: u64 = (1 << 52) - 1;

/// One instruction of a product, or nothing for `_`: `digit` loads `A[j]`; `high` is `h = A[j]·b + C1`,
/// rounded toward zero; `rest` is `l = C2 − h`; `low` is `l += A[j]·b`; `add_high` and `add_low` add `h` and
/// `l` to their columns. A product has a place for `h` and one for `l`, the columns that get them, and the
/// offset of its digit in bytes.
macro_rules! instruction {
    ($of:ident _) => {
        ""
    };
    (digit [$high:ident $low:ident $to_high:ident $to_low:ident $at:literal]) => {
        concat!("vmovapd {", stringify!($high), "}, zmmword ptr [{a} + ", $at, "]\n")
    };
    (high [$high:ident $low:ident $to_high:ident $to_low:ident $at:literal]) => {
        concat!("vfmadd213pd {", stringify!($high), "}, {b}, {c1}, {{rz-sae}}\n")
    };
    (rest [$high:ident $low:ident $to_high:ident $to_low:ident $at:literal]) => {
        concat!("vsubpd {", stringify!($low), "}, {c2}, {", stringify!($high), "}\n")
    };
    (low [$high:ident $low:ident $to_high:ident $to_low:ident $at:literal]) => {
        concat!("vfmadd231pd {", stringify!($low), "}, {b}, zmmword ptr [{a} + ", $at, "]\n")
    };
    (add_high [$high:ident $low:ident $to_high:ident $to_low:ident $at:literal]) => {
        concat!(
            "vpaddq {",
            stringify!($to_high),
            "}, {",
            stringify!($to_high),
            "}, {",
            stringify!($high),
            "}\n"
        )
    };
    (add_low [$high:ident $low:ident $to_high:ident $to_low:ident $at:literal]) => {
        concat!("vpaddq {", stringify!($to_low), "}, {", stringify!($to_low), "}, {", stringify!($low), "}\n")
    };
}

/// The instructions of all products. Those of one product are spread over five steps, so that products
/// overlap.
///
/// Three pairs of places are enough: product `j + 3` writes its `h` behind `add_high` of product `j`, in the
/// same step, and its `l` behind `add_low`, a step later. Another order must keep this.
macro_rules! pipelined {
    (steps [$($first:tt)*] [$($second:tt)*] [$($third:tt)*] [$($fourth:tt)*] [$($fifth:tt)*]) => {
        concat!($(
            instruction!(rest $third),
            instruction!(add_low $fifth),
            instruction!(low $third),
            instruction!(add_high $fourth),
            instruction!(high $second),
            instruction!(digit $first),
        )*)
    };
    ($($product:tt)*) => {
        pipelined!(
            steps [$($product)* _ _ _ _] [_ $($product)* _ _ _] [_ _ $($product)* _ _] [_ _ _ $($product)* _]
            [_ _ _ _ $($product)*]
        )
    };
}

/// Functions for `C += A·b`, one to five digits: `C[j] += lo(A[j]·b)`, `C[j + 1] += hi(A[j]·b)`, each with
/// its bias.
macro_rules! products {
    (
        $($name:ident: $n:literal, $first:ident, $($place:ident)*,
        $([$high:ident $low:ident $to_high:ident $to_low:ident $at:literal])*;)*
    ) => {$(
        #[inline]
        #[target_feature(enable = "avx512f")]
        fn $name(columns: &mut [__m512i; $n + 1], a: &[__m512d; $n], b: __m512d) {
            let [mut $first, $(mut $to_high),*] = *columns;
            // SAFETY: the caller has AVX-512F. All offsets are within `a`; nothing else is read or written.
            unsafe {
                asm!(
                    pipelined!($([$high $low $to_high $to_low $at])*),
                    $first = inout(zmm_reg) $first,
                    $($to_high = inout(zmm_reg) $to_high,)*
                    a = in(reg) a.as_ptr(),
                    b = in(zmm_reg) b,
                    c1 = in(zmm_reg) _mm512_set1_pd(C1),
                    c2 = in(zmm_reg) _mm512_set1_pd(C2),
                    $($place = out(zmm_reg) _,)*
                    // MXCSR stays as it is for digits (see `avx512_fma.rs`), not for other numbers.
                    options(pure, readonly, nostack)
                );
            }
            *columns = [$first, $($to_high),*];
        }
    )*};
}

products! {
    one: 1, k0, h0 l0, [h0 l0 k1 k0 0];
    two: 2, k0, h0 l0 h1 l1, [h0 l0 k1 k0 0] [h1 l1 k2 k1 64];
    three: 3, k0, h0 l0 h1 l1 h2 l2, [h0 l0 k1 k0 0] [h1 l1 k2 k1 64] [h2 l2 k3 k2 128];
    four: 4, k0, h0 l0 h1 l1 h2 l2, [h0 l0 k1 k0 0] [h1 l1 k2 k1 64] [h2 l2 k3 k2 128] [h0 l0 k4 k3 192];
    five: 5, k0, h0 l0 h1 l1 h2 l2,
        [h0 l0 k1 k0 0] [h1 l1 k2 k1 64] [h2 l2 k3 k2 128] [h0 l0 k4 k3 192] [h1 l1 k5 k4 256];
}

/// Adds the carry of the lower column to the upper one, and returns the digit of the lower one, which is not
/// written.
///
/// In assembly, so that the compiler does not move it behind the row.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn pass_carry(columns: &mut [__m512i; 2]) -> __m512d {
    let [lower, mut upper] = *columns;
    let digit;
    // SAFETY: the caller has AVX-512F and DQ. `DIGIT_MASK` is read, nothing else.
    unsafe {
        asm!(
            "vpandq {digit}, {lower}, qword ptr [{mask}]{{1to8}}",
            "vcvtqq2pd {digit}, {digit}",
            "vpsrlq {lower}, {lower}, 52",
            "vpaddq {upper}, {upper}, {lower}",
            lower = inout(zmm_reg) lower => _,
            upper = inout(zmm_reg) upper,
            digit = out(zmm_reg) digit,
            mask = in(reg) &DIGIT_MASK,
            // The conversion is exact, of at most 52 bits: MXCSR stays as it is.
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    columns[1] = upper;
    digit
}

/// Adds the products of up to five digits of a row, the first of which is `a[from]`. `columns` are those of
/// the row and the one that enters.
#[inline]
#[target_feature(enable = "avx512f")]
fn part<const T: usize>(columns: &mut [__m512i; WIDEST + 1], a: &[__m512d; T], b: __m512d, from: usize) {
    const { assert!(T <= WIDEST) };
    macro_rules! add {
        ($products:ident) => {
            $products(
                columns[from..].first_chunk_mut().expect("columns"),
                a[from..].first_chunk().expect("digits"),
                b,
            )
        };
    }
    match T.saturating_sub(from) {
        0 => {}
        1 => add!(one),
        2 => add!(two),
        3 => add!(three),
        4 => add!(four),
        _ => add!(five),
    }
}

/// Adds `A·b` to a row's columns, which move up by one, and returns the lowest; cost: `T` products, `T ≤ 20`.
/// After the first part the lowest column is complete, and `then` gets it and the one above.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn add<const T: usize, R>(
    columns: &mut [__m512i; T],
    entering: __m512i,
    a: &[__m512d; T],
    b: __m512d,
    then: impl FnOnce(&mut [__m512i; 2]) -> R,
) -> (__m512i, R) {
    let mut all = [entering; WIDEST + 1];
    all[..T].copy_from_slice(columns);
    // Not a loop: columns are to be in registers, and the compiler may not unroll one.
    part(&mut all, a, b, 0);
    let result = then(all.first_chunk_mut().expect("columns"));
    part(&mut all, a, b, 5);
    part(&mut all, a, b, 10);
    part(&mut all, a, b, 15);
    columns.copy_from_slice(&all[1..=T]);
    (all[0], result)
}

/// [`mac_row`](zariz_kernels::batch::Machine::mac_row); returns the lowest column.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn row<const T: usize>(
    columns: &mut [__m512i; T],
    entering: __m512i,
    a: &[__m512d; T],
    b: __m512d,
) -> __m512i {
    add(columns, entering, a, b, |_| ()).0
}

/// [`reduce_row`](zariz_kernels::batch::Machine::reduce_row). The digit is made after the first part, so that
/// the next row need not wait for the end of this one.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn reduce_row<const T: usize>(
    columns: &mut [__m512i; T],
    entering: __m512i,
    a: &[__m512d; T],
    b: __m512d,
) -> __m512d {
    add(columns, entering, a, b, |lowest| pass_carry(lowest)).1
}
