//! NEON: four columns in two vectors of 128 bits, multiplied 32 by 32 bits.
//!
//! UMLAL multiplies two digits by two, and adds the products to two columns. UMLAL2 does it with the upper
//! two digits of its vectors. So four factors lie in a vector as in memory. To move them up by one place,
//! they are loaded from four bytes below.
//!
//! The vector unit is the limit. So UMLAL does the additions, no vectors of zeros are made, and carries at
//! the end are scalar.

use std::arch::aarch64::*;
use std::arch::asm;

use zariz_kernels::rsaz::{Machine, SHIFTED};

/// The vectors of 64-bit Arm processors: all have them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Neon(());

impl Neon {
    /// The machine; every 64-bit Arm processor has it.
    pub fn new() -> Self {
        Self(())
    }
}

/// The lower two columns, and the upper two.
type Four = [uint64x2_t; 2];

/// A function that adds two products to two columns. It is assembly, since the compiler makes a product and a
/// sum of some: up to 5 % for Apple's cores.
macro_rules! multiply_add {
    ($name:ident, $instruction:literal, $digits:literal) => {
        #[inline(always)]
        fn $name(mut sum: uint64x2_t, a: uint32x4_t, b: uint32x4_t) -> uint64x2_t {
            // SAFETY: every 64-bit Arm processor has the instruction, which changes nothing but `sum`.
            unsafe {
                asm!(
                    concat!($instruction, " {sum:v}.2d, {a:v}.", $digits, ", {b:v}.", $digits),
                    sum = inout(vreg) sum,
                    a = in(vreg) a,
                    b = in(vreg) b,
                    options(pure, nomem, nostack, preserves_flags),
                );
            }
            sum
        }
    };
}

multiply_add!(mac_low, "umlal", "2s");
multiply_add!(mac_high, "umlal2", "4s");

impl Machine for Neon {
    type Digit = u32;
    type Word = u64;
    type Vector = Four;
    type Factors = uint32x4_t;
    type Packed = [uint32x4_t; 2];
    const HALVED: bool = true;

    rsaz_words!();

    #[inline(always)]
    fn zero(self) -> Four {
        // SAFETY: every 64-bit Arm processor has NEON.
        unsafe { [vdupq_n_u64(0); 2] }
    }
    #[inline(always)]
    fn load(self, words: &[u64]) -> Four {
        let words: &[u64; 4] = words.first_chunk().expect("four words");
        // SAFETY: every 64-bit Arm processor has NEON; two readable words lie at each address.
        unsafe { [vld1q_u64(words.as_ptr()), vld1q_u64(words[2..].as_ptr())] }
    }
    #[inline(always)]
    fn store(self, words: &mut [u64], v: Four) {
        let words: &mut [u64; 4] = words.first_chunk_mut().expect("four words");
        // SAFETY: every 64-bit Arm processor has NEON; two writable words lie at each address.
        unsafe {
            vst1q_u64(words.as_mut_ptr(), v[0]);
            vst1q_u64(words[2..].as_mut_ptr(), v[1]);
        }
    }
    #[inline(always)]
    fn factors(self, digits: &[u32]) -> uint32x4_t {
        let digits: &[u32; 4] = digits.first_chunk().expect("four digits");
        // SAFETY: every 64-bit Arm processor has NEON; the array is four readable digits.
        unsafe { vld1q_u32(digits.as_ptr()) }
    }
    #[inline(always)]
    fn narrow(self, digits: &mut [u32], v: Four) {
        let digits: &mut [u32; 4] = digits.first_chunk_mut().expect("four digits");
        // SAFETY: every 64-bit Arm processor has NEON; the array is four writable digits.
        unsafe {
            let even = vuzp1q_u32(vreinterpretq_u32_u64(v[0]), vreinterpretq_u32_u64(v[1]));
            vst1q_u32(digits.as_mut_ptr(), even);
        }
    }
    #[inline(always)]
    fn broadcast(self, digit: &u32) -> uint32x4_t {
        // SAFETY: every 64-bit Arm processor has NEON.
        unsafe { vdupq_n_u32(*digit) }
    }
    #[inline(always)]
    fn no_factors(self) -> uint32x4_t {
        self.broadcast(&0)
    }
    #[inline(always)]
    fn double(self, a: uint32x4_t) -> uint32x4_t {
        // SAFETY: every 64-bit Arm processor has NEON.
        unsafe { vaddq_u32(a, a) }
    }
    /// Eight digits one after the other. The upper words stay as they are.
    #[inline(always)]
    fn shift(self, words: &mut [u64], a: uint32x4_t, below: uint32x4_t) {
        // SAFETY: every 64-bit Arm processor has NEON.
        let [below, a] = unsafe { [vreinterpretq_u64_u32(below), vreinterpretq_u64_u32(a)] };
        self.store(words, [below, a]);
    }
    #[inline(always)]
    fn shift_digits(self, words: &mut [u64], [a, b, c, d, e, f, g]: [u32; 7]) {
        let word = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        words[..4].copy_from_slice(&[word(0, a), word(b, c), word(d, e), word(f, g)]);
    }
    #[inline(always)]
    fn shifted(self, words: &[u64; SHIFTED]) -> [uint32x4_t; 4] {
        let digits: *const u32 = words.as_ptr().cast();
        // SAFETY: every 64-bit Arm processor has NEON; the first eight digits are readable, and the loads
        // need no alignment.
        unsafe { [4, 3, 2, 1].map(|from| vld1q_u32(digits.add(from))) }
    }
    #[inline(always)]
    fn lowest(self, word: u64) -> Four {
        // SAFETY: every 64-bit Arm processor has NEON.
        unsafe { [vcombine_u64(vcreate_u64(word), vcreate_u64(0)), vdupq_n_u64(0)] }
    }
    #[inline(always)]
    fn add(self, a: Four, b: Four) -> Four {
        // SAFETY: every 64-bit Arm processor has NEON.
        unsafe { [vaddq_u64(a[0], b[0]), vaddq_u64(a[1], b[1])] }
    }
    #[inline(always)]
    fn mul(self, a: uint32x4_t, b: uint32x4_t) -> Four {
        // SAFETY: every 64-bit Arm processor has NEON.
        unsafe { [vmull_u32(vget_low_u32(a), vget_low_u32(b)), vmull_high_u32(a, b)] }
    }
    #[inline(always)]
    fn mac(self, sum: Four, a: uint32x4_t, b: uint32x4_t) -> Four {
        [mac_low(sum[0], a, b), mac_high(sum[1], a, b)]
    }
    #[inline(always)]
    fn mac_upper(self, sum: Four, a: uint32x4_t, b: uint32x4_t) -> Four {
        [sum[0], mac_high(sum[1], a, b)]
    }
    #[inline(always)]
    fn mac_lower(self, sum: Four, a: uint32x4_t, b: uint32x4_t) -> Four {
        [mac_low(sum[0], a, b), sum[1]]
    }
    #[inline(always)]
    fn low<const M: u32>(self, a: Four) -> Four {
        // SAFETY: every 64-bit Arm processor has NEON.
        unsafe { a.map(|a| vandq_u64(a, vdupq_n_u64((1 << M) - 1))) }
    }
    #[inline(always)]
    fn low_of_last<const M: u32>(self, a: Four) -> Four {
        // SAFETY: every 64-bit Arm processor has NEON.
        let mask = unsafe { vcombine_u64(vcreate_u64(u64::MAX), vcreate_u64((1 << M) - 1)) };
        // SAFETY: as above.
        [a[0], unsafe { vandq_u64(a[1], mask) }]
    }
    #[inline(always)]
    fn carry<const M: u32>(self, a: Four) -> Four {
        // SAFETY: every 64-bit Arm processor has NEON. A count below 0 shifts down.
        unsafe { a.map(|a| vshlq_u64(a, vdupq_n_s64(-i64::from(M)))) }
    }
    #[inline(always)]
    fn up(self, a: Four, below: Four) -> Four {
        // SAFETY: every 64-bit Arm processor has NEON.
        unsafe { [vextq_u64::<1>(below[1], a[0]), vextq_u64::<1>(a[0], a[1])] }
    }
    #[inline(always)]
    fn ups(self, a: uint32x4_t, below: uint32x4_t) -> [uint32x4_t; 4] {
        // SAFETY: every 64-bit Arm processor has NEON.
        unsafe { [a, vextq_u32::<3>(below, a), vextq_u32::<2>(below, a), vextq_u32::<1>(below, a)] }
    }

    #[inline(always)]
    fn packed_zero(self) -> [uint32x4_t; 2] {
        [self.no_factors(); 2]
    }
    #[inline(always)]
    fn packed_pick(self, sum: [uint32x4_t; 2], digits: &[u32], a: u64, b: u64) -> [uint32x4_t; 2] {
        let digits: &[u32; 8] = digits.first_chunk().expect("eight digits");
        // SAFETY: every 64-bit Arm processor has NEON; four readable digits lie at each address. The
        // instruction changes nothing but `mask`.
        unsafe {
            let mut mask = vdupq_n_u64(a ^ b);
            // In assembly, so that the compiler makes no branch of it.
            asm!(
                "cmeq {mask:v}.2d, {mask:v}.2d, #0",
                mask = inout(vreg) mask,
                options(pure, nomem, nostack, preserves_flags),
            );
            let mask = vreinterpretq_u32_u64(mask);
            let [low, high] = [vld1q_u32(digits.as_ptr()), vld1q_u32(digits[4..].as_ptr())];
            [vorrq_u32(sum[0], vandq_u32(mask, low)), vorrq_u32(sum[1], vandq_u32(mask, high))]
        }
    }
    #[inline(always)]
    fn packed_store(self, digits: &mut [u32], v: [uint32x4_t; 2]) {
        let digits: &mut [u32; 8] = digits.first_chunk_mut().expect("eight digits");
        // SAFETY: every 64-bit Arm processor has NEON; four writable digits lie at each address.
        unsafe {
            vst1q_u32(digits.as_mut_ptr(), v[0]);
            vst1q_u32(digits[4..].as_mut_ptr(), v[1]);
        }
    }
}

rsaz_entry_points!(Neon, features: [], mac_tenths: 20, tuned: [(29, 9) (28, 14) (28, 19)]);
