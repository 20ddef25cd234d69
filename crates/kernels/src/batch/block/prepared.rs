//! Multiples of a modulus and their terms, prepared for products, and numbers in halves.

use super::short::{HALF_TERM, TERM, halves};
use crate::batch::Machine;

/// The digits of a term that is prepared for products: its own digits, `n0 + n1·2^{5w}`; those of `n1 − n0` modulo `2^{5w}`;
/// and 1 where that borrows, else 0.
pub const PREPARED_TERM: usize = TERM + HALF_TERM + 1;

/// The digits of what is prepared of a modulus of `n` terms: `M''` and `M`, their terms prepared, and `μ`.
pub const fn prepared_modulus(n: usize) -> usize {
    2 * n * PREPARED_TERM + TERM
}

/// What is prepared of a modulus.
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
        Self { friendly: friendly.as_chunks().0, plain: plain.as_chunks().0, mu: rest.first_chunk().expect("inverse") }
    }
}

/// A number of ten digits in halves: of a quotient `q0 + q1·Y`, with `Y = 2^{5w}`, the difference is `q0 − q1` modulo
/// `Y`; of a term `n0 + n1·Y` it is `n1 − n0`.
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
