//! Montgomery multiplication and squaring of long numbers in fewer products, for processors that add while
//! they multiply. Numbers are cut into terms of ten digits. Products of terms are split by Karatsuba's
//! method, and so are the multiples of the modulus that reduce them.
//!
//! # The product
//!
//! With `X = 2^{10w}`, `A = Σ a_i·X^i` and `B` likewise, of `n` terms each, and `D_i = a_i·b_i`:
//!
//! `A·B = Σ_i D_i·X^i · Σ_j X^j + Σ_{i<j} (a_i − a_j)·(b_j − b_i)·X^{i+j}`
//!
//! (Weimerskirch and Paar 2006, "Generalizations of the Karatsuba Algorithm for Efficient Implementations").
//! A product of `n` terms takes `n(n + 1)/2` products of two terms, where there would be `n²`; of a square,
//! these are squares. As in [`karatsuba_two_terms`](super::karatsuba_two_terms()), a difference is kept
//! modulo `X`, with a mask where it borrows: `a_i − a_j = d − X·s`, and
//! `(d − X·s)·(f − X·t) = d·f − X·(s·f + t·d) + X²·s·t`.
//!
//! The sums of the `D_i` need no space of their own. Of
//! `C_k = Σ_{i≤k} (D_i's lower term + D_{i−1}'s upper term)`, the lower half of the columns are `C_0` to
//! `C_{n−1}`, and the upper half are `C_n − C_0` to `C_n − C_{n−1}`. (There is no `D_{−1}` and no `D_n`.)
//!
//! The reduction is that of [`mod@reduce`]. Numbers of two terms have a block of their own
//! ([`karatsuba_two_terms`](super::karatsuba_two_terms())): straight code, with more work beside its
//! products.
//!
//! Columns from the tenth up can be negative on the way, so they start at an offset (see
//! [`crate::batch::bias`]). Only for machines without bias, and without negative halves.

mod reduce;

pub use reduce::karatsuba_terms_reduce;

use super::amm_registers::square_columns;
use super::beside::Sink;
use super::karatsuba_two_terms::TWO_TERMS_DIGITS;
use super::term::{Difference, TERM, minus_crossed, plus_both, plus_twice, term_product, where_set};
use crate::batch::Machine;
use crate::batch::bias::offset;
use crate::unroll::reload;

/// The fewest terms of a number: [`karatsuba_two_terms`](super::karatsuba_two_terms()) has those of two.
pub const FEWEST_TERMS: usize = 3;
/// The most terms of a number: longer ones were not measured. Their columns have room
/// (docs/generated/intervals.md).
pub const MOST_TERMS: usize = 16;
/// Scratch digits: differences of terms, two for each factor; or quotients and differences of their halves.
pub const TERMS_SCRATCH: usize = 4 * TERM;

/// The columns of `A·B`, with their offset, which [`karatsuba_terms_reduce`] takes.
///
/// * Precondition: `a` and `b` have `n` terms of ten digits, [`FEWEST_TERMS`] to `T`, which is at most
///   [`MOST_TERMS`]. `c` has two columns for each digit, `scratch` has [`TERMS_SCRATCH`], both in any state.
/// * Cost: `50n(n + 1)` products.
#[inline(always)]
pub fn karatsuba_terms_multiply<M: Machine, const T: usize>(
    m: M,
    c: &mut [M::Column],
    a: &[M::Digit],
    b: &[M::Digit],
    scratch: &mut [M::Digit],
) {
    columns::<M, T, false>(m, c, a, b, scratch);
}

/// The columns of `A²`, with the offset of [`karatsuba_terms_multiply`]'s.
///
/// * Precondition: that of [`karatsuba_terms_multiply`].
/// * Cost: `55n(n + 1)/2` products.
#[inline(always)]
pub fn karatsuba_terms_square<M: Machine, const T: usize>(
    m: M,
    c: &mut [M::Column],
    a: &[M::Digit],
    scratch: &mut [M::Digit],
) {
    columns::<M, T, true>(m, c, a, a, scratch);
}

/// How many terms a number of `digits` digits is cut into, if it is.
pub const fn terms_of(digits: usize) -> Option<usize> {
    let n = digits / TERM;
    if digits.is_multiple_of(TERM) && n >= FEWEST_TERMS && n <= MOST_TERMS { Some(n) } else { None }
}

/// Whether the modulus of numbers of `digits` digits is prepared in terms: they have two terms, or as many as
/// [`terms_of`] allows.
pub const fn has_terms(digits: usize) -> bool {
    digits == TWO_TERMS_DIGITS || terms_of(digits).is_some()
}

/// How many terms a number of `digits` digits has.
#[inline(always)]
fn terms<const T: usize>(digits: usize) -> usize {
    const { assert!(T <= MOST_TERMS) };
    terms_of(digits).filter(|&n| n <= T).expect("terms of ten digits")
}

/// The step beside a product in which the second factor's difference begins: the first one's is done.
const SECOND: usize = 2 * TERM;

/// The columns of `A·B`, or of `A²`, where `B` is `A`.
#[inline(always)]
fn columns<M: Machine, const T: usize, const SQUARE: bool>(
    m: M,
    c: &mut [M::Column],
    a: &[M::Digit],
    b: &[M::Digit],
    scratch: &mut [M::Digit],
) {
    let n = terms::<T>(a.len());
    let ((a, _), (b, _)) = (a.as_chunks::<TERM>(), b[..TERM * n].as_chunks::<TERM>());
    let c = &mut c[..2 * TERM * n];
    diagonal_products::<M, SQUARE>(m, c, a, b);
    spread(m, c);

    let (mut d, scratch) = scratch.split_first_chunk_mut().expect("digits");
    let (mut next_d, scratch) = scratch.split_first_chunk_mut().expect("digits");
    let (mut f, scratch) = scratch.split_first_chunk_mut().expect("digits");
    let mut next_f = scratch.first_chunk_mut().expect("digits");
    let (zero, one) = (m.column_splat(0), m.column_splat(1));
    let mut s = Difference::<M, TERM, 0>::new(m, &a[0], &a[1], d).now(m);
    let mut t = if SQUARE { s } else { Difference::<M, TERM, 0>::new(m, &b[1], &b[0], f).now(m) };
    let (mut i, mut j) = (0, 1);
    while j < n {
        // The next pair's differences are made beside this one's product; those beside the last product are
        // not used.
        let (next_i, next_j) = if i + 1 < j { (i + 1, j) } else { (0, j + 1) };
        let above_next = next_j % n;
        let (c, above) = c[TERM * (i + j)..].split_first_chunk_mut().expect("columns");
        let (now_d, now_f) = (reload(&*d), reload(&*f));
        let mut of_a = Difference::<M, TERM, 0>::new(m, &a[next_i], &a[above_next], next_d);
        if SQUARE {
            above[0] = m.sub(above[0], where_set(m, s, one));
            square_columns::<M, TERM>(m, &mut LessSquare::<M> { c, d: now_d, s }, now_d, |_| zero, &mut of_a);
            s = of_a.borrows(m);
        } else {
            above[0] = plus_both(m, above[0], [s, t]);
            let start = *c;
            let mut work = (of_a, Difference::<M, TERM, SECOND>::new(m, &b[above_next], &b[next_i], next_f));
            term_product(
                m,
                &mut PlusProduct::<M> { c, d: now_d, f: now_f, s, t },
                start,
                now_d,
                now_f,
                &mut work,
            );
            (s, t) = (work.0.borrows(m), work.1.borrows(m));
        }
        (d, next_d, f, next_f) = (next_d, d, next_f, f);
        (i, j) = (next_i, next_j);
    }
}

/// `C_0` to `C_n`, from the products of terms of equal places; all but `C_0` with their offset.
#[inline(always)]
fn diagonal_products<M: Machine, const SQUARE: bool>(
    m: M,
    c: &mut [M::Column],
    a: &[[M::Digit; TERM]],
    b: &[[M::Digit; TERM]],
) {
    let zero = m.column_splat(0);
    c[..TERM].fill(zero);
    // An addend of C_1 is also in all sums that follow.
    let mut start = offset(1, M::DIGIT_BITS);
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        let mut out = Prefix::<M>(c[TERM * i..].first_chunk_mut().expect("columns"));
        if SQUARE {
            let upper = m.column_splat(start / 2);
            square_columns::<M, TERM>(m, &mut out, a, |k| if k < TERM { zero } else { upper }, &mut ());
        } else {
            let mut columns = [zero; 2 * TERM];
            columns[TERM..].fill(m.column_splat(start));
            term_product(m, &mut out, columns, a, b, &mut ());
        }
        start = 0;
    }
}

/// All columns of `Σ D_i·X^i · Σ X^j`, from `C_0` to `C_n`. The first column with an offset has `offset(0)`,
/// all others `offset(1)`.
#[inline(always)]
fn spread<M: Machine>(m: M, c: &mut [M::Column]) {
    let n = c.len() / (2 * TERM);
    let (low, high) = c.split_at_mut(TERM * n);
    let (low, high) = (low.as_chunks_mut::<TERM>().0, high.as_chunks_mut::<TERM>().0);
    let (first, other) = (offset(0, M::DIGIT_BITS), offset(1, M::DIGIT_BITS));
    let mut last = [m.column_splat(0); TERM];
    each!(k in 0..TERM {
        last[k] = m.add(high[0][k], m.column_splat(other));
        high[0][k] = m.sub(high[0][k], low[0][k]);
    });
    for (low, high) in low[1..].iter().zip(&mut high[1..]) {
        each!(k in 0..TERM {
            high[k] = m.sub(last[k], low[k]);
        });
    }
    low[1][0] = m.add(low[1][0], m.column_splat(first - other));
}

/// Prefix sums: the lower term completes `C_i`; `C_{i+1}` starts as `C_i` plus the upper term.
struct Prefix<'a, M: Machine>(&'a mut [M::Column; 2 * TERM]);

impl<M: Machine> Sink<M> for Prefix<'_, M> {
    #[inline(always)]
    fn put(&mut self, m: M, k: usize, column: M::Column) {
        let sum = if k < TERM { self.0[k] } else { self.0[k - TERM] };
        self.0[k] = m.add(sum, column);
    }
}

/// `C − (d − X·s)²`, without its `X²·s`.
struct LessSquare<'a, M: Machine> {
    c: &'a mut [M::Column; 2 * TERM],
    d: &'a [M::Digit; TERM],
    s: M::Mask,
}

impl<M: Machine> Sink<M> for LessSquare<'_, M> {
    #[inline(always)]
    fn put(&mut self, m: M, k: usize, column: M::Column) {
        let mut c = m.sub(self.c[k], column);
        if k >= TERM {
            c = plus_twice(m, c, self.s, self.d[k - TERM]);
        }
        self.c[k] = c;
    }
}

/// `C − X·(s·f + t·d)`, where `C` has `d·f` already.
struct PlusProduct<'a, M: Machine> {
    c: &'a mut [M::Column; 2 * TERM],
    d: &'a [M::Digit; TERM],
    f: &'a [M::Digit; TERM],
    s: M::Mask,
    t: M::Mask,
}

impl<M: Machine> Sink<M> for PlusProduct<'_, M> {
    #[inline(always)]
    fn put(&mut self, m: M, k: usize, column: M::Column) {
        self.c[k] = if k < TERM {
            column
        } else {
            minus_crossed(m, column, [self.s, self.t], [self.d[k - TERM], self.f[k - TERM]])
        };
    }
}
