//! The arithmetic on two numbers, one across vectors and one in limbs.

use bytemuck::{cast_slice, cast_slice_mut};

use super::Kernels;
use crate::batch;
use crate::limbs::Numbers;
use crate::montgomery::{Costs, Montgomery};
use crate::place::AlignedBuf;
use crate::{rsaz, scalar};

/// The arithmetic modulo two moduli. A number is one for [`rsaz::Context`], and behind it one for
/// [`scalar::Context`]; these do all but products.
pub struct Context<'a, M: Kernels> {
    machine: M,
    vectors: rsaz::Context<'a, M::Vectors>,
    limbs: scalar::Context<'a, M::Limbs>,
    steps: M::Steps,
}

impl<'a, M: Kernels> Context<'a, M> {
    /// Prepares for a modulus from [`rsaz::constants()`] and one in limbs.
    ///
    /// # Panics
    /// As the contexts of both.
    pub fn new(machine: M, vectors: &'a batch::Constants, limbs: &'a scalar::Constants) -> Self {
        let steps = machine.steps(&limbs.padded, limbs.mu[0], vectors.digits() / 4);
        let vectors = rsaz::Context::new(machine.vectors(), vectors);
        Self { machine, vectors, limbs: scalar::Context::new(machine.limbs(), limbs), steps }
    }

    /// One number from its two parts.
    fn both(&mut self, vectors: &[u64], limbs: &[u64]) -> AlignedBuf {
        let mut out = self.zeros(self.words());
        out[..vectors.len()].copy_from_slice(vectors);
        out[vectors.len()..].copy_from_slice(limbs);
        out
    }
}

/// The numbers for the first modulus and for the second: the last is repeated.
fn parts<'b, 'c>(numbers: &'b [&'c [u64]]) -> [&'b [&'c [u64]]; 2] {
    [&numbers[..1], &numbers[numbers.len().min(2) - 1..][..1]]
}

impl<M: Kernels> Montgomery for Context<'_, M> {
    fn count(&self) -> usize {
        2
    }

    fn words(&self) -> usize {
        self.vectors.words() + self.limbs.words()
    }

    fn zeros(&mut self, words: usize) -> AlignedBuf {
        self.vectors.zeros(words)
    }

    fn one(&mut self) -> AlignedBuf {
        let (vectors, limbs) = (self.vectors.one(), self.limbs.one());
        self.both(&vectors, &limbs)
    }

    fn bits(&self) -> usize {
        self.vectors.bits().min(self.limbs.bits())
    }

    fn piece(&mut self, numbers: &[&[u64]], from: usize, bits: usize) -> AlignedBuf {
        let [first, second] = parts(numbers);
        let (vectors, limbs) = (self.vectors.piece(first, from, bits), self.limbs.piece(second, from, bits));
        self.both(&vectors, &limbs)
    }

    fn add(&mut self, x: &mut [u64], y: &[u64]) {
        let words = self.vectors.words();
        self.vectors.add(&mut x[..words], &y[..words]);
        self.limbs.add(&mut x[words..], &y[words..]);
    }

    fn enter_factor(&mut self) -> AlignedBuf {
        let (vectors, limbs) = (self.vectors.enter_factor(), self.limbs.enter_factor());
        self.both(&vectors, &limbs)
    }

    /// Each with its own `R`.
    fn plain(&mut self, numbers: &[&[u64]]) -> AlignedBuf {
        let [first, second] = parts(numbers);
        let (vectors, limbs) = (self.vectors.plain(first), self.limbs.plain(second));
        self.both(&vectors, &limbs)
    }

    /// Each with its own `R`, one after the other.
    fn enter(&mut self, numbers: &[&[u64]], bits: usize) -> AlignedBuf {
        let [first, second] = parts(numbers);
        let (vectors, limbs) = (self.vectors.enter(first, bits), self.limbs.enter(second, bits));
        self.both(&vectors, &limbs)
    }

    fn amm(&mut self, x: &mut [u64], y: &[u64]) {
        let words = self.vectors.words();
        let ((x, a), (y, b)) = (x.split_at_mut(words), y.split_at(words));
        let (space, steps) = (&mut self.vectors.space, &mut self.steps);
        self.machine.multiply(space, cast_slice_mut(x), cast_slice(y), steps, a, b);
    }

    fn ams(&mut self, x: &mut [u64], times: usize) {
        let (x, a) = x.split_at_mut(self.vectors.words());
        self.machine.square(&mut self.vectors.space, cast_slice_mut(x), times, &mut self.steps, a);
    }

    /// All entries of the first number, then all of the second.
    fn finish_table(&mut self, table: AlignedBuf) -> AlignedBuf {
        let (words, vectors) = (self.words(), self.vectors.words());
        let mut out = self.zeros(table.len());
        let (of_vectors, of_limbs) = out.split_at_mut(table.len() / words * vectors);
        let entries = of_vectors.chunks_exact_mut(vectors).zip(of_limbs.chunks_exact_mut(words - vectors));
        for ((first, second), entry) in entries.zip(table.chunks_exact(words)) {
            first.copy_from_slice(&entry[..vectors]);
            second.copy_from_slice(&entry[vectors..]);
        }
        self.recycle(table);
        out
    }

    fn select(&mut self, out: &mut [u64], table: &[u64], index: &[u64]) {
        let vectors = self.vectors.words();
        let (of_vectors, of_limbs) = table.split_at(table.len() / self.words() * vectors);
        self.vectors.select(&mut out[..vectors], of_vectors, &index[..1]);
        self.limbs.select(&mut out[vectors..], of_limbs, &index[1..]);
    }

    /// Those of the number across vectors; the other's have about the same ratios.
    fn costs(&self) -> Costs {
        self.vectors.costs()
    }

    fn canonical(&mut self, x: &[u64], count: usize) -> Numbers {
        let words = self.vectors.words();
        let mut out = self.vectors.canonical(&x[..words], 1);
        if count > 1 {
            out.append(self.limbs.canonical(&x[words..], 1));
        }
        out
    }
}
