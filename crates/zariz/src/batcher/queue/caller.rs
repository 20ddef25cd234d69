//! A thread without workers that waits for the requests that it handed over.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use crate::batcher::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A thread that has handed requests over and waits for all of them. It can compute meanwhile.
pub(super) struct Caller {
    state: Mutex<CallerState>,
    changed: Condvar,
}

struct CallerState {
    /// How many of its requests have no result yet.
    left: usize,
    /// It must compute the next batch.
    leads: bool,
    /// It sleeps until something changes.
    asleep: bool,
}

/// The waiting threads, oldest first. Changed under the queue's lock.
pub(super) type Callers = VecDeque<Arc<Caller>>;

impl Caller {
    pub(super) fn new(requests: usize) -> Arc<Self> {
        let state = Mutex::new(CallerState { left: requests, leads: false, asleep: false });
        Arc::new(Self { state, changed: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, CallerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes the thread if it has something to do.
    fn change(&self, change: impl FnOnce(&mut CallerState)) {
        let mut state = self.lock();
        change(&mut state);
        let wakes = state.asleep && (state.leads || state.left == 0);
        drop(state);
        if wakes {
            self.changed.notify_one();
        }
    }

    /// One of its requests got its result.
    pub(super) fn one_done(&self) {
        self.change(|state| state.left -= 1);
    }

    /// Tells the thread to compute the next batch. Call under the queue's lock.
    pub(super) fn lead(&self) {
        self.change(|state| state.leads = true);
    }

    /// Takes and clears the flag to compute.
    pub(super) fn take_lead(&self) -> bool {
        mem::take(&mut self.lock().leads)
    }

    pub(super) fn is_done(&self) -> bool {
        self.lock().left == 0
    }

    /// Waits until the thread is told to compute, or until all its requests have results. Clears the flag to
    /// compute.
    pub(super) fn wait(&self) -> CallerWakeup {
        let mut state = self.lock();
        loop {
            if mem::take(&mut state.leads) {
                return CallerWakeup::Leads;
            }
            if state.left == 0 {
                return CallerWakeup::Done;
            }
            state.asleep = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep = false;
        }
    }
}

/// Why a waiting thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallerWakeup {
    /// It must compute: others rely on it, even if all its own requests have results.
    Leads,
    Done,
}
