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

use work::{Corrections, LowerMiddle, Middle, Sums, UpperMiddle};

use super::beside::Beside;
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
/// The columns to work in: a product, and its middle.
pub const SPLIT_COLUMNS: usize = 3 * DIGITS;
/// The digits to work in: the quotient, the differences of the factors' halves, and that of the quotient's halves.
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

/// Columns and digits to work in.
struct Space<'a, M: Machine> {
    product: &'a mut Columns<M, { 2 * DIGITS }>,
    middle: &'a mut Columns<M, DIGITS>,
    quotient: &'a mut Digits<M, TERM>,
    differences: [&'a mut Digits<M, TERM>; 2],
    quotient_difference: &'a mut Digits<M, HALF_TERM>,
}

impl<'a, M: Machine> Space<'a, M> {
    #[inline(always)]
    fn new(columns: &'a mut [M::Column], spare: &'a mut [M::Digit]) -> Self {
        let (product, rest) = columns.split_first_chunk_mut().expect("columns");
        let (quotient, spare) = spare.split_first_chunk_mut().expect("digits");
        let (first, spare) = spare.split_first_chunk_mut().expect("digits");
        let (second, spare) = spare.split_first_chunk_mut().expect("digits");
        Self {
            product,
            middle: rest.first_chunk_mut().expect("columns"),
            quotient,
            differences: [first, second],
            quotient_difference: spare.first_chunk_mut().expect("digits"),
        }
    }
}

/// `X ← (X·Y + Q·M)/R`, with the `Q` that makes it an integer; digits normalised.
///
/// * Precondition: `x` and `y` have 20 digits. `modulus` has [`SPLIT_MODULUS`]: the two terms of `M''` of ten digits,
///   each prepared (see [`PREPARED_TERM`]), `M''` of four rows and of two, `M`, and `μ`. `c` has
///   [`SPLIT_COLUMNS`] and `spare` has [`SPLIT_SPARE`], in any state. `X·Y/R + 2M + M/2^{2w−1} < R`.
/// * Cost: 650 products, and a low half for each of the four ordinary rows.
#[inline(always)]
pub fn split_multiply<M: Machine, const T: usize>(
    m: M,
    x: &mut [M::Digit],
    y: &[M::Digit],
    modulus: &[M::Digit],
    c: &mut [M::Column],
    spare: &mut [M::Digit],
) {
    const { assert!(T == DIGITS) };
    let x = x.first_chunk_mut().expect("digits");
    let y = y.first_chunk().expect("digits");
    multiply_or_square(m, x, Some(y), &Modulus::new(m, modulus), &mut Space::new(c, spare));
}

/// Squares `times` times: each time `X ← (X² + Q·M)/R`, as [`split_multiply`] by itself.
///
/// * Precondition: that of [`split_multiply`].
/// * Cost, each time: 515 products, and a low half for each of the four ordinary rows.
#[inline(always)]
pub fn split_squarings<M: Machine, const T: usize>(
    m: M,
    x: &mut [M::Digit],
    times: usize,
    modulus: &[M::Digit],
    c: &mut [M::Column],
    spare: &mut [M::Digit],
) {
    const { assert!(T == DIGITS) };
    let x = x.first_chunk_mut().expect("digits");
    let modulus = Modulus::<M>::new(m, modulus);
    let mut space = Space::<M>::new(c, spare);
    for _ in 0..times {
        multiply_or_square(m, x, None, &modulus, &mut space);
    }
}

/// A product by `y`, or a square.
#[inline(always)]
fn multiply_or_square<M: Machine>(
    m: M,
    x: &mut Digits<M, DIGITS>,
    y: Option<&Digits<M, DIGITS>>,
    modulus: &Modulus<M>,
    space: &mut Space<M>,
) {
    let square = y.is_none();
    let Space { product, middle, quotient, differences: [d, f], quotient_difference } = space;
    let ((x0, x1), (y0, y1)) = (halves::<_, TERM>(x), halves::<_, TERM>(y.unwrap_or(x)));
    let (low, high) = product.split_at_mut(DIGITS);

    // The upper digits of X may still be under way: their difference comes later.
    let mut differences =
        (Difference::<M, TERM, 8>::new(m, x0, x1, d), (!square).then(|| Difference::<M, TERM, 20>::new(m, y1, y0, f)));
    half_product(m, low, x0, y0, square, |_| 0, &mut differences);
    let none = m.equals(m.column_splat(0), 1);
    let borrows = [differences.0.borrows(m), differences.1.map_or(none, |of_y| of_y.borrows(m))];

    let mut lowest = Normalize::<M> { columns: reread(low), digits: quotient, carry: m.column_splat(0) };
    let upper = |k: usize| if k < TERM { 0 } else { offset(k, M::DIGIT_BITS) };
    half_product(m, high, x1, y1, square, upper, &mut lowest);
    let carried = lowest.carry;

    let c = reread_mut(&mut **product);
    let (d, f) = (reread(&**d), reread(&**f));
    let (q0, q1) = halves::<_, HALF_TERM>(&**quotient);
    let mut sums =
        (Difference::<M, HALF_TERM, 0>::new(m, q0, q1, quotient_difference), Sums::<M> { columns: c, quotient });
    let lower = |k: usize| match (k < TERM, square) {
        (false, _) => 0,
        (true, false) => offset(k, M::DIGIT_BITS),
        (true, true) => offset(k, M::DIGIT_BITS).wrapping_neg(),
    };
    half_product(m, &mut **middle, d, f, square, lower, &mut sums);
    let quotient_borrows = sums.0.borrows(m);

    let c = reread_mut(&mut **product);
    c[TERM] = m.add(c[TERM], carried);
    c[DIGITS] = m.add(c[DIGITS], carried);
    // X²·s·t of a product, less X²·s of a square.
    c[3 * TERM] = if square {
        m.sub(c[3 * TERM], where_set(m, borrows[0], m.column_splat(1)))
    } else {
        plus_both(m, c[3 * TERM], borrows)
    };

    let middle = Middle { product: reread(&**middle), square, differences: [d, f], borrows };
    let quotient = Halved { halves: [q0, q1], difference: reread(&**quotient_difference), borrows: quotient_borrows };
    reduce(m, x, c, &middle, &quotient, modulus);
}

/// Adds the middle product and `Q·M''` to the columns `c` of the outer products, and reduces the sum. The two terms of
/// `M''` are added by turns, not one after the other as in `terms/reduce.rs`: that leaves room for work beside
/// products.
#[inline(always)]
fn reduce<M: Machine>(
    m: M,
    x: &mut Digits<M, DIGITS>,
    c: &mut Columns<M, { 2 * DIGITS }>,
    middle: &Middle<M>,
    quotient: &Halved<M>,
    modulus: &Modulus<M>,
) {
    let Halved { halves: [q0, q1], difference, .. } = *quotient;
    let [low, high] = &modulus.friendly;
    let ([n0, n1], [n2, n3]) = (low.halves, high.halves);
    let corrections = [Correction { quotient, term: low }, Correction { quotient, term: high }];
    let zero = m.column_splat(0);

    // Quarter by quarter of W: each is added to a quarter of the columns, and to the next one.
    let w0 = half_term_product(m, [zero; TERM], n0, q0, &mut LowerMiddle { columns: c, middle });
    each!(k in 0..HALF_TERM {
        c[TERM + k] = m.add(c[TERM + k], w0[k]);
    });
    let w1 = half_term_product(m, upper_half(m, &w0), n1, q1, &mut UpperMiddle { columns: c, middle });
    let c = reread_mut(c);
    let mut sum = [zero; TERM];
    each!(k in 0..HALF_TERM {
        sum[k] = m.add(c[TERM + HALF_TERM + k], m.add(w0[k], w1[k]));
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
        c[TERM + HALF_TERM + k] = sum[k];
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
        window[k] = column(TERM + k);
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
fn half_product<M: Machine>(
    m: M,
    out: &mut [M::Column],
    a: &Digits<M, TERM>,
    b: &Digits<M, TERM>,
    square: bool,
    start: impl Fn(usize) -> u64,
    beside: &mut impl Beside<M>,
) {
    if square {
        let half = |k: usize| m.column_splat((start(k).cast_signed() >> 1).cast_unsigned());
        return square_columns::<M, TERM>(m, out, a, half, beside);
    }
    let mut c = [m.column_splat(0); DIGITS];
    each!(k in 0..DIGITS {
        c[k] = m.column_splat(start(k));
    });
    term_product(m, out, c, a, b, beside);
}
