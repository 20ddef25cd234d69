//! Who is woken when a batch has its results, and by whom.
//!
//! A thread that is woken often runs at once, in the place of the thread that woke it. To wake the waiters of a batch
//! one by one would change threads twice for each. So the one that is woken first can wake the others itself.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::Queue;
use super::compute::Compute;
use super::request::Request;
use crate::batcher::sync::{Mutex, MutexGuard, PoisonError};

/// Requests that have their results, and whose threads or waiters are still to be woken.
pub(super) struct Unwoken<C: Compute>(Mutex<VecDeque<Arc<Request<C>>>>);

impl<C: Compute> Default for Unwoken<C> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<C: Compute> Unwoken<C> {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Request<C>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds requests, and wakes for each that there is then and that may be woken. Others may come meanwhile: whoever
    /// brings them wakes them.
    fn wake(
        &self,
        more: impl IntoIterator<Item = Arc<Request<C>>>,
        may: impl Fn(&Request<C>) -> bool,
        wake: impl Fn(Arc<Request<C>>),
    ) {
        let mut all = self.lock();
        all.extend(more);
        let count = all.len();
        drop(all);
        let next = || {
            let mut all = self.lock();
            let found = all.iter().position(|request| may(request))?;
            all.remove(found)
        };
        (0..count).map_while(|_| next()).for_each(wake);
    }
}

impl<C: Compute> Queue<C> {
    /// Wakes the threads that sleep until these requests have results, and others that are still to be woken. A thread
    /// that was woken does the same.
    pub(super) fn wake_threads(&self, requests: impl IntoIterator<Item = Arc<Request<C>>>) {
        self.sleepers.wake(requests, |_| true, |request| request.wake_thread());
    }

    /// Wakes those who wait for requests and are no threads, and lets go of the requests. Both call a program's
    /// functions: they may wait for a thread that asks for a turn, and panic.
    pub(super) fn wake(&self, requests: impl IntoIterator<Item = Arc<Request<C>>>) {
        self.unwoken.wake(requests, |_| true, wake_one);
    }

    /// Wakes those whose requests have results and who are not woken yet, if they may be woken here. The thread that
    /// computed them wakes all, and each is woken once. An event loop that was woken calls this before it goes on: then
    /// the system need not change to the other thread and back for each of its results.
    pub fn wake_others(&self, may: impl Fn(&C::Waiter) -> bool) {
        self.unwoken.wake([], |request| request.waiter().is_some_and(&may), wake_one);
    }
}

/// Wakes who waits for a request, and lets go of it.
fn wake_one<C: Compute>(request: Arc<Request<C>>) {
    quietly(|| request.wake());
    quietly(|| drop(request));
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
