//! Who is woken when a batch has its results, and by whom.
//!
//! A thread that is woken often runs at once, in the place of the thread that woke it. To wake the waiters of a batch
//! one by one would change threads twice for each. So the one that is woken first can wake the others itself.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::compute::Compute;
use super::request::Request;
use super::{Batch, Queue};
use crate::batcher::sync::atomic::Ordering;
use crate::batcher::sync::{Mutex, MutexGuard, PoisonError};

/// Requests that have their results, and whose threads or waiters are still to be woken.
pub(super) struct ToWake<C: Compute>(Mutex<VecDeque<Arc<Request<C>>>>);

impl<C: Compute> Default for ToWake<C> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<C: Compute> ToWake<C> {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Request<C>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the first request of which this is true.
    fn take(&self, is_it: impl Fn(&Request<C>) -> bool) -> Option<Arc<Request<C>>> {
        let mut all = self.lock();
        let found = all.iter().position(|request| is_it(request))?;
        all.remove(found)
    }

    /// Adds requests, then wakes for each of them that nobody else has woken for meanwhile, and for no others.
    fn wake(&self, requests: &[Arc<Request<C>>], wake: impl Fn(Arc<Request<C>>)) {
        self.lock().extend(requests.iter().cloned());
        for own in requests {
            self.take(|request| std::ptr::eq(request, &**own)).map(&wake);
        }
    }

    /// Wakes for the requests that are listed now and of which `may` is true, whoever added them. Those that are added
    /// meanwhile are left to the threads that add them.
    fn wake_others(&self, may: impl Fn(&Request<C>) -> bool, wake: impl Fn(Arc<Request<C>>)) {
        let count = self.lock().len();
        (0..count).map_while(|_| self.take(&may)).for_each(wake);
    }
}

impl<C: Compute> Queue<C> {
    /// Wakes the threads that sleep until these requests have results.
    pub(super) fn wake_threads(&self, requests: &[Arc<Request<C>>]) {
        self.threads_to_wake.wake(requests, |request| request.wake_thread());
    }

    /// What a thread does first that was woken: it wakes the other threads.
    pub(super) fn wake_other_threads(&self) {
        self.threads_to_wake.wake_others(|_| true, |request| request.wake_thread());
    }

    /// Leaves requests whose wake-up calls a program's function to another worker: the function may take long, need a
    /// lock that the calling thread holds, or wait for that thread. Returns the others; all if no worker can be had.
    pub(super) fn leave_to_wake(self: &Arc<Self>, batch: impl Iterator<Item = Arc<Request<C>>>) -> Batch<C> {
        let (left, mut own): (Batch<C>, Batch<C>) = batch.partition(|request| request.calls_program());
        if left.is_empty() {
            return own;
        }
        if self.in_place.load(Ordering::Relaxed) {
            own.extend(left);
            return own;
        }
        let mut state = self.lock();
        state.to_wake.push_back(left);
        if state.to_wake.len() > 1 {
            // A worker comes for the first, and calls one for the next.
            return own;
        }
        if let Err(mut state) = self.call_worker(state) {
            own.extend(state.to_wake.pop_back().unwrap_or_default());
        }
        own
    }

    /// Wakes those who wait for requests and are no threads, and lets go of the requests. Both call a program's
    /// functions: they may wait for a thread that asks for a turn, and panic. Only these requests are woken for: the
    /// function of another may need a lock that the calling thread holds.
    pub(super) fn wake(&self, requests: impl IntoIterator<Item = Arc<Request<C>>>) {
        let (of_waiters, of_threads) = requests.into_iter().partition(|request| request.waiter().is_some());
        let_go(of_threads);
        self.waiters_to_wake.wake(&of_waiters, wake_one);
        let_go(of_waiters);
    }

    /// Wakes those whose requests have results and who are not woken yet, if they may be woken here. The thread that
    /// computed them wakes all, and each is woken once. An event loop that was woken calls this before it goes on: then
    /// the system need not change to the other thread and back for each of its results.
    pub fn wake_others(&self, may: impl Fn(&C::Waiter) -> bool) {
        self.waiters_to_wake.wake_others(|request| request.waiter().is_some_and(&may), wake_one);
    }
}

/// Wakes who waits for a request, and lets go of it.
fn wake_one<C: Compute>(request: Arc<Request<C>>) {
    quietly(|| request.wake());
    quietly(|| drop(request));
}

fn let_go<C: Compute>(requests: Vec<Arc<Request<C>>>) {
    requests.into_iter().for_each(|request| quietly(|| drop(request)));
}

/// Calls a function for each request. If that panics, it is called for the others all the same.
pub(super) fn for_each_quietly<C: Compute>(batch: &[Arc<Request<C>>], wake: impl Fn(&Request<C>)) {
    for request in batch {
        quietly(|| wake(request));
    }
}

/// Calls a program's function. If it panics, the panic hook prints a message, and that is all.
fn quietly(work: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(work));
}
