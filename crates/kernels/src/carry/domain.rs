//! Numbers in Montgomery's domain, one at a time, by vector carry propagation chains.

use super::constants::{Constants, digits_of, limbs_of, zeros};
use super::kernels::{Kernels, SPARE};
use super::machine::{DIGITS, Digits};
use crate::domain::Costs;
use crate::limbs::{self, Numbers};
use crate::place::Placed;

/// The working space of one number: closed below `R` (see [`super`]).
pub struct Domain<'a, M: Kernels> {
    machine: M,
    constants: &'a Constants,
    product: Placed<Digits>,
    spare: Placed<Digits>,
}

impl<'a, M: Kernels> Domain<'a, M> {
    /// Prepares working space.
    pub fn new(machine: M, constants: &'a Constants) -> Self {
        Self { machine, constants, product: zeros(constants.words()), spare: zeros(SPARE) }
    }
}

impl<M: Kernels> Domain<'_, M> {
    fn multiply(&mut self, a: &[Digits], b: &[Digits]) {
        let spare = self.spare.first_chunk_mut().expect("SPARE vectors");
        self.machine.amm(&mut self.product, spare, a, b, self.constants.modulus());
    }
}

impl<M: Kernels> crate::Domain for Domain<'_, M> {
    type Word = Digits;
    const WINDOWS: usize = 1;

    fn count(&self) -> usize {
        1
    }

    fn words(&self) -> usize {
        self.constants.words()
    }

    fn zeros(&mut self, words: usize) -> Placed<Digits> {
        zeros(words)
    }

    fn one(&mut self) -> Placed<Digits> {
        self.constants.one.clone()
    }

    fn bits(&self) -> usize {
        32 * DIGITS * self.words()
    }

    fn piece(&mut self, numbers: &[&[u64]], from: usize, bits: usize) -> Placed<Digits> {
        let piece = numbers[0].get(from / 64..).unwrap_or(&[]);
        digits_of(&piece[..piece.len().min(bits / 64)], self.words())
    }

    /// A product of a number below `R` and one below `M` is below `2M`, and canonical below `M`; the sum is
    /// below `R + M`, so that one subtraction of `M`, where it can be made, suffices.
    fn add_piece(&mut self, x: &mut [Digits], piece: &[Digits]) {
        let residue = self.constants.canonical(x);
        let mut sum = limbs::zero(self.bits() / 64);
        limbs_of(piece, &mut sum);
        let carry = limbs::add_assign(&mut sum, &residue);
        limbs::reduce_once(&mut sum, carry, self.constants.modulus.limbs());
        x.copy_from_slice(&digits_of(&sum, self.words()));
    }

    fn enter_factor(&mut self) -> Placed<Digits> {
        self.constants.enter.clone()
    }

    fn amm(&mut self, x: &mut [Digits], y: &[Digits]) {
        self.multiply(x, y);
        x.copy_from_slice(&self.product);
    }

    /// This costs full multiplications: the paper has no squaring of its own, and four chains that add whole
    /// vectors would not gain from one.
    fn ams(&mut self, x: &mut [Digits], times: usize) {
        for _ in 0..times {
            self.multiply(x, x);
            x.copy_from_slice(&self.product);
        }
    }

    fn select(&mut self, out: &mut [Digits], table: &[Digits], index: &[u64]) {
        self.machine.select(out, table, index[0] as u32);
    }

    /// The fewest multiplications: 5 bits for exponents of 512 bits, 6 for 1024 and 2048, as in the paper.
    fn costs(&self) -> Costs {
        Costs { build: 1, multiply: 1, read: 0 }
    }

    /// A product of `x < R` and a plain `y < M` is below `x·y/R + M < 2M`.
    fn canonical(&mut self, x: &[Digits], count: usize) -> Numbers {
        debug_assert_eq!(count, 1);
        self.constants.canonical(x).into()
    }
}

impl<M: Kernels> crate::Shared for Domain<'_, M> {
    alone! {}
}
