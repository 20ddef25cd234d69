//! Requests to a batcher.

use std::fmt;
use std::time::Instant;

use zeroize::Zeroizing;

use super::primitive::Primitive;
use crate::Modulus;
use crate::rsa::{self, Algorithm, DecryptJob, Error, Message, Padding, PrivateKey, blind};
use crate::zeroize_stack::zeroize_stack_padding;

/// Makes the result from the number that was computed.
type Finish<T> = Box<dyn FnOnce(Zeroizing<Vec<u8>>) -> Result<T, Error> + Send + Sync>;

/// One request to a [`Batcher`](super::Batcher), with a result of type `T`. Only the power is computed in a
/// batch. The thread that makes the job hashes and pads; the thread that takes the result unpads.
pub struct Job<T> {
    pub(super) primitive: Primitive,
    pub(super) finish: Finish<T>,
    pub(super) deadline: Option<Instant>,
}

impl<T> Job<T> {
    /// A primitive, and the function that makes the result from it.
    fn new(
        primitive: Primitive,
        finish: impl FnOnce(Zeroizing<Vec<u8>>) -> Result<T, Error> + Send + Sync + 'static,
    ) -> Self {
        Self { primitive, finish: Box::new(finish), deadline: None }
    }

    /// Sets a deadline: a job that is not computed by then fails with
    /// [`QueueError::Expired`](super::QueueError::Expired). A waiting thread returns at the deadline. A
    /// future has no timer: it fails when its request would be computed.
    #[must_use]
    pub fn with_deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }
}

/// The result as the functions without a batcher return it: not wiped. Nothing is copied.
fn plain(mut number: Zeroizing<Vec<u8>>) -> Result<Vec<u8>, Error> {
    Ok(std::mem::take(&mut *number))
}

impl Job<Vec<u8>> {
    /// The signature of a message or digest: [`PrivateKey::sign`].
    ///
    /// # Errors
    /// [`Error::KeyTooShort`], [`Error::Unsupported`], [`Error::Digest`], [`Error::PssOnly`],
    /// [`Error::PssParameters`], [`Error::Random`].
    pub fn sign<'a>(
        key: &PrivateKey,
        algorithm: Algorithm,
        message: impl Into<Message<'a>>,
    ) -> Result<Self, Error> {
        Self::of_message(key, algorithm, message.into())
    }

    fn of_message(key: &PrivateKey, algorithm: Algorithm, message: Message) -> Result<Self, Error> {
        let number = zeroize_stack_padding(|| rsa::encoded(key, algorithm, message))?;
        Ok(Self::new(Primitive::Private(key.clone(), number), plain))
    }

    /// The blind signature of a blinded message: [`blind::PrivateKey::blind_sign`]. The result is an error if
    /// the message's length is not the key's, or if the message is not below the modulus.
    pub fn blind_sign(key: &blind::PrivateKey, blinded_message: &[u8]) -> Self {
        Self::new(Primitive::Private(key.rsa_key().clone(), blinded_message.to_vec().into()), plain)
    }

    /// `base^exponent` modulo `modulus`, in constant time: [`Modulus::pow`].
    pub fn pow(modulus: &Modulus, base: &[u8], exponent: &[u8]) -> Self {
        let primitive = Primitive::Power(modulus.clone(), base.to_vec().into(), exponent.to_vec().into());
        Self::new(primitive, plain)
    }
}

impl Job<Zeroizing<Vec<u8>>> {
    /// The message of a ciphertext: [`PrivateKey::decrypt`].
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::OutOfRange`], [`Error::PssOnly`]. Other errors come with the result.
    pub fn decrypt(key: &PrivateKey, padding: &Padding, ciphertext: &[u8]) -> Result<Self, Error> {
        rsa::check_ciphertext(&DecryptJob { key, padding, ciphertext })?;
        let (key, padding, ciphertext) = (key.clone(), padding.clone(), ciphertext.to_vec());
        let primitive = Primitive::Private(key.clone(), ciphertext.clone().into());
        Ok(Self::new(primitive, move |mut number| {
            let job = DecryptJob { key: &key, padding: &padding, ciphertext: &ciphertext };
            zeroize_stack_padding(|| rsa::decode(&job, &mut number))
        }))
    }

    /// A power without padding. **Hazardous material**, as [`rsa::hazmat`] says.
    pub fn primitive(primitive: Primitive) -> Self {
        Self::new(primitive, Ok)
    }
}

impl<T> fmt::Debug for Job<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Job")
            .field("primitive", &self.primitive)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
