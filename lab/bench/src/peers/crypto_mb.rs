//! crypto_mb, of Intel's Cryptography Primitives Library, which computes eight numbers at once.
//!
//! It has the primitives of RSA alone: padding and hashing are done here. A signature is one
//! `mbx_rsa_private_crt_mb8` in its lane; there is no blinding and no check of the result. A verification is
//! one `mbx_rsa_public_mb8` and a comparison.

use std::array;

use anyhow::{Result, anyhow, ensure};
use openssl::bn::BigNumRef;
use zariz_peers::{CrtKey, CryptoMb, CryptoMbPrivate, CryptoMbPublic, Error};

use super::padding::pad;
use super::{CRYPTO_MB, Library, Signed, Signer, Verifier};
use crate::keys::Key;

/// Numbers that one call computes.
const LANES: usize = CryptoMb::LANES;

/// crypto_mb.
pub struct Peer {
    /// The library that was loaded.
    pub library: CryptoMb,
}

impl Library for Peer {
    fn name(&self) -> &'static str {
        CRYPTO_MB
    }

    fn version(&self) -> String {
        let version = self.library.version();
        version.strip_prefix("crypto_mb ").unwrap_or(version).to_owned()
    }

    fn batches(&self, named: &[usize]) -> Result<Vec<usize>> {
        let full: Vec<usize> = named.iter().copied().filter(|&batch| batch >= LANES).collect();
        ensure!(!full.is_empty(), "it computes {LANES} at once, and --batches has no such size");
        Ok(full)
    }

    fn lanes(&self) -> usize {
        LANES
    }

    fn signer(&self, key: &Key) -> Result<Box<dyn Signer>> {
        let [p, q, dp, dq, q_inverse] = key.crt()?.map(BigNumRef::to_vec);
        let numbers = CrtKey { p: &p, q: &q, dp: &dp, dq: &dq, q_inverse: &q_inverse };
        let private = self.library.private(8 * key.size, [numbers; LANES]).map_err(explain)?;
        Ok(Box::new(Private { private, size: key.size }))
    }

    fn verifier(&self, key: &Key) -> Result<Box<dyn Verifier>> {
        ensure!(key.rsa.e().to_vec() == [1, 0, 1], "it has public keys with the exponent 65537 only");
        let modulus = key.rsa.n().to_vec();
        let public = self.library.public(8 * key.size, [&modulus; LANES]).map_err(explain)?;
        Ok(Box::new(Public { public, size: key.size, opened: array::from_fn(|_| vec![0; key.size]) }))
    }
}

/// Which sizes there are, for those that there are not.
fn explain(error: Error) -> anyhow::Error {
    match error {
        Error::Bits(_) => anyhow!("{error}: only for 1024, 2048, 3072 and 4096"),
        _ => error.into(),
    }
}

/// A private key, once for each lane.
struct Private {
    private: CryptoMbPrivate,
    size: usize,
}

impl Signer for Private {
    fn sign(&mut self, messages: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        let mut signatures: Vec<Vec<u8>> = messages.iter().map(|_| vec![0; self.size]).collect();
        for (messages, signatures) in messages.chunks(LANES).zip(signatures.chunks_mut(LANES)) {
            let padded: Vec<Vec<u8>> = messages.iter().map(|message| pad(message, self.size)).collect();
            self.private.compute(&slices(&padded), signatures)?;
        }
        Ok(signatures)
    }
}

/// A public key, once for each lane.
struct Public {
    public: CryptoMbPublic,
    size: usize,
    opened: [Vec<u8>; LANES],
}

impl Verifier for Public {
    fn verify(&mut self, signed: &[Signed<'_>]) -> Result<()> {
        for signed in signed.chunks(LANES) {
            let signatures: Vec<&[u8]> = signed.iter().map(|signed| signed.signature).collect();
            let opened = &mut self.opened[..signed.len()];
            self.public.compute(&signatures, opened)?;
            for (signed, opened) in signed.iter().zip(opened) {
                ensure!(
                    *opened == pad(signed.message, self.size),
                    "crypto_mb opens a signature to another number"
                );
            }
        }
        Ok(())
    }
}

/// The same bytes, borrowed.
fn slices(numbers: &[Vec<u8>]) -> Vec<&[u8]> {
    numbers.iter().map(Vec::as_slice).collect()
}
