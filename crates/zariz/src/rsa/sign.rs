//! Signing, one message or a batch.

use std::mem;

use zeroize::Zeroizing;

use super::algorithm::Algorithm;
use super::error::Error;
use super::hazmat::{pkcs1v15, pss};
use super::message::Message;
use super::private::PrivateKey;
use super::private_op::private_op;
use crate::zeroize_stack::zeroize_stack;

/// One message to sign.
#[derive(Clone, Copy, Debug)]
pub struct SignJob<'a> {
    /// The private key that signs.
    pub key: &'a PrivateKey,
    /// The padding and hash.
    pub algorithm: Algorithm,
    /// The message or its digest.
    pub message: Message<'a>,
}

impl<'a> SignJob<'a> {
    /// A message or digest to sign with a key.
    pub fn new<'m: 'a>(key: &'a PrivateKey, algorithm: Algorithm, message: impl Into<Message<'m>>) -> Self {
        Self { key, algorithm, message: message.into() }
    }
}

/// Signs many messages, each with its own key, in order. Keys of similar size share batches. Each result is a
/// signature or its own error, one of those of [`PrivateKey::sign`].
#[must_use]
pub fn sign_many(jobs: &[SignJob]) -> Vec<Result<Vec<u8>, Error>> {
    signatures(&mut jobs.iter().copied())
}

impl PrivateKey {
    /// Signs one message or digest: `⌈bits/8⌉` bytes.
    ///
    /// # Errors
    /// [`Error::KeyTooShort`] or [`Error::Unsupported`] if the algorithm does not go with the key or hash;
    /// [`Error::Digest`] for a digest of the wrong length; [`Error::PssOnly`] or [`Error::PssParameters`] if
    /// the key does not allow it; [`Error::Random`], [`Error::Fault`] or [`Error::InvalidKey`] if the
    /// computation fails.
    pub fn sign<'a>(&self, algorithm: Algorithm, message: impl Into<Message<'a>>) -> Result<Vec<u8>, Error> {
        sign_many(&[SignJob::new(self, algorithm, message)]).swap_remove(0)
    }

    /// Like [`sign`](Self::sign), into a buffer of [`size`](Self::size) bytes.
    ///
    /// # Errors
    /// [`Error::Length`] for a buffer of another length; else those of [`sign`](Self::sign).
    pub fn sign_into<'a>(
        &self,
        algorithm: Algorithm,
        message: impl Into<Message<'a>>,
        out: &mut [u8],
    ) -> Result<(), Error> {
        let (expected, actual) = (self.size(), out.len());
        if actual != expected {
            return Err(Error::Length { expected, actual });
        }
        out.copy_from_slice(&self.sign(algorithm, message)?);
        Ok(())
    }

    /// Signs many messages or digests, in order, in batches. Each result is a signature or its own error, one
    /// of those of [`sign`](Self::sign).
    #[must_use]
    pub fn sign_batch<'a>(
        &self,
        algorithm: Algorithm,
        messages: &[impl Copy + Into<Message<'a>>],
    ) -> Vec<Result<Vec<u8>, Error>> {
        signatures(&mut messages.iter().map(|&message| SignJob::new(self, algorithm, message)))
    }
}

fn signatures<'a>(jobs: &mut dyn Iterator<Item = SignJob<'a>>) -> Vec<Result<Vec<u8>, Error>> {
    let encoded = jobs.map(|SignJob { key, algorithm, message }| (key, encoded(key, algorithm, message)));
    // A signature is no secret.
    zeroize_stack(|| {
        private_op(encoded.collect()).into_iter().map(|signature| Ok(mem::take(&mut *signature?))).collect()
    })
}

/// The number that the private operation turns into a signature: as long as the key.
pub(crate) fn encoded(
    key: &PrivateKey,
    algorithm: Algorithm,
    message: Message,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    key.public_key().usage().allows(algorithm)?;
    message.with_digest(algorithm.hash(), |digest| {
        Ok(Zeroizing::new(match algorithm {
            Algorithm::Pkcs1v15(hash) => pkcs1v15::encode_signature(hash, digest, key.size())?,
            Algorithm::Pss { hash, mgf, salt_len } => pss::encode(hash, mgf, salt_len, digest, key.bits())?,
        }))
    })
}
