//! Any processor: vector carry propagation chains on arrays.

use zariz_kernels::carry::{CarryLanes, DIGITS, Digits};

/// Sixteen lanes in an array, which it works through one by one.
#[derive(Clone, Copy, Debug, Default)]
pub struct CarryPortable(());

impl CarryPortable {
    /// The machine; every processor has it.
    pub fn new() -> Self {
        Self(())
    }
}

type Vector = [u32; DIGITS];

/// All ones in the lanes of a mask, zeros elsewhere; the barrier keeps the compiler from making a branch of a lane.
#[inline(always)]
fn widened(mask: u16) -> Vector {
    let mask = u32::from(std::hint::black_box(mask));
    std::array::from_fn(|i| (mask >> i & 1).wrapping_neg())
}

/// The bits of lanes that are 0 or 1.
#[inline(always)]
fn gathered(bits: Vector) -> u16 {
    bits.iter().enumerate().fold(0, |mask, (i, &bit)| mask | bit << i) as u16
}

impl CarryLanes for CarryPortable {
    type Vector = Vector;
    type Factor = Vector;
    type Mask = u16;

    #[inline(always)]
    fn load(self, digits: &Digits) -> Vector {
        digits.0
    }
    #[inline(always)]
    fn store(self, vector: Vector, digits: &mut Digits) {
        digits.0 = vector;
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
        let product = |i: usize| u64::from(a[i]) * u64::from(b[i]);
        (std::array::from_fn(|i| product(i) as u32), std::array::from_fn(|i| (product(i) >> 32) as u32))
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
    fn add(self, a: Vector, carry: u16, b: Vector) -> (Vector, u16) {
        let carry = u64::from(carry);
        let sum = |i: usize| u64::from(a[i]) + u64::from(b[i]) + (carry >> i & 1);
        (std::array::from_fn(|i| sum(i) as u32), gathered(std::array::from_fn(|i| (sum(i) >> 32) as u32)))
    }
    #[inline(always)]
    fn add_where(self, mask: u16, a: Vector, b: Vector) -> Vector {
        let mask = widened(mask);
        std::array::from_fn(|i| a[i].wrapping_add(b[i] & mask[i]))
    }
    #[inline(always)]
    fn shift_down(self, vector: Vector, above: Vector) -> Vector {
        std::array::from_fn(|i| if i + 1 < DIGITS { vector[i + 1] } else { above[0] })
    }
    #[inline(always)]
    fn shift_up(self, vector: Vector, below: Vector) -> Vector {
        std::array::from_fn(|i| if i > 0 { vector[i - 1] } else { below[DIGITS - 1] })
    }
    #[inline(always)]
    fn mask(self, bits: u16) -> u16 {
        bits
    }
    #[inline(always)]
    fn bits(self, mask: u16) -> u16 {
        mask
    }
    #[inline(always)]
    fn all_ones(self, vector: Vector) -> u16 {
        gathered(vector.map(|digit| ((u64::from(digit) + 1) >> 32) as u32))
    }
    #[inline(always)]
    fn move_where(self, mask: u16, a: Vector, b: Vector) -> Vector {
        let mask = widened(mask);
        std::array::from_fn(|i| a[i] ^ (mask[i] & (a[i] ^ b[i])))
    }
    #[inline(always)]
    fn equal(self, a: Vector, b: Vector) -> u16 {
        gathered(std::array::from_fn(|i| {
            let difference = a[i] ^ b[i];
            !(difference | difference.wrapping_neg()) >> 31
        }))
    }
}

carry_roots!(CarryPortable, features: []);
