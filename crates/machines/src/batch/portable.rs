//! Any processor: 52-bit digits multiplied by 64 × 64 → 128 bits.

use zariz_kernels::batch::Machine;

/// The machine that needs no instruction set. It computes its `W` lanes one by one. One lane is for users,
/// more are for tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable<const W: usize>(());

impl<const W: usize> Portable<W> {
    /// The machine; every processor has it.
    pub fn new() -> Self {
        Self(())
    }
}

const MASK: u64 = (1 << 52) - 1;

impl<const W: usize> Machine for Portable<W> {
    const LANES: usize = W;
    const DIGIT_BITS: u32 = 52;
    const BIAS_LO: u64 = 0;
    const BIAS_HI: u64 = 0;

    type Digit = [u64; W];
    type Column = [u64; W];
    type Mask = [u64; W];

    #[inline(always)]
    fn digit_zero(self) -> [u64; W] {
        [0; W]
    }
    #[inline(always)]
    fn column_splat(self, value: u64) -> [u64; W] {
        [value; W]
    }
    #[inline(always)]
    fn column_from(self, values: &[u64]) -> [u64; W] {
        std::array::from_fn(|i| values[i])
    }
    #[inline(always)]
    fn column_store(self, column: [u64; W], values: &mut [u64]) {
        values.copy_from_slice(&column);
    }

    #[inline(always)]
    fn mac(self, mut lo: [u64; W], mut hi: [u64; W], a: [u64; W], b: [u64; W]) -> ([u64; W], [u64; W]) {
        for i in 0..W {
            let product = u128::from(a[i]) * u128::from(b[i]);
            lo[i] = lo[i].wrapping_add(product as u64 & MASK);
            hi[i] = hi[i].wrapping_add((product >> 52) as u64);
        }
        (lo, hi)
    }

    #[inline(always)]
    fn add(self, a: [u64; W], b: [u64; W]) -> [u64; W] {
        std::array::from_fn(|i| a[i].wrapping_add(b[i]))
    }
    #[inline(always)]
    fn sub(self, a: [u64; W], b: [u64; W]) -> [u64; W] {
        std::array::from_fn(|i| a[i].wrapping_sub(b[i]))
    }
    #[inline(always)]
    fn negate(self, mask: [u64; W], c: [u64; W]) -> [u64; W] {
        std::array::from_fn(|i| (c[i] ^ mask[i]).wrapping_sub(mask[i]))
    }
    #[inline(always)]
    fn carry(self, c: [u64; W]) -> [u64; W] {
        c.map(|c| c >> 52)
    }
    #[inline(always)]
    fn digit(self, c: [u64; W]) -> [u64; W] {
        c.map(|c| c & MASK)
    }
    #[inline(always)]
    fn column(self, d: [u64; W]) -> [u64; W] {
        d
    }

    #[inline(always)]
    fn equals(self, a: [u64; W], value: u64) -> [u64; W] {
        // All ones where the difference is zero; the barrier keeps the mask a mask.
        a.map(|a| {
            let difference = a ^ value;
            std::hint::black_box(((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1))
        })
    }
    #[inline(always)]
    fn select(self, mask: [u64; W], a: [u64; W], b: [u64; W]) -> [u64; W] {
        std::array::from_fn(|i| a[i] ^ (mask[i] & (a[i] ^ b[i])))
    }
    #[inline(always)]
    fn select_column(self, mask: [u64; W], a: [u64; W], b: [u64; W]) -> [u64; W] {
        self.select(mask, a, b)
    }
}

/// The one-lane machine that the engine uses.
mod one {
    type One = super::Portable<1>;
    entry_points!(
        One, features: [], product_tenths: 35, tiled_from: usize::MAX, karatsuba_from: 60, ahmm_from: 40,
        adds_beside: false,
        tiles: [1 2 3 4 5 6 7 8],
        squares: [1 2 3 4 5 6 7 8],
        triangles: [1 2 3 4 5 6 7 8], in_registers: [], two_terms: [], terms: [], selects: [1 2]
    );
}

/// Eight lanes, so that tests can follow the vector machines lane by lane.
mod eight {
    type Eight = super::Portable<8>;
    entry_points!(
        Eight, features: [], product_tenths: 280, tiled_from: usize::MAX, karatsuba_from: 60, ahmm_from: 40,
        adds_beside: false,
        tiles: [1 2 3], squares: [1 2], triangles: [1 2], in_registers: [], two_terms: [], terms: [], selects: [1 2]
    );
}
