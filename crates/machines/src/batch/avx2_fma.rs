//! AVX2 and FMA: 51-bit products by double-precision fused multiply-add, four lanes.
//!
//! # Why it is exact
//!
//! AVX2 has no rounding mode in the instruction. Callers set rounding to nearest, whatever the host program
//! has (see [`Machine::ROUNDS`] and [`crate::mxcsr`]). Digits `a, b < 2^51` are doubles. With `C1 = 2^103`,
//! `a·b + C1` lies in `[2^103, 2^103 + 2^102)`, where doubles are `2^51` apart:
//! `h = fma(a, b, C1) = C1 + 2^51·r` with `r` the integer nearest to `ab / 2^51`, and its bit pattern is that
//! of `C1` plus `r`. With `C2 = 2^103 + 3·2^51` (a double: 53 bits), `C2 − h = 2^51·(3 − r)` is exact, and
//! `l = fma(a, b, C2 − h) = 3·2^51 + (ab − 2^51·r)` lies within `2^50` of `1.5·2^52`, where doubles are 1
//! apart: exact. Its bit pattern is that of `1.5·2^52` plus the signed `ab − 2^51·r` in `[−2^50, 2^50]`.

use std::arch::x86_64::*;
use zariz_kernels::batch::Machine;

use super::avx2::in_register;
use super::avx2_row::{self, C1, C2};

/// Proof that the processor has AVX2 and FMA.
#[derive(Clone, Copy, Debug)]
pub struct Avx2Fma(());

impl Avx2Fma {
    /// The machine, if the processor (and the operating system) has it.
    pub fn new() -> Option<Self> {
        let has = crate::cpu::has_avx2_fma();
        has.then_some(Self(()))
    }
}

/// A digit `d < 2^51` has the bit pattern of `2^52 + d` when or-ed into this.
const EXPONENT: u64 = ((1u64 << 52) as f64).to_bits();

impl Machine for Avx2Fma {
    const LANES: usize = 4;
    const DIGIT_BITS: u32 = 51;
    const BIAS_LO: u64 = ((3u64 << 51) as f64).to_bits();
    const BIAS_HI: u64 = C1.to_bits();
    /// AVX2 has no arithmetic shift of 64-bit lanes.
    const SIGNED: bool = true;

    avx2_columns!();

    const ROUNDS: bool = true;

    type Digit = __m256d;

    #[inline(always)]
    fn digit_zero(self) -> __m256d {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_setzero_pd() }
    }
    #[inline(always)]
    fn mac(self, lo: __m256i, hi: __m256i, a: __m256d, b: __m256d) -> (__m256i, __m256i) {
        // SAFETY: `self` proves AVX2 and FMA.
        unsafe {
            let h = _mm256_fmadd_pd(a, b, _mm256_set1_pd(C1));
            let l = _mm256_fmadd_pd(a, b, _mm256_sub_pd(_mm256_set1_pd(C2), h));
            (_mm256_add_epi64(lo, _mm256_castpd_si256(l)), _mm256_add_epi64(hi, _mm256_castpd_si256(h)))
        }
    }
    #[inline(always)]
    fn mac_row<const T: usize>(
        self,
        columns: &mut [__m256i; T],
        lowest: &mut __m256i,
        entering: __m256i,
        a: &[__m256d; T],
        b: __m256d,
    ) {
        if T == 1 {
            (*lowest, columns[0]) = self.mac(columns[0], entering, a[0], b);
        } else {
            // SAFETY: `self` proves AVX2 and FMA.
            *lowest = unsafe { avx2_row::row(columns, entering, a, b) };
        }
    }
    #[inline(always)]
    fn carry(self, c: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_srli_epi64::<51>(c) }
    }
    #[inline(always)]
    fn digit(self, c: __m256i) -> __m256d {
        let (mask, exponent) = (self.column_splat((1 << 51) - 1), self.column_splat(EXPONENT));
        // SAFETY: `self` proves AVX2. The bit pattern is that of 2^52 + digit; subtracting 2^52 is exact.
        unsafe {
            let with_exponent = _mm256_or_si256(_mm256_and_si256(c, mask), exponent);
            _mm256_sub_pd(_mm256_castsi256_pd(with_exponent), _mm256_castsi256_pd(exponent))
        }
    }
    #[inline(always)]
    fn column(self, d: __m256d) -> __m256i {
        let exponent = self.column_splat(EXPONENT);
        // SAFETY: `self` proves AVX2. Adding 2^52 to a digit is exact; the xor takes the exponent's bits off
        // again.
        unsafe {
            let sum = _mm256_add_pd(d, _mm256_castsi256_pd(exponent));
            _mm256_xor_si256(_mm256_castpd_si256(sum), exponent)
        }
    }
    #[inline(always)]
    fn select(self, mask: __m256i, a: __m256d, b: __m256d) -> __m256d {
        // SAFETY: `self` proves AVX2.
        unsafe {
            in_register(_mm256_castpd_si256(b));
            _mm256_blendv_pd(a, b, _mm256_castsi256_pd(mask))
        }
    }
    #[inline(always)]
    fn select_column(self, mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_castpd_si256(self.select(mask, _mm256_castsi256_pd(a), _mm256_castsi256_pd(b))) }
    }
}

// A step of a tiled reduction is one tile.
const _: () =
    assert!(<Avx2Fma as zariz_kernels::batch::Kernels>::MAX_TILE == zariz_kernels::batch::tiled::STEP);

entry_points!(
    Avx2Fma, features: ["avx2,fma"], product_tenths: 17, tiled_from: 16, karatsuba_from: 100, ahmm_from: 30,
    adds_beside: false,
    tiles: [1 2 3 4 5 6 7],
    squares: [1 2 3 4 5 6 7],
    triangles: [1 2 3 4 5 6 7], in_registers: [], two_terms: [], terms: [], selects: [1 2 3]
);
