//! The libraries that are measured, all behind one trait, and zariz among them.
//!
//! Rules that keep the comparison fair for all libraries:
//! - a call takes messages and gives back PKCS#1 v1.5 SHA-256 signatures (hashing and padding are inside);
//! - keys are parsed, and what a library lets its user prepare per key is prepared, before the clock starts;
//! - blinding is on wherever the library has it.

mod aws_lc;
mod crypto_mb;
mod gmp;
mod graviola;
mod openssl;
mod padding;
mod ring;
mod rustcrypto;
mod zariz;

pub use self::openssl::OpenSsl;
use ::zariz::Dispatch;
use anyhow::{Result, bail};
use zariz_peers::CryptoMb;

use crate::keys::Key;

/// A library that signs and verifies with RSA.
pub trait Library {
    /// Its name on the command line and in the results.
    fn name(&self) -> &'static str;

    /// Its version, and that of the crate it comes through where they differ.
    fn version(&self) -> String;

    /// The zariz engine it runs on, or `auto`; none for a peer.
    fn engine(&self) -> Option<Dispatch> {
        None
    }

    /// The batch sizes to measure it at, of those that the user named, ascending; or why there is none. A
    /// library without batches signs one message after the other.
    fn batches(&self, _named: &[usize]) -> Result<Vec<usize>> {
        Ok(vec![1])
    }

    /// How many operations it computes at once.
    fn lanes(&self) -> usize {
        1
    }

    /// Prepares signing with a key, or says why the library does not sign with it.
    fn signer(&self, key: &Key) -> Result<Box<dyn Signer>>;

    /// Prepares verifying with the public half of a key, or says why the library does not verify with it.
    fn verifier(&self, key: &Key) -> Result<Box<dyn Verifier>>;
}

/// A message and its signature.
#[derive(Clone, Copy)]
pub struct Signed<'a> {
    /// The message.
    pub message: &'a [u8],
    /// Its signature.
    pub signature: &'a [u8],
}

/// A key ready to sign.
pub trait Signer {
    /// Signs each message (PKCS#1 v1.5, SHA-256); signatures in the order of the messages.
    fn sign(&mut self, messages: &[&[u8]]) -> Result<Vec<Vec<u8>>>;
}

/// A key ready to verify.
pub trait Verifier {
    /// Verifies each signature (PKCS#1 v1.5, SHA-256); an error when one of them is wrong.
    fn verify(&mut self, signed: &[Signed<'_>]) -> Result<()>;
}

/// A key that a library made ready for one of the two operations.
pub enum Ready {
    /// Ready to sign.
    Sign(Box<dyn Signer>),
    /// Ready to verify.
    Verify(Box<dyn Verifier>),
}

/// The name of the library that ratios are given against.
pub const REFERENCE: &str = "openssl";

/// crypto_mb's name.
pub const CRYPTO_MB: &str = "crypto_mb";

/// Every peer that is built with this program, the reference first.
fn all() -> Vec<Box<dyn Library>> {
    vec![
        Box::new(openssl::OpenSsl),
        Box::new(aws_lc::AwsLc),
        Box::new(ring::Ring),
        Box::new(graviola::Graviola),
        Box::new(rustcrypto::RustCrypto),
        Box::new(gmp::Gmp),
    ]
}

/// The peers with these names, in the order of [`all`]; every peer for an empty list.
pub fn by_names(names: &[String]) -> Result<Vec<Box<dyn Library>>> {
    let known = all();
    for name in names {
        if !known.iter().any(|library| library.name() == name) {
            let known: Vec<_> = known.iter().map(|library| library.name()).collect();
            bail!("unknown peer {name:?}; there are {}", known.join(", "));
        }
    }
    let wanted = |library: &dyn Library| names.is_empty() || names.iter().any(|name| name == library.name());
    Ok(known.into_iter().filter(|library| wanted(library.as_ref())).collect())
}

/// crypto_mb, which its user built and loaded.
pub fn crypto_mb(library: CryptoMb) -> Box<dyn Library> {
    Box::new(crypto_mb::Peer { library })
}

/// zariz on each of these engines.
pub fn zariz(engines: &[Dispatch]) -> Vec<Box<dyn Library>> {
    engines.iter().map(|&engine| Box::new(zariz::Zariz { engine }) as Box<dyn Library>).collect()
}
