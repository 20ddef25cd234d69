//! AVX-512F without IFMA: 52-bit products by double-precision fused multiply-add, eight lanes.
//!
//! # Why it is exact (Emmart, Zheng, Weems, ARITH 2018)
//!
//! Digits `a, b < 2^52` are doubles. With `C1 = 2^104`, `a·b + C1` lies in `[2^104, 2^105)`, where doubles
//! are `2^52` apart; rounded toward zero it is `C1 + 2^52·⌊ab / 2^52⌋`, so the bit pattern of
//! `h = fma_rz(a, b, C1)` is that of `2^104` plus the integer `⌊ab / 2^52⌋`. With `C2 = 2^104 + 2^52` (a
//! double: 53 bits), `C2 − h = 2^52·(1 − ⌊ab / 2^52⌋)` is exact, and
//! `l = fma(a, b, C2 − h) = 2^52 + (ab mod 2^52)` lies in `[2^52, 2^53)`, where doubles are 1 apart: exact in
//! any rounding mode. Its bit pattern is that of `2^52` plus `ab mod 2^52`.
//!
//! # Why the host's floating-point environment does not matter
//!
//! Only `h` is rounded, by an instruction that has its own rounding mode and raises no exception. Every other
//! operation is exact, and its operands and results are normal numbers or zero. So it raises no exception
//! either, masked or not, and is right in any rounding mode, whether or not denormals are taken or written as
//! zeros. Numbers across vectors (`pair/fma.rs`) use only these operations.

use std::arch::x86_64::*;
use zariz_kernels::batch::Machine;

use super::avx512_row::{self, C1, C2};
use crate::batch::avx512::{if_then_else, in_register, low_52, transpose};

/// Proof that the processor has AVX-512F and DQ.
#[derive(Clone, Copy, Debug)]
pub struct Avx512Fma(());

impl Avx512Fma {
    /// The machine, if the processor (and the operating system) has it.
    pub fn new() -> Option<Self> {
        let has = crate::cpu::has_avx512dq();
        has.then_some(Self(()))
    }
}

impl Machine for Avx512Fma {
    const LANES: usize = 8;
    const DIGIT_BITS: u32 = 52;
    const BIAS_LO: u64 = ((1u64 << 52) as f64).to_bits();
    const BIAS_HI: u64 = C1.to_bits();
    const LOOKUP: bool = true;

    type Digit = __m512d;
    avx512_columns!();

    #[inline(always)]
    fn digit_zero(self) -> __m512d {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_setzero_pd() }
    }
    #[inline(always)]
    fn mac(self, lo: __m512i, hi: __m512i, a: __m512d, b: __m512d) -> (__m512i, __m512i) {
        const TOWARD_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
        // SAFETY: `self` proves AVX-512F.
        unsafe {
            let h = _mm512_fmadd_round_pd::<TOWARD_ZERO>(a, b, _mm512_set1_pd(C1));
            let l = _mm512_fmadd_pd(a, b, _mm512_sub_pd(_mm512_set1_pd(C2), h));
            (_mm512_add_epi64(lo, _mm512_castpd_si512(l)), _mm512_add_epi64(hi, _mm512_castpd_si512(h)))
        }
    }
    #[inline(always)]
    fn mac_row<const T: usize>(
        self,
        columns: &mut [__m512i; T],
        lowest: &mut __m512i,
        entering: __m512i,
        a: &[__m512d; T],
        b: __m512d,
    ) {
        // SAFETY: `self` proves AVX-512F and DQ.
        *lowest = unsafe { avx512_row::row(columns, entering, a, b) };
    }
    #[inline(always)]
    fn reduce_row<const T: usize>(
        self,
        columns: &mut [__m512i; T],
        entering: __m512i,
        a: &[__m512d; T],
        b: __m512d,
    ) -> __m512d {
        // SAFETY: `self` proves AVX-512F and DQ.
        unsafe { avx512_row::reduce_row(columns, entering, a, b) }
    }
    #[inline(always)]
    fn digit(self, c: __m512i) -> __m512d {
        // SAFETY: `self` proves AVX-512F and DQ.
        unsafe { _mm512_cvtepu64_pd(low_52(c)) }
    }
    #[inline(always)]
    fn column(self, d: __m512d) -> __m512i {
        // SAFETY: `self` proves AVX-512F and DQ.
        unsafe { _mm512_cvttpd_epu64(d) }
    }
    #[inline(always)]
    fn select(self, mask: __mmask8, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: `self` proves AVX-512F.
        unsafe {
            in_register(_mm512_castpd_si512(b));
            _mm512_mask_mov_pd(a, mask, b)
        }
    }
    #[inline(always)]
    fn permute(self, low: __m512d, high: __m512d, index: __m512i) -> __m512d {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_permutex2var_pd(low, index, high) }
    }
    #[inline(always)]
    fn select_bits(self, mask: __m512i, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_castsi512_pd(if_then_else(mask, _mm512_castpd_si512(b), _mm512_castpd_si512(a))) }
    }
    #[inline(always)]
    fn transpose(self, rows: [__m512d; 8]) -> [__m512d; 8] {
        // SAFETY: `self` proves AVX-512F.
        unsafe { transpose(rows.map(|row| _mm512_castpd_si512(row))).map(|row| _mm512_castsi512_pd(row)) }
    }
}

entry_points!(
    Avx512Fma, features: ["avx512f,avx512dq"], product_tenths: 25, tiled_from: usize::MAX, karatsuba_from: 50,
    ahmm_from: 30, adds_beside: false,
    tiles: [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20],
    squares: [1 2 3 4 5 6 7 8 9 10],
    triangles: [1 2 3 4 5 6 7 8 9 10], in_registers: [], two_terms: [], terms: [], selects: [1 2 3 4 5]
);
