//! Verifying, one signature or a batch.

use zariz_kernels::limbs;

use super::algorithm::Algorithm;
use super::error::Error;
use super::hazmat::{pkcs1v15, pss};
use super::message::Message;
use super::public::PublicKey;
use super::public_op::public_op;

/// A message and its signature, to verify: [`PublicKey::verify_batch`].
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// The message or its digest.
    pub message: Message<'a>,
    /// The signature, as long as the key's modulus.
    pub signature: &'a [u8],
}

/// One signature to verify.
#[derive(Clone, Copy, Debug)]
pub struct VerifyJob<'a> {
    /// The public key of the signer.
    pub key: &'a PublicKey,
    /// The padding and hash.
    pub algorithm: Algorithm,
    /// The message and its signature.
    pub signed: Signed<'a>,
}

/// Verifies many signatures, each with its own key, in order. Keys of similar size share batches. Each result
/// is one that [`PublicKey::verify`] can return.
#[must_use]
pub fn verify_many(jobs: &[VerifyJob]) -> Vec<Result<(), Error>> {
    let numbers: Vec<_> = jobs.iter().map(|job| (job.key, job.number())).collect();
    let mut encoded = Vec::new();
    public_op(&numbers, |i, opened| {
        encoded.resize(jobs[i].key.size(), 0);
        limbs::to_be_bytes(opened, &mut encoded);
        jobs[i].check(&mut encoded)
    })
}

impl PublicKey {
    /// Verifies a signature of a message or digest.
    ///
    /// # Errors
    /// [`Error::Verification`], [`Error::SaltLength`], [`Error::Length`] or [`Error::OutOfRange`] for a
    /// wrong signature; [`Error::KeyTooShort`] or [`Error::Unsupported`] if the algorithm does not go with
    /// the key or hash; [`Error::Digest`] for a digest of the wrong length; [`Error::PssOnly`] or
    /// [`Error::PssParameters`] if the key does not allow it.
    pub fn verify<'a>(
        &self,
        algorithm: Algorithm,
        message: impl Into<Message<'a>>,
        signature: &[u8],
    ) -> Result<(), Error> {
        verify_many(&[VerifyJob::new(self, algorithm, Signed { message: message.into(), signature })])
            .swap_remove(0)
    }

    /// [`verify`](Self::verify) for many messages or digests and their signatures, in order, in batches.
    #[must_use]
    pub fn verify_batch(&self, algorithm: Algorithm, signed: &[Signed]) -> Vec<Result<(), Error>> {
        verify_many(&signed.iter().map(|&signed| VerifyJob::new(self, algorithm, signed)).collect::<Vec<_>>())
    }
}

impl<'a> VerifyJob<'a> {
    /// A message and its signature, to verify with a key.
    pub fn new(key: &'a PublicKey, algorithm: Algorithm, signed: Signed<'a>) -> Self {
        Self { key, algorithm, signed }
    }

    /// The signature as the number that the public operation raises to `e`.
    fn number(&self) -> Result<&'a [u8], Error> {
        self.key.usage().allows(self.algorithm)?;
        self.signed.message.check(self.algorithm.hash())?;
        self.key.check_number(self.signed.signature)?;
        Ok(self.signed.signature)
    }

    /// Checks that `encoded`, the opened signature, encodes the digest. Overwrites `encoded`.
    fn check(&self, encoded: &mut [u8]) -> Result<(), Error> {
        self.signed.message.with_digest(self.algorithm.hash(), |digest| match self.algorithm {
            Algorithm::Pkcs1v15(hash) => pkcs1v15::verify_signature(hash, digest, encoded),
            Algorithm::Pss { hash, mgf, salt_len } => {
                pss::verify(hash, mgf, Some(salt_len), digest, encoded, self.key.bits())
            }
        })
    }
}
