//! One number spread across a vector: RSAZ (Gueron and Krasnov, "Software implementation of modular
//! exponentiation, using advanced vector instructions architectures", 2012).
//!
//! A [`crate::batch::Context`] does many exponentiations at once, one in every lane. This is for a single
//! one: the four lanes of a vector are four digits of the same number, in the *redundant* radix `2^m` with
//! `m = 29` or `28`: each digit has a column of 64 bits, in which `2^{64−2m}` products of two digits can be
//! added up before anything must be carried.
//!
//! * [`Machine`]: the operations of a machine, in two halves that work side by side: vectors of four columns,
//!   and scalar words.
//! * `rows`: four digits times a number, all in vectors. Columns stay where they are in memory; the number
//!   lies there in four copies, each shifted by one digit more (the paper reads one at unaligned places,
//!   section 4.3).
//! * `head`: the four-digit scalar head start: the four lowest columns are taken to scalar registers, and
//!   give the next four digits of the quotient.
//! * A machine's vectors may be *halved*: two of two columns. Then rows leave out halves that are zeros, and
//!   the last carries are scalar.
//! * `carry`: the *cleanup* that keeps columns from overflowing, and the normalisation at the end.
//! * `beside`: steps of other work, which the loops call.
//! * [`multiply()`] (VNRMM, algorithm 3), [`square()`] (VNRMSQR, algorithm 5), and `context`, by which
//!   [`crate::pow`] does algorithm 4, with the protected table of [`select()`].
//!
//! # Bounds
//!
//! Numbers have `k` digits, a multiple of four, each at most `2^m` (*at most*: three passes of vector carries
//! leave that, not less), and are below `4M` with `R = 2^{mk} ≥ 8M`. By the paper's quotients
//! (`Quotients::Chained`) a product `T = x·y` is reduced to `(T + q·M)/R < T/R + M`, at most `3M`; by
//! [`Quotients::Friendly`] to less than `T/R + 2M`, at most `4M`. (The paper's Lemma 1 has `R > 4M` and
//! numbers below `2M`. For 512, 1024 and 2048 bits the digits that `R ≥ 8M` asks for are the same.)
//!
//! A column receives products of digits at most `2^m`, of which a doubled one counts as two: `s` of them,
//! with the carry into it, are below `(s + 2)·2^{2m}`. Before that exceeds `2^64`, at `s =` [`most_sums`],
//! there is a cleanup. `analysis` proves it, column by column, for every size.

mod beside;
mod carry;
mod context;
mod head;
mod kernels;
mod machine;
mod multiply;
mod rows;
mod select;
mod square;
mod workspace;

pub use beside::{Beside, steps_of_multiply, steps_of_square};
pub use context::Context;
pub use kernels::Kernels;
pub use machine::{Machine, SHIFTED};
pub use multiply::multiply;
pub use select::select;
pub use square::square;
pub use workspace::Workspace;

use crate::OddModulus;
use crate::batch::Constants;
use crate::bounds::FREE_BITS;

/// How the digits of the quotient are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Quotients {
    /// As in the paper: each from the one before, `y = x·(−M^{−1}) mod 2^m`, with two dependent products for
    /// each.
    #[cfg(feature = "papers")]
    Chained,
    /// Four at a time without any product, by a multiple of `M` that is `−1` modulo `2^{4m}`; the last four
    /// as in the paper.
    #[default]
    Friendly,
}

impl Quotients {
    /// All of them.
    pub const ALL: &[Self] = &[
        #[cfg(feature = "papers")]
        Self::Chained,
        Self::Friendly,
    ];
}

/// How many products of two digits at most `2^m` a column can receive before it must be cleaned up.
pub const fn most_sums(m: u32) -> usize {
    (1 << (64 - 2 * m)) - 2
}

/// The longest modulus, in bits: `R ≥ 8M` with 252 digits of 28 bits, whose square fits its columns without a
/// cleanup.
pub const MAX_BITS: usize = 28 * (most_sums(28) / 4 * 4) - FREE_BITS;

/// The longest modulus in radix `2^29`: 36 digits, as in the paper.
const MAX_BITS_29: usize = 29 * 36 - FREE_BITS;

/// `m`: 29 up to 36 digits, above that 28 (section 4.1).
pub const fn digit_bits_for(bits: usize) -> u32 {
    if bits <= MAX_BITS_29 { 29 } else { 28 }
}

/// `k`: as many digits as `R = 2^{mk} ≥ 8M` needs, rounded up to a multiple of four. (The paper has 18, 36
/// and 74 for 512, 1024 and 2048 bits; rows are done by fours here: 20, 36 and 76.)
pub const fn digits_for(bits: usize, m: u32) -> usize {
    Constants::digits_for(bits, m).next_multiple_of(4)
}

/// Prepares a modulus of at most [`MAX_BITS`] bits.
///
/// # Panics
/// If the modulus is too long.
pub fn constants(modulus: &OddModulus) -> Constants {
    let bits = modulus.bits();
    assert!(bits <= MAX_BITS, "a modulus of {bits} bits is too long");
    let m = digit_bits_for(bits);
    Constants::new(modulus, m, digits_for(bits, m))
}
