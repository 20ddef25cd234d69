//! Numbers laid across vectors by AVX-512F without IFMA: eight digits in a vector, as doubles.
//!
//! Products are those of [`crate::batch::avx512_fma`], and exact for the reason given there: digits are
//! doubles below `2^52`.
//!
//! The digits of a quotient come out of scalar registers. There a digit `q < 2^52` becomes the double
//! `2^52 + q` by setting the bits of its exponent; after it is broadcast to every lane, `2^52` is subtracted,
//! exactly.

use std::arch::asm;
use std::arch::x86_64::*;
use zariz_kernels::batch;
use zariz_kernels::pair::{LANES, Machine};

use crate::batch::Avx512Fma;
use crate::batch::avx512::low_52;

/// `2^52`. The bits of `2^52 + q` are its bits and those of `q`.
const IMPLIED: f64 = (1u64 << 52) as f64;

/// One digit after the other: `chain!(low, high, carry, q, 0 8 16 …)`, the numbers being bytes.
macro_rules! chain {
    ($low:ident, $high:ident, $carry:ident, $q:ident, $($at:literal)*) => {
        asm!(
            $(
                concat!("mov {sum}, [{low} + ", $at, "]"),
                concat!("add {sum}, [{high} + ", $at, "]"),
                "add {sum}, {carry}",
                "mov {carry}, {sum}",
                "and {sum}, {mask}",
                "or {sum}, {implied}",
                concat!("mov [{q} + ", $at, "], {sum}"),
                "shr {carry}, 52",
            )*
            low = in(reg) $low,
            high = in(reg) $high,
            q = in(reg) $q,
            carry = inout(reg) $carry,
            sum = out(reg) _,
            mask = in(reg) (1u64 << 52) - 1,
            implied = in(reg) IMPLIED.to_bits(),
            options(nostack),
        )
    };
}

impl Machine for Avx512Fma {
    const BIAS_LOW: u64 = <Self as batch::Machine>::BIAS_LO;
    const BIAS_HIGH: u64 = <Self as batch::Machine>::BIAS_HI;
    avx512_pair!();

    #[inline(always)]
    fn digits(self, columns: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F and DQ.
        unsafe { _mm512_castpd_si512(_mm512_cvtepu64_pd(columns)) }
    }
    #[inline(always)]
    fn columns(self, digits: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F and DQ.
        unsafe { _mm512_cvttpd_epu64(_mm512_castsi512_pd(digits)) }
    }
    #[inline(always)]
    fn digit(self, lane: &u64) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_set1_epi64(*lane as i64) }
    }
    #[inline(always)]
    fn quotient_digit(self, word: &u64) -> __m512i {
        // With a rounding of its own, or the compiler subtracts in one lane, and needs a shuffle to fill the
        // others.
        const ANY: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
        // SAFETY: `self` proves AVX-512F.
        unsafe {
            let implied = _mm512_set1_pd(f64::from_bits(*word));
            _mm512_castpd_si512(_mm512_sub_round_pd::<ANY>(implied, _mm512_set1_pd(IMPLIED)))
        }
    }
    #[inline(always)]
    fn mac(self, low: __m512i, high: __m512i, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        // SAFETY: `self` proves AVX-512F.
        let (a, b) = unsafe { (_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)) };
        batch::Machine::mac(self, low, high, a, b)
    }
    /// In assembly, so that the compiler adds `low` and `high` before the carry is known, and not after.
    #[inline(always)]
    fn quotient<const FROM: usize>(
        self,
        low: &[u64; LANES],
        high: &[u64; LANES],
        mut carry: u64,
        q: &mut [u64; LANES],
    ) -> u64 {
        const { assert!(FROM.is_multiple_of(2) && FROM <= 6) };
        let (low, high, q) = (low.as_ptr(), high.as_ptr(), q.as_mut_ptr());
        // SAFETY: reads the 64 bytes of each of the parts, and writes as many of `q`, which are borrowed for
        // it.
        unsafe {
            match FROM {
                0 => chain!(low, high, carry, q, 0 8 16 24 32 40 48 56),
                2 => chain!(low, high, carry, q, 16 24 32 40 48 56),
                4 => chain!(low, high, carry, q, 32 40 48 56),
                _ => chain!(low, high, carry, q, 48 56),
            }
        }
        carry
    }
}

pair_roots!(root, Avx512Fma, features: ["avx512f,avx512dq"]);
