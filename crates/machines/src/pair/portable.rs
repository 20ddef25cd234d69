//! Numbers laid across arrays of eight words, on any processor: for tests. Without vectors, single numbers
//! are faster one digit at a time. So nothing here is inlined: the unrolled kernels would be slow to compile.

use zariz_kernels::pair::{LANES, Machine};

use crate::batch::Portable;

const MASK: u64 = (1 << 52) - 1;

impl Machine for Portable<8> {
    const BIAS_LOW: u64 = 0;
    const BIAS_HIGH: u64 = 0;

    type Vector = [u64; LANES];
    type Mask = u64;

    #[inline(never)]
    fn zero(self) -> [u64; LANES] {
        [0; LANES]
    }
    #[inline(never)]
    fn vector(self, words: [u64; LANES]) -> [u64; LANES] {
        words
    }
    #[inline(never)]
    fn words(self, vectors: &[[u64; LANES]]) -> &[u64] {
        vectors.as_flattened()
    }
    #[inline(never)]
    fn lanes(self, vector: &[u64; LANES]) -> &[u64; LANES] {
        vector
    }
    #[inline(never)]
    fn lanes_mut(self, vector: &mut [u64; LANES]) -> &mut [u64; LANES] {
        vector
    }
    #[inline(never)]
    fn window(self, vectors: &[[u64; LANES]], i: usize) -> [u64; LANES] {
        *vectors.as_flattened()[i..].first_chunk().expect("eight lanes")
    }
    #[inline(never)]
    fn digits(self, columns: [u64; LANES]) -> [u64; LANES] {
        columns
    }
    #[inline(never)]
    fn columns(self, digits: [u64; LANES]) -> [u64; LANES] {
        digits
    }
    #[inline(never)]
    fn digit(self, lane: &u64) -> [u64; LANES] {
        [*lane; LANES]
    }
    #[inline(never)]
    fn quotient_digit(self, word: &u64) -> [u64; LANES] {
        [*word; LANES]
    }
    #[inline(never)]
    fn mac(
        self,
        mut low: [u64; LANES],
        mut high: [u64; LANES],
        a: [u64; LANES],
        b: [u64; LANES],
    ) -> ([u64; LANES], [u64; LANES]) {
        for i in 0..LANES {
            let product = u128::from(a[i] & MASK) * u128::from(b[i] & MASK);
            low[i] += product as u64 & MASK;
            high[i] += (product >> 52) as u64;
        }
        (low, high)
    }
    #[inline(never)]
    fn add(self, a: [u64; LANES], b: [u64; LANES]) -> [u64; LANES] {
        std::array::from_fn(|i| a[i] + b[i])
    }
    #[inline(never)]
    fn low(self, a: [u64; LANES]) -> [u64; LANES] {
        a.map(|a| a & MASK)
    }
    #[inline(never)]
    fn carry(self, a: [u64; LANES]) -> [u64; LANES] {
        a.map(|a| a >> 52)
    }
    #[inline(never)]
    fn up(self, vector: [u64; LANES], below: [u64; LANES]) -> [u64; LANES] {
        std::array::from_fn(|i| if i == 0 { below[LANES - 1] } else { vector[i - 1] })
    }
    #[inline(never)]
    fn over(self, a: [u64; LANES]) -> u32 {
        // Digits here are far below 2^63: the difference is negative where a digit is above.
        a.iter().rev().fold(0, |bits, &a| bits << 1 | (MASK.wrapping_sub(a) >> 63) as u32)
    }
    #[inline(never)]
    fn full(self, a: [u64; LANES]) -> u32 {
        a.iter().rev().fold(0, |bits, &a| {
            let difference = a ^ MASK;
            bits << 1 | (!(difference | difference.wrapping_neg()) >> 63) as u32
        })
    }
    #[inline(never)]
    fn increment(self, a: [u64; LANES], lanes: u32) -> [u64; LANES] {
        std::array::from_fn(|i| a[i] + u64::from(lanes >> i & 1))
    }
    #[inline(never)]
    fn equals(self, a: u64, b: u64) -> u64 {
        // The barrier keeps the mask a mask.
        let difference = a ^ b;
        std::hint::black_box(((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1))
    }
    #[inline(never)]
    fn select(self, mask: u64, a: [u64; LANES], b: [u64; LANES]) -> [u64; LANES] {
        std::array::from_fn(|i| a[i] ^ (mask & (a[i] ^ b[i])))
    }
}

type Eight = Portable<8>;
pair_roots!(unchecked, Eight, features: []);
