//! What the integration tests share.
#![allow(dead_code, unused_imports)] // Each test program uses a part of this.

pub mod der;
pub mod engines;
#[cfg(feature = "rsa")]
pub mod keys;
pub mod numbers;
pub mod openssl;
pub mod random;

pub use engines::{engines, fastest, slow};
pub use random::Random;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does the work on every item, on all processors: for what would keep one busy long after the other tests
/// are done.
pub fn each_in_parallel<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}
