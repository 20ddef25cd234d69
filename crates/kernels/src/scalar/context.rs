//! The arithmetic on one number in limbs.

use super::{Constants, Kernels};
use crate::bounds::REDUCED_FULL;
use crate::limbs::{self, Limbs, Numbers};
use crate::montgomery::{Costs, Layout, Montgomery};
use crate::place::AlignedBuf;

/// The arithmetic modulo one modulus, one number at a time. Numbers in Montgomery form may be any below
/// `R = 2^{64n}`: a product is not compared with the modulus, and only one masked subtraction follows where
/// it overflows.
pub struct Context<'a, S> {
    machine: S,
    constants: &'a Constants,
    /// A product, before it is reduced.
    t: AlignedBuf,
}

impl<'a, S: Kernels> Context<'a, S> {
    /// The context of a modulus.
    ///
    /// # Panics
    /// If the constants were made for a machine with other lengths.
    pub fn new(machine: S, constants: &'a Constants) -> Self {
        let n = constants.limbs();
        assert!(n.is_multiple_of(S::STEP), "{n} limbs: made for another machine");
        Self { machine, constants, t: AlignedBuf::new(0, 2 * n, None) }
    }

    fn number(&self, limbs: &[u64]) -> AlignedBuf {
        let mut out = AlignedBuf::new(0, self.constants.limbs(), None);
        out[..limbs.len()].copy_from_slice(limbs);
        out
    }

    fn reduce(&mut self, out: &mut [u64]) {
        self.machine.reduce(out, &mut self.t, &self.constants.padded, self.constants.mu[0]);
    }
}

impl<S: Kernels> Montgomery for Context<'_, S> {
    fn count(&self) -> usize {
        1
    }

    fn words(&self) -> usize {
        self.constants.limbs()
    }

    fn one(&mut self) -> AlignedBuf {
        self.number(&self.constants.one)
    }

    fn bits(&self) -> usize {
        64 * self.words()
    }

    fn layout(&self) -> Option<Layout> {
        Some(Layout { digit_bits: 64, words: 1 })
    }

    fn piece(&mut self, numbers: &[&[u64]], from: usize, bits: usize) -> AlignedBuf {
        let piece = numbers[0].get(from / 64..).unwrap_or(&[]);
        self.number(&piece[..piece.len().min(bits / 64)])
    }

    /// A product of a number below `R` and one below `M` is below `2M`; with one `M` less where possible, the
    /// sum is below `M + R`, and again one subtraction suffices.
    fn add(&mut self, x: &mut [u64], piece: &[u64]) {
        let modulus = self.constants.modulus.limbs();
        limbs::reduce_once(x, 0, modulus);
        let carry = limbs::add_assign(x, piece);
        limbs::reduce_once(x, carry, modulus);
    }

    fn enter_factor(&mut self) -> AlignedBuf {
        self.number(&self.constants.enter)
    }

    /// Cost: `2n² + n` products.
    fn amm(&mut self, x: &mut [u64], y: &[u64]) {
        self.machine.mul(&mut self.t, x, y);
        self.reduce(x);
    }

    /// Cost, each time: `n(n + 1)/2 + n² + n` products.
    fn ams(&mut self, x: &mut [u64], times: usize) {
        for _ in 0..times {
            self.machine.sqr(&mut self.t, x);
            self.reduce(x);
        }
    }

    fn select(&mut self, out: &mut [u64], table: &[u64], index: &[u64]) {
        self.machine.select(out, table, index[0]);
    }

    /// In limbs read, of which `READ` take the time of a product.
    fn costs(&self) -> Costs {
        let n = self.constants.limbs();
        Costs { build: READ * (7 * n * n / 4), multiply: READ * 2 * n * n, read: n }
    }

    /// A product of a number below `R` and one below `M` is below `2M`.
    fn canonical(&mut self, x: &[u64], count: usize) -> Numbers {
        debug_assert_eq!(count, 1);
        self.constants.modulus.canonical(Limbs::new(x.to_vec()), REDUCED_FULL - 1).into()
    }
}

/// Limbs of a table read in the time of a product.
const READ: usize = 4;
