//! Numbers laid across arrays of eight words, on any processor: for tests. Without vectors, single numbers
//! are faster one digit at a time. So nothing here is inlined: the unrolled kernels would be slow to compile.

use zariz_kernels::pair::{LANES, Machine};

use crate::batch::Portable;

const MASK: u64 = (1 << 52) - 1;

impl Machine for Portable<8> {
    const BIAS_LOW: u64 = 0;
    const BIAS_HIGH: u64 = 0;

    type Vector = [u64; LANES];
    type Mask = [u64; LANES];

    #[inline(never)]
    fn zero(self) -> [u64; LANES] {
        [0; LANES]
    }
    #[inline(never)]
    fn vector(self, words: [u64; LANES]) -> [u64; LANES] {
        words
    }
    #[inline(never)]
    fn lanes(self, vector: &[u64; LANES]) -> &[u64; LANES] {
        vector
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
    fn segment<const SIDES: usize>(self, digits: &[u64; LANES], segment: usize) -> [u64; LANES] {
        std::array::from_fn(|i| digits[SIDES * segment + i % SIDES])
    }
    #[inline(never)]
    fn lowest<const SIDES: usize>(self, columns: [u64; LANES]) -> [u64; LANES] {
        std::array::from_fn(|i| columns[i % SIDES])
    }
    #[inline(never)]
    fn only_lowest<const SIDES: usize>(self, columns: [u64; LANES]) -> [u64; LANES] {
        std::array::from_fn(|i| if i < SIDES { columns[i] } else { 0 })
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
    fn low<const BITS: u32>(self, a: [u64; LANES]) -> [u64; LANES] {
        a.map(|a| a & ((1 << BITS) - 1))
    }
    #[inline(never)]
    fn carry<const BITS: u32>(self, a: [u64; LANES]) -> [u64; LANES] {
        a.map(|a| a >> BITS)
    }
    #[inline(never)]
    fn up<const SIDES: usize>(self, columns: [u64; LANES]) -> [u64; LANES] {
        std::array::from_fn(|i| if i < SIDES { 0 } else { columns[i - SIDES] })
    }
    #[inline(never)]
    fn down<const SIDES: usize>(self, columns: [u64; LANES]) -> [u64; LANES] {
        std::array::from_fn(|i| columns.get(i + SIDES).copied().unwrap_or(0))
    }
    #[inline(never)]
    fn equals(self, a: [u64; LANES], b: u64) -> [u64; LANES] {
        // The barrier keeps the masks masks.
        std::hint::black_box(a.map(|a| {
            let difference = a ^ b;
            ((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1)
        }))
    }
    #[inline(never)]
    fn select(self, mask: [u64; LANES], a: [u64; LANES], b: [u64; LANES]) -> [u64; LANES] {
        std::array::from_fn(|i| a[i] ^ (mask[i] & (a[i] ^ b[i])))
    }
}

type Eight = Portable<8>;
pair_entry_points!(unchecked, Eight, features: [], in_registers: [], tiles: [
    6 => amm_tiles_3 ams_tiles_3<3, 6>,
    8 => amm_tiles_4 ams_tiles_4<4, 8>,
    _ => amm_tiles_5 ams_tiles_5<5, 10>,
]);
