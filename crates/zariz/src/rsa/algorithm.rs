//! Signature algorithms and encryption paddings.

use std::fmt;
use std::str::FromStr;

use super::hash::{Hash, Mgf};

/// How a message is hashed and padded before it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2).
    Pkcs1v15(Hash),
    /// RSASSA-PSS (RFC 8017 section 8.1).
    Pss {
        /// The hash of the message.
        hash: Hash,
        /// The mask-generation function.
        mgf: Mgf,
        /// The length of the salt in bytes.
        salt_len: usize,
    },
}

impl Algorithm {
    /// PKCS#1 v1.5 with SHA-256.
    pub const RS256: Self = Self::Pkcs1v15(Hash::Sha256);
    /// PKCS#1 v1.5 with SHA-384.
    pub const RS384: Self = Self::Pkcs1v15(Hash::Sha384);
    /// PKCS#1 v1.5 with SHA-512.
    pub const RS512: Self = Self::Pkcs1v15(Hash::Sha512);
    /// PSS with SHA-256, MGF1 with SHA-256 and a 32-byte salt.
    pub const PS256: Self = Self::pss(Hash::Sha256, 32);
    /// PSS with SHA-384, MGF1 with SHA-384 and a 48-byte salt.
    pub const PS384: Self = Self::pss(Hash::Sha384, 48);
    /// PSS with SHA-512, MGF1 with SHA-512 and a 64-byte salt.
    pub const PS512: Self = Self::pss(Hash::Sha512, 64);
    /// The algorithms that have a name of their own (RFC 7518).
    pub const NAMED: &'static [Self] =
        &[Self::RS256, Self::RS384, Self::RS512, Self::PS256, Self::PS384, Self::PS512];
    const NAMES: [&str; 6] = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];

    /// PSS with one hash for message and mask (MGF1), and a salt of `salt_len` bytes.
    pub const fn pss(hash: Hash, salt_len: usize) -> Self {
        Self::Pss { hash, mgf: Mgf::Mgf1(hash), salt_len }
    }

    /// The name in RFC 7518, if there is one.
    pub fn name(self) -> Option<&'static str> {
        Self::NAMED.iter().position(|&known| known == self).map(|i| Self::NAMES[i])
    }

    /// The hash of the message.
    pub fn hash(self) -> Hash {
        match self {
            Self::Pkcs1v15(hash) | Self::Pss { hash, .. } => hash,
        }
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    /// The algorithm of that name in RFC 7518; upper and lower case are the same.
    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let i = Self::NAMES.iter().position(|known| known.eq_ignore_ascii_case(name));
        i.map(|i| Self::NAMED[i]).ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}

/// The error for a name that no signature algorithm has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm(String);

impl std::error::Error for UnknownAlgorithm {}

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "there is no algorithm named {:?}; choose one of {}", self.0, Algorithm::NAMES.join(", "))
    }
}

/// How a message is padded before it is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Padding {
    /// RSAES-OAEP (RFC 8017 section 7.1).
    Oaep {
        /// The hash of the label.
        hash: Hash,
        /// The mask-generation function.
        mgf: Mgf,
        /// The label, usually empty.
        label: Vec<u8>,
    },
    /// RSAES-PKCS1-v1_5. Decryption does not fail on bad padding: it returns a message derived from key and
    /// ciphertext (implicit rejection, draft-irtf-cfrg-rsa-guidance), so that an attacker cannot learn that
    /// the padding was bad.
    Pkcs1v15,
}

impl Padding {
    /// OAEP with one hash for label and mask, and no label.
    pub fn oaep(hash: Hash) -> Self {
        Self::Oaep { hash, mgf: Mgf::Mgf1(hash), label: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for &algorithm in Algorithm::NAMED {
            let name = algorithm.name().expect("a named one");
            assert_eq!([name.parse(), name.to_lowercase().parse()], [Ok(algorithm), Ok(algorithm)]);
        }
        assert_eq!(Algorithm::pss(Hash::Sha256, 32).name(), Some("PS256"));
        assert_eq!(Algorithm::pss(Hash::Sha256, 20).name(), None);
        let error = "HS256".parse::<Algorithm>().expect_err("no RSA").to_string();
        assert!(error.contains("HS256") && error.contains("RS256, RS384"), "{error}");
    }
}
