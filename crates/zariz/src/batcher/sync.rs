//! The locks and threads that the queue uses: the standard library's. `tests/batcher_orders.rs` replaces this
//! module by shuttle's, which runs the threads in many random orders.

pub use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, atomic};
pub use std::thread;

/// How many processors this process may use. It makes more than a dozen system calls.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get())
}

/// Whether waits with a time limit end.
#[cfg(test)]
pub const REAL_TIME: bool = true;

/// How many requests a stress test makes.
#[cfg(test)]
pub const REQUESTS: u64 = 100_000;

/// Runs a test of the queue: once here, in many orders with shuttle.
#[cfg(test)]
pub fn model(test: impl Fn() + Send + Sync + 'static) {
    test();
}
