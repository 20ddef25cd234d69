//! Why a request has no result.

use std::fmt;

use super::queue::Lost;
use crate::rsa;

/// Why a request has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The operation failed, as it would outside of a batcher.
    Rsa(rsa::Error),
    /// It was not computed.
    Lost(Lost),
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Rsa(error) => error.fmt(f),
            Self::Lost(lost) => lost.fmt(f),
        }
    }
}

impl From<rsa::Error> for Error {
    fn from(error: rsa::Error) -> Self {
        Self::Rsa(error)
    }
}

impl From<Lost> for Error {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost)
    }
}
