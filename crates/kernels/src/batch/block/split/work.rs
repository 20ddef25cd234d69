//! What split products do beside their products.

use super::{Columns, DIGITS, Digits};
use crate::batch::Machine;
use crate::batch::block::beside::{Beside, Sink};
use crate::batch::block::short::{Correction, HALF_TERM, TERM, minus_crossed, plus_twice};

/// Takes the columns of the middle product (of the factors' differences), and stores their sums with the
/// outer products: columns 10 to 19 in the place of `D0`'s lowest ten, whose digits are in the quotient;
/// columns 20 to 29 in the place of `D2`'s lower half.
pub(super) struct Sums<'a, M: Machine> {
    pub(super) columns: &'a mut Columns<M, { 2 * DIGITS }>,
    pub(super) quotient: &'a Digits<M, TERM>,
    /// Whether the middle product is a square, which is subtracted.
    pub(super) square: bool,
    pub(super) differences: [&'a Digits<M, TERM>; 2],
    pub(super) borrows: [M::Mask; 2],
}

impl<M: Machine> Sink<M> for Sums<'_, M> {
    #[inline(always)]
    fn put(&mut self, m: M, k: usize, middle: M::Column) {
        let Self { quotient, square, differences: [d, f], borrows, .. } = *self;
        let (c, is_lower, k) = (&mut *self.columns, k < TERM, k % TERM);
        let shared = m.add(c[TERM + k], c[DIGITS + k]);
        let sum = m.add(shared, if is_lower { m.column(quotient[k]) } else { c[3 * TERM + k] });
        let sum = if square { m.sub(sum, middle) } else { m.add(sum, middle) };
        if is_lower {
            c[k] = sum;
        } else if square {
            c[DIGITS + k] = plus_twice(m, sum, borrows[0], d[k]);
        } else {
            c[DIGITS + k] = minus_crossed(m, sum, borrows, [d[k], f[k]]);
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
