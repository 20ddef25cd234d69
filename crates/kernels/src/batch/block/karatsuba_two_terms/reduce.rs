//! The reduction of a product of numbers of two terms: ten digits by a friendly multiple, ten as Montgomery
//! wrote it.
//!
//! With `X = 2^{10w}`, let `M'` be the multiple of the modulus that is −1 modulo `X`. Then the ten lowest
//! digits of the product are the quotient `Q`, and `(c + Q·M')/X = ⌊c/X⌋ + Q·M''`, where `M'' = (M' + 1)/X`
//! has 20 digits. Ten ordinary rows clear the other ten digits. They use only the lower term of
//! `M = L + X·H`. Their quotients are the digits of `P`. Then `X·P·H` is added at once. With `Y = 2^{5w}`,
//! `Q = q0 + q1·Y`, `M'' = n0 + n1·Y + n2·Y² + n3·Y³`, `P = p0 + p1·Y` and `H = h0 + h1·Y`:
//!
//! `Q·M'' + X·P·H = W·(1 + Y) + Y·(q0 − q1)·(n1 − n0) + Y³·((q0 − q1)·(n3 − n2) + (p0 − p1)·(h1 − h0))`,
//! `W = q0·n0 + q1·n1·Y + (q0·n2 + p0·h0)·Y² + (q1·n3 + p1·h1)·Y³`.
//!
//! Each row needs a quotient that depends on the row before. Other products fill the wait.
//!
//! # Bounds
//!
//! `Q` and `P` are below `X`, and `M' ≤ (X − 1)·M`. With `R = X²`, the friendly multiple adds less than
//! `R·M`, and so do the rows. Of a product `T`, the result is below `T/R + 2M`.

use super::{Columns, DIGITS, Digits, Quotient, Space, TWO_TERMS_COLUMNS};
use crate::batch::Machine;
use crate::batch::block::beside::Beside;
use crate::batch::block::term::{
    Correction, Difference, HALF_TERM, HALF_TERM_STEPS, HalfTermSteps, Halved, Prepared, TERM,
    half_term_product, halves, upper_half,
};
use crate::unroll::reload;

/// Precomputed constants of a modulus.
pub(super) struct Modulus<'a, M: Machine> {
    /// The terms of `M''`.
    friendly: [Halved<'a, M>; 2],
    /// `L`.
    plain_low: &'a Digits<M, TERM>,
    /// `H`.
    plain_high: Halved<'a, M>,
    /// `−M^{−1} mod 2^w`.
    mu: &'a M::Digit,
}

impl<'a, M: Machine> Modulus<'a, M> {
    #[inline(always)]
    pub(super) fn new(m: M, modulus: &'a [M::Digit]) -> Self {
        let Prepared { friendly, plain, mu } = Prepared::<M>::new(2, modulus);
        Self {
            friendly: [Halved::term(m, &friendly[0]), Halved::term(m, &friendly[1])],
            plain_low: plain[0].first_chunk().expect("term"),
            plain_high: Halved::term(m, &plain[1]),
            mu: &mu[0],
        }
    }
}

/// `x ← (C + Q·M' + X·P·M)/R`. `c` and `scratch` are as [`columns`](super::product::columns) leaves them.
#[inline(always)]
#[allow(unused_assignments)] // unrolled, the last digit leaves nothing for a next one
pub(super) fn reduce<M: Machine>(
    m: M,
    x: &mut Digits<M, DIGITS>,
    c: &Columns<M, TWO_TERMS_COLUMNS>,
    modulus: &Modulus<M>,
    scratch: &mut [M::Digit],
) {
    let c = reload(c);
    let Space { quotient: Quotient { digits: q, difference: q_difference }, last_quotient, .. } =
        Space::<M>::new(scratch);
    let (q0, q1) = halves::<_, HALF_TERM>(&*q);
    let q = &Halved::<M> { halves: [q0, q1], difference: q_difference, borrows: m.equals(c[TERM], 0) };
    let Modulus { friendly: [low, high], plain_high, .. } = modulus;
    let ([n0, n1], [n2, n3], [h0, h1]) = (low.halves, high.halves, plain_high.halves);
    let corrections = [low, high].map(|term| Correction { quotient: q, term });
    let (p0, p1) = last_quotient.digits.split_at_mut(HALF_TERM);
    let (p0, p1) = (p0.first_chunk_mut().expect("lower half"), p1.first_chunk_mut().expect("upper half"));
    let zero = m.column_splat(0);

    // The five lowest columns are complete with the first quarter of W: they are enough for the first five
    // rows.
    let w0 = half_term_product(m, [zero; TERM], n0, q0, &mut ());
    let mut window = [zero; TERM];
    each!(k in 0..HALF_TERM {
        window[k] = m.add(c[k], w0[k]);
    });
    let mut rows = ReductionRows { window, modulus, quotients: p0 };
    let w1 =
        HalfTermSteps::<M> { c: upper_half(m, &w0), a: n1, b: q1 }.run(m, &mut RowsFrom::<M, 0>(&mut rows));
    let mut sums = [zero; TERM];
    each!(k in 0..HALF_TERM {
        sums[k] = m.add(c[HALF_TERM + k], m.add(w0[k], w1[k]));
        sums[HALF_TERM + k] = corrections[0].of(m, m.add(c[DIGITS + k], w1[k]), k);
    });
    let sums = HalfTermSteps::<M> { c: sums, a: low.difference, b: q_difference }
        .run(m, &mut RowsFrom::<M, HALF_TERM_STEPS>(&mut rows));
    let ReductionRows { mut window, quotients: p0, .. } = rows;
    each!(k in 0..TERM {
        window[k] = m.add(window[k], sums[k]);
    });

    // The other rows, beside products that they do not need.
    let p0 = reload(&*p0);
    let mut rows = ReductionRows { window, modulus, quotients: p1 };
    let w2 =
        HalfTermSteps::<M> { c: upper_half(m, &w1), a: n2, b: q0 }.run(m, &mut RowsFrom::<M, 0>(&mut rows));
    let w2 =
        HalfTermSteps::<M> { c: w2, a: h0, b: p0 }.run(m, &mut RowsFrom::<M, HALF_TERM_STEPS>(&mut rows));
    let ReductionRows { window, quotients: p1, .. } = rows;

    let p1 = reload(&*p1);
    let p_borrows = Difference::<M, HALF_TERM, 0>::new(m, p0, p1, last_quotient.difference).now(m);
    let p_difference = reload(&*last_quotient.difference);
    let p = &Halved::<M> { halves: [p0, p1], difference: p_difference, borrows: p_borrows };
    let last_correction = Correction { quotient: p, term: plain_high };

    // The five lowest digits of the result are complete; the sums above them go on.
    let mut column = zero;
    let mut sums = [zero; TERM];
    each!(k in 0..HALF_TERM {
        column = m.add(column, m.add(window[k], w2[k]));
        (x[k], column) = (m.operand(column), m.carry(column));
        sums[k] = m.add(c[DIGITS + HALF_TERM + k], m.add(window[HALF_TERM + k], w2[k]));
        sums[HALF_TERM + k] = corrections[1].of(m, c[3 * TERM + k], k);
    });
    sums[0] = corrections[0].carry(m, sums[0]);

    // The last quarter of W, each product beside one of differences.
    let mut of_differences = HalfTermSteps::<M> { c: sums, a: high.difference, b: q_difference };
    let w3 = HalfTermSteps::<M> { c: upper_half(m, &w2), a: n3, b: q1 }.run(m, &mut of_differences);
    let mut of_differences =
        HalfTermSteps::<M> { c: of_differences.c, a: plain_high.difference, b: p_difference };
    let w3 = HalfTermSteps::<M> { c: w3, a: h1, b: p1 }.run(m, &mut of_differences);
    let sums = of_differences.c;

    // The other fifteen digits.
    m.jump();
    each!(k in 0..TERM {
        let sum = m.add(sums[k], w3[k]);
        let sum = if k < HALF_TERM {
            sum
        } else {
            last_correction.of(m, m.add(sum, w3[k - HALF_TERM]), k - HALF_TERM)
        };
        column = m.add(column, sum);
        (x[HALF_TERM + k], column) = (m.operand(column), m.carry(column));
    });
    column = corrections[1].carry(m, last_correction.carry(m, column));
    each!(k in 0..HALF_TERM {
        column = m.add(column, m.add(c[3 * TERM + HALF_TERM + k], w3[HALF_TERM + k]));
        (x[TERM + HALF_TERM + k], column) = (m.operand(column), m.carry(column));
    });
}

/// Five ordinary rows of a reduction, by the lower term of the modulus: each clears the lowest column of a
/// window, and moves it up by one. What enters at the top is 0.
struct ReductionRows<'a, M: Machine> {
    window: Columns<M, TERM>,
    modulus: &'a Modulus<'a, M>,
    quotients: &'a mut Digits<M, HALF_TERM>,
}

impl<M: Machine> ReductionRows<'_, M> {
    #[inline(always)]
    fn row(&mut self, m: M, row: usize) {
        m.jump();
        let Self { window, modulus, quotients } = self;
        let mut lowest = window[0];
        let q = m.operand(m.mac_low(m.column_splat(0), m.operand(lowest), *modulus.mu));
        quotients[row] = q;
        m.mac_row(window, &mut lowest, m.column_splat(0), modulus.plain_low, q);
        // The lowest column is now a multiple of 2^w: only its carry counts.
        window[0] = m.add(window[0], m.carry(lowest));
        each!(k in 0..TERM {
            m.barrier(window[k]);
        });
    }
}

/// A row in each step, from row `FROM` on.
struct RowsFrom<'a, 'b, M: Machine, const FROM: usize>(&'a mut ReductionRows<'b, M>);

impl<M: Machine, const FROM: usize> Beside<M> for RowsFrom<'_, '_, M, FROM> {
    #[inline(always)]
    fn step(&mut self, m: M, n: usize) {
        if FROM + n < HALF_TERM {
            self.0.row(m, FROM + n);
        }
    }
}
