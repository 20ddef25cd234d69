//! The constants of a modulus, computed once.

use core::fmt;

use super::{DIGIT_BITS, LANES, MAX_COUNT, MAX_VECTORS, TOP_BITS};
use crate::OddModulus;
use crate::bounds::{FREE_BITS, REDUCED};
use crate::limbs::{self, Limbs};

/// How numbers are laid across vectors. Only numbers of one shape can be side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `V`, the vectors of a number: the digits of each segment.
    pub vectors: usize,
    /// The numbers side by side, 1 or 2.
    pub count: usize,
}

/// The vectors that a number can have: those of two numbers side by side of up to 409, 617, 825, 1033, 1241,
/// 1657 and 2073 bits, or one of twice the length. Beyond, numbers are tiles of five vectors.
const SHORT: [usize; 7] = [2, 3, 4, 5, 6, 8, 10];
/// The vectors of a tile of longer numbers.
const TILE: usize = 5;

impl Shape {
    /// The shape of `count` moduli of up to `bits` bits: `R ≥ 8M`.
    pub const fn new(bits: usize, count: usize) -> Self {
        let segment = (bits + FREE_BITS).div_ceil(LANES / count);
        // The top digit of a segment has a bit less.
        let vectors = (segment + 1).div_ceil(DIGIT_BITS as usize);
        let mut i = 0;
        while i < SHORT.len() {
            if vectors <= SHORT[i] {
                return Self { vectors: SHORT[i], count };
            }
            i += 1;
        }
        Self { vectors: vectors.next_multiple_of(TILE), count }
    }

    /// `D`, the segments of a number.
    pub const fn segments(self) -> usize {
        LANES / self.count
    }

    /// `s`, the bits of a segment.
    pub const fn segment_bits(self) -> usize {
        DIGIT_BITS as usize * self.vectors - 1
    }

    /// `log2 R`.
    pub const fn bits(self) -> usize {
        self.segment_bits() * self.segments()
    }

    /// How many digits of the last segment are cleared at a time, at most.
    pub(super) const fn cleared(self) -> usize {
        if self.vectors < TILE { self.vectors } else { TILE }
    }

    /// `segments` segments of a number from bit `from` on, as digits: vector by vector, and in each vector
    /// the lowest segment first.
    pub(super) fn cut(self, number: &[u64], from: usize, segments: usize) -> Limbs {
        let mut out = limbs::zero(self.vectors * self.segments());
        let mut digits = limbs::zero(self.vectors);
        for k in 0..segments {
            limbs::to_digits(number, from + self.segment_bits() * k, DIGIT_BITS, &mut digits);
            digits[self.vectors - 1] &= (1 << TOP_BITS) - 1;
            for (vector, &digit) in out.chunks_exact_mut(self.segments()).zip(&*digits) {
                vector[k] = digit;
            }
        }
        out
    }

    /// The number whose digits are laid out as [`cut`](Self::cut) does; each may have 52 bits. Precondition:
    /// it fits `limbs` limbs.
    fn join(self, digits: &[u64], limbs: usize) -> Limbs {
        let mut out = limbs::zero(limbs);
        // Beyond the limbs are zeros: the modulus may be shorter than its shape.
        let mut put = |limb: usize, word: u64| match out.get_mut(limb) {
            Some(out) => *out = word,
            None => debug_assert_eq!(word, 0, "a number that is longer than its limbs"),
        };
        // The part that is not in a limb yet, and how many of its bits later digits cannot change.
        let (mut sum, mut bits, mut limb) = (0_u128, 0, 0);
        for k in 0..self.segments() {
            for (i, vector) in digits.chunks_exact(self.segments()).enumerate() {
                sum += u128::from(vector[k]) << bits;
                bits += if i + 1 < self.vectors { DIGIT_BITS } else { TOP_BITS };
                if bits >= u64::BITS {
                    put(limb, sum as u64);
                    (sum, bits, limb) = (sum >> 64, bits - u64::BITS, limb + 1);
                }
            }
        }
        put(limb, sum as u64);
        out
    }

    /// Vectors of working space: the columns of a sum, and the digits of a quotient. None up to five vectors,
    /// where no machine has tiles.
    pub(super) const fn space(self) -> usize {
        if self.vectors > TILE { 3 * self.vectors } else { 0 }
    }

    /// Vectors of the factors that depend on the moduli: `M''`, `M`, and the last inverse.
    pub const fn tables(self) -> usize {
        2 * self.vectors + self.cleared()
    }
}

/// Everything the kernels need of one modulus `M`.
///
/// The modulus may be secret (a prime of an RSA key): only the length it was prepared for shows in the time
/// taken. Zeroised when dropped.
#[derive(Clone)]
pub struct Constants {
    shape: Shape,
    modulus: OddModulus,
    /// `M''`, in digits as [`Shape::cut`] has them, as the others are.
    pub(super) friendly: Limbs,
    /// `M`.
    pub(super) plain: Limbs,
    /// The digits of `−M^{−1}` that clear a part of the last segment.
    pub(super) inverse: Limbs,
    /// `R mod M`: the number 1 in Montgomery form.
    pub(super) one: Limbs,
    /// `R² mod M`: brings a number into Montgomery form.
    pub(super) enter: Limbs,
    /// `R·2^{s(D−1)} mod M`: shifts a plain number by all segments but one.
    pub(super) shift: Limbs,
}

impl fmt::Debug for Constants {
    /// Shows the length of the modulus, not its value: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (modulus, shape) = (&self.modulus, &self.shape);
        f.debug_struct("Constants").field("modulus", modulus).field("shape", shape).finish_non_exhaustive()
    }
}

impl Constants {
    /// The longest modulus, in bits, also side by side with another.
    pub const MAX_BITS: usize = Shape { vectors: MAX_VECTORS, count: MAX_COUNT }.bits() - FREE_BITS;

    /// Whether numbers of this length can be prepared.
    pub const fn fits(bits: usize) -> bool {
        1 < bits && bits <= Self::MAX_BITS
    }

    /// Prepares a modulus to be side by side with others, `count` of them in all: 1 or 2. It gets the shape
    /// of moduli of up to `bits` bits.
    ///
    /// # Panics
    /// If the modulus is longer than `bits`, or that is more than [`MAX_BITS`](Self::MAX_BITS), or for
    /// another `count`.
    pub fn new(modulus: &OddModulus, bits: usize, count: usize) -> Self {
        let (m, own_bits) = (modulus.limbs(), modulus.bits());
        assert!(
            own_bits <= bits && Self::fits(bits),
            "a modulus of {own_bits} bits prepared as one of {bits}"
        );
        assert!((1..=MAX_COUNT).contains(&count), "numbers side by side: {count}");
        let shape = Shape::new(bits, count);
        let s = shape.segment_bits();

        // N' = −M^{−1} mod B.
        let mut inverse = limbs::negative_inverse_many(m, s / 64 + 1);
        inverse[s / 64] &= (1 << (s % 64)) - 1;
        // N'·M + 1, exactly divisible by B.
        let mut multiple = limbs::mul(m, &inverse);
        limbs::add_assign(&mut multiple, &[1]);
        debug_assert!(shape.cut(&multiple, 0, 1).iter().all(|&digit| digit == 0));
        let power = |e: usize| shape.cut(&modulus.power_of_two(e), 0, shape.segments());
        Self {
            shape,
            modulus: modulus.clone(),
            friendly: shape.cut(&multiple, s, shape.segments()),
            plain: shape.cut(m, 0, shape.segments()),
            inverse: limbs::digits_of(&inverse, DIGIT_BITS, shape.cleared()),
            one: power(shape.bits()),
            enter: power(2 * shape.bits()),
            shift: power(2 * shape.bits() - s),
        }
    }

    /// The layout of numbers in vectors.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The modulus.
    pub fn modulus(&self) -> &OddModulus {
        &self.modulus
    }

    /// The canonical residue of a number below `3M`, given in digits below `2^52`.
    pub(super) fn canonical(&self, digits: &[u64]) -> Limbs {
        self.modulus.canonical(self.shape.join(digits, self.modulus.limbs().len() + 1), REDUCED - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_joined_as_they_were_cut() {
        for vectors in SHORT.into_iter().chain([15]) {
            for count in 1..=MAX_COUNT {
                let shape = Shape { vectors, count };
                let len = shape.bits().div_ceil(64);
                let mut number = limbs::zero(len);
                for (i, limb) in number.iter_mut().enumerate() {
                    *limb = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                }
                number[len - 1] >>= 64 * len - shape.bits();
                let mut digits = shape.cut(&number, 0, shape.segments());
                assert_eq!(*shape.join(&digits, len), *number, "{shape:?}");
                // All ones, also in the top digits, which then reach into the segments above.
                digits.fill((1 << DIGIT_BITS) - 1);
                let power = |exponent: usize| {
                    let mut power = limbs::zero(exponent / 64 + 1);
                    power[exponent / 64] = 1 << (exponent % 64);
                    power
                };
                let mut expected = limbs::zero(len + 1);
                for (i, _) in digits.iter().enumerate() {
                    let (k, i) = (i % shape.segments(), i / shape.segments());
                    let at = power(shape.segment_bits() * k + DIGIT_BITS as usize * i);
                    let term = limbs::mul(&[(1 << DIGIT_BITS) - 1], &at);
                    limbs::add_assign(&mut expected, &term[..term.len().min(len + 1)]);
                }
                assert_eq!(*shape.join(&digits, len + 1), *expected, "{shape:?}, ones");
                // A number that is shorter than its shape.
                let short = shape.cut(&number[..2], 0, shape.segments());
                assert_eq!(*shape.join(&short, 2), number[..2], "{shape:?}, two limbs");
            }
        }
    }
}
