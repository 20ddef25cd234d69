//! Operations that need only AVX-512F, for all AVX-512 machines that lay numbers across vectors.

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
            // Not an intrinsic: outside of an entry point, it would be a call.
            // SAFETY: a vector is 64 bytes, and every bit pattern is one.
            unsafe { std::mem::transmute::<[u64; LANES], __m512i>(words) }
        }
        #[inline(always)]
        fn lanes(self, vector: &__m512i) -> &[u64; LANES] {
            // SAFETY: a vector is 64 bytes, aligned to 64, and every bit pattern is eight words.
            unsafe { &*std::ptr::from_ref(vector).cast() }
        }
        #[inline(always)]
        fn segment<const SIDES: usize>(self, digits: &__m512i, segment: usize) -> __m512i {
            let lanes = &self.lanes(digits)[SIDES * segment..][..SIDES];
            match SIDES {
                // SAFETY: `self` proves AVX-512F.
                1 => unsafe { _mm512_set1_epi64(lanes[0] as i64) },
                // SAFETY: `self` proves AVX-512F; the two words are 16 readable bytes, and the load needs no
                // alignment.
                _ => unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(lanes.as_ptr().cast())) },
            }
        }
        #[inline(always)]
        fn lowest<const SIDES: usize>(self, columns: __m512i) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe {
                match SIDES {
                    1 => _mm512_broadcastq_epi64(_mm512_castsi512_si128(columns)),
                    _ => _mm512_shuffle_i64x2::<0>(columns, columns),
                }
            }
        }
        #[inline(always)]
        fn only_lowest<const SIDES: usize>(self, columns: __m512i) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe { _mm512_maskz_mov_epi64((1 << SIDES) - 1, columns) }
        }
        #[inline(always)]
        fn add(self, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe { _mm512_add_epi64(a, b) }
        }
        #[inline(always)]
        fn low<const BITS: u32>(self, a: __m512i) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe { _mm512_and_si512(a, _mm512_set1_epi64((1 << BITS) - 1)) }
        }
        #[inline(always)]
        fn carry<const BITS: u32>(self, a: __m512i) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe { _mm512_srli_epi64::<BITS>(a) }
        }
        #[inline(always)]
        fn up<const SIDES: usize>(self, columns: __m512i) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe {
                match SIDES {
                    1 => _mm512_alignr_epi64::<7>(columns, _mm512_setzero_si512()),
                    _ => _mm512_alignr_epi64::<6>(columns, _mm512_setzero_si512()),
                }
            }
        }
        #[inline(always)]
        fn down<const SIDES: usize>(self, columns: __m512i) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe {
                match SIDES {
                    1 => _mm512_alignr_epi64::<1>(_mm512_setzero_si512(), columns),
                    _ => _mm512_alignr_epi64::<2>(_mm512_setzero_si512(), columns),
                }
            }
        }
        #[inline(always)]
        fn equals(self, a: __m512i, b: u64) -> __mmask8 {
            // SAFETY: `self` proves AVX-512F.
            unsafe { _mm512_cmpeq_epi64_mask(a, _mm512_set1_epi64(b as i64)) }
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
