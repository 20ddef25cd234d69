//! Numbers laid across vectors by AVX512-IFMA: a digit of every segment in a vector.

use std::arch::x86_64::*;
use zariz_kernels::pair::{LANES, Machine};

use crate::batch::Avx512Ifma;

impl Machine for Avx512Ifma {
    const BIAS_LOW: u64 = 0;
    const BIAS_HIGH: u64 = 0;
    avx512_pair!();

    /// VPMADD52 ignores the bits above 52.
    #[inline(always)]
    fn digits(self, columns: __m512i) -> __m512i {
        columns
    }
    #[inline(always)]
    fn columns(self, digits: __m512i) -> __m512i {
        digits
    }
    #[inline(always)]
    fn mac(self, low: __m512i, high: __m512i, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        // SAFETY: `self` proves AVX512-IFMA.
        unsafe { (_mm512_madd52lo_epu64(low, a, b), _mm512_madd52hi_epu64(high, a, b)) }
    }
}

pair_entry_points!(entry_points, Avx512Ifma, features: ["avx512f,avx512dq,avx512ifma"], in_registers: [
    6 => amm_6 ams_6<6, 12, 3>,
    8 => amm_8 ams_8<8, 16, 4>,
    10 => amm_10 ams_10<10, 20, 5>,
], tiles: [
    _ => amm_tiles_5 ams_tiles_5<5, 10>,
]);
