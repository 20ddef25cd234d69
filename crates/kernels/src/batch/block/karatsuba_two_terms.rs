//! Montgomery multiplication and squaring of 20 digits, two terms, in fewer products: by Karatsuba's
//! splitting of the product, and of most of its reduction. For processors that add while they multiply.
//!
//! # The product
//!
//! With `X = 2^{10w}`, `A = A0 + A1·X` and `B` likewise,
//! `A·B = D0 + X·(D0 + D2 + (A0 − A1)·(B1 − B0)) + X²·D2`, where `D0 = A0·B0` and `D2 = A1·B1` (Karatsuba and
//! Ofman). A difference is kept modulo `X`: `A0 − A1 = d − X·s`, where `s` is 1 if it borrows, else 0. Then
//! nothing is negated: `(d − X·s)·(f − X·t) = d·f − X·(s·f + t·d) + X²·s·t`. In a square, `B = A`, so the
//! middle product is `−(d − X·s)²`. Unlike in [`karatsuba`](super::karatsuba()), no magnitude is chosen, and
//! there is one chain of borrows for each difference.
//!
//! The reduction is that of [`mod@reduce`].
//!
//! A product's columns from the tenth up can be negative, so they start at an offset (see
//! [`crate::batch::bias`]). Only for machines without bias, and without negative halves.

mod product;
mod reduce;

use super::term::{HALF_TERM, TERM};
use crate::batch::Machine;

/// The digits of a number.
pub const TWO_TERMS_DIGITS: usize = 2 * TERM;
/// Scratch columns: those of a product.
pub const TWO_TERMS_COLUMNS: usize = 2 * DIGITS;
/// Scratch digits: two quotients, each with the difference of its halves, and the differences of the factors'
/// halves.
pub const TWO_TERMS_SCRATCH: usize = 4 * TERM + 2 * HALF_TERM;

const DIGITS: usize = TWO_TERMS_DIGITS;

type Digits<M, const N: usize> = [<M as Machine>::Digit; N];
type Columns<M, const N: usize> = [<M as Machine>::Column; N];

/// Scratch digits.
struct Space<'a, M: Machine> {
    quotient: Quotient<'a, M>,
    last_quotient: Quotient<'a, M>,
    /// The differences of the factors' halves.
    differences: [&'a mut Digits<M, TERM>; 2],
}

/// A quotient of ten digits, and the difference of its halves.
struct Quotient<'a, M: Machine> {
    digits: &'a mut Digits<M, TERM>,
    difference: &'a mut Digits<M, HALF_TERM>,
}

impl<'a, M: Machine> Quotient<'a, M> {
    /// The first digits of `scratch`, and the rest.
    #[inline(always)]
    fn take(scratch: &'a mut [M::Digit]) -> (Self, &'a mut [M::Digit]) {
        let (digits, scratch) = scratch.split_first_chunk_mut().expect("digits");
        let (difference, scratch) = scratch.split_first_chunk_mut().expect("digits");
        (Self { digits, difference }, scratch)
    }
}

impl<'a, M: Machine> Space<'a, M> {
    #[inline(always)]
    fn new(scratch: &'a mut [M::Digit]) -> Self {
        let (quotient, scratch) = Quotient::take(scratch);
        let (last_quotient, scratch) = Quotient::take(scratch);
        let (first, scratch) = scratch.split_first_chunk_mut().expect("digits");
        let second = scratch.first_chunk_mut().expect("digits");
        Self { quotient, last_quotient, differences: [first, second] }
    }
}

/// `times` squarings, then a multiplication by `Y` if there is one: `X ← (X² + Q·M)/R`, then
/// `X ← (X·Y + Q·M)/R`, with the `Q < 2R` that makes each an integer; digits normalised. Both share the code
/// of the reduction.
///
/// * Precondition: `x` has 20 digits; `y` has 20 or none. `modulus` has those of two terms
///   ([`prepared_modulus`](super::prepared_modulus)). `c` has [`TWO_TERMS_COLUMNS`] and `scratch` has
///   [`TWO_TERMS_SCRATCH`], in any state. `X²/R + 2M < R` before each squaring, `X·Y/R + 2M < R` before the
///   multiplication.
/// * Result: below `X²/R + 2M`, or `X·Y/R + 2M`.
/// * Cost: 490 products for each squaring, 625 for the multiplication; each has ten low halves besides.
#[inline(always)]
pub fn karatsuba_two_terms<M: Machine, const T: usize>(
    m: M,
    x: &mut [M::Digit],
    times: usize,
    y: &[M::Digit],
    modulus: &[M::Digit],
    c: &mut [M::Column],
    scratch: &mut [M::Digit],
) {
    const { assert!(T == DIGITS) };
    let x: &mut Digits<M, DIGITS> = x.first_chunk_mut().expect("digits");
    let y: Option<&Digits<M, DIGITS>> = (!y.is_empty()).then(|| y.first_chunk().expect("digits"));
    let modulus = &reduce::Modulus::<M>::new(m, modulus);
    let c: &mut Columns<M, TWO_TERMS_COLUMNS> = c.first_chunk_mut().expect("columns");
    for step in 0..times + usize::from(y.is_some()) {
        match y {
            Some(y) if step == times => product::columns::<M, false>(m, c, x, y, scratch),
            _ => product::columns::<M, true>(m, c, x, x, scratch),
        }
        reduce::reduce(m, x, c, modulus, scratch);
    }
}
