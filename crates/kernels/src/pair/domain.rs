//! One or two numbers side by side, as a domain for exponentiation.

use alloc::vec::Vec;

use super::bias::initial;
use super::{Constants, DIGIT_BITS, Kernels, LANES, MOST, Shape, columns_for, tables_for};
use crate::Domain as _;
use crate::domain::Costs;
use crate::limbs::{self, Limbs};
use crate::place::{COLUMNS, NUMBERS, Placed};
use crate::shared::Shared;

/// The working space of one number, or of two.
pub struct Domain<'a, M: Kernels> {
    machine: M,
    moduli: Vec<&'a Constants>,
    shape: Shape,
    tables: Placed<M::Vector>,
    columns: Placed<M::Vector>,
}

impl<'a, M: Kernels> Domain<'a, M> {
    /// Prepares for numbers of one or two moduli, of one shape.
    ///
    /// # Panics
    /// If there are no moduli or more than two, or if their shapes differ (see [`Constants::with_bits`]).
    pub fn new(machine: M, moduli: &[&'a Constants]) -> Self {
        assert!(!moduli.is_empty() && moduli.len() <= MOST, "numbers side by side: {}", moduli.len());
        let shape = moduli[0].shape();
        assert!(moduli.iter().all(|c| c.shape() == shape), "moduli prepared for different lengths");
        let place = |len, at| Placed::new(machine.zero(), len, Some(at));
        let mut tables = place(moduli.len() * tables_for(shape), NUMBERS);
        for (tables, constants) in tables.chunks_exact_mut(tables_for(shape)).zip(moduli) {
            let (tables, columns) = tables.split_at_mut(shape.tables());
            load(machine, tables, &constants.tables);
            if M::BIASED {
                for (column, value) in columns.iter_mut().zip(initial::<M>(shape)) {
                    *column = machine.vector([value; LANES]);
                }
            }
        }
        let columns = place(moduli.len() * columns_for(shape), COLUMNS);
        Self { machine, moduli: moduli.to_vec(), shape, tables, columns }
    }

    /// A number of every modulus, from digits.
    fn load<'b>(&mut self, digits: impl Fn(usize, &'a Constants) -> &'b [u64]) -> Placed<M::Vector>
    where
        'a: 'b,
    {
        let mut out = self.zeros(self.words());
        for (i, (out, &modulus)) in out.chunks_exact_mut(self.shape.vectors()).zip(&self.moduli).enumerate() {
            load(self.machine, out, digits(i, modulus));
        }
        out
    }

    fn multiply(&mut self, x: &mut [M::Vector], y: Option<&[M::Vector]>, times: usize) {
        self.machine.amm(self.shape, x, y, times, &self.tables, &mut self.columns);
    }
}

impl<M: Kernels> crate::Domain for Domain<'_, M> {
    type Word = M::Vector;
    const WINDOWS: usize = 1;

    fn count(&self) -> usize {
        self.moduli.len()
    }

    fn words(&self) -> usize {
        self.count() * self.shape.vectors()
    }

    fn zeros(&mut self, words: usize) -> Placed<M::Vector> {
        Placed::new(self.machine.zero(), words, Some(NUMBERS))
    }

    fn one(&mut self) -> Placed<M::Vector> {
        self.load(|_, c| &c.one)
    }

    fn bits(&self) -> usize {
        self.shape.digits * DIGIT_BITS as usize
    }

    /// A digit less than `R`: `3M + R/2^52 < R`.
    fn step_bits(&self) -> usize {
        (self.shape.digits - 1) * DIGIT_BITS as usize
    }

    fn piece(&mut self, numbers: &[&[u64]], from: usize, bits: usize) -> Placed<M::Vector> {
        let piece = |number: &&[u64]| {
            let mut digits = limbs::zero(LANES * self.shape.vectors());
            limbs::to_digits(number, from, DIGIT_BITS, &mut digits[..bits / DIGIT_BITS as usize]);
            digits
        };
        let digits: Vec<Limbs> = numbers.iter().map(piece).collect();
        self.load(|i, _| &digits[i.min(digits.len() - 1)])
    }

    fn add_piece(&mut self, x: &mut [M::Vector], piece: &[M::Vector]) {
        let vectors = self.shape.vectors();
        for (x, piece) in x.chunks_exact_mut(vectors).zip(piece.chunks_exact(vectors)) {
            add(self.machine, x, piece);
        }
    }

    fn enter_factor(&mut self) -> Placed<M::Vector> {
        self.load(|_, c| &c.enter)
    }

    fn shift_factor(&mut self) -> Placed<M::Vector> {
        self.load(|_, c| &c.shift)
    }

    fn amm(&mut self, x: &mut [M::Vector], y: &[M::Vector]) {
        self.multiply(x, Some(y), 1);
    }

    fn ams(&mut self, x: &mut [M::Vector], times: usize) {
        self.multiply(x, None, times);
    }

    fn select(&mut self, out: &mut [M::Vector], table: &[M::Vector], index: &[u64]) {
        self.machine.select_entry(self.shape, out, table, index);
    }

    /// A table is read at two vectors a cycle, the rate of multiplications.
    fn costs(&self) -> Costs {
        let n = self.shape.vectors();
        let product = 4 * LANES * n * (n + 1);
        Costs { build: product, multiply: product, read: n }
    }

    fn canonical(&mut self, x: &[M::Vector]) -> Vec<Limbs> {
        let numbers = x.chunks_exact(self.shape.vectors());
        self.moduli.iter().zip(numbers).map(|(c, number)| c.canonical(&store(self.machine, number))).collect()
    }
}

impl<M: Kernels> Shared for Domain<'_, M> {
    type Element = M::Vector;

    fn elements(&self) -> usize {
        self.shape.vectors()
    }

    fn blank(&mut self, elements: usize) -> Placed<M::Vector> {
        self.zeros(elements)
    }

    fn share(&mut self, out: &mut [M::Vector], entries: &[M::Vector]) {
        out.copy_from_slice(entries);
    }

    fn collect(&mut self, out: &mut [M::Vector], entries: &[&[M::Vector]]) {
        for (i, out) in out.chunks_exact_mut(self.shape.vectors()).enumerate() {
            out.copy_from_slice(entries[i.min(entries.len() - 1)]);
        }
    }

    /// Each number reads the row for itself.
    fn select_shared(&mut self, out: &mut [M::Vector], row: &[M::Vector], index: &[u64]) {
        for (out, &index) in out.chunks_exact_mut(self.shape.vectors()).zip(index) {
            self.machine.select_entry(self.shape, out, row, &[index]);
        }
    }
}

/// Digits into vectors.
fn load<M: Kernels>(m: M, out: &mut [M::Vector], digits: &[u64]) {
    let (words, _) = digits.as_chunks();
    for (out, &words) in out.iter_mut().zip(words) {
        *out = m.digits(m.vector(words));
    }
}

/// Vectors as digits.
fn store<M: Kernels>(m: M, vectors: &[M::Vector]) -> Limbs {
    let mut out = limbs::zero(LANES * vectors.len());
    for (out, &vector) in out.chunks_exact_mut(LANES).zip(vectors) {
        out.copy_from_slice(m.lanes(&m.columns(vector)));
    }
    out
}

/// `x += y`, with carries passed on.
fn add<M: Kernels>(m: M, x: &mut [M::Vector], y: &[M::Vector]) {
    let mut sum = store(m, x);
    limbs::add_digits(&mut sum, &store(m, y), DIGIT_BITS);
    load(m, x, &sum);
}
