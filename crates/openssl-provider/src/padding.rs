//! Padding modes, by OpenSSL's numbers and names.

use std::ffi::CStr;

use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::params::Param;

/// The parameter.
pub const PAD_MODE: &CStr = c"pad-mode";

/// A padding mode: `RSA_…_PADDING`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// PKCS#1 v1.5, of signatures or of messages.
    Pkcs1 = 1,
    /// No padding.
    None = 3,
    /// OAEP, for messages.
    Oaep = 4,
    /// ANSI X9.31, for signatures.
    X931 = 5,
    /// PSS, for signatures.
    Pss = 6,
    /// PKCS#1 v1.5 with a premaster secret of TLS inside.
    Tls = 7,
}

const ALL: [(Padding, Option<&CStr>); 6] = [
    (Padding::Pkcs1, Some(c"pkcs1")),
    (Padding::None, Some(c"none")),
    (Padding::Oaep, Some(c"oaep")),
    (Padding::X931, Some(c"x931")),
    (Padding::Pss, Some(c"pss")),
    (Padding::Tls, None),
];

impl Padding {
    /// The mode that a parameter names.
    pub fn read(param: &Param) -> Outcome<Self> {
        let found = match param.text() {
            // OpenSSL's old misspelling.
            Some("oeap") => Some(Self::Oaep),
            Some(word) => ALL
                .iter()
                .find(|(_, known)| known.is_some_and(|known| known.to_bytes() == word.as_bytes()))
                .map(|found| found.0),
            None => ALL.iter().map(|known| known.0).find(|&known| param.int() == Some(known as i64)),
        };
        found.ok_or_else(|| Failure::new(Reason::Padding, "there is no such padding mode"))
    }

    /// Writes its number, or its name.
    pub fn write(self, param: &mut Param) -> bool {
        let word = ALL.iter().find(|known| known.0 == self).and_then(|known| known.1);
        match word {
            Some(word) if param.is_text() => param.put_constant(word),
            _ => param.put_int(self as i64),
        }
    }
}
