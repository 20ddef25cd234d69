//! Errors of the field's functions.

use std::fmt;

use zariz::{Engine, EngineError};

/// Why bytes do not encode an element, slices do not form a batch, or an engine cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FpError {
    /// The bytes encode a number that is not below the modulus: each element has only one encoding.
    OutOfRange,
    /// An encoded element has 48 bytes, not this many.
    WrongLength(usize),
    /// Slices of a batch differ in length.
    LengthsDiffer {
        /// The length of the first slice.
        expected: usize,
        /// The length of a slice that differs from it.
        found: usize,
    },
    /// The engine cannot be used.
    Engine(EngineError),
    /// The engine has no lanes, and the operation needs them.
    WithoutLanes(Engine),
}

impl From<EngineError> for FpError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl std::error::Error for FpError {}

impl fmt::Display for FpError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::OutOfRange => f.write_str(
                "not an element of the base field of BLS12-381: the number is not below the modulus; reduce it",
            ),
            Self::WrongLength(found) => {
                write!(f, "an element of the base field of BLS12-381 is 48 big-endian bytes, not {found}")
            }
            Self::LengthsDiffer { expected, found } => {
                write!(f, "the slices of a batch must have one length; these have {expected} and {found} elements")
            }
            Self::Engine(error) => error.fmt(f),
            Self::WithoutLanes(engine) => {
                write!(f, "engine {engine} has no lanes, which this operation needs; choose {}", Engine::best())
            }
        }
    }
}
