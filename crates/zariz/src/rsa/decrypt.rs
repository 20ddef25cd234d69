//! Decrypting, one ciphertext or a batch.

use zeroize::Zeroizing;

use super::algorithm::Padding;
use super::error::Error;
use super::hazmat::oaep;
use super::hazmat::pkcs1v15::{self, ImplicitRejection};
use super::private::PrivateKey;
use super::private_op::private_op;
use crate::zeroize_stack::zeroize_stack;

/// One ciphertext to decrypt.
#[derive(Clone, Copy, Debug)]
pub struct DecryptJob<'a> {
    /// The private key that decrypts.
    pub key: &'a PrivateKey,
    /// How the message was padded.
    pub padding: &'a Padding,
    /// The ciphertext, as long as the key's modulus.
    pub ciphertext: &'a [u8],
}

impl<'a> DecryptJob<'a> {
    /// A ciphertext to decrypt with a key.
    pub fn new(key: &'a PrivateKey, padding: &'a Padding, ciphertext: &'a [u8]) -> Self {
        Self { key, padding, ciphertext }
    }
}

/// Decrypts many ciphertexts, each with its own key, in order. Keys of similar size share batches. Each
/// result is a message or its own error, one of those of [`PrivateKey::decrypt`].
#[must_use]
pub fn decrypt_many(jobs: &[DecryptJob]) -> Vec<Result<Zeroizing<Vec<u8>>, Error>> {
    of_ciphertexts(jobs.iter().copied())
}

impl PrivateKey {
    /// Decrypts one ciphertext.
    ///
    /// # Errors
    /// [`Error::Decryption`], which does not say what was wrong. [`Padding::Pkcs1v15`] never gives this
    /// error; its documentation says why. [`Error::Length`] if the ciphertext is not as long as the key,
    /// [`Error::OutOfRange`] if it is not below its modulus; [`Error::PssOnly`] if the key is for
    /// signatures alone; [`Error::KeyTooShort`] if the padding does not fit; [`Error::Random`],
    /// [`Error::Fault`] or [`Error::InvalidKey`] if the computation fails.
    pub fn decrypt(&self, padding: &Padding, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.decrypt_batch(padding, &[ciphertext]).swap_remove(0)
    }

    /// Decrypts many ciphertexts, in order, in batches. Each result is a message or its own error, one of
    /// those of [`decrypt`](Self::decrypt).
    #[must_use]
    pub fn decrypt_batch(
        &self,
        padding: &Padding,
        ciphertexts: &[&[u8]],
    ) -> Vec<Result<Zeroizing<Vec<u8>>, Error>> {
        of_ciphertexts(ciphertexts.iter().map(|&ciphertext| DecryptJob::new(self, padding, ciphertext)))
    }

    /// What replaces the message of a ciphertext with bad padding, for programs that use
    /// [`decode_message`](pkcs1v15::decode_message) themselves.
    ///
    /// # Errors
    /// [`Error::Length`] if the ciphertext is not as long as the key.
    pub fn implicit_rejection(&self, ciphertext: &[u8]) -> Result<ImplicitRejection, Error> {
        let (expected, actual) = (self.size(), ciphertext.len());
        if actual != expected {
            return Err(Error::Length { expected, actual });
        }
        ImplicitRejection::by_key_hash(&self.secret.key_hash, ciphertext)
    }
}

fn of_ciphertexts<'a>(
    jobs: impl Iterator<Item = DecryptJob<'a>> + Clone,
) -> Vec<Result<Zeroizing<Vec<u8>>, Error>> {
    zeroize_stack(|| {
        let number =
            |job: &DecryptJob| check_ciphertext(job).map(|()| Zeroizing::new(job.ciphertext.to_vec()));
        let numbers = jobs.clone().map(|job| (job.key, number(&job))).collect();
        jobs.zip(private_op(numbers)).map(|(job, encoded)| decode(&job, &mut encoded?)).collect()
    })
}

/// Checks that the key may decrypt, and that the ciphertext is a number for its private operation.
pub(crate) fn check_ciphertext(job: &DecryptJob) -> Result<(), Error> {
    let public = job.key.public_key();
    public.usage().allows_encryption()?;
    public.check_number(job.ciphertext)
}

/// The message in a decrypted number that is as long as the key.
pub(crate) fn decode(job: &DecryptJob, encoded: &mut [u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    match job.padding {
        Padding::Oaep { hash, mgf, label } => oaep::decode(*hash, *mgf, label, encoded),
        Padding::Pkcs1v15 => pkcs1v15::decode_message(encoded, &job.key.implicit_rejection(job.ciphertext)?),
    }
}
