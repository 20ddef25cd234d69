//! What a batcher's queue computes, and whom it wakes.

use std::sync::{Mutex, PoisonError};
use std::task::Waker;

use super::primitive::{Primitive, PrimitiveResult, primitive_many};
use super::queue::{Compute, Kind, Waiter};

/// The queue's computation: RSA primitives and powers.
pub struct Rsa;

/// The waker of a pending future.
#[derive(Default)]
pub struct Task(Mutex<Option<Waker>>);

impl Task {
    /// Stores the waker.
    pub fn set(&self, waker: &Waker) {
        // Cloning or dropping a waker runs the executor's code, which may call this again: do neither under
        // the lock.
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

    fn compute(&self, batch: &[&Primitive]) -> Vec<PrimitiveResult> {
        primitive_many(batch)
    }
}
