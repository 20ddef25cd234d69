//! The parameters that a key may restrict PSS signatures to.

use std::fmt;

use super::hash::Hash;

/// The parameters that a key restricts PSS signatures to (RFC 4055 section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PssParameters {
    /// The hash of the message.
    pub hash: Hash,
    /// The hash of the mask-generation function, which is MGF1.
    pub mgf1_hash: Hash,
    /// The shortest salt, in bytes.
    pub min_salt_len: u16,
}

impl fmt::Display for PssParameters {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { hash, mgf1_hash, min_salt_len } = self;
        write!(f, "{hash}, MGF1 with {mgf1_hash} and a salt of at least {min_salt_len} bytes")
    }
}
