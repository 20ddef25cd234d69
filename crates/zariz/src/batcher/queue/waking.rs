//! Which waiters are woken after a batch, and by which thread.
//!
//! A woken thread often runs at once, in place of the thread that woke it. Waking the waiters of a batch one
//! by one would cost two thread switches for each. So the first one woken can wake the others itself.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::compute::Compute;
use super::request::Request;
use super::{Batch, Queue};
use crate::batcher::sync::atomic::Ordering;
use crate::batcher::sync::{Mutex, MutexGuard, PoisonError};

/// Computed requests whose threads or waiters are still to be woken.
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

    /// Takes the first request that matches.
    fn take(&self, is_it: impl Fn(&Request<C>) -> bool) -> Option<Arc<Request<C>>> {
        let mut all = self.lock();
        let found = all.iter().position(|request| is_it(request))?;
        all.remove(found)
    }

    /// Adds requests, then wakes for those of them that no other thread has woken for meanwhile.
    fn wake(&self, requests: &[Arc<Request<C>>], wake: impl Fn(Arc<Request<C>>)) {
        self.lock().extend(requests.iter().cloned());
        for own in requests {
            self.take(|request| std::ptr::eq(request, &**own)).map(&wake);
        }
    }

    /// Wakes for the requests in the list for which `may` is true, even if other threads added them. Requests
    /// added during this call are left to the threads that add them.
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

    /// Wakes the other sleeping threads of the batch. A woken thread does this first.
    pub(super) fn wake_other_threads(&self) {
        self.threads_to_wake.wake_others(|_| true, |request| request.wake_thread());
    }

    /// Leaves requests whose wakers call functions of the program to another worker: such a function may take
    /// long, need a lock that this thread holds, or wait for this thread. Returns the other requests; all of
    /// them if there is no worker.
    pub(super) fn leave_to_wake(self: &Arc<Self>, batch: impl Iterator<Item = Arc<Request<C>>>) -> Batch<C> {
        let (left, mut own): (Batch<C>, Batch<C>) = batch.partition(|request| request.calls_program());
        if left.is_empty() {
            return own;
        }
        if self.caller_runs.load(Ordering::Relaxed) {
            own.extend(left);
            return own;
        }
        let mut state = self.lock();
        state.to_wake.push_back(left);
        if state.to_wake.len() > 1 {
            // A worker comes for the first batch, and calls one for the next.
            return own;
        }
        if let Err(mut state) = self.call_worker(state) {
            own.extend(state.to_wake.pop_back().unwrap_or_default());
        }
        own
    }

    /// Wakes the waiters of requests, and drops the requests. Both may run code of the program, which may
    /// block on a thread that needs a slot, or panic. Only these requests are woken for: another request's
    /// waker may need a lock that this thread holds.
    pub(super) fn wake(&self, requests: impl IntoIterator<Item = Arc<Request<C>>>) {
        let (of_waiters, of_threads) = requests.into_iter().partition(|request| request.waiter().is_some());
        drop_each(of_threads);
        self.waiters_to_wake.wake(&of_waiters, wake_one);
        drop_each(of_waiters);
    }

    /// Wakes the waiters of computed requests that are not woken yet and for which `may` is true. The thread
    /// that computed them wakes them too; each is woken once. An event loop calls this first when it is
    /// woken: that saves two thread switches for each of its results.
    pub fn wake_others(&self, may: impl Fn(&C::Waiter) -> bool) {
        self.waiters_to_wake.wake_others(|request| request.waiter().is_some_and(&may), wake_one);
    }
}

/// Wakes the waiter of a request, and drops the request.
fn wake_one<C: Compute>(request: Arc<Request<C>>) {
    catching(|| request.wake());
    catching(|| drop(request));
}

fn drop_each<C: Compute>(requests: Vec<Arc<Request<C>>>) {
    requests.into_iter().for_each(|request| catching(|| drop(request)));
}

/// Calls a function for each request, even if it panics for some.
pub(super) fn for_each_catching<C: Compute>(batch: &[Arc<Request<C>>], wake: impl Fn(&Request<C>)) {
    for request in batch {
        catching(|| wake(request));
    }
}

/// Calls code of the program. If it panics, the panic hook prints the message, and nothing else happens.
fn catching(work: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(work));
}
