//! Numbers in Montgomery form, one at a time, by vector carry propagation chains.

use bytemuck::{cast_slice, cast_slice_mut};

use super::constants::{Constants, words_of, zeros};
use super::machine::Digits;
use super::machine::{Kernels, SCRATCH};
use crate::limbs::{self, Numbers};
use crate::montgomery::{Costs, Montgomery};
use crate::place::AlignedBuf;

/// The arithmetic on one number, with its working memory. Numbers stay below `R` (see [`super`]).
pub struct Context<'a, M: Kernels> {
    machine: M,
    constants: &'a Constants,
    product: AlignedBuf<Digits>,
    scratch: AlignedBuf<Digits>,
}

impl<'a, M: Kernels> Context<'a, M> {
    /// Prepares the working memory.
    pub fn new(machine: M, constants: &'a Constants) -> Self {
        Self { machine, constants, product: zeros(constants.words()), scratch: zeros(SCRATCH) }
    }
}

impl<M: Kernels> Context<'_, M> {
    fn multiply(&mut self, a: &[u64], b: &[u64]) {
        let scratch = self.scratch.first_chunk_mut().expect("SCRATCH vectors");
        self.machine.amm(&mut self.product, scratch, cast_slice(a), cast_slice(b), self.constants.modulus());
    }
}

impl<M: Kernels> Montgomery for Context<'_, M> {
    fn count(&self) -> usize {
        1
    }

    fn words(&self) -> usize {
        self.constants.one.len()
    }

    fn one(&mut self) -> AlignedBuf {
        self.constants.one.clone()
    }

    fn bits(&self) -> usize {
        64 * self.words()
    }

    fn piece(&mut self, numbers: &[&[u64]], from: usize, bits: usize) -> AlignedBuf {
        let piece = numbers[0].get(from / 64..).unwrap_or(&[]);
        words_of(&piece[..piece.len().min(bits / 64)], self.constants.words())
    }

    /// A product of a number below `R` and one below `M` is below `2M`, and canonical below `M`; the sum is
    /// below `R + M`, so that one subtraction of `M`, where it can be made, suffices.
    fn add(&mut self, x: &mut [u64], piece: &[u64]) {
        let residue = self.constants.canonical(x);
        x.copy_from_slice(piece);
        let carry = limbs::add_assign(x, &residue);
        limbs::reduce_once(x, carry, self.constants.modulus.limbs());
    }

    fn enter_factor(&mut self) -> AlignedBuf {
        self.constants.enter.clone()
    }

    fn amm(&mut self, x: &mut [u64], y: &[u64]) {
        self.multiply(x, y);
        x.copy_from_slice(cast_slice(&self.product));
    }

    /// This costs full multiplications: the paper has no squaring of its own, and four chains that add whole
    /// vectors would not gain from one.
    fn ams(&mut self, x: &mut [u64], times: usize) {
        for _ in 0..times {
            self.multiply(x, x);
            x.copy_from_slice(cast_slice(&self.product));
        }
    }

    fn select(&mut self, out: &mut [u64], table: &[u64], index: &[u64]) {
        self.machine.select(cast_slice_mut(out), cast_slice(table), index[0] as u32);
    }

    /// The fewest multiplications: 5 bits for exponents of 512 bits, 6 for 1024 and 2048, as in the paper.
    fn costs(&self) -> Costs {
        Costs { build: 1, multiply: 1, read: 0 }
    }

    /// A product of `x < R` and a plain `y < M` is below `x·y/R + M < 2M`.
    fn canonical(&mut self, x: &[u64], count: usize) -> Numbers {
        debug_assert_eq!(count, 1);
        self.constants.canonical(x).into()
    }
}
