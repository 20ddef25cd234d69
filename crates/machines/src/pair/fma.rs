//! Numbers laid across vectors by AVX-512F without IFMA: a digit of every segment in a vector, as doubles.
//!
//! Products are those of [`crate::batch::avx512_fma`], and exact for the reason given there: digits are
//! doubles below `2^52`.
//!
//! A column becomes a digit without a conversion, which would take longer: the bits above 52 are replaced by
//! the exponent of `2^52`, which makes the double `2^52 + q`, and `2^52` is subtracted, exactly.

use std::arch::x86_64::*;
use zariz_kernels::batch;
use zariz_kernels::pair::{LANES, Machine};

use crate::batch::Avx512Fma;

/// `2^52`. The bits of `2^52 + q` are its bits and those of `q`.
const IMPLIED: f64 = (1u64 << 52) as f64;

impl Machine for Avx512Fma {
    const BIAS_LOW: u64 = <Self as batch::Machine>::BIAS_LO;
    const BIAS_HIGH: u64 = <Self as batch::Machine>::BIAS_HI;
    avx512_pair!();

    #[inline(always)]
    fn digits(self, columns: __m512i) -> __m512i {
        // With a rounding of its own: otherwise the compiler might move the subtraction to where it takes
        // longer.
        const ANY: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
        // (columns & mask) | exponent, by truth table.
        const MERGE: i32 = 0b1110_1010;
        // SAFETY: `self` proves AVX-512F.
        unsafe {
            let (mask, exponent) =
                (_mm512_set1_epi64((1 << 52) - 1), _mm512_castpd_si512(_mm512_set1_pd(IMPLIED)));
            let implied = _mm512_castsi512_pd(_mm512_ternarylogic_epi64::<MERGE>(columns, mask, exponent));
            _mm512_castpd_si512(_mm512_sub_round_pd::<ANY>(implied, _mm512_set1_pd(IMPLIED)))
        }
    }
    #[inline(always)]
    fn columns(self, digits: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F and DQ.
        unsafe { _mm512_cvttpd_epu64(_mm512_castsi512_pd(digits)) }
    }
    #[inline(always)]
    fn mac(self, low: __m512i, high: __m512i, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        // SAFETY: `self` proves AVX-512F.
        let (a, b) = unsafe { (_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)) };
        batch::Machine::mac(self, low, high, a, b)
    }
}

// Above five vectors by tiles: in longer straight code the compiler keeps halves of products on the stack,
// and adds them at the end (docs/notes/code-generation.md).
pair_entry_points!(entry_points, Avx512Fma, features: ["avx512f,avx512dq"], in_registers: [], tiles: [
    6 => amm_tiles_3 ams_tiles_3<3, 6>,
    8 => amm_tiles_4 ams_tiles_4<4, 8>,
    _ => amm_tiles_5 ams_tiles_5<5, 10>,
]);
