//! What can go wrong: a library that is not there, and numbers it cannot work with.

use std::fmt;

/// A library that cannot be used: missing, broken, or without a function that is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    pub(crate) library: &'static str,
    pub(crate) why: String,
}

impl NotFound {
    /// The library's name: `GMP`, `OpenSSL` or `crypto_mb`.
    pub fn library(&self) -> &'static str {
        self.library
    }

    /// What was tried, and what the system's loader said of it.
    pub fn why(&self) -> &str {
        &self.why
    }
}

impl std::error::Error for NotFound {}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} was not found: {}", self.library, self.why)
    }
}

/// Why a computation is refused, or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The modulus is even or below 3.
    Modulus,
    /// A base or factor is zero, or not below the modulus.
    Operand,
    /// The exponent is zero.
    Exponent,
    /// A number is longer than the library's interface can say.
    TooLong,
    /// A number or a result does not have the length of the key or modulus, or a call has too many.
    Length,
    /// crypto_mb has no functions for RSA keys or moduli of this many bits.
    Bits(usize),
    /// A function of the library reported a failure: most likely there was no memory.
    Failed(&'static str),
    /// A function of crypto_mb reported a failure of one lane.
    Lane {
        /// The function.
        function: &'static str,
        /// The lane, from 0.
        lane: usize,
        /// Its status, as `crypto_mb/status.h` numbers them.
        status: u32,
    },
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Modulus => f.write_str("the modulus must be odd and at least 3"),
            Self::Operand => f.write_str("a base or factor must be at least 1 and below the modulus"),
            Self::Exponent => f.write_str("the exponent must be at least 1"),
            Self::TooLong => f.write_str("a number is too long"),
            Self::Length => {
                f.write_str("the numbers are not as long as the key or modulus, or they are too many")
            }
            Self::Bits(bits) => write!(f, "crypto_mb has no functions for {bits} bits"),
            Self::Lane { function, lane, status } => {
                write!(f, "{function} failed in lane {lane}: status {status}")
            }
            Self::Failed(function) => write!(f, "{function} failed"),
        }
    }
}

/// A big-endian number without its leading zeros.
fn trimmed(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    &number[zeros..]
}

/// Checks a modulus, and returns it without leading zeros.
pub(crate) fn modulus(number: &[u8]) -> Result<&[u8], Error> {
    let number = trimmed(number);
    let odd = number.last().is_some_and(|byte| byte & 1 == 1);
    if odd && number != [1] { Ok(number) } else { Err(Error::Modulus) }
}

/// Checks a base or factor for a checked modulus, and returns it without leading zeros.
pub(crate) fn operand<'a>(number: &'a [u8], modulus: &[u8]) -> Result<&'a [u8], Error> {
    let number = trimmed(number);
    // Numbers without leading zeros compare by length, and then byte by byte.
    let below = (number.len(), number) < (modulus.len(), modulus);
    if below && !number.is_empty() { Ok(number) } else { Err(Error::Operand) }
}

/// Checks an exponent, and returns it without leading zeros.
pub(crate) fn exponent(number: &[u8]) -> Result<&[u8], Error> {
    let number = trimmed(number);
    if number.is_empty() { Err(Error::Exponent) } else { Ok(number) }
}

/// Checks that a number has at most `length` bytes besides leading zeros, and returns it without these.
pub(crate) fn fitting(number: &[u8], length: usize) -> Result<&[u8], Error> {
    let number = trimmed(number);
    if number.len() <= length { Ok(number) } else { Err(Error::Length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_held_to_their_ranges() {
        assert_eq!(modulus(&[0, 0, 1, 1]), Ok(&[1, 1][..]));
        for bad in [&[][..], &[0], &[1], &[0, 1], &[3, 2]] {
            assert_eq!(modulus(bad), Err(Error::Modulus), "{bad:?}");
        }
        assert_eq!(operand(&[0, 1, 0], &[1, 1]), Ok(&[1, 0][..]));
        assert_eq!(operand(&[255], &[1, 1]), Ok(&[255][..]));
        for bad in [&[][..], &[0], &[1, 1], &[1, 2], &[1, 0, 0]] {
            assert_eq!(operand(bad, &[1, 1]), Err(Error::Operand), "{bad:?}");
        }
        assert_eq!(exponent(&[0, 7]), Ok(&[7][..]));
        assert_eq!(exponent(&[0, 0]), Err(Error::Exponent));
    }
}
