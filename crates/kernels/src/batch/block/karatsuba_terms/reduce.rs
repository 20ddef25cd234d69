//! Reduction ten digits at a time, by multiples of the modulus in fewer products.
//!
//! With `μ = −M^{−1} mod X`, the *friendly multiple* `M' = μ·M ≡ −1 (mod X)` has the lowest ten digits of a
//! number as its quotient `Q`: `(C + Q·M')/X = ⌊C/X⌋ + Q·M''` with `M'' = (M' + 1)/X`, which has `n` terms.
//! The last ten digits are reduced as Montgomery wrote it: `Q = μ·C mod X`, then `(C + Q·M)/X`.
//!
//! With `Y = 2^{5w}`, `Q = q0 + q1·Y` and a term `N = n0 + n1·Y` of a multiple,
//!
//! `Q·N = (q0·n0 + q1·n1·Y)·(1 + Y) + Y·(q0 − q1)·(n1 − n0)`.
//!
//! # Bounds
//!
//! `M' ≤ (X − 1)·M`, and the friendly quotients together are below `X^{n−1}`: they add less than `R·M`. So
//! does the last quotient, at its place. The result is below `C/R + 2M`.

use super::terms;
use crate::batch::Machine;
use crate::batch::block::beside::Beside;
use crate::batch::block::term::{
    Correction, Difference, HALF_TERM, Halved, PREPARED_TERM, Prepared, TERM, half_term_product, halves,
    upper_half,
};
use crate::unroll::reload;

/// `X ← (C + Q·M)/R`, with a `Q < 2R` that makes it an integer; digits normalised.
///
/// * Precondition: `x` has `n` terms of ten digits, [`FEWEST_TERMS`](super::FEWEST_TERMS) to `T`, which is at
///   most [`MOST_TERMS`](super::MOST_TERMS). `c` has the columns of
///   [`karatsuba_terms_multiply`](super::karatsuba_terms_multiply) or
///   [`karatsuba_terms_square`](super::karatsuba_terms_square), and is left in any state. `modulus` has
///   [`prepared_modulus`](crate::batch::block::prepared_modulus), `scratch` has
///   [`TERMS_SCRATCH`](super::TERMS_SCRATCH), in any state. `C/R + 2M < R`.
/// * Result: below `C/R + 2M`.
/// * Cost: `75n² + 45` products, and ten low halves.
#[inline(always)]
pub fn karatsuba_terms_reduce<M: Machine, const T: usize>(
    m: M,
    x: &mut [M::Digit],
    c: &mut [M::Column],
    modulus: &[M::Digit],
    scratch: &mut [M::Digit],
) {
    let (n, zero) = (terms::<T>(x.len()), m.column_splat(0));
    let Prepared { friendly, plain, mu } = Prepared::<M>::new(n, modulus);
    let (mut q, scratch) = scratch.split_first_chunk_mut().expect("digits");
    let (mut next_q, scratch) = scratch.split_first_chunk_mut().expect("digits");
    let (mut d, scratch) = scratch.split_first_chunk_mut().expect("digits");
    let mut next_d = scratch.first_chunk_mut().expect("digits");
    let (x, _) = x.as_chunks_mut();

    let carry = Normalize::<M> { columns: c, digits: q, carry: zero }.now(m);
    c[TERM] = m.add(c[TERM], carry);
    let mut borrows = difference_of_halves(m, reload(&*q), d);
    // One loop for all multiples: the code that adds a term is there only twice, with work beside it and
    // without.
    for round in 1..=n {
        let is_last = round == n;
        let lowest = TERM * round.min(n - 1);
        if is_last {
            // `Q = μ·C mod X`. The carry of these ten columns is already in the column above.
            c[lowest..][..TERM].iter_mut().zip(&*q).for_each(|(column, &digit)| *column = m.column(digit));
            let columns = low_product(m, q, mu);
            let _ = Normalize::<M> { columns: &columns, digits: next_q, carry: zero }.now(m);
            (q, next_q) = (next_q, q);
            borrows = difference_of_halves(m, reload(&*q), d);
        }
        let quotient = Halved::<M> { halves: halves(reload(&*q)).into(), difference: reload(&*d), borrows };
        let multiple = if is_last { plain } else { friendly };
        for (k, term) in multiple.iter().enumerate() {
            let (below, columns) = c[lowest + TERM * k - TERM..].split_at_mut(TERM);
            if k == 0 || (k > 1 && !is_last) {
                add_term(m, columns, &quotient, term, &mut ());
                continue;
            }
            // The ten columns below are complete: they become the next quotient, or digits of the result. Of
            // the last multiple, the lowest ten are 0 modulo X, so only their carry counts.
            let digits = if is_last && k > 1 { &mut x[k - 2] } else { &mut *next_q };
            let mut carry = Normalize::<M> { columns: below, digits, carry: zero };
            add_term(m, columns, &quotient, term, &mut carry);
            columns[0] = m.add(columns[0], carry.carry);
            if !is_last {
                borrows = difference_of_halves(m, reload(&*next_q), next_d);
            }
        }
        (q, next_q, d, next_d) = (next_q, q, next_d, d);
    }
    let (lower, upper) = c[TERM * (2 * n - 2)..].split_at(TERM);
    let carry = Normalize::<M> { columns: lower, digits: &mut x[n - 2], carry: zero }.now(m);
    let _ = Normalize::<M> { columns: upper, digits: &mut x[n - 1], carry }.now(m);
}

/// The difference of a quotient's halves, and where it borrows.
#[inline(always)]
fn difference_of_halves<M: Machine>(m: M, q: &[M::Digit; TERM], out: &mut [M::Digit; HALF_TERM]) -> M::Mask {
    let (q0, q1) = halves(q);
    Difference::<M, HALF_TERM, 0>::new(m, q0, q1, out).now(m)
}

/// The columns of `A·B mod X`. Cost: 45 products, and ten low halves.
#[inline(always)]
fn low_product<M: Machine>(m: M, a: &[M::Digit; TERM], b: &[M::Digit; TERM]) -> [M::Column; TERM] {
    let (mut low, mut high) = ([m.column_splat(0); TERM], [m.column_splat(0); TERM]);
    each!(i in 0..TERM {
        let b = reload(b);
        each!(j in 0..TERM {
            if i + j + 1 < TERM {
                (low[i + j], high[i + j + 1]) = m.mac(low[i + j], high[i + j + 1], b[j], a[i]);
            } else if i + j + 1 == TERM {
                low[i + j] = m.mac_low(low[i + j], b[j], a[i]);
            }
        });
    });
    each!(k in 0..TERM {
        low[k] = m.add(low[k], high[k]);
    });
    low
}

/// `C += Q·N` for a term `N`, in the lowest two terms of the columns. Cost: 75 products.
#[inline(always)]
fn add_term<M: Machine>(
    m: M,
    c: &mut [M::Column],
    quotient: &Halved<M>,
    term: &[M::Digit; PREPARED_TERM],
    beside: &mut impl Beside<M>,
) {
    const UPPER: usize = TERM + HALF_TERM;
    let c: &mut [M::Column; 2 * TERM] = c.first_chunk_mut().expect("columns");
    let term = Halved::term(m, term);
    let correction = Correction { quotient, term: &term };
    let ([q0, q1], [n0, n1]) = (quotient.halves, term.halves);
    let zero = m.column_splat(0);

    let w0 = half_term_product(m, [zero; TERM], n0, q0, &mut ());
    each!(k in 0..HALF_TERM {
        c[k] = m.add(c[k], w0[k]);
    });
    let w1 = half_term_product(m, upper_half(m, &w0), n1, q1, beside);
    let mut middle = [zero; TERM];
    each!(k in 0..HALF_TERM {
        middle[k] = m.add(c[HALF_TERM + k], m.add(w0[k], w1[k]));
        let column = m.add(c[TERM + k], m.add(w1[k], w1[HALF_TERM + k]));
        middle[HALF_TERM + k] = correction.of(m, column, k);
        c[UPPER + k] = m.add(c[UPPER + k], w1[HALF_TERM + k]);
    });
    c[UPPER] = correction.carry(m, c[UPPER]);
    let middle = half_term_product(m, middle, term.difference, quotient.difference, &mut ());
    c[HALF_TERM..UPPER].copy_from_slice(&middle);
}

/// Ten columns as digits.
struct Normalize<'a, M: Machine> {
    columns: &'a [M::Column],
    digits: &'a mut [M::Digit; TERM],
    carry: M::Column,
}

impl<M: Machine> Normalize<'_, M> {
    /// All steps at once, not beside products. Returns the carry out of the last.
    #[inline(always)]
    fn now(mut self, m: M) -> M::Column {
        each!(k in 0..TERM {
            self.step(m, k);
        });
        self.carry
    }
}

impl<M: Machine> Beside<M> for Normalize<'_, M> {
    #[inline(always)]
    fn step(&mut self, m: M, n: usize) {
        if n < TERM {
            let column = m.add(self.columns[n], self.carry);
            (self.digits[n], self.carry) = (m.operand(column), m.carry(column));
        }
    }
}
