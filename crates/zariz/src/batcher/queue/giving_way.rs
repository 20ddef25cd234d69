//! When a thread gives way before it computes.
//!
//! Where more threads are ready than there are processors, some that would bring a request do not run. The system
//! leaves the processor to the thread that computes until its batch ends. Then the others find nobody computing, and
//! each computes its own request alone. So a thread that is about to compute lets the others run first: the requests
//! that they bring are its batch. Where no other thread is ready, this is a system call. Nobody gives way before a
//! public operation: that takes little longer than a change of threads. Workers do not give way either: executors poll
//! all their tasks that are ready before a worker begins.
//!
//! A thread with other work may be ready too, and keep the processor for milliseconds. After that, nobody gives way
//! for sixteen times as long.

use std::time::{Duration, Instant};

use super::compute::Compute;
use super::kind::Kind;
use super::{Queue, State};
use crate::batcher::sync::{MutexGuard, thread};

/// How long others may have the processor: so long once, and again for each request that they brought.
const FOR_ONE: Duration = Duration::from_micros(500);
/// The pause after they had it for longer, in times of how long that was.
const PAUSE: u32 = 16;

/// Until when nobody gives way, where the processor was given away in vain.
#[derive(Default)]
pub(super) struct GivingWay(Option<Instant>);

impl GivingWay {
    /// Whether to give way now.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        self.0 = self.0.filter(|&end| now < end);
        self.0.is_none()
    }

    /// Notes how long others had the processor, and how many requests they brought.
    pub(super) fn note(&mut self, now: Instant, time: Duration, brought: u64) {
        let brought = u32::try_from(brought).unwrap_or(u32::MAX);
        if time > FOR_ONE.saturating_mul(brought.saturating_add(1)) {
            self.0 = self.0.max(now.checked_add(time.saturating_mul(PAUSE)));
        }
    }
}

impl<C: Compute> Queue<C> {
    /// Returns the time if the thread gives way now: if the waiting requests and its own, of this kind, do not fill a
    /// batch, and the last pause is over. It reads the clock last, because a public operation is short.
    pub(super) fn gives_way(&self, state: &mut State<C>, kind: Kind) -> Option<Instant> {
        let is_full = state.waiting.len() + 1 >= self.full().min(self.limits.max_batch);
        if kind == Kind::Public || is_full {
            return None;
        }
        let now = Instant::now();
        state.giving_way.is_due(now).then_some(now)
    }

    /// Lets other threads that are ready bring their requests, before one of this kind is computed.
    pub(super) fn give_way<'a>(&'a self, mut state: MutexGuard<'a, State<C>>, kind: Kind) -> MutexGuard<'a, State<C>> {
        let Some(begin) = self.gives_way(&mut state, kind) else { return state };
        let before = state.waiting.arrived();
        drop(state);
        thread::yield_now();
        let mut state = self.lock();
        let (now, brought) = (Instant::now(), state.waiting.arrived() - before);
        state.giving_way.note(now, now.saturating_duration_since(begin), brought);
        state
    }
}
