//! The product of two numbers of two terms, or the square of one.

use super::{Columns, DIGITS, Digits, Quotient, Space, TWO_TERMS_COLUMNS, TWO_TERMS_DIGITS};
use crate::batch::Machine;
use crate::batch::bias::offset;
use crate::batch::block::amm_registers::square_columns;
use crate::batch::block::beside::{Beside, Sink};
use crate::batch::block::term::{
    Difference, HALF_TERM, TERM, halves, minus_crossed, plus_both, plus_twice, term_product, where_set,
};
use crate::unroll::{reload, reload_mut};

/// The columns of `A·B`, or of `A²`, without the ten lowest, whose digits are the quotient. Places 0 to 9 of
/// `c` have columns 10 to 19; places 20 to 39 have columns 20 to 39. Place 10 is 0 where the difference of
/// the quotient's halves borrows, else 1. `scratch` has the quotient and that difference.
#[inline(always)]
pub(super) fn columns<M: Machine, const SQUARE: bool>(
    m: M,
    c: &mut Columns<M, TWO_TERMS_COLUMNS>,
    a: &Digits<M, DIGITS>,
    b: &Digits<M, DIGITS>,
    scratch: &mut [M::Digit],
) {
    let ((a0, a1), (b0, b1)) = (halves::<_, TERM>(a), halves::<_, TERM>(b));
    let Space { quotient: Quotient { digits: quotient, difference }, differences: [d, f], .. } =
        Space::<M>::new(scratch);
    let zero = m.column_splat(0);

    // The upper digits of A may not be computed yet, so their difference comes later.
    let mut differences = (
        Difference::<M, TERM, 8>::new(m, a0, a1, d),
        (!SQUARE).then(|| Difference::<M, TERM, 20>::new(m, b1, b0, f)),
    );
    let mut lower = Lower::<M> { quotient, carry: zero, upper: [zero; TERM] };
    half_product::<M, SQUARE>(m, &mut lower, a0, b0, |_| 0, &mut differences);
    let none = m.equals(zero, 1);
    let borrows = [differences.0.borrows(m), differences.1.map_or(none, |of_b| of_b.borrows(m))];

    let mut upper = Upper::<M> { columns: c, shared: lower.upper };
    let upper_start = |k: usize| if k < TERM { 0 } else { offset(k, M::DIGIT_BITS) };
    half_product::<M, SQUARE>(m, &mut upper, a1, b1, upper_start, &mut ());
    let shared = upper.shared;

    let c = reload_mut(c);
    let (d, f) = (reload(&*d), reload(&*f));
    let (q0, q1) = halves::<_, HALF_TERM>(&*quotient);
    let mut of_quotient = Difference::<M, HALF_TERM, 0>::new(m, q0, q1, difference);
    let mut sums = Sums::<M> { columns: c, shared, quotient, square: SQUARE, differences: [d, f], borrows };
    let middle_start = |k: usize| match (k < TERM, SQUARE) {
        (false, _) => 0,
        (true, false) => offset(k, M::DIGIT_BITS),
        (true, true) => offset(k, M::DIGIT_BITS).wrapping_neg(),
    };
    half_product::<M, SQUARE>(m, &mut sums, d, f, middle_start, &mut of_quotient);

    // X²·s·t of a product, less X²·s of a square.
    let c = reload_mut(c);
    c[3 * TERM] = if SQUARE {
        m.sub(c[3 * TERM], where_set(m, borrows[0], m.column_splat(1)))
    } else {
        plus_both(m, c[3 * TERM], borrows)
    };
    c[TERM] = of_quotient.carry;
}

/// The columns of `A·B`, or of `A²`, added to `start`.
#[inline(always)]
fn half_product<M: Machine, const SQUARE: bool>(
    m: M,
    out: &mut impl Sink<M>,
    a: &Digits<M, TERM>,
    b: &Digits<M, TERM>,
    start: impl Fn(usize) -> u64,
    beside: &mut impl Beside<M>,
) {
    if SQUARE {
        let half = |k: usize| m.column_splat((start(k).cast_signed() >> 1).cast_unsigned());
        return square_columns::<M, TERM>(m, out, a, half, beside);
    }
    let mut c = [m.column_splat(0); DIGITS];
    each!(k in 0..TWO_TERMS_DIGITS {
        c[k] = m.column_splat(start(k));
    });
    term_product(m, out, c, a, b, beside);
}

/// Takes the columns of `D0`. The ten lowest become digits; the others stay in registers.
struct Lower<'a, M: Machine> {
    quotient: &'a mut Digits<M, TERM>,
    carry: M::Column,
    /// The upper columns, with the carry of the lower ones.
    upper: Columns<M, TERM>,
}

impl<M: Machine> Sink<M> for Lower<'_, M> {
    #[inline(always)]
    fn put(&mut self, m: M, k: usize, column: M::Column) {
        if k < TERM {
            let column = m.add(column, self.carry);
            (self.quotient[k], self.carry) = (m.operand(column), m.carry(column));
        } else {
            self.upper[k - TERM] = if k == TERM { m.add(column, self.carry) } else { column };
        }
    }
}

/// Takes the columns of `D2`. The ten lowest are added to the upper ones of `D0`: both halves of the middle's
/// columns have that sum. The others are stored.
struct Upper<'a, M: Machine> {
    columns: &'a mut Columns<M, TWO_TERMS_COLUMNS>,
    /// The upper columns of `D0`, then also the lower ones of `D2`.
    shared: Columns<M, TERM>,
}

impl<M: Machine> Sink<M> for Upper<'_, M> {
    #[inline(always)]
    fn put(&mut self, m: M, k: usize, column: M::Column) {
        if k < TERM {
            self.shared[k] = m.add(self.shared[k], column);
        } else {
            self.columns[DIGITS + k] = column;
        }
    }
}

/// Takes the columns of the middle product (of the factors' differences), and stores their sums with the
/// outer products: columns 10 to 19 in places 0 to 9, columns 20 to 29 in their own.
struct Sums<'a, M: Machine> {
    columns: &'a mut Columns<M, TWO_TERMS_COLUMNS>,
    /// As [`Upper`] leaves it.
    shared: Columns<M, TERM>,
    quotient: &'a Digits<M, TERM>,
    /// Whether the middle product is a square, which is subtracted.
    square: bool,
    differences: [&'a Digits<M, TERM>; 2],
    borrows: [M::Mask; 2],
}

impl<M: Machine> Sink<M> for Sums<'_, M> {
    #[inline(always)]
    fn put(&mut self, m: M, k: usize, middle: M::Column) {
        let Self { quotient, square, differences: [d, f], borrows, .. } = *self;
        let (c, is_lower, k) = (&mut *self.columns, k < TERM, k % TERM);
        let sum = m.add(self.shared[k], if is_lower { m.column(quotient[k]) } else { c[3 * TERM + k] });
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
