//! Terms of ten digits, into which long numbers are cut: products of terms and of their halves, with other
//! work beside them, and multiples of the modulus that are prepared for such products.

use super::beside::{Beside, Sink};
use crate::batch::Machine;
use crate::unroll::reload;

/// The digits of a term.
pub const TERM: usize = 10;
/// The digits of half a term.
pub(super) const HALF_TERM: usize = TERM / 2;

/// `column` where the mask is set, else 0.
#[inline(always)]
pub(super) fn where_set<M: Machine>(m: M, mask: M::Mask, column: M::Column) -> M::Column {
    m.select_column(mask, m.column_splat(0), column)
}

/// `column − (s·f + t·d)`, for the factors `d − s·X` and `f − t·X`.
#[inline(always)]
pub(super) fn minus_crossed<M: Machine>(
    m: M,
    column: M::Column,
    [s, t]: [M::Mask; 2],
    [d, f]: [M::Digit; 2],
) -> M::Column {
    let (d, f) = (m.clean_column(d), m.clean_column(f));
    m.sub(m.sub(column, where_set(m, s, f)), where_set(m, t, d))
}

/// `column + s·t`.
#[inline(always)]
pub(super) fn plus_both<M: Machine>(m: M, column: M::Column, [s, t]: [M::Mask; 2]) -> M::Column {
    m.add(column, where_set(m, s, where_set(m, t, m.column_splat(1))))
}

/// `column + 2·s·d`, for the factor `d − s·X` of a square that is subtracted.
#[inline(always)]
pub(super) fn plus_twice<M: Machine>(m: M, column: M::Column, s: M::Mask, d: M::Digit) -> M::Column {
    let d = m.clean_column(d);
    m.add(column, where_set(m, s, m.add(d, d)))
}

/// A number's lower and upper half.
#[inline(always)]
pub(super) fn halves<D, const H: usize>(number: &[D]) -> (&[D; H], &[D; H]) {
    let (low, high) = number.split_first_chunk().expect("lower half");
    (low, high.first_chunk().expect("upper half"))
}

/// `C + A·B`, ten digits each: `c` has the initial values of the columns. `beside` gets 50 steps.
#[inline(always)]
pub(super) fn term_product<M: Machine>(
    m: M,
    out: &mut impl Sink<M>,
    mut c: [M::Column; 2 * TERM],
    a: &[M::Digit; TERM],
    b: &[M::Digit; TERM],
    beside: &mut impl Beside<M>,
) {
    each!(i in 0..TERM {
        if i.is_multiple_of(2) {
            if i.is_multiple_of(4) {
                m.jump();
            }
            let a = reload(a);
            let (b0, b1) = (b[i], b[(i + 1) % TERM]);
            each!(j in 0..TERM {
                let k = i + j;
                (c[k], c[k + 1]) = m.mac(c[k], c[k + 1], a[j], b0);
                if k + 2 < 2 * TERM {
                    (c[k + 1], c[k + 2]) = m.mac(c[k + 1], c[k + 2], a[j], b1);
                }
                beside.step(m, i / 2 * TERM + j);
            });
            out.put(m, i, c[i]);
            out.put(m, i + 1, c[i + 1]);
        }
    });
    each!(k in 0..TERM {
        out.put(m, TERM + k, c[TERM + k]);
    });
}

/// `C + A·B`, five digits each. Low and high halves have columns of their own until the end: with shared
/// ones, each product would wait for the one before. `beside` gets 15 steps.
#[inline(always)]
pub(super) fn half_term_product<M: Machine>(
    m: M,
    c: [M::Column; TERM],
    a: &[M::Digit; HALF_TERM],
    b: &[M::Digit; HALF_TERM],
    beside: &mut impl Beside<M>,
) -> [M::Column; TERM] {
    m.jump();
    let (mut low, mut high) = (c, [m.column_splat(0); TERM]);
    each!(i in 0..HALF_TERM {
        if i.is_multiple_of(2) {
            let a = reload(a);
            each!(j in 0..HALF_TERM {
                let k = i + j;
                (low[k], high[k]) = m.mac(low[k], high[k], a[j], b[i]);
                if i + 1 < HALF_TERM {
                    (low[k + 1], high[k + 1]) = m.mac(low[k + 1], high[k + 1], a[j], b[(i + 1) % HALF_TERM]);
                }
                beside.step(m, i / 2 * HALF_TERM + j);
            });
        }
    });
    each!(k in 0..TERM {
        if k > 0 {
            low[k] = m.add(low[k], high[k - 1]);
        }
    });
    low
}

/// `C + A·B`, five digits each, as [`half_term_product`], but in steps of two rows, and with shared columns:
/// so that it can run beside other work.
pub(super) struct HalfTermSteps<'a, M: Machine> {
    pub(super) c: [M::Column; TERM],
    pub(super) a: &'a [M::Digit; HALF_TERM],
    pub(super) b: &'a [M::Digit; HALF_TERM],
}

/// The steps of [`HalfTermSteps`].
pub(super) const HALF_TERM_STEPS: usize = HALF_TERM.div_ceil(2);

impl<M: Machine> HalfTermSteps<'_, M> {
    /// All steps; after each, one step of `beside`.
    #[inline(always)]
    pub(super) fn run(mut self, m: M, beside: &mut impl Beside<M>) -> [M::Column; TERM] {
        m.jump();
        each!(n in 0..HALF_TERM_STEPS {
            self.step(m, n);
            beside.step(m, n);
        });
        self.c
    }
}

impl<M: Machine> Beside<M> for HalfTermSteps<'_, M> {
    #[inline(always)]
    fn step(&mut self, m: M, n: usize) {
        if n >= HALF_TERM_STEPS {
            return;
        }
        let Self { c, a, b } = self;
        let (i, a) = (2 * n, reload(*a));
        let (b0, b1) = (b[i], b[(i + 1) % HALF_TERM]);
        each!(j in 0..HALF_TERM {
            let k = i + j;
            (c[k], c[k + 1]) = m.mac(c[k], c[k + 1], a[j], b0);
            if i + 1 < HALF_TERM {
                (c[k + 1], c[k + 2]) = m.mac(c[k + 1], c[k + 2], a[j], b1);
            }
        });
        each!(k in 0..TERM {
            m.barrier(c[k]);
        });
    }
}

/// The upper half of a product of five digits, with which the next one starts.
#[inline(always)]
pub(super) fn upper_half<M: Machine>(m: M, w: &[M::Column; TERM]) -> [M::Column; TERM] {
    let mut next = [m.column_splat(0); TERM];
    next[..HALF_TERM].copy_from_slice(&w[HALF_TERM..]);
    next
}

/// `A − B` modulo `2^{wN}`: one digit in each step from `FROM` on. Column `k` is
/// `A[k] + (2^w − 1 − B[k]) + carry`, the first carry 1: its carry is 1 unless it borrows.
pub(super) struct Difference<'a, M: Machine, const N: usize, const FROM: usize> {
    a: &'a [M::Digit; N],
    b: &'a [M::Digit; N],
    out: &'a mut [M::Digit; N],
    /// In the end 0 where it borrows, else 1.
    pub(super) carry: M::Column,
}

impl<'a, M: Machine, const N: usize, const FROM: usize> Difference<'a, M, N, FROM> {
    #[inline(always)]
    pub(super) fn new(m: M, a: &'a [M::Digit; N], b: &'a [M::Digit; N], out: &'a mut [M::Digit; N]) -> Self {
        Self { a, b, out, carry: m.column_splat(1) }
    }

    /// Where `A < B`.
    #[inline(always)]
    pub(super) fn borrows(&self, m: M) -> M::Mask {
        m.equals(self.carry, 0)
    }

    /// All steps at once, not beside products. Returns where it borrows.
    #[inline(always)]
    pub(super) fn now(mut self, m: M) -> M::Mask {
        each!(k in 0..N {
            self.step(m, FROM + k);
        });
        self.borrows(m)
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

/// The digits of a term that is prepared for products: its own digits, `n0 + n1·2^{5w}`; those of `n1 − n0`
/// modulo `2^{5w}`; and 1 where that borrows, else 0.
pub const PREPARED_TERM: usize = TERM + HALF_TERM + 1;

/// The digits of the precomputed constants of a modulus of `n` terms: `M''` and `M`, their terms prepared,
/// and `μ`.
pub const fn prepared_modulus(n: usize) -> usize {
    2 * n * PREPARED_TERM + TERM
}

/// Precomputed constants of a modulus.
pub(super) struct Prepared<'a, M: Machine> {
    /// The terms of `M''`.
    pub(super) friendly: &'a [[M::Digit; PREPARED_TERM]],
    /// Those of `M`.
    pub(super) plain: &'a [[M::Digit; PREPARED_TERM]],
    /// `−M^{−1} mod 2^{10w}`.
    pub(super) mu: &'a [M::Digit; TERM],
}

impl<'a, M: Machine> Prepared<'a, M> {
    #[inline(always)]
    pub(super) fn new(n: usize, modulus: &'a [M::Digit]) -> Self {
        let (friendly, rest) = modulus[..prepared_modulus(n)].split_at(n * PREPARED_TERM);
        let (plain, rest) = rest.split_at(n * PREPARED_TERM);
        Self {
            friendly: friendly.as_chunks().0,
            plain: plain.as_chunks().0,
            mu: rest.first_chunk().expect("inverse"),
        }
    }
}

/// A number of ten digits in halves: of a quotient `q0 + q1·Y`, with `Y = 2^{5w}`, the difference is
/// `q0 − q1` modulo `Y`; of a term `n0 + n1·Y` it is `n1 − n0`.
pub(super) struct Halved<'a, M: Machine> {
    pub(super) halves: [&'a [M::Digit; HALF_TERM]; 2],
    pub(super) difference: &'a [M::Digit; HALF_TERM],
    pub(super) borrows: M::Mask,
}

impl<'a, M: Machine> Halved<'a, M> {
    /// A prepared term.
    #[inline(always)]
    pub(super) fn term(m: M, prepared: &'a [M::Digit; PREPARED_TERM]) -> Self {
        let (term, rest) = prepared.split_at(TERM);
        let (difference, rest) = rest.split_first_chunk().expect("difference");
        Self { halves: halves(term).into(), difference, borrows: m.equals(m.column(rest[0]), 1) }
    }
}

/// Completes the product of two differences, of a quotient and of a term: `(d − Y·s)·(f − Y·t)`. The sums
/// have `d·f` already; this adds the rest.
pub(super) struct Correction<'a, M: Machine> {
    pub(super) quotient: &'a Halved<'a, M>,
    pub(super) term: &'a Halved<'a, M>,
}

impl<M: Machine> Correction<'_, M> {
    /// `column − (s·f + t·d)[k]`.
    #[inline(always)]
    pub(super) fn of(&self, m: M, column: M::Column, k: usize) -> M::Column {
        let Self { quotient, term } = self;
        let signs = [quotient.borrows, term.borrows];
        minus_crossed(m, column, signs, [quotient.difference[k], term.difference[k]])
    }

    /// `column + s·t`.
    #[inline(always)]
    pub(super) fn carry(&self, m: M, column: M::Column) -> M::Column {
        plus_both(m, column, [self.quotient.borrows, self.term.borrows])
    }
}
