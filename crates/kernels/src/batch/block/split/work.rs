//! What split products do beside their products.

use super::{Columns, DIGITS, Digits, HALF, QUARTER};
use crate::batch::Machine;
use crate::batch::block::beside::Beside;
use crate::batch::block::short::{Correction, where_set};

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
            let (d, f) = (m.column(differences[0][n]), m.column(differences[1][n]));
            *c = if square {
                m.add(m.sub(*c, middle), where_set(m, borrows[0], m.add(d, d)))
            } else {
                let column = m.sub(m.add(*c, middle), where_set(m, borrows[0], f));
                m.sub(column, where_set(m, borrows[1], d))
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
        if n < QUARTER {
            let c = &mut self.columns[3 * HALF + n];
            *c = self.correction.of(m, *c, n);
        }
    }
}
