//! The variants of RFC 9474 section 5.

use std::fmt;
use std::str::FromStr;

use super::error::Error;
use crate::rsa::{Algorithm, Hash, KeyError, PssParameters, Usage};

/// A named variant of RSABSSA (RFC 9474 section 5): the length of the salt, and how messages are prepared.
/// All use SHA-384, and MGF1 with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// RSABSSA-SHA384-PSS-Randomized: a salt of 48 bytes, 32 random bytes before the message. Recommended.
    PssRandomized,
    /// RSABSSA-SHA384-PSSZERO-Randomized: no salt, 32 random bytes before the message. Recommended.
    PssZeroRandomized,
    /// RSABSSA-SHA384-PSS-Deterministic: a salt of 48 bytes, the message as it is. For messages that the
    /// server cannot guess. Privacy Pass has this one (RFC 9578).
    PssDeterministic,
    /// RSABSSA-SHA384-PSSZERO-Deterministic: no salt, the message as it is. For messages that the server
    /// cannot guess. The only variant in which a message has a single signature.
    PssZeroDeterministic,
}

impl Variant {
    /// Every variant, in the order of the RFC.
    pub const ALL: &'static [Self] =
        &[Self::PssRandomized, Self::PssZeroRandomized, Self::PssDeterministic, Self::PssZeroDeterministic];
    /// The first of the two that the RFC recommends.
    pub const RECOMMENDED: Self = Self::PssRandomized;
    /// How many random bytes the randomized variants put before a message.
    pub const PREFIX_LEN: usize = 32;

    /// The RFC's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::PssRandomized => "RSABSSA-SHA384-PSS-Randomized",
            Self::PssZeroRandomized => "RSABSSA-SHA384-PSSZERO-Randomized",
            Self::PssDeterministic => "RSABSSA-SHA384-PSS-Deterministic",
            Self::PssZeroDeterministic => "RSABSSA-SHA384-PSSZERO-Deterministic",
        }
    }

    /// Whether [`prepare`](Self::prepare) adds random bytes.
    pub fn is_randomized(self) -> bool {
        matches!(self, Self::PssRandomized | Self::PssZeroRandomized)
    }

    /// The length of the salt in bytes.
    pub fn salt_len(self) -> usize {
        match self {
            Self::PssRandomized | Self::PssDeterministic => 48,
            Self::PssZeroRandomized | Self::PssZeroDeterministic => 0,
        }
    }

    /// The algorithm that signatures verify with, of prepared messages.
    pub fn algorithm(self) -> Algorithm {
        Algorithm::pss(Hash::Sha384, self.salt_len())
    }

    /// The message that is signed, PrepareRandomize or PrepareIdentity (RFC 9474 section 4.1): 32 random
    /// bytes and `message`, or `message` alone. Verifiers need the prepared message.
    ///
    /// # Errors
    /// [`Error::Random`].
    pub fn prepare(self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut prefix = vec![0; if self.is_randomized() { Self::PREFIX_LEN } else { 0 }];
        getrandom::fill(&mut prefix).map_err(|_| Error::Random)?;
        Ok([&prefix, message].concat())
    }

    /// The application's message in a prepared one (RFC 9474 section 4.5): what [`prepare`](Self::prepare)
    /// took. `None` if the random bytes are not all there.
    pub fn message(self, prepared: &[u8]) -> Option<&[u8]> {
        prepared.get(if self.is_randomized() { Self::PREFIX_LEN } else { 0 }..)
    }

    /// The mark of a key for this variant in its algorithm identifier.
    pub(super) fn parameters(self) -> PssParameters {
        PssParameters { hash: Hash::Sha384, mgf1_hash: Hash::Sha384, min_salt_len: self.salt_len() as u16 }
    }

    /// Checks that a key with that usage may become one for this variant.
    pub(super) fn takes(self, usage: Usage) -> Result<(), KeyError> {
        match usage {
            Usage::PssWith(only) if only != self.parameters() => Err(KeyError::Parameters(format!(
                "the key is restricted to PSS signatures with {only}; {self} needs {}",
                self.parameters()
            ))),
            _ => Ok(()),
        }
    }

    /// Checks that a file is marked as a key for PSS.
    pub(super) fn is_marked(usage: Usage) -> Result<(), KeyError> {
        if usage == Usage::Any {
            let what = "the key is for everything (rsaEncryption), and one of a blind signer must be for PSS alone \
                        (id-RSASSA-PSS); if it is used nowhere else, load it with zariz::rsa and mark it with `new`";
            return Err(KeyError::Parameters(what.into()));
        }
        Ok(())
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Variant {
    type Err = UnknownVariant;

    /// The variant of that name in the RFC.
    fn from_str(name: &str) -> Result<Self, UnknownVariant> {
        let variant = Self::ALL.iter().find(|variant| variant.name() == name);
        variant.copied().ok_or_else(|| UnknownVariant(name.to_owned()))
    }
}

/// The error for a name that no variant has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownVariant(String);

impl std::error::Error for UnknownVariant {}

impl fmt::Display for UnknownVariant {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let names: Vec<_> = Variant::ALL.iter().map(|variant| variant.name()).collect();
        write!(f, "there is no variant named {:?}; choose one of {}", self.0, names.join(", "))
    }
}
