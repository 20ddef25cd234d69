//! The operations that both AVX-512 machines share: eight 64-bit columns in a vector.

use std::arch::asm;
use std::arch::x86_64::*;

/// The operations on columns and masks that need only AVX-512F, for the `impl Machine` of a machine that
/// proves it.
macro_rules! avx512_columns {
    () => {
        type Column = __m512i;
        type Mask = __mmask8;

        #[inline(always)]
        fn column_splat(self, value: u64) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe { _mm512_set1_epi64(value as i64) }
        }
        #[inline(always)]
        fn column_from(self, values: &[u64]) -> __m512i {
            let values: &[u64; 8] = values.first_chunk().expect("eight lanes");
            // SAFETY: `self` proves AVX-512F; the array is 64 readable bytes, and the load needs no
            // alignment.
            unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
        }
        #[inline(always)]
        fn column_store(self, column: __m512i, values: &mut [u64]) {
            let values: &mut [u64; 8] = values.first_chunk_mut().expect("eight lanes");
            // SAFETY: `self` proves AVX-512F; the array is 64 writable bytes, and the store needs no
            // alignment.
            unsafe { _mm512_storeu_si512(values.as_mut_ptr().cast(), column) }
        }
        #[inline(always)]
        fn add(self, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe { _mm512_add_epi64(a, b) }
        }
        #[inline(always)]
        fn sub(self, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe { _mm512_sub_epi64(a, b) }
        }
        #[inline(always)]
        fn negate(self, mask: __mmask8, c: __m512i) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe { _mm512_mask_sub_epi64(c, mask, _mm512_setzero_si512(), c) }
        }
        #[inline(always)]
        fn carry(self, c: __m512i) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe { _mm512_srli_epi64::<52>(c) }
        }
        #[inline(always)]
        fn equals(self, a: __m512i, value: u64) -> __mmask8 {
            // SAFETY: `self` proves AVX-512F.
            unsafe { _mm512_cmpeq_epi64_mask(a, _mm512_set1_epi64(value as i64)) }
        }
        #[inline(always)]
        fn select_column(self, mask: __mmask8, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: `self` proves AVX-512F.
            unsafe {
                crate::batch::avx512::in_register(b);
                _mm512_mask_mov_epi64(a, mask, b)
            }
        }
    };
}

/// `c mod 2^52`.
///
/// # Safety
/// The processor must have AVX-512F.
#[inline(always)]
pub(crate) unsafe fn low_52(c: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_and_si512(c, _mm512_set1_epi64((1 << 52) - 1)) }
}

/// Makes the compiler put a vector in a register here. A move under a mask then does not become a load under
/// that mask. (Masks are secret, and no document promises that a processor brings the same lines to its cache
/// for every mask.) Nor can the compiler put off sums ([`barrier`](zariz_kernels::batch::Machine::barrier)).
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn in_register(vector: __m512i) {
    // SAFETY: there is no instruction in it.
    unsafe { asm!("# {0}", in(zmm_reg) vector, options(nomem, nostack, preserves_flags)) }
}

/// The bits of `then` where `mask` has ones, else those of `other`.
///
/// # Safety
/// The processor must have AVX-512F.
#[inline(always)]
pub(crate) unsafe fn if_then_else(mask: __m512i, then: __m512i, other: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_ternarylogic_epi64::<0xca>(mask, then, other) }
}

/// Element `i` of row `k` becomes element `k` of row `i`.
///
/// # Safety
/// The processor must have AVX-512F.
#[inline(always)]
pub(crate) unsafe fn transpose(rows: [__m512i; 8]) -> [__m512i; 8] {
    let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
    // SAFETY: the caller's promise.
    unsafe {
        // Pairs of elements of two rows: even ones, and odd ones.
        let (a0, a1) = (_mm512_unpacklo_epi64(r0, r1), _mm512_unpackhi_epi64(r0, r1));
        let (a2, a3) = (_mm512_unpacklo_epi64(r2, r3), _mm512_unpackhi_epi64(r2, r3));
        let (a4, a5) = (_mm512_unpacklo_epi64(r4, r5), _mm512_unpackhi_epi64(r4, r5));
        let (a6, a7) = (_mm512_unpacklo_epi64(r6, r7), _mm512_unpackhi_epi64(r6, r7));
        // Of four rows: elements 0 and 4 (or 1 and 5), and 2 and 6 (or 3 and 7).
        let (b0, b2) = (_mm512_shuffle_i64x2::<0x88>(a0, a2), _mm512_shuffle_i64x2::<0xdd>(a0, a2));
        let (b1, b3) = (_mm512_shuffle_i64x2::<0x88>(a1, a3), _mm512_shuffle_i64x2::<0xdd>(a1, a3));
        let (b4, b6) = (_mm512_shuffle_i64x2::<0x88>(a4, a6), _mm512_shuffle_i64x2::<0xdd>(a4, a6));
        let (b5, b7) = (_mm512_shuffle_i64x2::<0x88>(a5, a7), _mm512_shuffle_i64x2::<0xdd>(a5, a7));
        [
            _mm512_shuffle_i64x2::<0x88>(b0, b4),
            _mm512_shuffle_i64x2::<0x88>(b1, b5),
            _mm512_shuffle_i64x2::<0x88>(b2, b6),
            _mm512_shuffle_i64x2::<0x88>(b3, b7),
            _mm512_shuffle_i64x2::<0xdd>(b0, b4),
            _mm512_shuffle_i64x2::<0xdd>(b1, b5),
            _mm512_shuffle_i64x2::<0xdd>(b2, b6),
            _mm512_shuffle_i64x2::<0xdd>(b3, b7),
        ]
    }
}
