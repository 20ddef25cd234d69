//! The length of a PSS salt (`EVP_SIGNATURE-RSA(7)`).

use std::ffi::c_int;

use zariz::rsa::Hash;
use zariz::rsa::hazmat::pss;

use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::params::Param;

/// A choice of the salt's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Salt {
    /// The length of the digest.
    Digest,
    /// Any length when verifying, the longest when signing.
    Auto,
    /// The longest that fits.
    Max,
    /// When verifying, any length; when signing, the longest up to that of the digest.
    AutoDigestMax,
    /// A number of bytes.
    Bytes(c_int),
}

const WORDS: [(Salt, c_int, &std::ffi::CStr); 4] = [
    (Salt::Digest, -1, c"digest"),
    (Salt::Auto, -2, c"auto"),
    (Salt::Max, -3, c"max"),
    (Salt::AutoDigestMax, -4, c"auto-digestmax"),
];

impl Salt {
    /// The length that a parameter names.
    pub fn read(param: &Param) -> Outcome<Self> {
        let wrong = || Failure::new(Reason::Parameter, "this is not a salt length");
        let number = match param.text() {
            Some(text) => {
                if let Some(word) = WORDS.iter().find(|word| word.2.to_bytes() == text.as_bytes()) {
                    return Ok(word.0);
                }
                text.trim().parse().map_err(|_| wrong())?
            }
            None => param.int().and_then(|number| c_int::try_from(number).ok()).ok_or_else(wrong)?,
        };
        match WORDS.iter().find(|word| word.1 == number) {
            Some(word) => Ok(word.0),
            None if number >= 0 => Ok(Self::Bytes(number)),
            None => Err(wrong()),
        }
    }

    fn word(self) -> Option<&'static (Self, c_int, &'static std::ffi::CStr)> {
        WORDS.iter().find(|word| word.0 == self)
    }

    /// OpenSSL's number for it.
    pub fn number(self) -> c_int {
        match (self, self.word()) {
            (Self::Bytes(bytes), _) => bytes,
            (_, word) => word.map_or(-1, |word| word.1),
        }
    }

    /// Writes its number, or its name.
    pub fn write(self, param: &mut Param) -> bool {
        match self.word() {
            Some(word) if param.is_text() => param.put_constant(word.2),
            None if param.is_text() => param.put_text(&self.number().to_string()),
            _ => param.put_int(self.number().into()),
        }
    }

    /// The salt length to sign with.
    pub fn to_sign(self, hash: Hash, bits: usize) -> Outcome<usize> {
        let longest = longest(hash, bits)?;
        let salt = match self {
            Self::Digest => hash.size(),
            Self::Auto | Self::Max => longest,
            Self::AutoDigestMax => longest.min(hash.size()),
            Self::Bytes(bytes) => usize::try_from(bytes).unwrap_or(0),
        };
        if salt <= longest {
            return Ok(salt);
        }
        let text = format!("a salt of {salt} bytes is too long: at most {longest} fit this key and digest");
        Err(Failure::new(Reason::Length, text))
    }

    /// The required salt length; `None` if any length is allowed.
    pub fn to_verify(self, hash: Hash, bits: usize) -> Outcome<Option<usize>> {
        Ok(match self {
            Self::Auto | Self::AutoDigestMax => None,
            Self::Max => Some(longest(hash, bits)?),
            Self::Digest | Self::Bytes(_) => Some(self.to_sign(hash, bits)?),
        })
    }
}

fn longest(hash: Hash, bits: usize) -> Outcome<usize> {
    pss::longest_salt(hash, bits)
        .ok_or_else(|| Failure::new(Reason::Key, "the key is too short for this digest"))
}
