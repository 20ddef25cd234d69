//! The keys that every library signs with: fixed, published and therefore worthless for anything but
//! measuring.

use anyhow::{Context, Result, bail};
use openssl::bn::BigNumRef;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Rsa;

/// Private keys in PEM (PKCS#8), by modulus size: those of `zariz speed`.
const PEMS: [(usize, &str); 5] = [
    (1024, include_str!("../../../crates/cli/keys/bench-1024.pem")),
    (2048, include_str!("../../../crates/cli/keys/bench-2048.pem")),
    (3072, include_str!("../../../crates/cli/keys/bench-3072.pem")),
    (4096, include_str!("../../../crates/cli/keys/bench-4096.pem")),
    (8192, include_str!("../../../crates/cli/keys/bench-8192.pem")),
];

/// The modulus sizes that can be measured.
pub fn sizes() -> impl Iterator<Item = usize> {
    PEMS.iter().map(|&(bits, _)| bits)
}

/// One RSA key in every encoding that some library needs.
pub struct Key {
    /// The private key as DER, PKCS#8.
    pub pkcs8: Vec<u8>,
    /// The public key as DER, SubjectPublicKeyInfo.
    pub spki: Vec<u8>,
    /// The public key as DER, PKCS#1.
    pub pkcs1_public: Vec<u8>,
    /// Its numbers, for the library that only computes.
    pub rsa: Rsa<Private>,
    /// Bytes of a signature.
    pub size: usize,
}

impl Key {
    /// The key with a modulus of `bits` bits.
    pub fn load(bits: usize) -> Result<Key> {
        let Some(&(_, pem)) = PEMS.iter().find(|&&(size, _)| size == bits) else {
            bail!("there is no benchmark key of {bits} bits; there are {:?}", sizes().collect::<Vec<_>>());
        };
        let read = || -> Result<Key, openssl::error::ErrorStack> {
            let key = PKey::private_key_from_pem(pem.as_bytes())?;
            let rsa = key.rsa()?;
            Ok(Key {
                pkcs8: key.private_key_to_pkcs8()?,
                spki: key.public_key_to_der()?,
                pkcs1_public: rsa.public_key_to_der_pkcs1()?,
                size: rsa.size() as usize,
                rsa,
            })
        };
        read().with_context(|| format!("reading the benchmark key of {bits} bits"))
    }

    /// p, q, d mod p − 1, d mod q − 1, and 1/q mod p.
    pub fn crt(&self) -> Result<[&BigNumRef; 5]> {
        let rsa = &self.rsa;
        match (rsa.p(), rsa.q(), rsa.dmp1(), rsa.dmq1(), rsa.iqmp()) {
            (Some(p), Some(q), Some(dp), Some(dq), Some(q_inverse)) => Ok([p, q, dp, dq, q_inverse]),
            _ => bail!("the key has no CRT values"),
        }
    }
}
