//! Any processor: four columns one after the other.

use zariz_kernels::rsaz::{Machine, SHIFTED};

/// RSAZ's machine that needs no instruction set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable(());

impl Portable {
    /// The machine; every processor has it.
    pub fn new() -> Self {
        Self(())
    }
}

type Four = [u64; 4];

/// The bits of a word that belong to a digit.
const fn low(bits: u32, a: u64) -> u64 {
    a & ((1 << bits) - 1)
}

impl Machine for Portable {
    type Digit = u32;
    type Word = u64;
    type Vector = Four;
    type Factors = Four;
    type Packed = [u32; 8];

    rsaz_words!();
    rsaz_wide_factors!();

    #[inline(always)]
    fn zero(self) -> Four {
        [0; 4]
    }
    #[inline(always)]
    fn load(self, words: &[u64]) -> Four {
        *words.first_chunk().expect("four words")
    }
    #[inline(always)]
    fn store(self, words: &mut [u64], v: Four) {
        words[..4].copy_from_slice(&v);
    }
    #[inline(always)]
    fn factors(self, digits: &[u32]) -> Four {
        let digits: &[u32; 4] = digits.first_chunk().expect("four digits");
        digits.map(u64::from)
    }
    #[inline(always)]
    fn narrow(self, digits: &mut [u32], v: Four) {
        digits[..4].copy_from_slice(&v.map(|column| column as u32));
    }
    #[inline(always)]
    fn broadcast(self, digit: &u32) -> Four {
        [u64::from(*digit); 4]
    }
    #[inline(always)]
    fn lowest(self, word: u64) -> Four {
        [word, 0, 0, 0]
    }
    #[inline(always)]
    fn add(self, a: Four, b: Four) -> Four {
        std::array::from_fn(|i| a[i].wrapping_add(b[i]))
    }
    #[inline(always)]
    fn mac(self, sum: Four, a: Four, b: Four) -> Four {
        let factor = |x: u64| x & 0xffff_ffff;
        std::array::from_fn(|i| sum[i].wrapping_add(factor(a[i]) * factor(b[i])))
    }
    #[inline(always)]
    fn low<const M: u32>(self, a: Four) -> Four {
        a.map(|a| low(M, a))
    }
    #[inline(always)]
    fn low_of_last<const M: u32>(self, a: Four) -> Four {
        [a[0], a[1], a[2], low(M, a[3])]
    }
    #[inline(always)]
    fn carry<const M: u32>(self, a: Four) -> Four {
        a.map(|a| a >> M)
    }
    #[inline(always)]
    fn up(self, a: Four, below: Four) -> Four {
        [below[3], a[0], a[1], a[2]]
    }
    #[inline(always)]
    fn ups(self, a: Four, below: Four) -> [Four; 4] {
        let once = self.up(a, below);
        [a, once, [below[2], below[3], a[0], a[1]], [below[1], below[2], below[3], a[0]]]
    }

    #[inline(always)]
    fn packed_zero(self) -> [u32; 8] {
        [0; 8]
    }
    #[inline(always)]
    fn packed_pick(self, sum: [u32; 8], digits: &[u32], a: u64, b: u64) -> [u32; 8] {
        let difference = a ^ b;
        // All ones where the difference is zero; the barrier keeps the mask a mask.
        let mask =
            std::hint::black_box(((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1)) as u32;
        std::array::from_fn(|i| sum[i] | (digits[i] & mask))
    }
    #[inline(always)]
    fn packed_store(self, digits: &mut [u32], v: [u32; 8]) {
        digits[..8].copy_from_slice(&v);
    }
}

rsaz_entry_points!(Portable, features: [], mac_tenths: 40, tuned: []);
