//! Which thread computes the next batch, and when. At most `threads` batches are computed at once; each takes
//! a slot, which is passed from batch to batch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::compute::{Compute, Kind, Outcome, QueueError};
use super::request::Request;
use super::{Batch, Queue, State, has_passed};
use crate::batcher::sync::atomic::Ordering;
use crate::batcher::sync::{MutexGuard, PoisonError};

/// A batch taken from the queue; without a kind, if no request waited.
pub(super) struct Taken<C: Compute> {
    pub(super) kind: Option<Kind>,
    pub(super) requests: Batch<C>,
    /// Requests whose deadline has passed. They already have their result, an error.
    late: Batch<C>,
}

impl<C: Compute> Taken<C> {
    /// All requests with results: the expired and the computed ones.
    pub(super) fn done(self) -> impl Iterator<Item = Arc<Request<C>>> {
        self.late.into_iter().chain(self.requests)
    }
}

/// A worker that has computed a batch.
pub(super) struct Worker {
    /// It is about to call wakers. It does not count as a worker until they return: they may block on threads
    /// that wait in this queue.
    calls_program: bool,
}

impl<C: Compute> Queue<C> {
    /// Starts computing the waiting requests, if slots are free. Beside a batch that is being computed, only
    /// a full batch starts; fewer requests wait for more.
    pub(super) fn begin<'a>(self: &'a Arc<Self>, mut state: MutexGuard<'a, State<C>>) {
        if self.caller_runs.load(Ordering::Relaxed) {
            return self.compute_left(state);
        }
        while !state.closed
            && !state.waiting.is_empty()
            && state.computing < self.slots()
            && (state.computing == 0 || state.waiting.len() >= self.full() * (state.for_workers + 1))
        {
            state.computing += 1;
            if !self.assign(state) {
                return;
            }
            state = self.lock();
        }
    }

    /// Assigns the next batch, whose slot is taken, to a worker. If the system starts no thread, a waiting
    /// thread computes it; if none waits, this thread computes the waiting requests and returns false. If
    /// there is no worker at all, the queue stays without workers: from then on, the threads that bring
    /// requests compute them.
    pub(super) fn assign(self: &Arc<Self>, mut state: MutexGuard<'_, State<C>>) -> bool {
        state.for_workers += 1;
        let Err(mut state) = self.call_worker(state) else { return true };
        state.for_workers -= 1;
        if !state.closed && state.workers.is_empty() {
            self.caller_runs.store(true, Ordering::Relaxed);
            self.compute_without_slot(state);
            return false;
        }
        if let Some(leader) = state.waiting.take_leader(None) {
            self.let_lead(state, &leader);
            return true;
        }
        state.computing -= 1;
        if !state.closed {
            self.compute_left(state);
            return false;
        }
        let left = state.waiting.take_others();
        drop(state);
        self.tell_closed(left);
        false
    }

    /// Wakes an idle worker, or starts one, for the work that was left to workers under this lock. Workers
    /// inside a waker do not count: they may be there for long.
    ///
    /// # Errors
    /// The lock, if the queue is closed or the system starts no thread.
    pub(super) fn call_worker<'a>(
        self: &Arc<Self>,
        mut state: MutexGuard<'a, State<C>>,
    ) -> Result<(), MutexGuard<'a, State<C>>> {
        // The worker that takes the first of the batches to wake calls a worker for the next.
        let (batches, slots) = (usize::from(!state.to_wake.is_empty()), self.slots());
        let counted = state.workers.len().saturating_sub(state.in_functions);
        if state.idle >= state.for_workers + batches
            || counted >= slots.saturating_add(batches) && !state.closed
        {
            // In the second case, each slot and each batch to wake has a worker, which is about to take it.
            drop(state);
            self.idle.notify_one();
            return Ok(());
        }
        if state.closed {
            return Err(state);
        }
        let queue = self.clone();
        match self.compute.start(Box::new(move || queue.run_worker())) {
            Ok(worker) => state.workers.push(worker),
            Err(_) => return Err(state),
        }
        Ok(())
    }

    /// The loop of a worker: computes batches that are assigned to workers, and calls wakers that are left to
    /// workers, until the queue is closed.
    fn run_worker(self: Arc<Self>) {
        let mut state = self.lock();
        loop {
            if state.for_workers > 0 {
                state.for_workers -= 1;
                drop(self.linger(state));
                let batch = self.take(None);
                self.run(&batch.requests);
                let kind = batch.kind;
                // If there is more to compute, leave the wakers to another worker. The tasks that they wake
                // would wait for this processor, and the next batch for the requests of those tasks.
                let computes_on = self.lock().waiting.next_kind().is_some();
                let to_wake =
                    if computes_on { self.leave_to_wake(batch.done()) } else { batch.done().collect() };
                let calls_program = to_wake.iter().any(|request| request.calls_program());
                self.pass_on(Some(Worker { calls_program }), kind);
                self.wake(to_wake);
                state = self.lock();
                state.in_functions -= usize::from(calls_program);
            } else if let Some(batch) = state.to_wake.pop_front() {
                state.in_functions += 1;
                if !state.to_wake.is_empty() {
                    // If there is no other worker, this one goes on with the next batch.
                    let _ = self.call_worker(state);
                } else {
                    drop(state);
                }
                self.wake(batch);
                state = self.lock();
                state.in_functions -= 1;
            } else if state.closed {
                return;
            } else {
                state.idle += 1;
                state = self.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }

    /// If the queue lingers: waits until requests fill the lanes, or one of them has waited long enough.
    fn linger<'a>(&self, mut state: MutexGuard<'a, State<C>>) -> MutexGuard<'a, State<C>> {
        let Some(linger) = self.limits.linger else { return state };
        while !state.closed && state.waiting.len() < self.enough() {
            let left = state.waiting.linger_left(linger);
            if left.is_zero() {
                break;
            }
            state.lingering += 1;
            state = self.filled.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.lingering -= 1;
        }
        state
    }

    /// Computes the calling thread's request together with others that wait.
    pub(super) fn lead(self: &Arc<Self>, own: Arc<Request<C>>) -> Outcome<C> {
        let batch = self.take(Some(own.clone()));
        self.run(&batch.requests);
        self.pass_on(None, Some(own.kind));
        let left = self.leave_to_wake(batch.done());
        self.wake(left);
        own.wait_for_result()
    }

    /// Notes that a batch of that kind begins. Long operations take at most half of the slots, but at least
    /// one; beyond that they are held back, so that slots are left for signatures. Call under the lock.
    pub(super) fn note_begun(&self, state: &mut State<C>, kind: Kind) {
        if kind == Kind::Long {
            state.long += 1;
            state.waiting.hold_long(state.long >= (self.slots() / 2).max(1));
        }
    }

    /// After a batch of the kind `ended`, passes its slot to the next batch, if requests wait. If they fill
    /// the lanes, a worker computes: it computes many batches, so its memory is in the processor's caches.
    /// Otherwise a waiting thread computes, or a worker if there is none. `by` is the calling worker.
    ///
    /// A thread leads a batch of its own kind. If the next batch is of another kind, a worker computes it.
    /// Without workers, a thread computes it that waits for requests it has handed over; if there is none,
    /// the slot is freed, and threads that hand requests over look for a free slot before they wait.
    pub(super) fn pass_on(self: &Arc<Self>, by: Option<Worker>, ended: Option<Kind>) {
        let mut state = self.lock();
        if ended == Some(Kind::Long) {
            state.long -= 1;
            state.waiting.hold_long(false);
        }
        // Hold no slot inside a waker: it may block on a thread that waits here.
        let stays = by.as_ref().is_some_and(|worker| !worker.calls_program);
        state.in_functions += usize::from(by.is_some() && !stays);
        let Some(kind) = state.waiting.next_kind() else {
            state.computing -= 1;
            return;
        };
        let caller_runs = self.caller_runs.load(Ordering::Relaxed);
        let is_workers = !caller_runs && state.waiting.count(kind) >= self.enough();
        // If a batch has one request, a leader would overtake requests that were handed over.
        let is_callers = caller_runs && self.max_batch(kind) == 1 && !state.callers.is_empty();
        let mut leader = if is_workers || is_callers { None } else { state.waiting.take_leader(Some(kind)) };
        if leader.is_none() && caller_runs {
            if let Some(caller) = state.callers.pop_front() {
                return caller.lead();
            }
            leader = state.waiting.take_leader(None);
        }
        match leader {
            Some(leader) => self.let_lead(state, &leader),
            None if caller_runs => state.computing -= 1,
            None if stays => state.for_workers += 1,
            None if state.closed && by.is_some() => {
                // No more workers come; compute what waited when the queue was closed.
                self.compute_without_slot(state);
            }
            None => {
                self.assign(state);
            }
        }
    }

    /// Tells a waiting thread, already taken from the queue, to compute.
    fn let_lead(&self, mut state: MutexGuard<State<C>>, leader: &Request<C>) {
        self.note_begun(&mut state, leader.kind);
        drop(state);
        leader.lead();
    }

    /// Takes a batch: the leader's own request, if there is one, and the oldest others of its kind; without a
    /// leader, requests of the next kind. It leaves a share to other workers that were assigned a batch. A
    /// batch with more requests than lanes is rounded down to whole lanes; the rest begins the next batch.
    /// Expired requests get their error here.
    pub(super) fn take(&self, own: Option<Arc<Request<C>>>) -> Taken<C> {
        let mut state = self.lock();
        let kind = match (&own, state.waiting.next_kind()) {
            (Some(own), _) => own.kind,
            (None, Some(next)) => {
                self.note_begun(&mut state, next);
                next
            }
            (None, None) => return Taken { kind: None, requests: Vec::new(), late: Vec::new() },
        };
        let (mut batch, waiting) = (Vec::from_iter(own), state.waiting.count(kind));
        let lanes = self.limits.lanes;
        let share = waiting.div_ceil(state.for_workers + 1).next_multiple_of(lanes).max(self.full());
        let mut count = (batch.len() + waiting).min(share).min(self.max_batch(kind));
        if count > lanes {
            count -= count % lanes;
        }
        let taken = state.waiting.take(kind, count.saturating_sub(batch.len()));
        drop(state);
        let (late, in_time) = self.split_expired(taken);
        batch.extend(in_time);
        Taken { kind: Some(kind), requests: batch, late }
    }

    /// Splits off the expired requests and gives them their error. Wakes sleeping threads, but not waiters
    /// ([`Request::wake`]). A thread that has given up has counted its request already.
    pub(super) fn split_expired(&self, requests: Batch<C>) -> (Batch<C>, Batch<C>) {
        let (late, in_time): (Vec<_>, Vec<_>) =
            requests.into_iter().partition(|request| has_passed(request.deadline));
        for request in &late {
            if let Some(sleeps) = request.settle(Err(QueueError::Expired)) {
                self.meter.expired();
                if sleeps {
                    request.wake_thread();
                }
            }
        }
        (late, in_time)
    }

    /// Computes a batch, and gives every request its result. Waiters are woken afterwards
    /// ([`wake`](Self::wake)): a waker may take long. So an event loop finds all results at once, and other
    /// threads can already compute.
    pub(super) fn run(&self, batch: &[Arc<Request<C>>]) {
        if batch.is_empty() {
            return;
        }
        let now = Instant::now();
        self.meter.batch(batch.iter().map(|request| now.saturating_duration_since(request.made)));
        let operations: Vec<_> = batch.iter().map(|request| &request.operation).collect();
        let results = self.results(&operations);
        let sleepers = batch
            .iter()
            .zip(results)
            .filter_map(|(request, result)| (request.settle(result) == Some(true)).then_some(request));
        self.wake_threads(&sleepers.cloned().collect::<Vec<_>>());
    }

    /// The results of a batch, one for each operation, even if the computation panics.
    pub(super) fn results(&self, operations: &[&C::Operation]) -> Vec<Outcome<C>> {
        debug_assert!(
            operations.windows(2).all(|two| C::kind(two[0]) == C::kind(two[1])),
            "a batch has requests of one kind"
        );
        let results = catch_unwind(AssertUnwindSafe(|| self.compute.compute(operations))).unwrap_or_default();
        let mut results = results.into_iter().map(Ok);
        operations.iter().map(|_| results.next().unwrap_or(Err(QueueError::Panicked))).collect()
    }
}
