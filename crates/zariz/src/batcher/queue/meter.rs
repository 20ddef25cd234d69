//! Counters of a queue.

use std::time::Duration;

use crate::batcher::sync::atomic::{AtomicU64, Ordering};

/// The number of ranges in the histogram of waiting times.
const RANGES: usize = 24;

/// Counters. Each is exact, but they are not read at one moment.
#[derive(Default)]
pub(super) struct Meter {
    operations: AtomicU64,
    batches: AtomicU64,
    largest: AtomicU64,
    refused: AtomicU64,
    expired: AtomicU64,
    withdrawn: AtomicU64,
    waits: [AtomicU64; RANGES],
}

/// What a queue has done in this process since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Operations that were computed.
    pub operations: u64,
    /// Batches they were computed in.
    pub batches: u64,
    /// The most operations in one batch.
    pub largest_batch: u64,
    /// Requests that found the queue full and were refused.
    pub refused: u64,
    /// Requests whose deadline passed before they were computed, or before their result was there.
    pub expired: u64,
    /// Requests that were withdrawn before they were computed.
    pub withdrawn: u64,
    /// How long requests waited until their batch began. Entry 0 counts waits below 1 µs, entry `i` waits
    /// from `2^(i−1)` to below `2^i` µs, and the last entry all longer ones.
    pub waits: [u64; RANGES],
}

impl Meter {
    /// Counts a batch whose requests have waited for these times.
    pub fn batch(&self, waits: impl IntoIterator<Item = Duration>) {
        let mut count = 0;
        for wait in waits {
            count += 1;
            self.waits[range(wait)].fetch_add(1, Ordering::Relaxed);
        }
        self.operations.fetch_add(count, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.largest.fetch_max(count, Ordering::Relaxed);
    }

    pub fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub fn expired(&self) {
        self.expired.fetch_add(1, Ordering::Relaxed);
    }

    pub fn withdrawn(&self) {
        self.withdrawn.fetch_add(1, Ordering::Relaxed);
    }

    pub fn read(&self) -> Metrics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Metrics {
            operations: read(&self.operations),
            batches: read(&self.batches),
            largest_batch: read(&self.largest),
            refused: read(&self.refused),
            expired: read(&self.expired),
            withdrawn: read(&self.withdrawn),
            waits: self.waits.each_ref().map(read),
        }
    }
}

/// The histogram range of a waiting time.
fn range(wait: Duration) -> usize {
    let bits = u128::BITS - wait.as_micros().leading_zeros();
    (bits as usize).min(RANGES - 1)
}

impl Metrics {
    /// The mean number of operations in a batch; zero before the first batch.
    #[must_use]
    pub fn mean_batch(&self) -> f64 {
        if self.batches == 0 { 0.0 } else { self.operations as f64 / self.batches as f64 }
    }

    /// The waiting time that this share of the requests did not exceed, from [`waits`](Self::waits): the
    /// upper end of its range, so at most twice too long. `None` before the first request, and if it falls
    /// into the last range.
    #[must_use]
    pub fn wait_quantile(&self, share: f64) -> Option<Duration> {
        let total: u64 = self.waits.iter().sum();
        let wanted = (share.clamp(0.0, 1.0) * total as f64).ceil().max(1.0);
        let mut seen = 0;
        let found = self.waits.iter().position(|&count| {
            seen += count;
            seen as f64 >= wanted
        });
        found.filter(|&i| i < RANGES - 1).map(|i| Duration::from_micros(1 << i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batcher::sync::model;

    #[test]
    fn ranges_of_waiting_times() {
        model(|| {
            let meter = Meter::default();
            assert_eq!(meter.read().wait_quantile(0.5), None);
            let micros = |micros: &[u64]| {
                micros.iter().map(|&micros| Duration::from_micros(micros)).collect::<Vec<_>>()
            };
            meter.batch(micros(&[0, 1, 2, 3, 4, 7, 8]));
            meter.batch([Duration::from_nanos(999), Duration::MAX]);
            let metrics = meter.read();
            assert_eq!((metrics.operations, metrics.batches, metrics.largest_batch), (9, 2, 7));
            assert_eq!(metrics.waits[..5], [2, 1, 2, 2, 1]);
            assert_eq!(metrics.waits[RANGES - 1], 1);
            assert_eq!(metrics.wait_quantile(0.0), Some(Duration::from_micros(1)));
            assert_eq!(metrics.wait_quantile(0.5), Some(Duration::from_micros(4)));
            assert_eq!(metrics.wait_quantile(1.0), None);
            assert_eq!(metrics.mean_batch(), 4.5);
        });
    }
}
