//! What is computed once per modulus.

use core::fmt;

use super::{DIGIT_BITS, LANES, MAX_DIGITS};
use crate::OddModulus;
use crate::bounds::{FREE_BITS, REDUCED};
use crate::limbs::{self, Limbs};

/// How the digits of a number are laid out in vectors. Only numbers of one shape can be side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `L`, the digits in use: `R = 2^{52L}`.
    pub digits: usize,
    /// Vectors in a tile, which are multiplied together.
    pub width: usize,
    /// The number of tiles; a number has `width·tiles` vectors.
    pub tiles: usize,
}

/// The widest tile: two accumulators for each of its vectors and one more, and the tile, fit into 32
/// registers.
pub(super) const MAX_WIDTH: usize = 5;
/// Digit counts with a kernel of their own, all in registers: primes of 512, 768, 1024, 1536 and 2048 bits.
const TUNED: [usize; 5] = [10, 16, 20, 30, 40];

impl Shape {
    /// The shape for moduli of up to `bits` bits: `2^{52L} ≥ 8M`.
    pub const fn new(bits: usize) -> Self {
        let digits = (bits + FREE_BITS).div_ceil(DIGIT_BITS as usize);
        // At least two vectors: there is no code for one.
        let vectors = if digits <= LANES { 2 } else { digits.div_ceil(LANES) };
        let mut i = 0;
        while i < TUNED.len() {
            if digits <= TUNED[i] && vectors == TUNED[i].div_ceil(LANES) {
                return Self { digits: TUNED[i], width: vectors, tiles: 1 };
            }
            i += 1;
        }
        let tiles = vectors.div_ceil(MAX_WIDTH);
        let width = vectors.div_ceil(tiles);
        Self { digits: LANES * width * tiles, width, tiles }
    }

    /// Vectors of a number.
    pub const fn vectors(self) -> usize {
        self.width * self.tiles
    }

    /// Whether a kernel of its own exists.
    pub const fn is_tuned(self) -> bool {
        let mut i = 0;
        while i < TUNED.len() && TUNED[i] != self.digits {
            i += 1;
        }
        i < TUNED.len()
    }

    /// Vectors of a number shifted up by 0 to 7 digits, tile by tile: each tile 8 times, with one vector more
    /// above it.
    pub const fn shifted(self) -> usize {
        LANES * (self.width + 1) * self.tiles
    }

    /// Vectors of the factors that depend on the modulus.
    pub const fn tables(self) -> usize {
        2 * self.shifted() + LANES
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
    /// Words of the vectors that products are made with, [`Shape::tables`]: `M''` shifted, `M` shifted, and
    /// `N' = −M^{−1} mod 2^416` shifted, one vector each time.
    pub(super) tables: Limbs,
    /// `R mod M`, in digits: the number 1 in Montgomery's domain.
    pub(super) one: Limbs,
    /// `R² mod M`: brings a number into the domain.
    pub(super) enter: Limbs,
    /// `R·2^{52(L−1)} mod M`: shifts a plain number by `L − 1` digits.
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
    /// The longest modulus, in bits.
    pub const MAX_BITS: usize = MAX_DIGITS * DIGIT_BITS as usize - FREE_BITS;

    /// Whether numbers of this length can be prepared.
    pub const fn fits(bits: usize) -> bool {
        1 < bits && bits <= Self::MAX_BITS
    }

    /// Prepares a modulus, in the shape of its own length.
    ///
    /// # Panics
    /// If the modulus is longer than [`MAX_BITS`](Self::MAX_BITS).
    pub fn new(modulus: &OddModulus) -> Self {
        Self::with_bits(modulus, modulus.bits())
    }

    /// Like [`new`](Self::new), in the shape of moduli of up to `bits` bits, to be side by side with one.
    ///
    /// # Panics
    /// As [`new`](Self::new), and if `bits` is less than the length of the modulus.
    pub fn with_bits(modulus: &OddModulus, bits: usize) -> Self {
        let (m, own_bits) = (modulus.limbs(), modulus.bits());
        assert!(own_bits <= bits && Self::fits(bits), "a modulus of {own_bits} bits prepared as one of {bits}");
        let shape = Shape::new(bits);
        let (w, l) = (DIGIT_BITS as usize, shape.digits);
        let in_digits = |number: &[u64]| limbs::digits_of(number, DIGIT_BITS, LANES * shape.vectors());

        // N', of six limbs and a half, as B.
        let mut inverse = limbs::negative_inverse_many(m, B_BITS.div_ceil(64));
        inverse[B_BITS / 64] &= (1 << (B_BITS % 64)) - 1;
        // N'·M + 1, exactly divisible by B.
        let mut multiple = limbs::mul(m, &inverse);
        limbs::add_assign(&mut multiple, &[1]);
        let multiple = limbs::digits_of(&multiple, DIGIT_BITS, LANES * shape.vectors() + LANES);
        debug_assert!(multiple[..LANES].iter().all(|&digit| digit == 0));

        let inverse = limbs::digits_of(&inverse, DIGIT_BITS, LANES);
        let tables = factors(shape, &multiple[LANES..], &in_digits(m), &inverse);
        Self {
            shape,
            modulus: modulus.clone(),
            tables,
            one: in_digits(&modulus.power_of_two(w * l)),
            enter: in_digits(&modulus.power_of_two(2 * w * l)),
            shift: in_digits(&modulus.power_of_two(w * (2 * l - 1))),
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

    /// The canonical residue of a number below `3M`, given in digits.
    pub(super) fn canonical(&self, digits: &[u64]) -> Limbs {
        let mut number = limbs::zero(self.modulus.limbs().len() + 1);
        limbs::from_digits(digits, DIGIT_BITS, &mut number);
        self.modulus.canonical(number, REDUCED - 1)
    }
}

/// The bits of `B`, one vector of digits.
const B_BITS: usize = LANES * DIGIT_BITS as usize;

/// The words of the vectors that products are made with, [`Shape::tables`], from the digits of `M''`, `M` and
/// `N'`: the first two as long as the shape's vectors, the last as one.
pub fn factors(shape: Shape, friendly: &[u64], modulus: &[u64], inverse: &[u64]) -> Limbs {
    let mut tables = limbs::zero(LANES * shape.tables());
    let (first, rest) = tables.split_at_mut(LANES * shape.shifted());
    let (plain, low) = rest.split_at_mut(LANES * shape.shifted());
    shift_up(first, friendly, shape);
    shift_up(plain, modulus, shape);
    for (up, vector) in low.chunks_exact_mut(LANES).enumerate() {
        vector[up..].copy_from_slice(&inverse[..LANES - up]);
    }
    tables
}

/// Each tile of a number shifted up by 0, 1, … 7 digits, in one vector more than it has.
fn shift_up(out: &mut [u64], digits: &[u64], shape: Shape) {
    let width = LANES * shape.width;
    let tables = out.chunks_exact_mut(LANES * (width + LANES));
    for (table, tile) in tables.zip(digits.chunks_exact(width)) {
        for (up, vectors) in table.chunks_exact_mut(width + LANES).enumerate() {
            vectors[up..up + width].copy_from_slice(tile);
        }
    }
}
