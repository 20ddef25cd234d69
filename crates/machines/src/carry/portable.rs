//! Any processor: vector carry propagation chains on arrays.

use zariz_kernels::carry::{DIGITS, Digits, Machine};

/// Sixteen lanes in an array, worked through one by one; a mask is 0 or 1 in every lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable(());

impl Portable {
    /// The machine; every processor has it.
    pub fn new() -> Self {
        Self(())
    }
}

type Vector = [u32; DIGITS];

/// All ones in the lanes of a mask, zeros elsewhere; the barrier keeps the compiler from making a branch of a
/// lane.
#[inline(always)]
fn widened(mask: Vector) -> Vector {
    std::hint::black_box(mask.map(u32::wrapping_neg))
}

/// 1 in lanes that are 0, else 0.
#[inline(always)]
fn is_zero(vector: Vector) -> Vector {
    vector.map(|digit| !(digit | digit.wrapping_neg()) >> 31)
}

impl Machine for Portable {
    type Vector = Vector;
    type Factor = Vector;
    type Mask = Vector;

    #[inline(always)]
    fn load(self, digits: &Digits) -> Vector {
        *digits
    }
    #[inline(always)]
    fn store(self, vector: Vector, digits: &mut Digits) {
        *digits = vector;
    }
    #[inline(always)]
    fn constant(self, digit: u32) -> Vector {
        self.splat(digit)
    }
    #[inline(always)]
    fn splat(self, digit: u32) -> Vector {
        [digit; DIGITS]
    }
    #[inline(always)]
    fn first(self, vector: Vector) -> u32 {
        vector[0]
    }
    #[inline(always)]
    fn factor(self, vector: Vector) -> Vector {
        vector
    }
    #[inline(always)]
    fn multiply(self, a: Vector, b: Vector) -> (Vector, Vector) {
        let (mut low, mut high) = ([0; DIGITS], [0; DIGITS]);
        for i in 0..DIGITS {
            let product = u64::from(a[i]) * u64::from(b[i]);
            (low[i], high[i]) = (product as u32, (product >> 32) as u32);
        }
        (low, high)
    }
    #[inline(always)]
    fn multiply_first(self, a: Vector, b: Vector) -> Vector {
        [a[0].wrapping_mul(b[0]); DIGITS]
    }
    #[inline(always)]
    fn broadcast_first(self, vector: Vector) -> Vector {
        [vector[0]; DIGITS]
    }
    #[inline(always)]
    fn add(self, a: Vector, carry: Vector, b: Vector) -> (Vector, Vector) {
        let (mut sum, mut overflow) = ([0; DIGITS], [0; DIGITS]);
        for i in 0..DIGITS {
            sum[i] = a[i].wrapping_add(b[i]).wrapping_add(carry[i]);
            overflow[i] = (a[i] & b[i] | (a[i] | b[i]) & !sum[i]) >> 31;
        }
        (sum, overflow)
    }
    #[inline(always)]
    fn add_where(self, mask: Vector, a: Vector, b: Vector) -> Vector {
        let mask = widened(mask);
        std::array::from_fn(|i| a[i].wrapping_add(b[i] & mask[i]))
    }
    #[inline(always)]
    fn shift_down(self, vector: Vector, above: Vector) -> Vector {
        let mut out = [above[0]; DIGITS];
        out[..DIGITS - 1].copy_from_slice(&vector[1..]);
        out
    }
    #[inline(always)]
    fn shift_up(self, vector: Vector, below: Vector) -> Vector {
        let mut out = [below[DIGITS - 1]; DIGITS];
        out[1..].copy_from_slice(&vector[..DIGITS - 1]);
        out
    }
    #[inline(always)]
    fn mask(self, bits: u16) -> Vector {
        std::array::from_fn(|i| u32::from(bits) >> i & 1)
    }
    #[inline(always)]
    fn bits(self, mask: Vector) -> u16 {
        let mut bits = 0;
        for (i, bit) in mask.into_iter().enumerate() {
            bits |= (bit as u16) << i;
        }
        bits
    }
    #[inline(always)]
    fn all_ones(self, vector: Vector) -> Vector {
        is_zero(vector.map(|digit| !digit))
    }
    #[inline(always)]
    fn move_where(self, mask: Vector, a: Vector, b: Vector) -> Vector {
        let mask = widened(mask);
        std::array::from_fn(|i| a[i] ^ (mask[i] & (a[i] ^ b[i])))
    }
    #[inline(always)]
    fn equal(self, a: Vector, b: Vector) -> Vector {
        is_zero(std::array::from_fn(|i| a[i] ^ b[i]))
    }
}

carry_entry_points!(Portable, features: []);
