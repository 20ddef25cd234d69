//! AVX-512F: vector carry propagation chains on mask registers.
//!
//! AVX-512F lacks some instructions of the coprocessor of paper `phirsa`. Here they are made from others:
//!
//! * *Both halves of 32-bit products* come from two multiplications of 32 × 32 → 64 bits, of the even lanes
//!   and of the odd ones, and a shuffle under a mask for each half. (VPMULLD is two multiplications by
//!   itself, and has no high half.)
//! * *Addition with carry*: `t = a + b + c`. A lane overflowed where at least two of the topmost bits of `a`,
//!   `b` and `¬t` are set: a ternary logic instruction, and a test of that bit into a mask. Where `b + c`
//!   cannot overflow, `b + c` is made first, and `a + (b + c)` overflowed where it is below `b + c`: one
//!   instruction less.

use std::arch::x86_64::*;
use zariz_kernels::carry::{Digits, Machine};

use crate::batch::avx512::in_register;

/// Proof that the processor has AVX-512F.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    /// The machine, if the processor (and the operating system) has it.
    pub fn new() -> Option<Self> {
        crate::cpu::has_avx512f().then_some(Self(()))
    }
}

/// The odd lanes, and the even ones.
const ODD: __mmask16 = 0xaaaa;
const EVEN: __mmask16 = 0x5555;

/// Truth table of "at least two of `a`, `b` and not `c`".
const MAJORITY: i32 = 0b1101_0100;

impl Machine for Avx512 {
    type Vector = __m512i;
    /// The vector, and its odd lanes moved down to the even ones.
    type Factor = (__m512i, __m512i);
    type Mask = __mmask16;

    #[inline(always)]
    fn load(self, digits: &Digits) -> __m512i {
        // SAFETY: `self` proves AVX-512F; the array is 64 readable bytes.
        unsafe { _mm512_loadu_si512(digits.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store(self, vector: __m512i, digits: &mut Digits) {
        // SAFETY: `self` proves AVX-512F; the array is 64 writable bytes.
        unsafe { _mm512_storeu_si512(digits.as_mut_ptr().cast(), vector) }
    }
    #[inline(always)]
    fn constant(self, digit: u32) -> __m512i {
        self.splat(digit)
    }
    #[inline(always)]
    fn splat(self, digit: u32) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_set1_epi32(digit as i32) }
    }
    #[inline(always)]
    fn first(self, vector: __m512i) -> u32 {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_cvtsi512_si32(vector) as u32 }
    }
    #[inline(always)]
    fn factor(self, vector: __m512i) -> (__m512i, __m512i) {
        // SAFETY: `self` proves AVX-512F.
        (vector, unsafe { _mm512_srli_epi64::<32>(vector) })
    }
    #[inline(always)]
    fn multiply(self, a: (__m512i, __m512i), b: __m512i) -> (__m512i, __m512i) {
        // SAFETY: `self` proves AVX-512F.
        unsafe {
            let (even, odd) = (_mm512_mul_epu32(a.0, b), _mm512_mul_epu32(a.1, b));
            // Within each pair of lanes, the lower into both places; the higher into both.
            const LOWER: i32 = 0b10_10_00_00;
            const HIGHER: i32 = 0b11_11_01_01;
            (
                _mm512_mask_shuffle_epi32::<LOWER>(even, ODD, odd),
                _mm512_mask_shuffle_epi32::<HIGHER>(odd, EVEN, even),
            )
        }
    }
    #[inline(always)]
    fn multiply_first(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_mul_epu32(a, b) }
    }
    #[inline(always)]
    fn broadcast_first(self, vector: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_broadcastd_epi32(_mm512_castsi512_si128(vector)) }
    }
    #[inline(always)]
    fn add(self, a: __m512i, carry: __mmask16, b: __m512i) -> (__m512i, __mmask16) {
        // SAFETY: `self` proves AVX-512F.
        unsafe {
            let sum = _mm512_add_epi32(a, b);
            // Minus −1.
            let sum = _mm512_mask_sub_epi32(sum, carry, sum, _mm512_set1_epi32(-1));
            let overflow = _mm512_ternarylogic_epi32::<MAJORITY>(a, b, sum);
            (sum, _mm512_test_epi32_mask(overflow, _mm512_set1_epi32(i32::MIN)))
        }
    }
    #[inline(always)]
    fn add_high(self, a: __m512i, carry: __mmask16, b: __m512i) -> (__m512i, __mmask16) {
        // SAFETY: `self` proves AVX-512F.
        unsafe {
            let b = _mm512_mask_sub_epi32(b, carry, b, _mm512_set1_epi32(-1));
            let sum = _mm512_add_epi32(a, b);
            (sum, _mm512_cmplt_epu32_mask(sum, b))
        }
    }
    #[inline(always)]
    fn add_where(self, mask: __mmask16, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe {
            in_register(b);
            _mm512_mask_add_epi32(a, mask, a, b)
        }
    }
    #[inline(always)]
    fn shift_down(self, vector: __m512i, above: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_alignr_epi32::<1>(above, vector) }
    }
    #[inline(always)]
    fn shift_up(self, vector: __m512i, below: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_alignr_epi32::<15>(vector, below) }
    }
    #[inline(always)]
    fn mask(self, bits: u16) -> __mmask16 {
        bits
    }
    #[inline(always)]
    fn bits(self, mask: __mmask16) -> u16 {
        mask
    }
    #[inline(always)]
    fn all_ones(self, vector: __m512i) -> __mmask16 {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_cmpeq_epi32_mask(vector, _mm512_set1_epi32(-1)) }
    }
    #[inline(always)]
    fn move_where(self, mask: __mmask16, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves AVX-512F.
        unsafe {
            in_register(b);
            _mm512_mask_mov_epi32(a, mask, b)
        }
    }
    #[inline(always)]
    fn equal(self, a: __m512i, b: __m512i) -> __mmask16 {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_cmpeq_epi32_mask(a, b) }
    }
}

carry_entry_points!(Avx512, features: ["avx512f"]);
