//! Numbers laid across vectors by AVX512-IFMA: eight digits in a vector.

use std::arch::asm;
use std::arch::x86_64::*;
use zariz_kernels::pair::{LANES, Machine};

use crate::batch::Avx512Ifma;
use crate::batch::avx512::low_52;

/// Two digits at a time: `chain!(low, high, carry, q, 0 16 32 48)` for all eight, the numbers being bytes.
macro_rules! chain {
    ($low:ident, $high:ident, $carry:ident, $q:ident, $($at:literal)*) => {
        asm!(
            $(
                concat!("mov {other}, [{low} + ", $at, "]"),
                concat!("add {other}, [{high} + ", $at, "]"),
                "add {other}, {carry}",
                concat!("mov [{q} + ", $at, "], {other}"),
                "shr {other}, 52",
                concat!("mov {carry}, [{low} + ", $at, " + 8]"),
                concat!("add {carry}, [{high} + ", $at, " + 8]"),
                "add {carry}, {other}",
                concat!("mov [{q} + ", $at, " + 8], {carry}"),
                "shr {carry}, 52",
            )*
            low = in(reg) $low,
            high = in(reg) $high,
            q = in(reg) $q,
            carry = inout(reg) $carry,
            other = out(reg) _,
            options(nostack),
        )
    };
}

impl Machine for Avx512Ifma {
    const BIAS_LOW: u64 = 0;
    const BIAS_HIGH: u64 = 0;
    avx512_pair!();

    #[inline(always)]
    fn digits(self, columns: __m512i) -> __m512i {
        columns
    }
    #[inline(always)]
    fn columns(self, digits: __m512i) -> __m512i {
        digits
    }
    #[inline(always)]
    fn digit(self, lane: &u64) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_set1_epi64(*lane as i64) }
    }
    #[inline(always)]
    fn quotient_digit(self, word: &u64) -> __m512i {
        self.digit(word)
    }
    #[inline(always)]
    fn mac(self, low: __m512i, high: __m512i, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        // SAFETY: `self` proves AVX512-IFMA.
        unsafe { (_mm512_madd52lo_epu64(low, a, b), _mm512_madd52hi_epu64(high, a, b)) }
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
                0 => chain!(low, high, carry, q, 0 16 32 48),
                2 => chain!(low, high, carry, q, 16 32 48),
                4 => chain!(low, high, carry, q, 32 48),
                _ => chain!(low, high, carry, q, 48),
            }
        }
        carry
    }
}

pair_roots!(root, Avx512Ifma, features: ["avx512f,avx512dq,avx512ifma"]);
