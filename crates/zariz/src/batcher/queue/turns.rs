//! Who computes, and when: turns pass from batch to batch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::compute::{Compute, Lost, Outcome};
use super::kind::Kind;
use super::request::Request;
use super::{Queue, State, is_over};
use crate::batcher::sync::atomic::Ordering;
use crate::batcher::sync::{MutexGuard, PoisonError};

type Requests<C> = Vec<Arc<Request<C>>>;

/// A batch that was taken, and its kind; nothing where nothing waited.
pub(super) struct Taken<C: Compute> {
    pub(super) kind: Option<Kind>,
    pub(super) requests: Requests<C>,
    /// Requests whose deadline has passed: they have their results.
    late: Requests<C>,
}

impl<C: Compute> Taken<C> {
    /// All requests that have results now: those whose deadline has passed, and those that were computed.
    pub(super) fn done(self) -> impl Iterator<Item = Arc<Request<C>>> {
        self.late.into_iter().chain(self.requests)
    }

    /// Whether only threads wait for them: to wake these calls no function of a program.
    fn is_of_threads(&self) -> bool {
        self.late.iter().chain(&self.requests).all(|request| request.waiter().is_none())
    }
}

/// A worker that has computed a batch.
pub(super) struct Worker {
    /// Only threads wait for the batch. Else the worker is about to call a program's functions, which may wait for
    /// threads that wait here.
    only_threads: bool,
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
            self.assign(state);
            state = self.lock();
        }
    }

    /// Makes one batch a worker's turn: wakes one, or starts one. If none can be started, it is a waiting thread's. If
    /// there is no worker at all, the queue stays without workers: from then on, the threads that bring requests
    /// compute them.
    fn assign(self: &Arc<Self>, mut state: MutexGuard<'_, State<C>>) {
        state.for_workers += 1;
        if state.idle >= state.for_workers || !self.can_start(&state) && !state.closed {
            // Where none can be started, one that is idle takes the turn of one that is in a program's function.
            drop(state);
            self.idle.notify_one();
        } else if state.closed {
            self.assign_no_more(state);
        } else {
            let queue = self.clone();
            match self.compute.start(Box::new(move || queue.run_worker())) {
                Ok(worker) => state.workers.push(worker),
                Err(_) if state.workers.is_empty() => {
                    self.in_place.store(true, Ordering::Relaxed);
                    state.for_workers -= 1;
                    self.compute_left(state);
                    self.pass_on(None, None);
                }
                Err(_) => {
                    if let Some(leader) = state.waiting.take_leader(None) {
                        state.for_workers -= 1;
                        self.let_lead(state, &leader);
                    }
                    // Else the existing workers compute it later.
                }
            }
        }
    }

    /// Whether a worker may be started.
    fn can_start(&self, state: &State<C>) -> bool {
        !state.closed && state.workers.len() < self.limit()
    }

    /// Takes a turn back from a worker that is not started any more: it is a waiting thread's, or what waits is told
    /// that the queue is closed.
    fn assign_no_more(&self, mut state: MutexGuard<State<C>>) {
        state.for_workers -= 1;
        if let Some(leader) = state.waiting.take_leader(None) {
            return self.let_lead(state, &leader);
        }
        state.computing -= 1;
        let left = state.waiting.take_others();
        let told = self.free(&mut state, left.len());
        drop(state);
        told.tell(&self.room);
        left.iter().for_each(|request| request.finish(Err(Lost::Closed)));
        self.wake(left);
    }

    /// A worker: computes batches when it is its turn, until the queue is closed.
    fn run_worker(self: Arc<Self>) {
        let mut state = self.lock();
        loop {
            if state.for_workers > 0 {
                state.for_workers -= 1;
                drop(self.linger(state));
                let batch = self.take(None);
                self.run(&batch.requests);
                let only_threads = batch.is_of_threads();
                self.pass_on(Some(Worker { only_threads }), batch.kind);
                self.wake(batch.done());
                state = self.lock();
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
        self.wake(batch.done());
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
    /// a worker, which may be the calling one. Requests that fill the lanes are a worker's, if one is free: its memory
    /// is in the processor's caches, where that of a thread that computes once in many batches is not.
    ///
    /// A thread leads a batch of its own kind. If the next batch is of another kind, a worker computes it, if one is
    /// free; without workers, a thread that waits for requests that it has handed over. If there is none, these come
    /// back for a turn before they wait.
    pub(super) fn pass_on(self: &Arc<Self>, by: Option<Worker>, ended: Option<Kind>) {
        let mut state = self.lock();
        if ended == Some(Kind::Long) {
            state.long -= 1;
            state.waiting.hold_long(false);
        }
        let Some(kind) = state.waiting.next_kind() else {
            state.computing -= 1;
            return;
        };
        let in_place = self.in_place.load(Ordering::Relaxed);
        let one_idle = state.idle > state.for_workers;
        let others_could = one_idle || state.waiting.has_leader();
        let stays = by.is_some_and(|worker| worker.only_threads || !others_could);
        let one_free = stays || one_idle || self.can_start(&state);
        let is_workers = !in_place && one_free && state.waiting.count(kind) >= self.enough();
        let mut leader = if is_workers { None } else { state.waiting.take_leader(Some(kind)) };
        if leader.is_none()
            && in_place
            && let Some(seat) = state.seats.pop_front()
        {
            return seat.lead();
        }
        if leader.is_none() && (in_place || !one_free) {
            // A worker that is not free may be in a program's function, which may wait for the thread that
            // waits here.
            leader = state.waiting.take_leader(None);
        }
        match leader {
            Some(leader) => self.let_lead(state, &leader),
            None if in_place => state.computing -= 1,
            None if stays => state.for_workers += 1,
            None => self.assign(state),
        }
    }

    /// Tells a thread to compute, which was taken from those that wait.
    fn let_lead(&self, mut state: MutexGuard<State<C>>, leader: &Request<C>) {
        self.note_begun(&mut state, leader.kind);
        let told = self.free(&mut state, 1);
        drop(state);
        leader.lead();
        told.tell(&self.room);
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
        let told = self.free(&mut state, taken.len());
        drop(state);
        told.tell(&self.room);
        let (late, in_time) = self.part_late(taken);
        batch.extend(in_time);
        Taken { kind: Some(kind), requests: batch, late }
    }

    /// Parts requests whose deadline has passed from the others, and tells them so. Threads are woken here; waiters are
    /// not ([`Request::wake`]). A thread that has given up meanwhile was counted already.
    pub(super) fn part_late(&self, requests: Requests<C>) -> (Requests<C>, Requests<C>) {
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
