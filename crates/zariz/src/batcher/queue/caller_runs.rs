//! The queue without workers. The caller runs: threads that hand requests over compute them, and those of
//! other waiting threads.

use std::sync::Arc;

use super::caller::{Caller, CallerWakeup};
use super::compute::{Compute, QueueError};
use super::request::Request;
use super::waking::for_each_catching;
use super::{Queue, State};
use crate::batcher::sync::MutexGuard;

impl<C: Compute> Queue<C> {
    /// Computes requests on this thread, whose stack may be small, together with others that wait. If no slot
    /// is free, the thread waits for its results or until it is told to compute; requests that come meanwhile
    /// make the next batch. Returns when all these requests have results.
    pub(super) fn compute_here(self: &Arc<Self>, requests: &[Arc<Request<C>>]) {
        let caller = Caller::new(requests.len());
        requests.iter().for_each(|request| request.set_caller(&caller));
        if !self.compute_or_wait(requests, &caller) && !self.compute.with_stack(&mut || wake_own(requests)) {
            wake_own(requests);
        }
    }

    /// Computes the requests, or waits while other threads do. Returns whether this called their wakers.
    fn compute_or_wait(self: &Arc<Self>, requests: &[Arc<Request<C>>], caller: &Arc<Caller>) -> bool {
        let mut state = self.lock();
        state.waiting.extend(requests.to_vec());
        loop {
            if caller.is_done() {
                return false;
            }
            if self.take_slot(&mut state) {
                drop(state);
            } else {
                state.callers.push_back(caller.clone());
                drop(state);
                if caller.wait() == CallerWakeup::Done && !self.stop_waiting(caller) {
                    return false;
                }
            }
            match self.lead_here(requests, caller) {
                Some(true) => return true,
                Some(false) => state = self.lock(),
                None => {
                    self.give_up(requests, caller);
                    return false;
                }
            }
        }
    }

    /// Takes a slot, if one is free and there is something to compute.
    fn take_slot(&self, state: &mut State<C>) -> bool {
        let takes = self.has_free_slot(state) && state.waiting.next_kind().is_some();
        state.computing += usize::from(takes);
        takes
    }

    /// Ends the wait. Returns whether the thread was told to compute, and must.
    fn stop_waiting(&self, caller: &Arc<Caller>) -> bool {
        let mut state = self.lock();
        state.callers.retain(|other| !Arc::ptr_eq(other, caller));
        caller.take_lead()
    }

    /// Computes batches in this thread's slot, until its requests have their results or the slot goes to
    /// another thread. Returns whether they have, in which case it has called their wakers; `None` if no
    /// large stack could be had.
    fn lead_here(self: &Arc<Self>, requests: &[Arc<Request<C>>], caller: &Caller) -> Option<bool> {
        let mut done = false;
        let had_stack = self.compute.with_stack(&mut || {
            loop {
                let batch = self.take(None);
                self.run(&batch.requests);
                // Hold no slot inside a waker: it may block on a thread that waits here. It may also need a
                // large stack, which it has here.
                self.pass_on(None, batch.kind);
                self.wake(batch.done());
                done = caller.is_done();
                if done {
                    return wake_own(requests);
                }
                if !self.take_slot(&mut self.lock()) {
                    return;
                }
            }
        });
        had_stack.then_some(done)
    }

    /// Without a stack to compute on: fails the requests that still wait, and passes the slot on. Others
    /// already compute the rest.
    fn give_up(self: &Arc<Self>, requests: &[Arc<Request<C>>], caller: &Caller) {
        let mut state = self.lock();
        let waiting: Vec<_> =
            requests.iter().filter(|request| state.waiting.remove(request)).cloned().collect();
        drop(state);
        waiting.iter().for_each(|request| request.finish(Err(QueueError::NoThread)));
        self.pass_on(None, None);
        caller.wait();
    }

    /// Computes requests of others on this thread, whose stack may be small, without a slot. They were left
    /// for workers, which cannot be started.
    pub(super) fn compute_left(&self, mut state: MutexGuard<State<C>>) {
        let left = state.waiting.take_others();
        drop(state);
        self.compute_taken(left);
    }

    /// Like [`compute_left`](Self::compute_left), but first passes on this thread's slot: no slot is held
    /// inside a waker.
    pub(super) fn compute_without_slot(self: &Arc<Self>, mut state: MutexGuard<State<C>>) {
        let left = state.waiting.take_others();
        drop(state);
        self.pass_on(None, None);
        self.compute_taken(left);
    }

    /// Computes requests that were taken from the queue, without a slot, and calls their wakers.
    fn compute_taken(&self, left: Vec<Arc<Request<C>>>) {
        if left.is_empty() {
            return;
        }
        let (late, mut requests) = self.split_expired(left);
        requests.sort_by_key(|request| request.kind);
        let done = self.compute.with_stack(&mut || {
            self.wake(late.clone());
            for of_kind in requests.chunk_by(|a, b| a.kind == b.kind) {
                of_kind.chunks(self.max_batch(of_kind[0].kind)).for_each(|batch| self.run(batch));
                // A waker may need a large stack, which it has here.
                self.wake(of_kind.to_vec());
            }
        });
        if !done {
            requests.iter().for_each(|request| request.finish(Err(QueueError::NoThread)));
            self.wake(late.into_iter().chain(requests));
        }
    }
}

/// Calls the wakers of this thread's requests. Only this thread may: a waker may need a lock that the program
/// holds in this thread.
fn wake_own<C: Compute>(requests: &[Arc<Request<C>>]) {
    for_each_catching(requests, Request::wake_own);
}
