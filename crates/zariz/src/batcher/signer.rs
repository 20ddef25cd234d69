//! Signatures to await.

use super::error::Error;
use super::job::Job;
use super::pending::Pending;
use super::shared::Batcher;
use crate::rsa::{Algorithm, PrivateKey};

/// A private key with an algorithm, over a [`Batcher`]. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Signer {
    batcher: Batcher,
    key: PrivateKey,
    algorithm: Algorithm,
}

impl Signer {
    pub(super) fn new(batcher: &Batcher, key: &PrivateKey, algorithm: Algorithm) -> Self {
        Self { batcher: batcher.clone(), key: key.clone(), algorithm }
    }

    /// A future with the signature of a message: `signer.sign(message).await`, on any executor. The message is
    /// hashed at once, so the future does not borrow it. [`Batcher::submit`] says when it is computed. Errors are
    /// those of [`Batcher::sign`].
    pub fn sign(&self, message: &[u8]) -> Pending<Vec<u8>> {
        Pending::new(&self.batcher, Job::sign(&self.key, self.algorithm, message).map_err(Error::Rsa))
    }

    /// Signs a message, and blocks the thread until the signature is there.
    ///
    /// # Errors
    /// Those of [`Batcher::sign`].
    pub fn sign_blocking(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.batcher.sign(&self.key, self.algorithm, message)
    }

    /// The key that signs.
    pub fn key(&self) -> &PrivateKey {
        &self.key
    }

    /// The padding and hash.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
