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
/// The default for the most requests that wait.
const CAPACITY: usize = 4096;

/// What happens to a request that finds the queue full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenFull {
    /// It waits for room: the thread blocks, or the future is pending.
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
    limits: Limits,
}

impl Default for Builder {
    fn default() -> Self {
        let lanes = Dispatch::Auto.main().lanes();
        let capacity = Some(CAPACITY);
        Self {
            limits: Limits { threads: None, max_batch: MAX_BATCH, lanes, capacity, wait_for_room: true, linger: None },
        }
    }
}

impl Builder {
    /// The most batches that are computed at once, and the most worker threads: at least one. By default, as many
    /// as processors.
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

    /// The most requests that wait: at least one, by default 4096.
    #[must_use]
    pub fn capacity(mut self, requests: usize) -> Self {
        self.limits.capacity = Some(requests.max(1));
        self
    }

    /// What happens to a request that finds that many waiting; by default, it waits for room.
    #[must_use]
    pub fn when_full(mut self, when_full: WhenFull) -> Self {
        self.limits.wait_for_room = when_full == WhenFull::Wait;
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

    /// The batcher. Threads are started when they have something to do.
    #[must_use]
    pub fn build(self) -> Batcher {
        let limits = self.limits;
        Batcher { processes: Arc::new(Processes::new(move || Queue::new(Rsa, limits))), limits }
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
        let Limits { threads, max_batch, lanes, capacity, wait_for_room, linger: lingers } = set.limits;
        assert_eq!((threads, max_batch, capacity), (Some(3), 5, Some(7)));
        assert_eq!((lanes, wait_for_room, lingers), (Dispatch::Auto.main().lanes(), false, Some(linger)));
        let limits = set.policy(Policy::Latency).when_full(WhenFull::Wait).capacity(0).max_batch(0).threads(0).limits;
        assert_eq!((limits.threads, limits.max_batch, limits.capacity), (Some(1), 1, Some(1)));
        assert_eq!((limits.wait_for_room, limits.linger), (true, None));
    }
}
