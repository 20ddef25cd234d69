//! When a thread yields before it computes.
//!
//! If more threads are ready than there are processors, some threads that would bring a request do not run.
//! The system leaves the processor to the computing thread until its batch ends. Then each of the others
//! finds no computation under way, and computes its own request alone. So a thread that is about to compute
//! yields first: the requests that the others bring join its batch. If no other thread is ready, yielding
//! costs one system call.
//!
//! No thread yields before a public operation, which takes little longer than a thread switch. Workers do not
//! yield either: executors poll all their ready tasks before a worker begins.
//!
//! A ready thread with other work may keep the processor for milliseconds. After that, no thread yields for
//! sixteen times as long.

use std::time::{Duration, Instant};

use super::compute::{Compute, Kind};
use super::{Queue, State};
use crate::batcher::sync::{MutexGuard, thread};

/// How long others may keep the processor: this time, and once more for each request that they brought.
const ALLOWANCE: Duration = Duration::from_micros(500);
/// After a longer time, threads do not yield for this many times as long.
const PAUSE_FACTOR: u32 = 16;

/// Do not yield before this time: the last yield took too long.
#[derive(Default)]
pub(super) struct YieldBackoff(Option<Instant>);

impl YieldBackoff {
    /// Whether to yield now.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        self.0 = self.0.filter(|&end| now < end);
        self.0.is_none()
    }

    /// Notes how long others had the processor, and how many requests they brought. `now` is the end of that
    /// time.
    pub(super) fn note(&mut self, now: Instant, time: Duration, brought: u64) {
        let brought = u32::try_from(brought).unwrap_or(u32::MAX);
        if time > ALLOWANCE.saturating_mul(brought.saturating_add(1)) {
            self.0 = self.0.max(now.checked_add(time.saturating_mul(PAUSE_FACTOR)));
        }
    }
}

impl<C: Compute> Queue<C> {
    /// Whether to yield now: if the waiting requests and this one do not fill a batch, the operation is not
    /// public, and the pause is over. Returns the time. It reads the clock last, because a public operation
    /// is short.
    pub(super) fn yields_at(&self, state: &mut State<C>, kind: Kind) -> Option<Instant> {
        let is_full = state.waiting.len() + 1 >= self.full().min(self.limits.max_batch);
        if kind == Kind::Public || is_full {
            return None;
        }
        let now = Instant::now();
        state.yielding.is_due(now).then_some(now)
    }

    /// Yields, so that other ready threads bring their requests before one of this kind is computed.
    pub(super) fn yield_to_others<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<C>>,
        kind: Kind,
    ) -> MutexGuard<'a, State<C>> {
        let Some(begin) = self.yields_at(&mut state, kind) else { return state };
        let before = state.waiting.arrived();
        drop(state);
        thread::yield_now();
        let mut state = self.lock();
        let (now, brought) = (Instant::now(), state.waiting.arrived() - before);
        state.yielding.note(now, now.saturating_duration_since(begin), brought);
        state
    }
}
