//! Numbers laid across vectors by AVX512-IFMA: eight digits in a vector.

use std::arch::asm;
use std::arch::x86_64::*;
use zariz_kernels::across::{LANES, Row};

use crate::avx512::low_52;
use crate::avx512_ifma::Avx512Ifma;

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

impl Row for Avx512Ifma {
    type Vector = __m512i;
    type Mask = __mmask8;

    #[inline(always)]
    fn zero(self) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_setzero_si512() }
    }
    #[inline(always)]
    fn vector(self, words: [u64; LANES]) -> __m512i {
        // SAFETY: `self` proves AVX-512F; the array is 64 readable bytes, and the load needs no alignment.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    }
    #[inline(always)]
    fn lanes(self, vector: &__m512i) -> &[u64; LANES] {
        // SAFETY: a vector is 64 bytes, aligned to 64, and every bit pattern is eight words.
        unsafe { &*std::ptr::from_ref(vector).cast() }
    }
    #[inline(always)]
    fn lanes_mut(self, vector: &mut __m512i) -> &mut [u64; LANES] {
        // SAFETY: as above, and every eight words are a vector.
        unsafe { &mut *std::ptr::from_mut(vector).cast() }
    }
    #[inline(always)]
    fn window(self, vectors: &[__m512i], i: usize) -> __m512i {
        assert!(i + LANES <= LANES * vectors.len());
        // SAFETY: `self` proves AVX-512F; the 64 bytes from word `i` on lie within the slice, and the load needs no alignment.
        unsafe { _mm512_loadu_si512(vectors.as_ptr().cast::<u64>().add(i).cast()) }
    }
    #[inline(always)]
    fn splat(self, word: &u64) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_set1_epi64(*word as i64) }
    }
    #[inline(always)]
    fn mac_low(self, acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX512-IFMA.
        unsafe { _mm512_madd52lo_epu64(acc, a, b) }
    }
    #[inline(always)]
    fn mac_high(self, acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX512-IFMA.
        unsafe { _mm512_madd52hi_epu64(acc, a, b) }
    }
    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_add_epi64(a, b) }
    }
    #[inline(always)]
    fn low(self, a: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { low_52(a) }
    }
    #[inline(always)]
    fn carry(self, a: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_srli_epi64::<52>(a) }
    }
    #[inline(always)]
    fn up(self, vector: __m512i, below: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_alignr_epi64::<7>(vector, below) }
    }
    #[inline(always)]
    fn over(self, a: __m512i) -> u32 {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_cmpgt_epu64_mask(a, _mm512_set1_epi64((1 << 52) - 1)).into() }
    }
    #[inline(always)]
    fn full(self, a: __m512i) -> u32 {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_cmpeq_epi64_mask(a, _mm512_set1_epi64((1 << 52) - 1)).into() }
    }
    /// In assembly, so that the compiler adds `low` and `high` before the carry is known, and not after.
    #[inline(always)]
    fn quotient<const FROM: usize>(self, low: &__m512i, high: &__m512i, mut carry: u64, q: &mut [u64; LANES]) -> u64 {
        const { assert!(FROM.is_multiple_of(2) && FROM <= 6) };
        let (low, high, q) = (std::ptr::from_ref(low), std::ptr::from_ref(high), q.as_mut_ptr());
        // SAFETY: reads the 64 bytes of each of the vectors, and writes as many of `q`, which are borrowed for it.
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
    #[inline(always)]
    fn increment(self, a: __m512i, lanes: u32) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_mask_sub_epi64(a, lanes as __mmask8, a, _mm512_set1_epi64(-1)) }
    }
    #[inline(always)]
    fn equals(self, a: u64, b: u64) -> __mmask8 {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_cmpeq_epi64_mask(_mm512_set1_epi64(a as i64), _mm512_set1_epi64(b as i64)) }
    }
    #[inline(always)]
    fn select(self, mask: __mmask8, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_mask_mov_epi64(a, mask, b) }
    }
}

across_roots!(root, Avx512Ifma, features: ["avx512f,avx512dq,avx512ifma"]);
