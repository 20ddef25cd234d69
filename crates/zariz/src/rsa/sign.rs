//! Signing, one message or a batch.

use std::mem;

use zeroize::Zeroizing;

use super::algorithm::Algorithm;
use super::error::Error;
use super::hazmat::{pkcs1v15, pss};
use super::private::PrivateKey;
use super::private_op::{self, private_op};
use crate::wiping::wiping;

/// One message to sign.
#[derive(Clone, Copy, Debug)]
pub struct SignJob<'a> {
    /// The private key that signs.
    pub key: &'a PrivateKey,
    /// The padding and hash.
    pub algorithm: Algorithm,
    /// The message itself, not its digest.
    pub message: &'a [u8],
}

/// One message to sign, given by its digest.
#[derive(Clone, Copy, Debug)]
pub struct SignDigestJob<'a> {
    /// The private key that signs.
    pub key: &'a PrivateKey,
    /// The padding and hash.
    pub algorithm: Algorithm,
    /// The digest of the message under the algorithm's hash.
    pub digest: &'a [u8],
}

/// Signs many messages, each with its own key, in order. Keys of similar size share batches. Each result is a
/// signature or its own error, one of those of [`PrivateKey::sign`].
#[must_use]
pub fn sign_many(jobs: &[SignJob]) -> Vec<Result<Vec<u8>, Error>> {
    of_messages(jobs.iter().copied())
}

/// Signs many messages, given by their digests, each with its own key, in order. Keys of similar size share
/// batches. Each result is a signature or its own error, one of those of [`PrivateKey::sign_digest`].
#[must_use]
pub fn sign_digest_many(jobs: &[SignDigestJob]) -> Vec<Result<Vec<u8>, Error>> {
    of_digests(jobs.iter().copied())
}

impl PrivateKey {
    /// Signs one message: `⌈bits/8⌉` bytes.
    ///
    /// # Errors
    /// [`Error::KeyTooShort`] or [`Error::Unsupported`] if the algorithm does not go with the key or hash;
    /// [`Error::PssOnly`] or [`Error::PssParameters`] if the key does not allow it; [`Error::Random`],
    /// [`Error::Fault`] or [`Error::InvalidKey`] if the computation fails.
    pub fn sign(&self, algorithm: Algorithm, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.sign_batch(algorithm, &[message]).swap_remove(0)
    }

    /// Signs many messages, in order, in batches. Each result is a signature or its own error, one of those
    /// of [`sign`](Self::sign).
    #[must_use]
    pub fn sign_batch(&self, algorithm: Algorithm, messages: &[&[u8]]) -> Vec<Result<Vec<u8>, Error>> {
        of_messages(messages.iter().map(|&message| SignJob { key: self, algorithm, message }))
    }

    /// Signs the message with this digest under the algorithm's hash.
    ///
    /// # Errors
    /// [`Error::Digest`] for a digest of another length; else those of [`sign`](Self::sign).
    pub fn sign_digest(&self, algorithm: Algorithm, digest: &[u8]) -> Result<Vec<u8>, Error> {
        self.sign_digest_batch(algorithm, &[digest]).swap_remove(0)
    }

    /// Like [`sign_digest`](Self::sign_digest), for many digests, in order, in batches.
    #[must_use]
    pub fn sign_digest_batch(&self, algorithm: Algorithm, digests: &[&[u8]]) -> Vec<Result<Vec<u8>, Error>> {
        of_digests(digests.iter().map(|&digest| SignDigestJob { key: self, algorithm, digest }))
    }
}

fn of_messages<'a>(jobs: impl Iterator<Item = SignJob<'a>>) -> Vec<Result<Vec<u8>, Error>> {
    sign_encoded(jobs.map(|SignJob { key, algorithm, message }| {
        let digest = Zeroizing::new(algorithm.hash().digest(&[message]));
        (key, encoded(key, algorithm, &digest))
    }))
}

fn of_digests<'a>(jobs: impl Iterator<Item = SignDigestJob<'a>>) -> Vec<Result<Vec<u8>, Error>> {
    sign_encoded(jobs.map(|SignDigestJob { key, algorithm, digest }| (key, encoded(key, algorithm, digest))))
}

/// The number that the private operation turns into a signature: as long as the key.
pub(crate) fn encoded(key: &PrivateKey, algorithm: Algorithm, digest: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    key.public_key().usage().allows(algorithm)?;
    algorithm.hash().check_digest(digest)?;
    Ok(Zeroizing::new(match algorithm {
        Algorithm::Pkcs1v15(hash) => pkcs1v15::encode_signature(hash, digest, key.size())?,
        Algorithm::Pss { hash, mgf, salt_len } => pss::encode(hash, mgf, salt_len, digest, key.bits())?,
    }))
}

fn sign_encoded<'a>(encoded: impl Iterator<Item = private_op::Job<'a>>) -> Vec<Result<Vec<u8>, Error>> {
    // A signature is no secret.
    wiping(|| private_op(encoded.collect()).into_iter().map(|signature| Ok(mem::take(&mut *signature?))).collect())
}
