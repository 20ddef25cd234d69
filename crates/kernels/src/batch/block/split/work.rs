//! What split products do beside their products.

use super::{Columns, DIGITS, Digits, HALF, QUARTER};
use crate::batch::Machine;
use crate::batch::block::beside::Beside;

/// `column` where the mask is set, else 0.
#[inline(always)]
pub(super) fn where_set<M: Machine>(m: M, mask: M::Mask, column: M::Column) -> M::Column {
    m.select_column(mask, m.column_splat(0), column)
}

/// `A − B` modulo `2^{wN}`: one digit in each step from `FROM` on. Column `k` is `A[k] + (2^w − 1 − B[k]) + carry`, the
/// first carry 1: its carry is 1 unless it borrows.
pub(super) struct Difference<'a, M: Machine, const N: usize, const FROM: usize> {
    a: &'a Digits<M, N>,
    b: &'a Digits<M, N>,
    out: &'a mut Digits<M, N>,
    carry: M::Column,
}

impl<'a, M: Machine, const N: usize, const FROM: usize> Difference<'a, M, N, FROM> {
    #[inline(always)]
    pub(super) fn new(m: M, a: &'a Digits<M, N>, b: &'a Digits<M, N>, out: &'a mut Digits<M, N>) -> Self {
        Self { a, b, out, carry: m.column_splat(1) }
    }

    /// Where `A < B`.
    #[inline(always)]
    pub(super) fn borrows(&self, m: M) -> M::Mask {
        m.equals(self.carry, 0)
    }
}

impl<M: Machine, const N: usize, const FROM: usize> Beside<M> for Difference<'_, M, N, FROM> {
    #[inline(always)]
    fn step(&mut self, m: M, n: usize) {
        if (FROM..FROM + N).contains(&n) {
            let (a, b) = (m.column(self.a[n - FROM]), m.column(self.b[n - FROM]));
            let complement = m.sub(m.column_splat((1 << M::DIGIT_BITS) - 1), b);
            let column = m.add(m.add(a, complement), self.carry);
            (self.out[n - FROM], self.carry) = (m.digit(column), m.carry(column));
        }
    }
}

/// The lowest columns as digits.
pub(super) struct Lowest<'a, M: Machine> {
    pub(super) columns: &'a [M::Column],
    pub(super) digits: &'a mut Digits<M, HALF>,
    pub(super) carry: M::Column,
}

impl<M: Machine> Beside<M> for Lowest<'_, M> {
    #[inline(always)]
    fn step(&mut self, m: M, n: usize) {
        if n < HALF {
            let column = m.add(self.columns[n], self.carry);
            (self.digits[n], self.carry) = (m.operand(column), m.carry(column));
        }
    }
}

/// `D0 + D2` in the place of the middle: `D0`'s lower half is the quotient.
pub(super) struct Sums<'a, M: Machine> {
    pub(super) columns: &'a mut Columns<M, { 2 * DIGITS }>,
    pub(super) quotient: &'a Digits<M, HALF>,
}

impl<M: Machine> Beside<M> for Sums<'_, M> {
    #[inline(always)]
    fn step(&mut self, m: M, n: usize) {
        if (QUARTER..QUARTER + HALF).contains(&n) {
            let (c, k) = (&mut *self.columns, n - QUARTER);
            let shared = m.add(c[HALF + k], c[DIGITS + k]);
            c[HALF + k] = m.add(shared, m.column(self.quotient[k]));
            c[DIGITS + k] = m.add(shared, c[3 * HALF + k]);
        }
    }
}

/// The product of the factors' differences, or the square of one.
pub(super) struct Middle<'a, M: Machine> {
    pub(super) product: &'a Columns<M, DIGITS>,
    pub(super) square: bool,
    pub(super) differences: [&'a Digits<M, HALF>; 2],
    pub(super) borrows: [M::Mask; 2],
}

/// Its lower half is added to the columns, or a square's is subtracted.
pub(super) struct LowerMiddle<'a, M: Machine> {
    pub(super) columns: &'a mut Columns<M, { 2 * DIGITS }>,
    pub(super) middle: &'a Middle<'a, M>,
}

impl<M: Machine> Beside<M> for LowerMiddle<'_, M> {
    #[inline(always)]
    fn step(&mut self, m: M, n: usize) {
        if n < HALF {
            let (c, middle) = (&mut self.columns[HALF + n], self.middle.product[n]);
            *c = if self.middle.square { m.sub(*c, middle) } else { m.add(*c, middle) };
        }
    }
}

/// Its upper half, with what is due to differences that borrow.
pub(super) struct UpperMiddle<'a, M: Machine> {
    pub(super) columns: &'a mut Columns<M, { 2 * DIGITS }>,
    pub(super) middle: &'a Middle<'a, M>,
}

impl<M: Machine> Beside<M> for UpperMiddle<'_, M> {
    #[inline(always)]
    fn step(&mut self, m: M, n: usize) {
        if n < HALF {
            let Middle { product, square, differences, borrows } = *self.middle;
            let (c, middle) = (&mut self.columns[DIGITS + n], product[HALF + n]);
            let [d, f] = differences.map(|difference| m.column(difference[n]));
            *c = if square {
                m.add(m.sub(*c, middle), where_set(m, borrows[0], m.add(d, d)))
            } else {
                let column = m.sub(m.add(*c, middle), where_set(m, borrows[0], f));
                m.sub(column, where_set(m, borrows[1], d))
            };
        }
    }
}

/// The quotient, and the difference of its halves.
pub(super) struct Quotient<'a, M: Machine> {
    pub(super) halves: [&'a Digits<M, QUARTER>; 2],
    pub(super) difference: &'a Digits<M, QUARTER>,
    pub(super) borrows: M::Mask,
}

/// What a product of differences `(d − Y·s)·(f − Y·t)` has besides `d·f`.
pub(super) struct Correction<'a, M: Machine> {
    pub(super) quotient: &'a Quotient<'a, M>,
    pub(super) f: &'a Digits<M, QUARTER>,
    pub(super) sign: M::Mask,
}

impl<M: Machine> Correction<'_, M> {
    /// `column − (s·f + t·d)[k]`.
    #[inline(always)]
    pub(super) fn of(&self, m: M, column: M::Column, k: usize) -> M::Column {
        let (d, f) = (m.column(self.quotient.difference[k]), m.column(self.f[k]));
        m.sub(m.sub(column, where_set(m, self.quotient.borrows, f)), where_set(m, self.sign, d))
    }

    /// `column + s·t`.
    #[inline(always)]
    pub(super) fn carry(&self, m: M, column: M::Column) -> M::Column {
        m.add(column, where_set(m, self.quotient.borrows, where_set(m, self.sign, m.column_splat(1))))
    }
}

/// The correction of columns 30 to 34.
pub(super) struct Corrections<'a, M: Machine> {
    pub(super) columns: &'a mut Columns<M, { 2 * DIGITS }>,
    pub(super) correction: &'a Correction<'a, M>,
}

impl<M: Machine> Beside<M> for Corrections<'_, M> {
    #[inline(always)]
    fn step(&mut self, m: M, n: usize) {
        if n < QUARTER {
            let c = &mut self.columns[3 * HALF + n];
            *c = self.correction.of(m, *c, n);
        }
    }
}
