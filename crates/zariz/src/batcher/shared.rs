//! The batcher: what callers share.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

use zeroize::Zeroizing;

use super::builder::Builder;
use super::error::Error;
use super::job::Job;
use super::pending::Pending;
use super::primitive::{self, Primitive, PrimitiveResult};
use super::processes::Processes;
use super::queue::{Compute, Kind, Metrics, Queue, Waiter};
use super::signer::Signer;
use crate::Modulus;
use crate::rsa::{Algorithm, Padding, PrivateKey};

/// Computes the requests of many callers in batches. Cheap to clone; the clones share one queue. Its threads end
/// when the last clone is dropped. After `fork`, a child has a queue of its own.
#[derive(Clone, Debug)]
pub struct Batcher {
    pub(super) processes: Arc<Processes<Rsa>>,
}

/// Computes primitives.
pub(super) struct Rsa;

/// A future that waits.
#[derive(Default)]
pub(super) struct Task(Mutex<Option<Waker>>);

impl Task {
    /// Notes whom to wake.
    pub fn set(&self, waker: &Waker) {
        // To clone and to drop a waker is an executor's code, which may come back here: neither happens under the lock.
        let waker = waker.clone();
        let former = self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(waker);
        drop(former);
    }
}

impl Waiter for Task {
    fn wake(&self) {
        let waker = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Compute for Rsa {
    type Operation = Primitive;
    type Output = PrimitiveResult;
    type Waiter = Task;

    fn kind(primitive: &Primitive) -> Kind {
        primitive.kind()
    }

    fn compute(&self, batch: &[&Primitive]) -> Box<[PrimitiveResult]> {
        primitive::results(batch)
    }
}

impl Default for Batcher {
    fn default() -> Self {
        Self::new()
    }
}

impl Batcher {
    /// A batcher with the default settings.
    #[must_use]
    pub fn new() -> Self {
        Builder::default().build()
    }

    /// Settings for a batcher.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(super) fn queue(&self) -> &Arc<Queue<Rsa>> {
        self.processes.queue()
    }

    /// Computes a request, and blocks the thread until it has its result. The thread may compute the requests of
    /// others meanwhile.
    ///
    /// # Errors
    /// [`Error::Rsa`] if the operation fails; [`Error::Lost`] if the queue is full, the job's deadline passes, or
    /// the computation panics.
    pub fn call<T>(&self, job: Job<T>) -> Result<T, Error> {
        let number = self.queue().call(job.primitive, job.deadline)??;
        Ok((job.finish)(number)?)
    }

    /// A future with the result of a request. The request joins the queue when the future is first polled, and its
    /// computation begins when the executor has come round to it again: so the requests of all tasks that are
    /// ready share a batch. A worker thread computes it. A future that is dropped takes its request back; if that
    /// is being computed, its result is thrown away. A poll that has its result wakes other futures of the batcher: do
    /// not poll with a lock that their wakers need.
    pub fn submit<T>(&self, job: Job<T>) -> Pending<T> {
        Pending::new(self, Ok(job))
    }

    /// A key with an algorithm, whose signatures can be awaited.
    #[must_use]
    pub fn signer(&self, key: &PrivateKey, algorithm: Algorithm) -> Signer {
        Signer::new(self, key, algorithm)
    }

    /// Signs a message, like [`PrivateKey::sign`], in a batch.
    ///
    /// # Errors
    /// Those of [`PrivateKey::sign`] and of [`call`](Self::call).
    pub fn sign(&self, key: &PrivateKey, algorithm: Algorithm, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.call(Job::sign(key, algorithm, message)?)
    }

    /// Decrypts a ciphertext, like [`PrivateKey::decrypt`], in a batch.
    ///
    /// # Errors
    /// Those of [`PrivateKey::decrypt`] and of [`call`](Self::call).
    pub fn decrypt(&self, key: &PrivateKey, padding: &Padding, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.call(Job::decrypt(key, padding, ciphertext)?)
    }

    /// A power in constant time, like [`Modulus::pow`], in a batch.
    ///
    /// # Errors
    /// Those of [`call`](Self::call).
    pub fn pow(&self, modulus: &Modulus, base: &[u8], exponent: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.call(Job::pow(modulus, base, exponent))
    }

    /// What was done in this process so far.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.queue().metrics()
    }
}
