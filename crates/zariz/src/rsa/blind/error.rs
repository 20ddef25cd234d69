//! Errors, as RFC 9474 names them.

use std::fmt;

use crate::rsa;

/// Why a blind signature could not be made. Each text begins with the RFC's name of the error.
///
/// The RFC's "message too long" does not occur: SHA-384 takes every message that fits a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// "encoding error": digest and salt do not fit the key. No key of a supported length is too short.
    Encoding,
    /// "blinding error": the random blind has no inverse. Call again; if it happens twice, the public key is
    /// a product of small primes, and its server must not be trusted.
    Blinding,
    /// "invalid input": the encoded message shares a factor with the modulus, or the inverse does not belong
    /// to the key. The public key is likely to be wrong: fetch it again.
    InvalidInput,
    /// "message representative out of range": the blinded message is not below the modulus.
    OutOfRange,
    /// "signing failure": the private operation failed, and why.
    SigningFailure(rsa::Error),
    /// "unexpected input size": the blinded message or blind signature is not as long as the modulus.
    InputSize {
        /// The length needed, in bytes.
        expected: usize,
        /// The length given.
        actual: usize,
    },
    /// "invalid signature": the signature is not one of the prepared message under the key.
    InvalidSignature,
    /// The operating system's random generator failed.
    Random,
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::SigningFailure(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Encoding => f.write_str("encoding error: digest and salt do not fit the key"),
            Self::Blinding => f.write_str("blinding error: the random blind has no inverse; try again"),
            Self::InvalidInput => f.write_str(
                "invalid input: the message or the inverse does not fit the public key; fetch the key again",
            ),
            Self::OutOfRange => f.write_str(
                "message representative out of range: the blinded message is not below the modulus",
            ),
            Self::SigningFailure(error) => write!(f, "signing failure: {error}"),
            Self::InputSize { expected, actual } => {
                write!(
                    f,
                    "unexpected input size: {actual} bytes given where the key needs exactly {expected}"
                )
            }
            Self::InvalidSignature => {
                f.write_str("invalid signature: it is not one of this message under this key")
            }
            Self::Random => f.write_str("the operating system's random generator failed"),
        }
    }
}

/// The RFC's name for an error of BlindSign.
impl From<rsa::Error> for Error {
    fn from(error: rsa::Error) -> Self {
        match error {
            rsa::Error::Length { expected, actual } => Self::InputSize { expected, actual },
            rsa::Error::OutOfRange => Self::OutOfRange,
            error => Self::SigningFailure(error),
        }
    }
}
