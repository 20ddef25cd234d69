//! Who computes, and when: turns pass from batch to batch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::compute::{Compute, Lost, Outcome};
use super::kind::Kind;
use super::request::Request;
use super::{Batch, Queue, State, is_over};
use crate::batcher::sync::atomic::Ordering;
use crate::batcher::sync::{MutexGuard, PoisonError};

/// A batch that was taken, and its kind; nothing where nothing waited.
pub(super) struct Taken<C: Compute> {
    pub(super) kind: Option<Kind>,
    pub(super) requests: Batch<C>,
    /// Requests whose deadline has passed: they have their results.
    late: Batch<C>,
}

impl<C: Compute> Taken<C> {
    /// All requests that have results now: those whose deadline has passed, and those that were computed.
    pub(super) fn done(self) -> impl Iterator<Item = Arc<Request<C>>> {
        self.late.into_iter().chain(self.requests)
    }
}

/// A worker that has computed a batch.
pub(super) struct Worker {
    /// It is about to call a program's functions, and does not count as a worker until they return: they may wait for
    /// threads that wait in this queue.
    calls_program: bool,
}

impl<C: Compute> Queue<C> {
    /// Starts to compute what waits, where turns are free. While batches are being computed, another one starts
    /// only when it is full; until then, requests gather.
    pub(super) fn begin<'a>(self: &'a Arc<Self>, mut state: MutexGuard<'a, State<C>>) {
        if self.in_place.load(Ordering::Relaxed) {
            return self.compute_left(state);
        }
        while !state.closed
            && !state.waiting.is_empty()
            && state.computing < self.limit()
            && (state.computing == 0 || state.waiting.len() >= self.full() * (state.for_workers + 1))
        {
            state.computing += 1;
            if !self.assign(state) {
                return;
            }
            state = self.lock();
        }
    }

    /// Makes one batch a worker's turn. If the system starts no thread, it is a waiting thread's; if there is none, what
    /// waits is computed here, and this returns false. If there is no worker at all, the queue stays without workers:
    /// from then on, the threads that bring requests compute them.
    pub(super) fn assign(self: &Arc<Self>, mut state: MutexGuard<'_, State<C>>) -> bool {
        state.for_workers += 1;
        let Err(mut state) = self.call_worker(state) else { return true };
        state.for_workers -= 1;
        if !state.closed && state.workers.is_empty() {
            self.in_place.store(true, Ordering::Relaxed);
            self.compute_after_turn(state);
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

    /// Sees to it that a worker comes for what was left to workers under this lock: one that is idle, or a new one. A
    /// worker in a program's function may be there for long, so it does not count.
    ///
    /// # Errors
    /// The lock, if the queue is closed or the system starts no thread.
    pub(super) fn call_worker<'a>(
        self: &Arc<Self>,
        mut state: MutexGuard<'a, State<C>>,
    ) -> Result<(), MutexGuard<'a, State<C>>> {
        // Who wakes for the first of these batches calls a worker for the next.
        let (batches, limit) = (usize::from(!state.to_wake.is_empty()), self.limit());
        let counted = state.workers.len().saturating_sub(state.in_functions);
        if state.idle >= state.for_workers + batches || counted >= limit + batches && !state.closed {
            // In the second case, there is one for each turn and each batch to wake: others begin already.
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

    /// A worker: computes batches when it is its turn, and calls the wakers that were left to workers, until the queue
    /// is closed.
    fn run_worker(self: Arc<Self>) {
        let mut state = self.lock();
        loop {
            if state.for_workers > 0 {
                state.for_workers -= 1;
                drop(self.linger(state));
                let batch = self.take(None);
                self.run(&batch.requests);
                let kind = batch.kind;
                // If there is more to compute, another worker calls the wakers. If this one called them first, the
                // tasks they wake would wait for this processor, and the next batch for their requests.
                let computes_on = self.lock().waiting.next_kind().is_some();
                let to_wake = if computes_on { self.leave_to_wake(batch.done()) } else { batch.done().collect() };
                let calls_program = to_wake.iter().any(|request| request.calls_program());
                self.pass_on(Some(Worker { calls_program }), kind);
                self.wake(to_wake);
                state = self.lock();
                state.in_functions -= usize::from(calls_program);
            } else if let Some(batch) = state.to_wake.pop_front() {
                state.in_functions += 1;
                if !state.to_wake.is_empty() {
                    // If none can be had, this one goes on with the next.
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

    /// Waits until requests fill the lanes, or one has waited long enough, where that is asked for.
    fn linger<'a>(&self, mut state: MutexGuard<'a, State<C>>) -> MutexGuard<'a, State<C>> {
        let Some(linger) = self.limits.linger else { return state };
        while !state.closed && state.waiting.len() < self.enough() {
            let left = state.waiting.patience(linger);
            if left.is_zero() {
                break;
            }
            state.lingering += 1;
            state = self.filled.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.lingering -= 1;
        }
        state
    }

    /// Computes the calling thread's request, and others that wait.
    pub(super) fn lead(self: &Arc<Self>, own: Arc<Request<C>>) -> Outcome<C> {
        let batch = self.take(Some(own.clone()));
        self.run(&batch.requests);
        self.pass_on(None, Some(own.kind));
        let left = self.leave_to_wake(batch.done());
        self.wake(left);
        own.wait_for_result()
    }

    /// Notes under the lock that a batch of that kind begins. At most half of the turns, but at least one,
    /// compute long operations at a time. If they do, other long ones are held back, so that turns are left for
    /// signatures.
    pub(super) fn note_begun(&self, state: &mut State<C>, kind: Kind) {
        if kind == Kind::Long {
            state.long += 1;
            state.waiting.hold_long(state.long >= (self.limit() / 2).max(1));
        }
    }

    /// After a batch of the kind `ended`, starts the next one, if requests wait: by a waiting thread, else by
    /// a worker, which may be the calling one. Requests that fill the lanes are a worker's: its memory is in the
    /// processor's caches, where that of a thread that computes once in many batches is not.
    ///
    /// A thread leads a batch of its own kind. If the next batch is of another kind, a worker computes it; without
    /// workers, a thread that waits for requests that it has handed over. If there is none, these come back for a turn
    /// before they wait.
    pub(super) fn pass_on(self: &Arc<Self>, by: Option<Worker>, ended: Option<Kind>) {
        let mut state = self.lock();
        if ended == Some(Kind::Long) {
            state.long -= 1;
            state.waiting.hold_long(false);
        }
        // No turn is held in a program's function, which may wait for somebody who waits here.
        let stays = by.as_ref().is_some_and(|worker| !worker.calls_program);
        state.in_functions += usize::from(by.is_some() && !stays);
        let Some(kind) = state.waiting.next_kind() else {
            state.computing -= 1;
            return;
        };
        let in_place = self.in_place.load(Ordering::Relaxed);
        let is_workers = !in_place && state.waiting.count(kind) >= self.enough();
        // A leader whose batch has no place for others would overtake them.
        let is_seats = in_place && self.most(kind) == 1 && !state.seats.is_empty();
        let mut leader = if is_workers || is_seats { None } else { state.waiting.take_leader(Some(kind)) };
        if leader.is_none() && in_place {
            if let Some(seat) = state.seats.pop_front() {
                return seat.lead();
            }
            leader = state.waiting.take_leader(None);
        }
        match leader {
            Some(leader) => self.let_lead(state, &leader),
            None if in_place => state.computing -= 1,
            None if stays => state.for_workers += 1,
            None if state.closed && by.is_some() => {
                // No worker comes any more, and what was there before the end is computed.
                self.compute_after_turn(state);
            }
            None => {
                self.assign(state);
            }
        }
    }

    /// Tells a thread to compute, which was taken from those that wait.
    fn let_lead(&self, mut state: MutexGuard<State<C>>, leader: &Request<C>) {
        self.note_begun(&mut state, leader.kind);
        drop(state);
        leader.lead();
    }

    /// Takes a batch: the leader's own request, if there is one, and those of its kind that have waited
    /// longest; else requests of the next kind. Other workers whose turn it is get a share. A batch of more
    /// requests than lanes fills whole lanes: the requests that would fill a part of them begin the next
    /// batch. Requests whose deadline has passed are told so.
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
        let mut count = (batch.len() + waiting).min(share).min(self.most(kind));
        if count > lanes {
            count -= count % lanes;
        }
        let taken = state.waiting.take(kind, count.saturating_sub(batch.len()));
        drop(state);
        let (late, in_time) = self.part_late(taken);
        batch.extend(in_time);
        Taken { kind: Some(kind), requests: batch, late }
    }

    /// Parts requests whose deadline has passed from the others, and tells them so. Threads are woken here; waiters are
    /// not ([`Request::wake`]). A thread that has given up meanwhile was counted already.
    pub(super) fn part_late(&self, requests: Batch<C>) -> (Batch<C>, Batch<C>) {
        let (late, in_time): (Vec<_>, Vec<_>) = requests.into_iter().partition(|request| is_over(request.deadline));
        for request in &late {
            if let Some(sleeps) = request.settle(Err(Lost::Expired)) {
                self.meter.expired();
                if sleeps {
                    request.wake_thread();
                }
            }
        }
        (late, in_time)
    }

    /// Computes a batch, and gives every request its result. Waiters are woken afterwards ([`wake`](Self::wake)), so
    /// that an event loop finds all its results at once, and others can already compute: a woken program may take
    /// long.
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

    /// The results of a batch: one for each operation, even if the computation panics.
    pub(super) fn results(&self, operations: &[&C::Operation]) -> Vec<Outcome<C>> {
        debug_assert!(
            operations.windows(2).all(|two| C::kind(two[0]) == C::kind(two[1])),
            "a batch has requests of one kind"
        );
        let results = catch_unwind(AssertUnwindSafe(|| self.compute.compute(operations))).unwrap_or_default();
        let mut results = results.into_iter().map(Ok);
        operations.iter().map(|_| results.next().unwrap_or(Err(Lost::Panicked))).collect()
    }
}
