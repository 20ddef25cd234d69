//! AVX2: four columns in a vector, multiplied 32 by 32 bits.

use std::arch::x86_64::*;
use zariz_kernels::rsaz::{Machine, SHIFTED};

use crate::batch::avx2::in_register;

/// Proof that the processor has AVX2 and BMI2.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    /// The machine, if the processor (and the operating system) has it.
    pub fn new() -> Option<Self> {
        let has = crate::cpu::has_avx2() && crate::cpu::has_bmi2();
        has.then_some(Self(()))
    }
}

impl Machine for Avx2 {
    type Digit = u32;
    type Word = u64;
    type Vector = __m256i;
    type Factors = __m256i;
    type Packed = __m256i;

    rsaz_words!();
    rsaz_wide_factors!();

    #[inline(always)]
    fn zero(self) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_setzero_si256() }
    }
    #[inline(always)]
    fn load(self, words: &[u64]) -> __m256i {
        let words: &[u64; 4] = words.first_chunk().expect("four words");
        // SAFETY: `self` proves AVX2; the array is 32 readable bytes, and the load needs no alignment.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store(self, words: &mut [u64], v: __m256i) {
        let words: &mut [u64; 4] = words.first_chunk_mut().expect("four words");
        // SAFETY: `self` proves AVX2; the array is 32 writable bytes, and the store needs no alignment.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), v) }
    }
    #[inline(always)]
    fn factors(self, digits: &[u32]) -> __m256i {
        let digits: &[u32; 4] = digits.first_chunk().expect("four digits");
        // SAFETY: `self` proves AVX2; the array is 16 readable bytes, and the load needs no alignment.
        unsafe { _mm256_cvtepu32_epi64(_mm_loadu_si128(digits.as_ptr().cast())) }
    }
    #[inline(always)]
    fn narrow(self, digits: &mut [u32], v: __m256i) {
        let digits: &mut [u32; 4] = digits.first_chunk_mut().expect("four digits");
        // SAFETY: `self` proves AVX2; the array is 16 writable bytes, and the store needs no alignment.
        unsafe {
            let even = _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
            _mm_storeu_si128(digits.as_mut_ptr().cast(), _mm256_castsi256_si128(even));
        }
    }
    /// In the high halves too, where products do not look.
    #[inline(always)]
    fn broadcast(self, digit: &u32) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_set1_epi32(*digit as i32) }
    }
    #[inline(always)]
    fn lowest(self, word: u64) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_zextsi128_si256(_mm_cvtsi64_si128(word as i64)) }
    }
    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_add_epi64(a, b) }
    }
    #[inline(always)]
    fn mac(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_add_epi64(sum, _mm256_mul_epu32(a, b)) }
    }
    #[inline(always)]
    fn low<const M: u32>(self, a: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_and_si256(a, _mm256_set1_epi64x((1 << M) - 1)) }
    }
    #[inline(always)]
    fn low_of_last<const M: u32>(self, a: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_and_si256(a, _mm256_setr_epi64x(-1, -1, -1, (1 << M) - 1)) }
    }
    #[inline(always)]
    fn carry<const M: u32>(self, a: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2. The count comes as a vector, since a constant would have to be a signed
        // parameter.
        unsafe { _mm256_srl_epi64(a, _mm_cvtsi32_si128(M as i32)) }
    }
    #[inline(always)]
    fn up(self, a: __m256i, below: __m256i) -> __m256i {
        // SAFETY: `self` proves AVX2. Columns 3, 0, 1, 2 of both, and the lowest of them from below.
        unsafe {
            let (a, below) = (
                _mm256_permute4x64_epi64::<0b10_01_00_11>(a),
                _mm256_permute4x64_epi64::<0b10_01_00_11>(below),
            );
            _mm256_blend_epi32::<0b0000_0011>(a, below)
        }
    }
    #[inline(always)]
    fn ups(self, a: __m256i, below: __m256i) -> [__m256i; 4] {
        // SAFETY: `self` proves AVX2. Two places up are the high half below and the low half of `a`; the
        // others are two columns of neighbours, half by half.
        unsafe {
            let two = _mm256_permute2x128_si256::<0x21>(below, a);
            [a, _mm256_alignr_epi8::<8>(a, two), two, _mm256_alignr_epi8::<8>(two, below)]
        }
    }

    #[inline(always)]
    fn packed_zero(self) -> __m256i {
        self.zero()
    }
    #[inline(always)]
    fn packed_pick(self, sum: __m256i, digits: &[u32], a: u64, b: u64) -> __m256i {
        let digits: &[u32; 8] = digits.first_chunk().expect("eight digits");
        // SAFETY: `self` proves AVX2; the array is 32 readable bytes, and the load needs no alignment.
        unsafe {
            let mask = _mm256_cmpeq_epi64(_mm256_set1_epi64x(a as i64), _mm256_set1_epi64x(b as i64));
            let digits = _mm256_loadu_si256(digits.as_ptr().cast());
            in_register(digits);
            _mm256_or_si256(sum, _mm256_and_si256(mask, digits))
        }
    }
    #[inline(always)]
    fn packed_store(self, digits: &mut [u32], v: __m256i) {
        let digits: &mut [u32; 8] = digits.first_chunk_mut().expect("eight digits");
        // SAFETY: `self` proves AVX2; the array is 32 writable bytes, and the store needs no alignment.
        unsafe { _mm256_storeu_si256(digits.as_mut_ptr().cast(), v) }
    }
}

rsaz_entry_points!(Avx2, features: ["avx2,bmi2"], mac_tenths: 8, tuned: [(29, 5) (29, 9) (28, 19)]);
