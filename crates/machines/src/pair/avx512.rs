//! Operations that need AVX-512F alone, for all AVX-512 machines that lay numbers across vectors.

/// For the `impl Machine` of a machine that proves AVX-512F, with `std::arch::x86_64::*` in scope.
macro_rules! avx512_pair {
    () => {
        type Vector = __m512i;
        type Mask = __mmask8;

        #[inline(always)]
        fn zero(self) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe { _mm512_setzero_si512() }
        }
        #[inline(always)]
        fn vector(self, words: [u64; LANES]) -> __m512i {
            // SAFETY: `self` proves AVX-512F; the array is 64 readable bytes, and the load needs no
            // alignment.
            unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
        }
        #[inline(always)]
        fn words(self, vectors: &[__m512i]) -> &[u64] {
            // SAFETY: as below.
            unsafe { std::slice::from_raw_parts(vectors.as_ptr().cast(), LANES * vectors.len()) }
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
            // SAFETY: `self` proves AVX-512F; the 64 bytes from word `i` on lie within the slice, and the
            // load needs no alignment.
            unsafe { _mm512_loadu_si512(vectors.as_ptr().cast::<u64>().add(i).cast()) }
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
            unsafe {
                crate::batch::avx512::in_register(b);
                _mm512_mask_mov_epi64(a, mask, b)
            }
        }
    };
}
