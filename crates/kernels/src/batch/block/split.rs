//! Montgomery multiplication and squaring of 20 digits in fewer products, for processors that add beside their
//! multiplications: Karatsuba's splitting of the product, and of the first half of its reduction.
//!
//! # The product
//!
//! With `X = 2^{10w}`, `A = A0 + A1·X` and `B` likewise, `A·B = D0 + X·(D0 + D2 + (A0 − A1)·(B1 − B0)) + X²·D2`, where
//! `D0 = A0·B0` and `D2 = A1·B1` (Karatsuba and Ofman). A difference is kept modulo `X`: `A0 − A1 = d − X·s`, where `s`
//! is 1 if it borrows, else 0. So nothing is ever negated: `(d − X·s)·(f − X·t) = d·f − X·(s·f + t·d) + X²·s·t`. In a
//! square, `B = A`, so the middle product is `−(d − X·s)²`. Unlike in [`karatsuba`](super::karatsuba()), no
//! magnitude is chosen, and there is one chain of borrows for each difference.
//!
//! # The first ten digits of the reduction
//!
//! Let `M'` be the multiple of the modulus that is −1 modulo `X`. Then the ten lowest digits of the product are the
//! quotient `Q`, and `(c + Q·M')/X = ⌊c/X⌋ + Q·M''`, where `M'' = (M' + 1)/X` has 20 digits. With `Y = 2^{5w}`,
//! `Q = q0 + q1·Y` and `M'' = n0 + n1·Y + n2·Y² + n3·Y³`:
//!
//! `Q·M'' = W·(1 + Y) + Y·(q0 − q1)·(n1 − n0) + Y³·(q0 − q1)·(n3 − n2)`,
//! `W = q0·n0 + q1·n1·Y + q0·n2·Y² + q1·n3·Y³`.
//!
//! Four rows, a pair of rows and four ordinary rows follow, as in [`multiply`](super::multiply()).
//!
//! # Bounds
//!
//! The ten digits add at most `(X − 1)²·M < R·M − X·M`; four rows, ten digits up, less than `2^{18w}·M`, and a pair 14
//! digits up likewise; the ordinary rows `(R − 2^{16w})·M`. With `R = 2^{20w}`, the result is below
//! `T/R + 2M + M/2^{2w−1}`.
//!
//! A product's columns from the tenth up can be negative, so they start at an offset (see [`crate::batch::bias`]). Only
//! for machines without bias, and without negative halves.

mod work;

use work::{Corrections, Sums};

use super::beside::{Beside, Sink};
use super::short::{
    Correction, Difference, HALF_TERM, Halved, Normalize, PREPARED_TERM, TERM, half_term_product, halves, plus_both,
    term_product, upper_half, where_set,
};
use super::whole::{self, carry, plain_row, reduce_window, square_columns};
use crate::batch::Machine;
use crate::batch::bias::offset;
use crate::unroll::{reread, reread_mut};

/// The digits of a number.
pub const SPLIT_DIGITS: usize = 2 * TERM;
/// The digits of what is prepared of a modulus.
pub const SPLIT_MODULUS: usize = 2 * PREPARED_TERM + 3 * DIGITS + 1;
/// The columns to work in: those of a product.
pub const SPLIT_COLUMNS: usize = 2 * DIGITS;
/// The digits to work in: the quotient, the difference of its halves, and the differences of the factors' halves.
pub const SPLIT_SPARE: usize = 3 * TERM + HALF_TERM;

const DIGITS: usize = SPLIT_DIGITS;
/// The columns of the window above those of a number.
const ABOVE: usize = 4;
const PLAIN_ROWS: usize = 4;

type Digits<M, const N: usize> = [<M as Machine>::Digit; N];
type Columns<M, const N: usize> = [<M as Machine>::Column; N];

/// What is prepared of a modulus.
struct Modulus<'a, M: Machine> {
    /// The two terms of `M''`, for ten digits at a time.
    friendly: [Halved<'a, M>; 2],
    whole: whole::Modulus<'a, M::Digit, DIGITS>,
}

impl<'a, M: Machine> Modulus<'a, M> {
    #[inline(always)]
    fn new(m: M, modulus: &'a [M::Digit]) -> Self {
        let (friendly, rest) = modulus[..SPLIT_MODULUS].split_first_chunk::<{ 2 * PREPARED_TERM }>().expect("terms");
        let (low, high) = halves(friendly);
        Self { friendly: [Halved::term(m, low), Halved::term(m, high)], whole: whole::Modulus::new(rest) }
    }
}

/// Digits to work in: the quotient, the difference of its halves, and the differences of the factors' halves.
struct Space<'a, M: Machine> {
    quotient: &'a mut Digits<M, TERM>,
    quotient_difference: &'a mut Digits<M, HALF_TERM>,
    differences: [&'a mut Digits<M, TERM>; 2],
}

impl<'a, M: Machine> Space<'a, M> {
    #[inline(always)]
    fn new(spare: &'a mut [M::Digit]) -> Self {
        let (quotient, spare) = spare.split_first_chunk_mut().expect("digits");
        let (quotient_difference, spare) = spare.split_first_chunk_mut().expect("digits");
        let (first, spare) = spare.split_first_chunk_mut().expect("digits");
        let second = spare.first_chunk_mut().expect("digits");
        Self { quotient, quotient_difference, differences: [first, second] }
    }
}

/// `times` squarings, then a multiplication by `Y` if there is one: `X ← (X² + Q·M)/R`, then
/// `X ← (X·Y + Q·M)/R`, with the `Q` that makes each an integer; digits normalised. They share the code of
/// the reduction.
///
/// * Precondition: `x` has 20 digits; `y` has 20 or none. `modulus` has [`SPLIT_MODULUS`]: the two terms of
///   `M''` of ten digits, each prepared (see [`PREPARED_TERM`]), `M''` of four rows and of two, `M`, and `μ`.
///   `c` has [`SPLIT_COLUMNS`] and `spare` has [`SPLIT_SPARE`], in any state. `X²/R + 2M + M/2^{2w−1} < R`
///   before each squaring, and `X·Y` likewise.
/// * Cost: 515 products for each squaring, 650 for the multiplication; each has four low halves besides.
#[inline(always)]
pub fn split_powers<M: Machine, const T: usize>(
    m: M,
    x: &mut [M::Digit],
    times: usize,
    y: &[M::Digit],
    modulus: &[M::Digit],
    c: &mut [M::Column],
    spare: &mut [M::Digit],
) {
    const { assert!(T == DIGITS) };
    let x: &mut Digits<M, DIGITS> = x.first_chunk_mut().expect("digits");
    let y: Option<&Digits<M, DIGITS>> = (!y.is_empty()).then(|| y.first_chunk().expect("digits"));
    let modulus = &Modulus::<M>::new(m, modulus);
    for step in 0..times + usize::from(y.is_some()) {
        match y {
            Some(y) if step == times => columns::<M, false>(m, c, x, y, spare),
            _ => columns::<M, true>(m, c, x, x, spare),
        }
        reduce(m, x, c, modulus, spare);
    }
}

/// The columns of `A·B`, or of `A²`, without the ten lowest, whose digits are `Q`. Places 0 to 9 of `c` have
/// columns 10 to 19; places 20 to 39 have columns 20 to 39. Place 10 is 0 where the difference of `Q`'s halves
/// borrows, else 1. `spare` begins with `Q` and that difference.
#[inline(always)]
fn columns<M: Machine, const SQUARE: bool>(
    m: M,
    c: &mut [M::Column],
    a: &Digits<M, DIGITS>,
    b: &Digits<M, DIGITS>,
    spare: &mut [M::Digit],
) {
    let ((a0, a1), (b0, b1)) = (halves::<_, TERM>(a), halves::<_, TERM>(b));
    let c: &mut Columns<M, SPLIT_COLUMNS> = c.first_chunk_mut().expect("columns");
    let Space { quotient, quotient_difference, differences: [d, f] } = Space::<M>::new(spare);
    let (low, high) = c.split_at_mut(DIGITS);

    // The upper digits of A may still be under way: their difference comes later.
    let mut differences =
        (Difference::<M, TERM, 8>::new(m, a0, a1, d), (!SQUARE).then(|| Difference::<M, TERM, 20>::new(m, b1, b0, f)));
    half_product::<M, SQUARE>(m, low, a0, b0, |_| 0, &mut differences);
    let none = m.equals(m.column_splat(0), 1);
    let borrows = [differences.0.borrows(m), differences.1.map_or(none, |of_b| of_b.borrows(m))];

    let mut lowest = Normalize::<M> { columns: reread(low), digits: quotient, carry: m.column_splat(0) };
    let upper = |k: usize| if k < TERM { 0 } else { offset(k, M::DIGIT_BITS) };
    half_product::<M, SQUARE>(m, high, a1, b1, upper, &mut lowest);
    let carried = lowest.carry;

    let c = reread_mut(c);
    c[TERM] = m.add(c[TERM], carried);
    let (d, f) = (reread(&*d), reread(&*f));
    let (q0, q1) = halves::<_, HALF_TERM>(&*quotient);
    let mut of_quotient = Difference::<M, HALF_TERM, 0>::new(m, q0, q1, quotient_difference);
    let mut sums = Sums::<M> { columns: c, quotient, square: SQUARE, differences: [d, f], borrows };
    let lower = |k: usize| match (k < TERM, SQUARE) {
        (false, _) => 0,
        (true, false) => offset(k, M::DIGIT_BITS),
        (true, true) => offset(k, M::DIGIT_BITS).wrapping_neg(),
    };
    half_product::<M, SQUARE>(m, &mut sums, d, f, lower, &mut of_quotient);

    // X²·s·t of a product, less X²·s of a square.
    let c = reread_mut(c);
    c[3 * TERM] = if SQUARE {
        m.sub(c[3 * TERM], where_set(m, borrows[0], m.column_splat(1)))
    } else {
        plus_both(m, c[3 * TERM], borrows)
    };
    c[TERM] = of_quotient.carry;
}

/// Adds `Q·M''` to [`columns`], and reduces the sum. The two terms of `M''` are added by turns, not one after the other
/// as in `terms/reduce.rs`: that leaves room for work beside products.
#[inline(always)]
fn reduce<M: Machine>(
    m: M,
    x: &mut Digits<M, DIGITS>,
    c: &mut [M::Column],
    modulus: &Modulus<M>,
    spare: &mut [M::Digit],
) {
    let c: &mut Columns<M, SPLIT_COLUMNS> = c.first_chunk_mut().expect("columns");
    let Space { quotient, quotient_difference: difference, .. } = Space::<M>::new(spare);
    let (q0, q1) = halves::<_, HALF_TERM>(&*quotient);
    let quotient = &Halved::<M> { halves: [q0, q1], difference, borrows: m.equals(c[TERM], 0) };
    let [low, high] = &modulus.friendly;
    let ([n0, n1], [n2, n3]) = (low.halves, high.halves);
    let corrections = [Correction { quotient, term: low }, Correction { quotient, term: high }];
    let zero = m.column_splat(0);

    // Quarter by quarter of W: each is added to a quarter of the columns, and to the next one.
    let w0 = half_term_product(m, [zero; TERM], n0, q0, &mut ());
    each!(k in 0..HALF_TERM {
        c[k] = m.add(c[k], w0[k]);
    });
    let w1 = half_term_product(m, upper_half(m, &w0), n1, q1, &mut ());
    let c = reread_mut(c);
    let mut sum = [zero; TERM];
    each!(k in 0..HALF_TERM {
        sum[k] = m.add(c[HALF_TERM + k], m.add(w0[k], w1[k]));
        sum[HALF_TERM + k] = m.add(c[DIGITS + k], w1[k]);
    });
    sum = half_term_product(
        m,
        sum,
        low.difference,
        difference,
        &mut Corrections { columns: c, correction: &corrections[1] },
    );
    let w2 = half_term_product(m, upper_half(m, &w1), n2, q0, &mut ());
    each!(k in 0..HALF_TERM {
        c[HALF_TERM + k] = sum[k];
        c[DIGITS + k] = corrections[0].of(m, m.add(sum[HALF_TERM + k], w2[k]), k);
    });
    c[DIGITS + HALF_TERM] = corrections[0].carry(m, c[DIGITS + HALF_TERM]);
    c[3 * TERM + HALF_TERM] = corrections[1].carry(m, c[3 * TERM + HALF_TERM]);
    let w3 = half_term_product(m, upper_half(m, &w2), n3, q1, &mut ());
    let c = reread_mut(c);
    each!(k in 0..HALF_TERM {
        sum[k] = m.add(c[DIGITS + HALF_TERM + k], m.add(w2[k], w3[k]));
        sum[HALF_TERM + k] = m.add(c[3 * TERM + k], m.add(w3[k], w3[HALF_TERM + k]));
        c[3 * TERM + HALF_TERM + k] = m.add(c[3 * TERM + HALF_TERM + k], w3[HALF_TERM + k]);
    });
    sum = half_term_product(m, sum, high.difference, difference, &mut ());

    // The window begins at column 10. `sum` is the two quarters from column 25 on.
    const SUM: usize = DIGITS + HALF_TERM;
    const ENTERING: usize = TERM + DIGITS + ABOVE;
    let c = reread(c);
    let column = |k: usize| if (SUM..SUM + TERM).contains(&k) { sum[(k - SUM) % TERM] } else { c[k] };
    let mut window = [zero; DIGITS + ABOVE];
    each!(k in 0..DIGITS {
        window[k] = if k < TERM { c[k] } else { column(TERM + k) };
    });
    each!(k in 0..ABOVE {
        window[DIGITS + k] = column(TERM + DIGITS + k);
    });
    let entering = [column(ENTERING), column(ENTERING + 1), column(ENTERING + 2), column(ENTERING + 3)];
    reduce_window::<M, DIGITS, 4, ABOVE>(m, &mut window, modulus.whole.friendly_four, &entering);
    reduce_window::<M, DIGITS, 2, ABOVE>(
        m,
        &mut window,
        modulus.whole.friendly_pair,
        &[column(ENTERING + 4), column(ENTERING + 5)],
    );
    each!(_row in 0..PLAIN_ROWS {
        plain_row::<M, DIGITS>(m, &mut window, &modulus.whole);
    });
    carry::<M, DIGITS>(m, x, &window);
}

/// The columns of `A·B`, or of `A²`, each with what it starts at.
#[inline(always)]
fn half_product<M: Machine, const SQUARE: bool>(
    m: M,
    out: &mut (impl Sink<M> + ?Sized),
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
    each!(k in 0..DIGITS {
        c[k] = m.column_splat(start(k));
    });
    term_product(m, out, c, a, b, beside);
}
