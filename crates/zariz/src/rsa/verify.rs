//! Verifying, one signature or a batch.

use zariz_kernels::limbs;

use super::algorithm::Algorithm;
use super::error::Error;
use super::hazmat::{pkcs1v15, pss};
use super::public::PublicKey;
use super::public_op::public_op;

/// One signature to verify.
#[derive(Clone, Copy, Debug)]
pub struct VerifyJob<'a> {
    /// The public key of the signer.
    pub key: &'a PublicKey,
    /// The padding and hash.
    pub algorithm: Algorithm,
    /// The message itself, not its digest.
    pub message: &'a [u8],
    /// The signature, as long as the key's modulus.
    pub signature: &'a [u8],
}

/// One signature to verify, of a message given by its digest.
#[derive(Clone, Copy, Debug)]
pub struct VerifyDigestJob<'a> {
    /// The public key of the signer.
    pub key: &'a PublicKey,
    /// The padding and hash.
    pub algorithm: Algorithm,
    /// The digest of the message under the algorithm's hash.
    pub digest: &'a [u8],
    /// The signature, as long as the key's modulus.
    pub signature: &'a [u8],
}

/// A message and its signature, to verify with one key: [`PublicKey::verify_batch`].
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// The message itself, not its digest.
    pub message: &'a [u8],
    /// The signature, as long as the key's modulus.
    pub signature: &'a [u8],
}

/// The digest of a message and its signature, to verify with one key: [`PublicKey::verify_digest_batch`].
#[derive(Clone, Copy, Debug)]
pub struct SignedDigest<'a> {
    /// The digest under the algorithm's hash.
    pub digest: &'a [u8],
    /// The signature, as long as the key's modulus.
    pub signature: &'a [u8],
}

/// Verifies many signatures, each with its own key, in order. Keys of similar size share batches. Each result
/// is one that [`PublicKey::verify`] can return.
#[must_use]
pub fn verify_many(jobs: &[VerifyJob]) -> Vec<Result<(), Error>> {
    let digests: Vec<_> = jobs.iter().map(|job| job.algorithm.hash().digest(&[job.message])).collect();
    let job =
        |(&VerifyJob { key, algorithm, signature, .. }, digest)| VerifyDigestJob { key, algorithm, digest, signature };
    verify_digest_many(&jobs.iter().zip(digests.iter().map(|digest| &digest[..])).map(job).collect::<Vec<_>>())
}

/// Verifies many signatures of messages given by their digests, each with its own key, in order. Keys of
/// similar size share batches. Each result is one that [`PublicKey::verify_digest`] can return.
#[must_use]
pub fn verify_digest_many(jobs: &[VerifyDigestJob]) -> Vec<Result<(), Error>> {
    let numbers: Vec<_> = jobs.iter().map(|job| (job.key, job.number())).collect();
    let mut encoded = Vec::new();
    public_op(&numbers, |i, opened| {
        encoded.resize(jobs[i].key.size(), 0);
        limbs::to_be_bytes(opened, &mut encoded);
        jobs[i].check(&mut encoded)
    })
}

impl PublicKey {
    /// Verifies a signature of `message`.
    ///
    /// # Errors
    /// [`Error::Verification`], [`Error::SaltLength`], [`Error::Length`] or [`Error::NotBelowModulus`] for a wrong
    /// signature;
    /// [`Error::KeyTooShort`] or [`Error::Unsupported`] if the algorithm does not go with the key or hash;
    /// [`Error::PssOnly`] or [`Error::PssParameters`] if the key does not allow it.
    pub fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        self.verify_batch(algorithm, &[Signed { message, signature }]).swap_remove(0)
    }

    /// [`verify`](Self::verify) for many messages and their signatures, in order, in batches.
    #[must_use]
    pub fn verify_batch(&self, algorithm: Algorithm, signed: &[Signed]) -> Vec<Result<(), Error>> {
        let job = |&Signed { message, signature }: &_| VerifyJob { key: self, algorithm, message, signature };
        verify_many(&signed.iter().map(job).collect::<Vec<_>>())
    }

    /// Like [`verify`](Self::verify), for the message with this digest under the algorithm's hash.
    ///
    /// # Errors
    /// [`Error::Digest`] for a digest of the wrong length; else those of [`verify`](Self::verify).
    pub fn verify_digest(&self, algorithm: Algorithm, digest: &[u8], signature: &[u8]) -> Result<(), Error> {
        self.verify_digest_batch(algorithm, &[SignedDigest { digest, signature }]).swap_remove(0)
    }

    /// [`verify_digest`](Self::verify_digest) for many digests and their signatures, in order, in batches.
    #[must_use]
    pub fn verify_digest_batch(&self, algorithm: Algorithm, signed: &[SignedDigest]) -> Vec<Result<(), Error>> {
        let job = |&SignedDigest { digest, signature }: &_| VerifyDigestJob { key: self, algorithm, digest, signature };
        verify_digest_many(&signed.iter().map(job).collect::<Vec<_>>())
    }
}

impl<'a> VerifyDigestJob<'a> {
    /// The signature as the number that the public operation raises to `e`.
    fn number(&self) -> Result<&'a [u8], Error> {
        self.key.usage().allows(self.algorithm)?;
        self.algorithm.hash().check_digest(self.digest)?;
        self.key.check_number(self.signature)?;
        Ok(self.signature)
    }

    /// Checks that `encoded`, the opened signature, encodes the digest. Overwrites `encoded`.
    fn check(&self, encoded: &mut [u8]) -> Result<(), Error> {
        match self.algorithm {
            Algorithm::Pkcs1v15(hash) => {
                let expected = pkcs1v15::encode_signature(hash, self.digest, encoded.len())?;
                if expected == *encoded { Ok(()) } else { Err(Error::Verification) }
            }
            Algorithm::Pss { hash, mgf, salt_len } => {
                pss::verify(hash, mgf, Some(salt_len), self.digest, encoded, self.key.bits())
            }
        }
    }
}
