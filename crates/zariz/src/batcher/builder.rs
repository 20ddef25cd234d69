//! How a batcher is set up.

use std::sync::Arc;
use std::time::Duration;

use super::processes::Processes;
use super::queue::{Limits, Queue};
use super::shared::{Batcher, Rsa};
use crate::Dispatch;

/// The default for the most operations in a batch: larger ones cost no less per operation, and all operations of a
/// batch wait for its last.
const MAX_BATCH: usize = 16;
/// The default capacity.
const CAPACITY: usize = 4096;

/// What happens to a request that finds the queue full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenFull {
    /// It waits all the same: the thread blocks, or the future is pending. The queue has no limit then.
    #[default]
    Wait,
    /// It becomes [`Lost::Full`](super::Lost::Full).
    Refuse,
}

/// Whether requests wait for others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// No request waits for others to come.
    #[default]
    Latency,
    /// Workers compute everything, and a worker waits until requests fill the lanes, but no longer than this after
    /// the first of them was made, nor than half of the time that one of them has until its deadline. The processor
    /// does less work for each request, and each takes longer.
    Throughput {
        /// How long the first request waits at most.
        linger: Duration,
    },
}

/// Settings of a [`Batcher`].
#[derive(Clone, Debug)]
pub struct Builder {
    /// Without the capacity.
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
    /// The most batches that are computed at once: at least one. By default, as many as processors. While
    /// wakers block, further worker threads are started: about one for each blocked waker.
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

    /// What happens to a request that finds that many waiting; by default, it waits too.
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
        Batcher { processes: Arc::new(Processes::new(move || Queue::new(Rsa, limits))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each setting is the one that was asked for, and leaves the others as they were.
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
