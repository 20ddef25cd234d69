//! Why a request to a batcher failed.

use std::fmt;

use super::queue::QueueError;
use crate::rsa;

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The operation itself failed, as it would without a batcher.
    Rsa(rsa::Error),
    /// The queue did not compute the request.
    Queue(QueueError),
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Rsa(error) => error.fmt(f),
            Self::Queue(error) => error.fmt(f),
        }
    }
}

impl From<rsa::Error> for Error {
    fn from(error: rsa::Error) -> Self {
        Self::Rsa(error)
    }
}

impl From<QueueError> for Error {
    fn from(error: QueueError) -> Self {
        Self::Queue(error)
    }
}
