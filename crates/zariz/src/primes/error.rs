//! What can go wrong in a search for primes.

use std::fmt;

use super::{MAX_BITS, MIN_BITS};
use crate::modulus::Modulus;

/// Why there is no prime, or no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrimeError {
    /// The length of primes to search for is not supported.
    Bits {
        /// The length asked for, in bits.
        bits: usize,
    },
    /// The range and the congruences leave too few candidates for a random search.
    Range(&'static str),
    /// No prime, or at most one, satisfies the congruences.
    Congruence(&'static str),
    /// The number to test is too long.
    TooLong {
        /// Its length in bits.
        bits: usize,
    },
    /// No prime was found among more candidates than a search ever needs.
    NotFound {
        /// How many candidates were tried.
        candidates: usize,
    },
    /// The random generator failed, or repeated itself.
    Random(&'static str),
    /// The caller ended the search.
    Cancelled,
}

impl std::error::Error for PrimeError {}

impl fmt::Display for PrimeError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Bits { bits } => {
                write!(f, "primes of {bits} bits were asked for; {MIN_BITS} to {MAX_BITS} bits are supported")
            }
            Self::Range(what) => write!(f, "no primes can be searched for: {what}"),
            Self::Congruence(what) => write!(f, "the congruences allow no primes: {what}"),
            Self::TooLong { bits } => {
                write!(f, "the number has {bits} bits; at most {} can be tested", Modulus::MAX_BITS)
            }
            Self::NotFound { candidates } => {
                write!(f, "no prime among {candidates} candidates; there may be none in the range")
            }
            Self::Random(what) => write!(f, "the random generator {what}"),
            Self::Cancelled => f.write_str("the search was cancelled"),
        }
    }
}
