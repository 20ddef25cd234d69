//! AVX-IFMA: 52-bit products by VPMADD52LUQ and VPMADD52HUQ in 256 bits, four lanes.
//!
//! For processors that have these instructions without AVX-512: Sierra Forest, Arrow Lake, Lunar Lake and
//! later.
//!
//! # Why it is exact
//!
//! As on `avx512_ifma`: the factors are the low 52 bits of each lane, `ab < 2^104`, and the instructions add
//! `l = ab mod 2^52` and `h = ⌊ab / 2^52⌋`, with `h·2^52 + l = ab` and no bias. All is integer arithmetic: no
//! floating-point environment matters.

use std::arch::x86_64::*;
use std::sync::atomic::{AtomicBool, Ordering};
use zariz_kernels::batch::Machine;

use super::avx2::in_register;

/// Set if VPMADD52 is executed in its VEX forms although the processor does not announce it.
static ASSUMED: AtomicBool = AtomicBool::new(false);

/// Proof that the processor has AVX2, and that VPMADD52 is executed in its VEX forms: by the processor, or by
/// an emulator.
#[derive(Clone, Copy, Debug)]
pub struct AvxIfma(());

impl AvxIfma {
    /// The machine, if the processor (and the operating system) has it.
    pub fn new() -> Option<Self> {
        let has = crate::cpu::has_avx2() && (crate::cpu::has_avxifma() || ASSUMED.load(Ordering::Acquire));
        has.then_some(Self(()))
    }

    /// From now on, [`new`](Self::new) does not check for AVX-IFMA, only for AVX2. For tests: the crate
    /// `zariz-emulator` calls this.
    ///
    /// # Safety
    /// Until the process ends, the VEX forms of VPMADD52LUQ and VPMADD52HUQ must be executed in every thread:
    /// by the processor, or by a handler of the signal that it raises, which the thread then does not block.
    #[doc(hidden)]
    pub unsafe fn assume_vpmadd52() {
        ASSUMED.store(true, Ordering::Release);
    }
}

impl Machine for AvxIfma {
    const LANES: usize = 4;
    const DIGIT_BITS: u32 = 52;
    const BIAS_LO: u64 = 0;
    const BIAS_HI: u64 = 0;
    /// Counted: tiles of 9 digits two rows at a time load a third less than tiles of 12 one row at a time.
    const TWO_ROWS: bool = true;

    avx2_columns!();

    type Digit = __m256i;

    #[inline(always)]
    fn digit_zero(self) -> __m256i {
        self.column_splat(0)
    }
    #[inline(always)]
    fn mac(self, lo: __m256i, hi: __m256i, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        (self.mac_low(lo, a, b), self.mac_high(hi, a, b))
    }
    #[inline(always)]
    fn mac_low(self, lo: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX-IFMA.
        unsafe { _mm256_madd52lo_avx_epu64(lo, a, b) }
    }
    #[inline(always)]
    fn mac_high(self, hi: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX-IFMA.
        unsafe { _mm256_madd52hi_avx_epu64(hi, a, b) }
    }
    #[inline(always)]
    fn carry(self, c: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_srli_epi64::<52>(c) }
    }
    #[inline(always)]
    fn digit(self, c: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_and_si256(c, self.column_splat((1 << 52) - 1)) }
    }
    /// VPMADD52 ignores the bits above 52 of its factors.
    #[inline(always)]
    fn operand(self, c: __m256i) -> __m256i {
        c
    }
    #[inline(always)]
    fn column(self, d: __m256i) -> __m256i {
        self.digit(d)
    }
    #[inline(always)]
    fn select(self, mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
        self.select_column(mask, a, b)
    }
    #[inline(always)]
    fn select_column(self, mask: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe {
            in_register(b);
            _mm256_blendv_epi8(a, b, mask)
        }
    }
}

entry_points!(
    AvxIfma, features: ["avx2,avxifma"], product_tenths: 10, tiled_from: usize::MAX, karatsuba_from: usize::MAX,
    ahmm_from: 60, adds_beside: false,
    tiles: [1 2 3 4 5 6 7 8 9],
    squares: [1 2 3 4 5 6 7 8 9],
    triangles: [1 2 3 4 5 6 7 8 9],
    in_registers: [4 5 6 7 8 9 10], two_terms: [], terms: [], selects: [1 2]
);
