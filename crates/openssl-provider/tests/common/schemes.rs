//! Signature schemes, and messages to sign.

use super::params::Params;

/// Digests, and the length of their output. PKCS#1 v1.5 has an identifier for each, except MD5-SHA1, which
/// needs none.
pub const DIGESTS: &[(&str, usize)] = &[
    ("MD5", 16),
    ("MD5-SHA1", 36),
    ("SHA1", 20),
    ("SHA2-224", 28),
    ("SHA256", 32),
    ("SHA2-384", 48),
    ("SHA-512", 64),
    ("SHA512-224", 28),
    ("SHA512-256", 32),
    ("SHA3-224", 28),
    ("SHA3-256", 32),
    ("SHA3-384", 48),
    ("SHA3-512", 64),
    // The default provider has RIPEMD-160 only in later versions.
    ("RIPEMD160", 20),
];

/// Digests that zariz leaves to OpenSSL: OpenSSL 3.0 signs neither, later versions sign SM3.
pub const JUDGED: &[(&str, usize)] = &[("BLAKE2S-256", 32), ("SM3", 32)];

/// Bytes to sign, not all equal.
pub fn message(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + i / 251) as u8).collect()
}

/// Parameters for PKCS#1 v1.5 with that digest.
pub fn digest(name: &str) -> Params {
    Params::new().text("digest", name)
}

/// Parameters for PSS.
pub fn pss(hash: &str, salt: &str) -> Params {
    digest(hash).text("pad-mode", "pss").text("saltlen", salt)
}
