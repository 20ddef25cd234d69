//! The arithmetic on one number, or on two side by side.

use alloc::vec::Vec;

use bytemuck::{cast_slice, cast_slice_mut};

use super::{Constants, DIGIT_BITS, Kernels, LANES, Shape, TOP_BITS};
use crate::limbs::{self, Limbs, Numbers};
use crate::montgomery::{Costs, Montgomery};
use crate::place::AlignedBuf;

/// The arithmetic on one number, or on two side by side, with its working memory.
pub struct Context<'a, M: Kernels> {
    machine: M,
    moduli: Vec<&'a Constants>,
    shape: Shape,
    tables: AlignedBuf<M::Vector>,
    space: AlignedBuf<M::Vector>,
}

impl<'a, M: Kernels> Context<'a, M> {
    /// Prepares for numbers of one or two moduli, of one shape.
    ///
    /// # Panics
    /// If there are not as many moduli as they are prepared for, or their shapes differ (see
    /// [`Constants::new`]).
    pub fn new(machine: M, moduli: &[&'a Constants]) -> Self {
        assert!(!moduli.is_empty(), "no moduli");
        let shape = moduli[0].shape();
        assert!(moduli.iter().all(|c| c.shape() == shape), "moduli prepared for different lengths");
        assert!(
            moduli.len() == shape.count,
            "{} moduli prepared for {} side by side",
            moduli.len(),
            shape.count
        );
        // Anywhere: a place in a page gains nothing here, and would cost 4 KiB for each number.
        let place = |len| AlignedBuf::new(machine.zero(), len, None);
        let (mut tables, space) = (place(shape.tables()), place(shape.space()));
        let (friendly, rest) = tables.split_at_mut(shape.vectors);
        let (plain, inverse) = rest.split_at_mut(shape.vectors);
        load(machine, friendly, shape, |i| &moduli[i].friendly);
        load(machine, plain, shape, |i| &moduli[i].plain);
        for (i, vector) in inverse.iter_mut().enumerate() {
            let words = core::array::from_fn(|lane| moduli[lane % shape.count].inverse[i]);
            *vector = machine.digits(machine.vector(words));
        }
        Self { machine, moduli: moduli.to_vec(), shape, tables, space }
    }

    /// A number of every modulus, from its digits.
    fn load<'b>(&mut self, digits: impl Fn(usize, &'a Constants) -> &'b [u64]) -> AlignedBuf
    where
        'a: 'b,
    {
        let mut out = self.zeros(self.words());
        load(self.machine, cast_slice_mut(&mut out), self.shape, |i| digits(i, self.moduli[i]));
        out
    }

    /// The digits of one of the numbers side by side, as [`Shape::cut`] has them.
    fn store(&self, x: &[u64], number: usize) -> Limbs {
        let x: &[M::Vector] = cast_slice(x);
        let (segments, count) = (self.shape.segments(), self.shape.count);
        let mut out = limbs::zero(segments * x.len());
        for (out, &vector) in out.chunks_exact_mut(segments).zip(x) {
            let columns = self.machine.columns(vector);
            for (k, digit) in out.iter_mut().enumerate() {
                *digit = self.machine.lanes(&columns)[count * k + number] & ((1 << DIGIT_BITS) - 1);
            }
        }
        out
    }
}

impl<M: Kernels> Montgomery for Context<'_, M> {
    fn count(&self) -> usize {
        self.moduli.len()
    }

    fn words(&self) -> usize {
        LANES * self.shape.vectors
    }

    fn one(&mut self) -> AlignedBuf {
        self.load(|_, c| &c.one)
    }

    fn bits(&self) -> usize {
        self.shape.bits()
    }

    /// All segments but one: `3M + R/2^s < R`.
    fn step_bits(&self) -> usize {
        self.shape.bits() - self.shape.segment_bits()
    }

    fn piece(&mut self, numbers: &[&[u64]], from: usize, bits: usize) -> AlignedBuf {
        let (shape, segments) = (self.shape, bits / self.shape.segment_bits());
        let digits: Vec<Limbs> = numbers.iter().map(|number| shape.cut(number, from, segments)).collect();
        self.load(|i, _| &digits[i.min(digits.len() - 1)])
    }

    /// Digit by digit, with carries passed on.
    fn add(&mut self, x: &mut [u64], piece: &[u64]) {
        let add = |number: usize| {
            let (mut sum, piece) = (self.store(x, number), self.store(piece, number));
            let (mut carry, segments) = (0, self.shape.segments());
            for k in 0..segments {
                for i in 0..self.shape.vectors {
                    let bits = if i + 1 < self.shape.vectors { DIGIT_BITS } else { TOP_BITS };
                    let value = sum[segments * i + k] + piece[segments * i + k] + carry;
                    (sum[segments * i + k], carry) = (value & ((1 << bits) - 1), value >> bits);
                }
            }
            sum
        };
        let sums: Vec<Limbs> = (0..self.count()).map(add).collect();
        let sum = self.load(|i, _| &sums[i]);
        x.copy_from_slice(&sum);
    }

    fn enter_factor(&mut self) -> AlignedBuf {
        self.load(|_, c| &c.enter)
    }

    fn shift_factor(&mut self) -> AlignedBuf {
        self.load(|_, c| &c.shift)
    }

    fn amm(&mut self, x: &mut [u64], y: &[u64]) {
        self.machine.amm(self.shape, cast_slice_mut(x), cast_slice(y), &self.tables, &mut self.space);
    }

    fn ams(&mut self, x: &mut [u64], times: usize) {
        self.machine.ams(self.shape, cast_slice_mut(x), times, &self.tables, &mut self.space);
    }

    fn select(&mut self, out: &mut [u64], table: &[u64], index: &[u64]) {
        self.machine.select_entry(self.shape, cast_slice_mut(out), cast_slice(table), index);
    }

    /// A table is read at two vectors a cycle, the rate of multiplications.
    fn costs(&self) -> Costs {
        let (v, segments) = (self.shape.vectors, self.shape.segments());
        let product = 4 * segments * v * v;
        Costs { build: product, multiply: product, read: v }
    }

    fn canonical(&mut self, x: &[u64], count: usize) -> Numbers {
        debug_assert!(count <= self.moduli.len());
        let mut out = Numbers::default();
        for (i, c) in self.moduli.iter().enumerate().take(count) {
            out.append(c.canonical(&self.store(x, i)).into());
        }
        out
    }
}

/// Digits of numbers side by side into vectors.
fn load<'a, M: Kernels>(m: M, out: &mut [M::Vector], shape: Shape, digits: impl Fn(usize) -> &'a [u64]) {
    let (first, last) = (digits(0), digits(shape.count - 1));
    for (i, out) in out.iter_mut().enumerate() {
        let words = match shape.count {
            1 => core::array::from_fn(|lane| first[LANES * i + lane]),
            _ => core::array::from_fn(|lane| [first, last][lane % 2][LANES / 2 * i + lane / 2]),
        };
        *out = m.digits(m.vector(words));
    }
}
