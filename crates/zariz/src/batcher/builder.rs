//! Settings of a batcher.

use std::sync::Arc;
use std::time::Duration;

use super::compute::Rsa;
use super::handle::Batcher;
use super::per_process::PerProcessQueue;
use super::queue::{Limits, Queue};
use crate::Dispatch;

/// The default for the most operations in a batch. Larger batches cost no less per operation, and every
/// operation waits for the last of its batch.
const MAX_BATCH: usize = 16;
/// The default capacity.
const CAPACITY: usize = 4096;

/// What happens to a request that finds the queue full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenFull {
    /// It waits: the thread blocks, or the future stays pending. The queue then has no limit.
    #[default]
    Wait,
    /// It fails with [`QueueError::Full`](super::QueueError::Full).
    Refuse,
}

/// Whether requests wait for others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// No request waits for others to come.
    #[default]
    Latency,
    /// Workers compute everything. A worker waits until requests fill the lanes, but at most `linger` from
    /// when the oldest of them was made, and at most half of the time that any of them has until its
    /// deadline. Each request takes less processor time, but longer.
    Throughput {
        /// The longest time that a request waits for others.
        linger: Duration,
    },
}

/// Settings of a [`Batcher`].
#[derive(Clone, Debug)]
pub struct Builder {
    /// All limits except the capacity.
    limits: Limits,
    capacity: usize,
    when_full: WhenFull,
}

impl Default for Builder {
    fn default() -> Self {
        let lanes = Dispatch::Auto.main().lanes();
        let limits = Limits { threads: None, max_batch: MAX_BATCH, lanes, capacity: None, linger: None };
        Self { limits, capacity: CAPACITY, when_full: WhenFull::default() }
    }
}

impl Builder {
    /// The most batches that are computed at once: at least one, by default the number of processors. While
    /// wakers block, more worker threads are started: about one for each blocked waker.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.limits.threads = Some(threads.max(1));
        self
    }

    /// The most requests in a batch: at least one, by default 16.
    #[must_use]
    pub fn max_batch(mut self, requests: usize) -> Self {
        self.limits.max_batch = requests.max(1);
        self
    }

    /// How many requests may wait before the queue is full: at least one, by default 4096. It matters for
    /// [`WhenFull::Refuse`] only.
    #[must_use]
    pub fn capacity(mut self, requests: usize) -> Self {
        self.capacity = requests.max(1);
        self
    }

    /// What happens to a request that finds the queue full; by default, it waits.
    #[must_use]
    pub fn when_full(mut self, when_full: WhenFull) -> Self {
        self.when_full = when_full;
        self
    }

    /// Whether requests wait for others; by default, they do not.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.limits.linger = match policy {
            Policy::Latency => None,
            Policy::Throughput { linger } => Some(linger),
        };
        self
    }

    fn limits(self) -> Limits {
        let capacity = (self.when_full == WhenFull::Refuse).then_some(self.capacity);
        Limits { capacity, ..self.limits }
    }

    /// The batcher. Threads are started when they have something to do.
    #[must_use]
    pub fn build(self) -> Batcher {
        let limits = self.limits();
        Batcher { queues: Arc::new(PerProcessQueue::new(move || Queue::new(Rsa, limits))) }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each setting is kept, and changes no other.
    #[test]
    fn settings_are_kept() {
        let linger = Duration::from_millis(9);
        let set = Builder::default()
            .policy(Policy::Throughput { linger })
            .when_full(WhenFull::Refuse)
            .capacity(7)
            .max_batch(5)
            .threads(3);
        let Limits { threads, max_batch, lanes, capacity, linger: lingers } = set.clone().limits();
        assert_eq!((threads, max_batch, capacity), (Some(3), 5, Some(7)));
        assert_eq!((lanes, lingers), (Dispatch::Auto.main().lanes(), Some(linger)));
        let least = set.policy(Policy::Latency).capacity(0).max_batch(0).threads(0);
        let limits = least.clone().limits();
        assert_eq!((limits.threads, limits.max_batch, limits.capacity), (Some(1), 1, Some(1)));
        assert_eq!((limits.linger, least.when_full(WhenFull::Wait).limits().capacity), (None, None));
    }
}
