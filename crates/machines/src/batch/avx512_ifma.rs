//! AVX512-IFMA: 52-bit products by VPMADD52LUQ and VPMADD52HUQ, eight lanes.

use std::arch::x86_64::*;
use std::sync::atomic::{AtomicBool, Ordering};
use zariz_kernels::batch::Machine;

use crate::batch::avx512::{if_then_else, in_register, low_52, transpose};

/// Set if VPMADD52 is executed although the processor does not announce it.
static ASSUMED: AtomicBool = AtomicBool::new(false);

/// Proof that the processor has AVX-512F and DQ, and that VPMADD52 is executed: by the processor, or by an
/// emulator.
#[derive(Clone, Copy, Debug)]
pub struct Avx512Ifma(());

impl Avx512Ifma {
    /// The machine, if the processor (and the operating system) has it.
    pub fn new() -> Option<Self> {
        let has =
            crate::cpu::has_avx512dq() && (crate::cpu::has_avx512ifma() || ASSUMED.load(Ordering::Acquire));
        has.then_some(Self(()))
    }

    /// From now on, [`new`](Self::new) does not check for AVX512-IFMA, only for AVX-512F and DQ. For tests:
    /// the crate `zariz-emulator` calls this.
    ///
    /// # Safety
    /// Until the process ends, VPMADD52LUQ and VPMADD52HUQ must be executed in every thread: by the
    /// processor, or by a handler of the signal that it raises, which the thread then does not block.
    #[doc(hidden)]
    pub unsafe fn assume_vpmadd52() {
        ASSUMED.store(true, Ordering::Release);
    }
}

impl Machine for Avx512Ifma {
    const LANES: usize = 8;
    const DIGIT_BITS: u32 = 52;
    const BIAS_LO: u64 = 0;
    const BIAS_HI: u64 = 0;
    const TWO_ROWS: bool = true;
    const FOUR_ROWS: bool = true;
    const LOOKUP: bool = true;

    type Digit = __m512i;
    avx512_columns!();

    #[inline(always)]
    fn digit_zero(self) -> __m512i {
        self.column_splat(0)
    }
    #[inline(always)]
    fn mac(self, lo: __m512i, hi: __m512i, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        // SAFETY: `self` proves AVX512-IFMA.
        unsafe { (_mm512_madd52lo_epu64(lo, a, b), _mm512_madd52hi_epu64(hi, a, b)) }
    }
    #[inline(always)]
    fn mac_low(self, lo: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX512-IFMA.
        unsafe { _mm512_madd52lo_epu64(lo, a, b) }
    }
    #[inline(always)]
    fn mac_high(self, hi: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX512-IFMA.
        unsafe { _mm512_madd52hi_epu64(hi, a, b) }
    }
    #[inline(always)]
    fn digit(self, c: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { low_52(c) }
    }
    #[inline(always)]
    fn jump(self) {
        // SAFETY: it leads to the next instruction, and changes no register, flag or memory.
        unsafe { core::arch::asm!("jmp 2f", "2:", options(nomem, nostack, preserves_flags)) }
    }
    #[inline(always)]
    fn barrier(self, c: __m512i) {
        // SAFETY: `self` proves AVX-512F.
        unsafe { in_register(c) }
    }
    /// VPMADD52 ignores the bits above 52 of its factors.
    #[inline(always)]
    fn operand(self, c: __m512i) -> __m512i {
        c
    }
    #[inline(always)]
    fn column(self, d: __m512i) -> __m512i {
        self.digit(d)
    }
    #[inline(always)]
    fn clean_column(self, d: __m512i) -> __m512i {
        debug_assert!({
            let mut words = [0; 8];
            self.column_store(d, &mut words);
            words.iter().all(|word| word >> 52 == 0)
        });
        d
    }
    #[inline(always)]
    fn select(self, mask: __mmask8, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe {
            in_register(b);
            _mm512_mask_mov_epi64(a, mask, b)
        }
    }
    #[inline(always)]
    fn permute(self, low: __m512i, high: __m512i, index: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_permutex2var_epi64(low, index, high) }
    }
    #[inline(always)]
    fn select_bits(self, mask: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { if_then_else(mask, b, a) }
    }
    #[inline(always)]
    fn transpose(self, rows: [__m512i; 8]) -> [__m512i; 8] {
        // SAFETY: `self` proves AVX-512F.
        unsafe { transpose(rows) }
    }
}

macro_rules! entry_points_with {
    ($squares:tt) => {
        entry_points!(
            Avx512Ifma, features: ["avx512f,avx512dq,avx512ifma"], product_tenths: 10, tiled_from: usize::MAX,
            karatsuba_from: usize::MAX, ahmm_from: 60, adds_beside: crate::cpu::adds_beside_vpmadd52(),
            tiles: [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20],
            squares: $squares,
            triangles: [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20],
            in_registers: [4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20], two_terms: [20], terms: [16],
            selects: [1 2 3 4 5]
        );
    };
}

// From four digits on, one block squares and reduces, unless the caller chooses another method. So wider
// separate squares, a third of this crate's code, are compiled only for the papers.
#[cfg(feature = "papers")]
entry_points_with!([1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20]);
#[cfg(not(feature = "papers"))]
entry_points_with!([1 2 3]);
