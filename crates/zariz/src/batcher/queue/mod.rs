//! The queue below a [`Batcher`](super::Batcher): requests of many callers, computed together. For programs whose
//! callers wait in ways of their own, as zariz's provider for OpenSSL does.
//!
//! Batches form by themselves: a request that finds no computation under way is computed at once, even alone.
//! Requests that come meanwhile gather and make the next batch. There is no timer, and no request waits for
//! others to come, unless [`Limits::linger`] asks for it. Before a thread computes a batch that is not full,
//! other threads that are ready run once: they may bring requests.
//!
//! * A thread that may block computes its own request and those that wait ([`Queue::call`]). The setting
//!   [`Limits::threads`] limits how many batches are computed at once. Beyond that a thread waits, until
//!   another's batch has its result or it must compute the next batch. Where those that wait fill the lanes, a
//!   worker computes for them.
//! * Others only leave a [`Request`] ([`Queue::submit`]; [`Queue::push`] and [`Queue::kick`]), and are woken
//!   ([`Waiter`]). Worker threads compute for them, started when there is first something to do. Where none can
//!   be started, the threads that hand requests over compute them, each other's too ([`Compute::with_room`]).
//!
//! A batch has requests of one kind ([`Kind`]): private operations are first, long operations last. Each kind
//! passes a waiting request at most once. A batch of long operations fills the lanes once, and at most half of
//! the turns, but at least one, compute such batches at a time. So a signature waits for at most one such batch
//! in each turn.
//!
//! No lock is held while a batch is computed, or while somebody is woken. Each process has a queue and workers of
//! its own ([`Processes`](super::Processes)).

mod compute;
mod giving_way;
mod in_place;
mod kind;
mod meter;
mod request;
#[cfg(test)]
pub(crate) mod tests;
mod turns;
mod waiting;
mod waking;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use super::sync::thread::JoinHandle;
use super::sync::{Condvar, Mutex, MutexGuard, PoisonError, processors, thread};
pub use compute::{Compute, Lost, Outcome, Waiter};
use giving_way::GivingWay;
use in_place::Seats;
pub use kind::Kind;
use meter::Meter;
pub use meter::Metrics;
pub use request::Request;
use request::Turn;
use waiting::Waiting;
use waking::ToWake;

/// What a queue is built for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most batches that are computed at once, and the most workers, besides those that call programs' functions.
    /// With zero, there are no workers. With zero or `None`, at most one batch per processor is computed at once.
    pub threads: Option<usize>,
    /// The most requests in a batch.
    pub max_batch: usize,
    /// The engine's lanes. The halves of this many private operations fill them twice.
    pub lanes: usize,
    /// The most requests that wait: one that finds so many becomes [`Lost::Full`]. `None` for any number.
    pub capacity: Option<usize>,
    /// How long a worker waits for requests to fill the lanes, counted from when the first of them was made. If it
    /// is `None`, no request waits for others; otherwise workers compute everything.
    pub linger: Option<Duration>,
}

/// The requests of a process.
pub struct Queue<C: Compute> {
    compute: C,
    limits: Limits,
    /// The most batches that are computed at once; zero before it is first needed.
    limit: AtomicUsize,
    /// There are no workers: the threads that bring requests compute them.
    in_place: AtomicBool,
    meter: Meter,
    state: Mutex<State<C>>,
    threads_to_wake: ToWake<C>,
    waiters_to_wake: ToWake<C>,
    /// Workers wait here for their turn.
    idle: Condvar,
    /// Workers wait here for a batch to fill the lanes.
    filled: Condvar,
}

/// Requests that are computed together.
type Batch<C> = Vec<Arc<Request<C>>>;

struct State<C: Compute> {
    waiting: Waiting<C>,
    /// Without workers: the threads that wait for requests that they have handed over.
    seats: Seats,
    /// Batches that are being computed, or that a thread was told to compute.
    computing: usize,
    /// How many of these are for workers that have not begun.
    for_workers: usize,
    /// How many of these are of long operations.
    long: usize,
    /// Workers that wait.
    idle: usize,
    /// Workers that wait for others to fill the lanes.
    lingering: usize,
    /// Requests that have results, left for a worker to wake: by blocking threads, which may hold a lock that a
    /// program's function needs, and by workers that have more to compute.
    to_wake: VecDeque<Batch<C>>,
    /// Workers that are in programs' functions, and perhaps wait there for others.
    in_functions: usize,
    giving_way: GivingWay,
    workers: Vec<JoinHandle<()>>,
    closed: bool,
}

impl<C: Compute> Queue<C> {
    /// A queue without any request; it starts its threads when they have something to do.
    pub fn new(compute: C, limits: Limits) -> Arc<Self> {
        let state = State {
            waiting: Waiting::default(),
            seats: Seats::default(),
            computing: 0,
            for_workers: 0,
            long: 0,
            idle: 0,
            lingering: 0,
            to_wake: VecDeque::new(),
            in_functions: 0,
            giving_way: GivingWay::default(),
            workers: Vec::new(),
            closed: false,
        };
        Arc::new(Self {
            compute,
            limits: Limits { lanes: limits.lanes.max(1), max_batch: limits.max_batch.max(1), ..limits },
            limit: AtomicUsize::new(limits.threads.unwrap_or(0)),
            in_place: AtomicBool::new(limits.threads == Some(0)),
            meter: Meter::default(),
            state: Mutex::new(state),
            threads_to_wake: ToWake::default(),
            waiters_to_wake: ToWake::default(),
            idle: Condvar::new(),
            filled: Condvar::new(),
        })
    }

    /// What computes.
    pub fn compute(&self) -> &C {
        &self.compute
    }

    /// The size of a full batch, which waits for no more. Half as many private operations fill the lanes;
    /// verifications gain from more.
    pub fn full(&self) -> usize {
        2 * self.limits.lanes
    }

    /// What it has done so far.
    pub fn metrics(&self) -> Metrics {
        self.meter.read()
    }

    /// Whether the deadline of a request that comes has passed; then it is counted.
    pub fn note_late(&self, deadline: Option<Instant>) -> bool {
        let late = is_over(deadline);
        if late {
            self.meter.expired();
        }
        late
    }

    /// How many requests wait now.
    pub fn waiting(&self) -> usize {
        self.lock().waiting.total()
    }

    /// The most batches that are computed at once: at least one.
    fn limit(&self) -> usize {
        match self.limit.load(Ordering::Relaxed) {
            0 => {
                let found = processors().max(1);
                self.limit.store(found, Ordering::Relaxed);
                found
            }
            limit => limit,
        }
    }

    /// Whether a batch may begin now.
    fn has_turn(&self, state: &State<C>) -> bool {
        // The limit is at least one. The first batch does not need it, and finding it makes system calls.
        state.computing == 0 || state.computing < self.limit()
    }

    /// The most requests in a batch of that kind. Long operations fill the lanes once, since others wait for them.
    fn most(&self, kind: Kind) -> usize {
        let Limits { max_batch, lanes, .. } = self.limits;
        if kind == Kind::Long { max_batch.min(lanes) } else { max_batch }
    }

    fn lock(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes a request of a thread that may wait and has a stack to compute on. If it is not computed before the
    /// deadline, where there is one, it becomes [`Lost::Expired`]; a computation that has begun by then is not
    /// waited for.
    ///
    /// # Errors
    /// [`Lost::Full`], [`Lost::Expired`], [`Lost::Panicked`].
    pub fn call(self: &Arc<Self>, operation: C::Operation, deadline: Option<Instant>) -> Outcome<C> {
        if self.limits.linger.is_some() && !self.in_place.load(Ordering::Relaxed) {
            return self.call_elsewhere(operation, deadline);
        }
        let kind = C::kind(&operation);
        if self.note_late(deadline) {
            return Err(Lost::Expired);
        }
        let mut state = self.lock();
        let may_begin = self.has_turn(&state) && !state.waiting.holds(kind);
        // Requests that wait share this thread's batch. If they alone fill it, they go first: a worker computes them.
        let is_behind = state.waiting.count(kind) >= self.most(kind) && !self.in_place.load(Ordering::Relaxed);
        if may_begin && !is_behind {
            state.computing += 1;
            self.note_begun(&mut state, kind);
            if self.give_way(state, kind).waiting.count(kind) > 0 {
                return self.lead(Request::of_thread(operation, deadline));
            }
            let result = self.call_at_once(&operation);
            self.pass_on(None, Some(kind));
            return result;
        }
        let mut state = self.admit(state)?;
        let request = Request::of_thread(operation, deadline);
        state.waiting.push(request.clone());
        if may_begin {
            state.computing += 1;
            self.assign(state);
        } else {
            drop(state);
        }
        self.wait(&request, deadline)
    }

    /// Returns the lock if one more request may wait; otherwise starts what waits.
    ///
    /// # Errors
    /// [`Lost::Full`].
    fn admit<'a>(self: &'a Arc<Self>, state: MutexGuard<'a, State<C>>) -> Result<MutexGuard<'a, State<C>>, Lost> {
        if self.limits.capacity.is_none_or(|capacity| state.waiting.total() < capacity) {
            return Ok(state);
        }
        // What waits may have been pushed, without a kick.
        self.begin(state);
        self.meter.refused();
        Err(Lost::Full)
    }

    /// Waits for a request of a thread; the thread computes, when it is told to.
    fn wait(self: &Arc<Self>, request: &Arc<Request<C>>, deadline: Option<Instant>) -> Outcome<C> {
        let turn = request.wait(deadline);
        self.wake_other_threads();
        match turn {
            Some(Turn::Done(result)) => result,
            Some(Turn::Lead) => {
                drop(self.give_way(self.lock(), request.kind));
                self.lead(request.clone())
            }
            None => {
                // It may have been chosen to compute, but not yet been told: then others rely on it.
                let must_lead = !self.remove(request) && request.leads();
                if must_lead {
                    return self.wait(request, None);
                }
                // Another computes it, perhaps just now.
                request.give_up().unwrap_or_else(|| {
                    self.meter.expired();
                    Err(Lost::Expired)
                })
            }
        }
    }

    /// Computes a request at once, independently of all others.
    ///
    /// # Errors
    /// [`Lost::Panicked`].
    pub fn call_at_once(&self, operation: &C::Operation) -> Outcome<C> {
        self.meter.batch([Duration::ZERO]);
        self.results(&[operation]).pop().unwrap_or(Err(Lost::Panicked))
    }

    /// Lets a worker compute a request while the calling thread waits, whose stack may be too small.
    ///
    /// # Errors
    /// Those of [`call`](Self::call), [`Lost::NoThread`] and [`Lost::Closed`].
    pub fn call_elsewhere(self: &Arc<Self>, operation: C::Operation, deadline: Option<Instant>) -> Outcome<C> {
        let request = Request::of_idle(operation, deadline);
        if self.in_place.load(Ordering::Relaxed) {
            self.compute_here(std::slice::from_ref(&request));
            return request.wait_for_result();
        }
        let state = self.lock();
        if state.closed {
            return Err(Lost::Closed);
        }
        if self.note_late(deadline) {
            return Err(Lost::Expired);
        }
        let mut state = self.admit(state)?;
        state.waiting.push(request.clone());
        self.note_filled(&state);
        self.begin(state);
        self.wait(&request, deadline)
    }

    /// Takes requests for workers to compute, however many wait already. Without workers, this returns when they are
    /// computed: here, together with those of other threads that wait, or by one of these.
    pub fn submit(self: &Arc<Self>, requests: Vec<Arc<Request<C>>>) {
        if requests.is_empty() {
            return;
        }
        if self.in_place.load(Ordering::Relaxed) {
            return self.compute_here(&requests);
        }
        let mut state = self.lock();
        if state.closed {
            drop(state);
            return self.tell_closed(requests);
        }
        state.waiting.extend(requests);
        self.note_filled(&state);
        self.begin(state);
    }

    /// Leaves a request in the queue without starting a computation: [`kick`](Self::kick) does that, or whatever
    /// is computed next takes it along. So an event loop can leave all of its requests before any is computed.
    ///
    /// # Errors
    /// [`Lost::Full`] and [`Lost::Closed`].
    pub fn push(self: &Arc<Self>, request: Arc<Request<C>>) -> Result<(), Lost> {
        let state = self.lock();
        if state.closed {
            return Err(Lost::Closed);
        }
        let mut state = self.admit(state)?;
        state.waiting.push(request);
        self.note_filled(&state);
        if state.waiting.len() >= self.full() {
            self.begin(state);
        }
        Ok(())
    }

    /// How many requests fill the lanes, or are the most that a batch may have.
    fn enough(&self) -> usize {
        self.limits.lanes.min(self.limits.max_batch)
    }

    /// Tells a worker that waits for requests to fill the lanes that they do, or that one may be in a hurry.
    fn note_filled(&self, state: &State<C>) {
        if state.lingering > 0 && (state.waiting.len() >= self.enough() || state.waiting.has_deadlines()) {
            self.filled.notify_all();
        }
    }

    /// Sees to it that what waits is computed.
    pub fn kick(self: &Arc<Self>) {
        self.begin(self.lock());
    }

    /// Takes a request out of the queue, and says whether it was still there. Otherwise it is being computed, or
    /// has its result.
    pub fn withdraw(&self, request: &Request<C>) -> bool {
        let found = self.remove(request);
        if found {
            self.meter.withdrawn();
        }
        found
    }

    fn remove(&self, request: &Request<C>) -> bool {
        self.lock().waiting.remove(request)
    }

    /// Tells requests that the queue is closed.
    fn tell_closed(&self, requests: Batch<C>) {
        requests.iter().for_each(|request| request.finish(Err(Lost::Closed)));
        self.wake(requests);
    }

    /// Ends the workers, when everything that waits has been computed. After this, requests for workers become
    /// [`Lost::Closed`].
    pub fn close(self: &Arc<Self>) {
        let mut state = self.lock();
        state.closed = true;
        let left = if state.computing == 0 { state.waiting.take_others() } else { Vec::new() };
        let workers = std::mem::take(&mut state.workers);
        drop(state);
        self.tell_closed(left);
        self.idle.notify_all();
        self.filled.notify_all();
        for worker in workers {
            // A program may unload us from the function by which a worker wakes it.
            if worker.thread().id() != thread::current().id() {
                // A worker that panicked has printed a message.
                let _ = worker.join();
            }
        }
    }
}

/// Whether the deadline has passed.
fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| deadline <= Instant::now())
}

impl<C: Compute> fmt::Debug for Queue<C> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Queue").field("limits", &self.limits).finish_non_exhaustive()
    }
}
