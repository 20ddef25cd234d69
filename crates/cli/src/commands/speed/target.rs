//! The targets of `speed`, by their names on the command line.

use std::fmt;

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// What to measure; lengths are in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Signing and verifying.
    Rsa(usize),
    /// Powers with one exponent.
    Modexp(usize),
    /// Powers of one base.
    FixedBase(usize),
    /// New RSA keys.
    Keygen(usize),
    /// New primes.
    Prime {
        /// Their length.
        bits: usize,
        /// Whether they are safe primes.
        safe: bool,
    },
}

/// Every target with its name, in the order of the help.
const TARGETS: [(&str, Target); 21] = [
    ("rsa1024", Target::Rsa(1024)),
    ("rsa2048", Target::Rsa(2048)),
    ("rsa3072", Target::Rsa(3072)),
    ("rsa4096", Target::Rsa(4096)),
    ("rsa8192", Target::Rsa(8192)),
    ("modexp1024", Target::Modexp(1024)),
    ("modexp2048", Target::Modexp(2048)),
    ("modexp4096", Target::Modexp(4096)),
    ("fixedbase1024", Target::FixedBase(1024)),
    ("fixedbase2048", Target::FixedBase(2048)),
    ("fixedbase4096", Target::FixedBase(4096)),
    ("keygen1024", Target::Keygen(1024)),
    ("keygen2048", Target::Keygen(2048)),
    ("keygen3072", Target::Keygen(3072)),
    ("keygen4096", Target::Keygen(4096)),
    ("prime1024", Target::Prime { bits: 1024, safe: false }),
    ("prime1536", Target::Prime { bits: 1536, safe: false }),
    ("prime2048", Target::Prime { bits: 2048, safe: false }),
    ("safeprime512", Target::Prime { bits: 512, safe: true }),
    ("safeprime1024", Target::Prime { bits: 1024, safe: true }),
    ("safeprime2048", Target::Prime { bits: 2048, safe: true }),
];

/// The targets if the command line names none.
pub const USUAL: [Target; 3] = [Target::Rsa(2048), Target::Rsa(3072), Target::Rsa(4096)];

/// Reads the name of a target.
pub fn parser() -> impl TypedValueParser<Value = Target> {
    PossibleValuesParser::new(TARGETS.map(|(name, _)| name)).try_map(|name| {
        let found = TARGETS.iter().find(|(known, _)| *known == name);
        found.map(|(_, target)| *target).ok_or("no such target")
    })
}

impl Target {
    /// The kind of the target, without the length.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Rsa(_) => "rsa",
            Self::Modexp(_) => "modexp",
            Self::FixedBase(_) => "fixedbase",
            Self::Keygen(_) => "keygen",
            Self::Prime { safe: false, .. } => "prime",
            Self::Prime { safe: true, .. } => "safeprime",
        }
    }

    /// The default number of operations in a batch.
    pub fn usual_batch(self) -> usize {
        match self {
            Self::Rsa(_) | Self::Modexp(_) | Self::FixedBase(_) => 64,
            Self::Keygen(_) | Self::Prime { safe: false, .. } => 8,
            // Safe primes take long.
            Self::Prime { safe: true, .. } => 1,
        }
    }

    /// The length in bits.
    pub fn bits(self) -> usize {
        match self {
            Self::Rsa(bits)
            | Self::Modexp(bits)
            | Self::FixedBase(bits)
            | Self::Keygen(bits)
            | Self::Prime { bits, .. } => bits,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}{}", self.kind(), self.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kind_and_bits() {
        for (name, target) in TARGETS {
            assert_eq!(target.to_string(), name);
        }
    }
}
