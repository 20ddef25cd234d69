//! The handles that callers share: the batcher, and a key over it.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::compute::Rsa;
use super::error::Error;
use super::job::Job;
use super::pending::Pending;
use super::per_process::PerProcessQueue;
use super::queue::{Metrics, Queue};
use crate::Modulus;
use crate::rsa::{Algorithm, Message, Padding, PrivateKey};

/// Computes the requests of many callers in batches. Cheap to clone; the clones share one queue. Its threads
/// end when the last clone is dropped. After `fork`, a child has a queue of its own.
#[derive(Clone, Debug)]
pub struct Batcher {
    pub(super) queues: Arc<PerProcessQueue<Rsa>>,
}

impl Batcher {
    fn queue(&self) -> &Arc<Queue<Rsa>> {
        self.queues.queue()
    }

    /// Computes a request, and blocks the thread until the result is there. Meanwhile, the thread may compute
    /// requests of others.
    ///
    /// # Errors
    /// [`Error::Rsa`] if the operation fails; [`Error::Queue`] if the queue is full, the job's deadline
    /// passes, or the computation panics.
    pub fn call<T>(&self, job: Job<T>) -> Result<T, Error> {
        let number = self.queue().call(job.primitive, job.deadline)??;
        Ok((job.finish)(number)?)
    }

    /// A future with the result of a request. The request joins the queue at the first poll. Its computation
    /// begins at the second, so the requests of all ready tasks share a batch. A worker thread computes it.
    ///
    /// Dropping the future withdraws its request; if that is being computed, the result is discarded. A poll
    /// that returns a result also wakes other futures of the batcher: do not poll while holding a lock that
    /// their wakers need.
    pub fn submit<T>(&self, job: Job<T>) -> Pending<T> {
        Pending::new(&self.queues, Ok(job))
    }

    /// A key and an algorithm for signatures that can be awaited.
    #[must_use]
    pub fn signer(&self, key: &PrivateKey, algorithm: Algorithm) -> Signer {
        Signer::new(self, key, algorithm)
    }

    /// Signs a message or digest, like [`PrivateKey::sign`], in a batch.
    ///
    /// # Errors
    /// Those of [`PrivateKey::sign`] and of [`call`](Self::call).
    pub fn sign<'a>(
        &self,
        key: &PrivateKey,
        algorithm: Algorithm,
        message: impl Into<Message<'a>>,
    ) -> Result<Vec<u8>, Error> {
        self.call(Job::sign(key, algorithm, message)?)
    }

    /// Decrypts a ciphertext, like [`PrivateKey::decrypt`], in a batch.
    ///
    /// # Errors
    /// Those of [`PrivateKey::decrypt`] and of [`call`](Self::call).
    pub fn decrypt(
        &self,
        key: &PrivateKey,
        padding: &Padding,
        ciphertext: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.call(Job::decrypt(key, padding, ciphertext)?)
    }

    /// A power in constant time, like [`Modulus::pow`], in a batch.
    ///
    /// # Errors
    /// Those of [`call`](Self::call).
    pub fn pow(&self, modulus: &Modulus, base: &[u8], exponent: &[u8]) -> Result<Vec<u8>, Error> {
        self.call(Job::pow(modulus, base, exponent))
    }

    /// Counters of this process.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.queue().metrics()
    }
}

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

    /// A future with the signature of a message: `signer.sign(message).await`, on any executor. The message
    /// is hashed at once, so the future does not borrow it. [`Batcher::submit`] says when the signature is
    /// computed. The errors are those of [`Batcher::sign`].
    pub fn sign<'a>(&self, message: impl Into<Message<'a>>) -> Pending<Vec<u8>> {
        Pending::new(&self.batcher.queues, Job::sign(&self.key, self.algorithm, message).map_err(Error::Rsa))
    }

    /// Signs a message, and blocks the thread until the signature is there.
    ///
    /// # Errors
    /// Those of [`Batcher::sign`].
    pub fn sign_blocking<'a>(&self, message: impl Into<Message<'a>>) -> Result<Vec<u8>, Error> {
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
