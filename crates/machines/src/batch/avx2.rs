//! The operations that both machines of AVX2 share: four 64-bit columns in a vector.

use std::arch::asm;
use std::arch::x86_64::*;

/// The operations on columns and masks that need only AVX2, for the `impl Machine` of a machine that proves
/// it.
macro_rules! avx2_columns {
    () => {
        type Column = __m256i;
        /// All ones or all zeros in each lane.
        type Mask = __m256i;

        #[inline(always)]
        fn column_splat(self, value: u64) -> __m256i {
            // SAFETY: `self` proves AVX2.
            unsafe { _mm256_set1_epi64x(value as i64) }
        }
        #[inline(always)]
        fn column_from(self, values: &[u64]) -> __m256i {
            let values: &[u64; 4] = values.first_chunk().expect("four lanes");
            // SAFETY: `self` proves AVX2; the array is 32 readable bytes, and the load needs no alignment.
            unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
        }
        #[inline(always)]
        fn column_store(self, column: __m256i, values: &mut [u64]) {
            let values: &mut [u64; 4] = values.first_chunk_mut().expect("four lanes");
            // SAFETY: `self` proves AVX2; the array is 32 writable bytes, and the store needs no alignment.
            unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), column) }
        }
        #[inline(always)]
        fn add(self, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: `self` proves AVX2.
            unsafe { _mm256_add_epi64(a, b) }
        }
        #[inline(always)]
        fn sub(self, a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: `self` proves AVX2.
            unsafe { _mm256_sub_epi64(a, b) }
        }
        #[inline(always)]
        fn negate(self, mask: __m256i, c: __m256i) -> __m256i {
            // SAFETY: `self` proves AVX2. The mask is all ones or all zeros: c, or −c = (c ^ −1) + 1.
            unsafe { _mm256_sub_epi64(_mm256_xor_si256(c, mask), mask) }
        }
        #[inline(always)]
        fn equals(self, a: __m256i, value: u64) -> __m256i {
            // SAFETY: `self` proves AVX2.
            unsafe { _mm256_cmpeq_epi64(a, self.column_splat(value)) }
        }
    };
}

/// [`avx512::in_register`](super::avx512::in_register), for the one case in which the compiler has masks for
/// vectors of 256 bits: the whole program is compiled for a processor with AVX-512VL.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn in_register(vector: __m256i) {
    if cfg!(target_feature = "avx512vl") {
        // SAFETY: there is no instruction in it.
        unsafe { asm!("# {0}", in(ymm_reg) vector, options(nomem, nostack, preserves_flags)) }
    }
}
