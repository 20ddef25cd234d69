//! What split products do beside their products.

use super::{Columns, DIGITS, Digits};
use crate::batch::Machine;
use crate::batch::block::beside::Beside;
use crate::batch::block::short::{Correction, HALF_TERM, TERM, minus_crossed, plus_twice};

/// `D0 + D2` in the place of the middle: `D0`'s lower half is the quotient.
pub(super) struct Sums<'a, M: Machine> {
    pub(super) columns: &'a mut Columns<M, { 2 * DIGITS }>,
    pub(super) quotient: &'a Digits<M, TERM>,
}

impl<M: Machine> Beside<M> for Sums<'_, M> {
    #[inline(always)]
    fn step(&mut self, m: M, n: usize) {
        if (HALF_TERM..HALF_TERM + TERM).contains(&n) {
            let (c, k) = (&mut *self.columns, n - HALF_TERM);
            let shared = m.add(c[TERM + k], c[DIGITS + k]);
            c[TERM + k] = m.add(shared, m.column(self.quotient[k]));
            c[DIGITS + k] = m.add(shared, c[3 * TERM + k]);
        }
    }
}

/// The product of the factors' differences, or the square of one.
pub(super) struct Middle<'a, M: Machine> {
    pub(super) product: &'a Columns<M, DIGITS>,
    pub(super) square: bool,
    pub(super) differences: [&'a Digits<M, TERM>; 2],
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
        if n < TERM {
            let (c, middle) = (&mut self.columns[TERM + n], self.middle.product[n]);
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
        if n < TERM {
            let Middle { product, square, differences, borrows } = *self.middle;
            let (c, middle) = (&mut self.columns[DIGITS + n], product[TERM + n]);
            *c = if square {
                plus_twice(m, m.sub(*c, middle), borrows[0], differences[0][n])
            } else {
                minus_crossed(m, m.add(*c, middle), borrows, [differences[0][n], differences[1][n]])
            };
        }
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
        if n < HALF_TERM {
            let c = &mut self.columns[3 * TERM + n];
            *c = self.correction.of(m, *c, n);
        }
    }
}
