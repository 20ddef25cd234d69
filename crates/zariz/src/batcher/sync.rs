//! What the queue takes from the standard library to wait and to run. Its tests put shuttle's in this place, which
//! runs threads in orders of its choice (`tests/batcher_orders.rs`).

pub use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, atomic};
pub use std::thread;

/// How many processors this process may use. Makes more than a dozen system calls, so call it late.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get())
}

/// Whether time passes while threads wait.
#[cfg(test)]
pub const REAL_TIME: bool = true;

/// How many requests a test with many makes.
#[cfg(test)]
pub const REQUESTS: u64 = 100_000;

/// Runs a test of the queue: here once, and with shuttle in many orders.
#[cfg(test)]
pub fn model(test: impl Fn() + Send + Sync + 'static) {
    test();
}
