//! The capacity for what a stream has read and not yet delivered: limits the batches and their weight, for
//! all threads together.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The limits, and what is held now.
pub struct Capacity {
    batches: usize,
    weight: u64,
    held: Mutex<Held>,
    freed: Condvar,
}

#[derive(Default)]
struct Held {
    batches: usize,
    /// A sum of weights, which may exceed `u64`.
    weight: u128,
    closed: bool,
}

impl Capacity {
    /// For `batches` batches, and for items until they weigh `weight`; always for at least one item.
    pub fn new(batches: usize, weight: u64) -> Self {
        Self { batches: batches.max(1), weight: weight.max(1), held: Mutex::default(), freed: Condvar::new() }
    }

    /// Waits until one more batch may be read. Returns the weight, at least 1, at which the batch takes no
    /// more items; `None` if the capacity was closed. Only one thread may be between this call and
    /// [`take`](Self::take).
    pub fn wait(&self) -> Option<u64> {
        let full = |held: &mut Held| !held.closed && (held.batches >= self.batches || self.free(held) == 0);
        let held = self.freed.wait_while(self.held(), full).unwrap_or_else(PoisonError::into_inner);
        (!held.closed).then(|| self.free(&held))
    }

    /// Counts a batch that was read.
    pub fn take(&self, weight: u128) {
        let mut held = self.held();
        held.batches += 1;
        held.weight += weight;
    }

    /// Removes a batch that was delivered.
    pub fn release(&self, weight: u128) {
        let mut held = self.held();
        held.batches -= 1;
        held.weight -= weight;
        self.freed.notify_one();
    }

    /// Ends every wait; nothing more is read.
    pub fn close(&self) {
        self.held().closed = true;
        self.freed.notify_all();
    }

    fn free(&self, held: &Held) -> u64 {
        u64::try_from(held.weight).map_or(0, |held| self.weight.saturating_sub(held))
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // The numbers are consistent even if a thread panicked while it held the lock.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the capacity when it is dropped, also by a panic.
pub struct Closing<'a>(pub &'a Capacity);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capacity_is_what_is_not_held() {
        let capacity = Capacity::new(3, 10);
        assert_eq!(capacity.wait(), Some(10));
        capacity.take(4);
        assert_eq!(capacity.wait(), Some(6));
        capacity.take(100);
        capacity.release(4);
        assert_eq!(capacity.free(&capacity.held()), 0);
        capacity.release(100);
        assert_eq!(capacity.wait(), Some(10));
        // Sums beyond u64 are held, too.
        (0..2).for_each(|_| capacity.take(u64::MAX.into()));
        assert_eq!(capacity.free(&capacity.held()), 0);
        (0..2).for_each(|_| capacity.release(u64::MAX.into()));
        assert_eq!(capacity.wait(), Some(10));
        capacity.close();
        assert_eq!(capacity.wait(), None);
    }

    #[test]
    fn no_limit_is_so_small_that_nothing_fits() {
        let capacity = Capacity::new(0, 0);
        assert_eq!(capacity.wait(), Some(1));
    }
}
