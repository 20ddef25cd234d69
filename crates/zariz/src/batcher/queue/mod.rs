//! The queue below a [`Batcher`](super::Batcher), for programs whose callers wait in ways of their own, like
//! zariz's provider for OpenSSL.
//!
//! A request that finds no computation under way is computed at once, even alone. Requests that come
//! meanwhile make the next batch. There is no timer, and no request waits for others, unless
//! [`Limits::linger`] is set. Before a thread computes a batch that is not full, it yields once to other
//! ready threads: they may bring requests.
//!
//! * A thread that may block computes its own request and others that wait ([`Queue::call`]). At most
//!   [`Limits::threads`] batches are computed at once; each takes a *slot*. If no slot is free, the thread
//!   waits until another thread has computed its request, or until it is told to compute the next batch. If
//!   the waiting requests fill the lanes, a worker computes them.
//! * Other callers leave a [`Request`] ([`Queue::submit`], or [`Queue::push`] and [`Queue::kick`]) and are
//!   woken ([`Waiter`]). Worker threads compute these requests; they are started when first needed. If no
//!   worker can be started, the *caller runs*: the threads that hand requests over compute them, and each
//!   other's ([`Compute::with_stack`]).
//!
//! A batch has requests of one kind ([`Kind`]): private operations first, long operations last. Each kind
//! passes a waiting request at most once. A batch of long operations fills the lanes only once, and such
//! batches take at most half of the slots, but at least one. So a signature waits for at most one long batch
//! in each slot.
//!
//! No lock is held while a batch is computed or while a waiter is woken. Each process has its own queue and
//! workers ([`PerProcessQueue`](super::PerProcessQueue)).

mod caller;
mod caller_runs;
mod compute;
mod meter;
mod request;
mod scheduler;
#[cfg(test)]
pub(crate) mod tests;
mod waiting;
mod waking;
mod yielding;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use super::sync::thread::JoinHandle;
use super::sync::{Condvar, Mutex, MutexGuard, PoisonError, processors, thread};
use caller::Callers;
pub use compute::{Compute, Kind, Outcome, QueueError, Waiter};
use meter::Meter;
pub use meter::Metrics;
pub use request::Request;
use request::Wakeup;
use waiting::Waiting;
use waking::ToWake;
use yielding::YieldBackoff;

/// Settings of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most batches that are computed at once, and the most workers, not counting workers inside a waker.
    /// With zero, there are no workers. With zero or `None`, at most one batch per processor is computed at
    /// once.
    pub threads: Option<usize>,
    /// The most requests in a batch.
    pub max_batch: usize,
    /// The engine's lanes. The halves of this many private operations fill them twice.
    pub lanes: usize,
    /// The most requests that wait; the next one fails with [`QueueError::Full`]. `None`: no limit.
    pub capacity: Option<usize>,
    /// How long a worker waits for requests to fill the lanes, from when the oldest of them was made. If this
    /// is set, workers compute everything. `None`: no request waits for others.
    pub linger: Option<Duration>,
}

/// The queue of one process.
pub struct Queue<C: Compute> {
    compute: C,
    limits: Limits,
    /// The most batches that are computed at once; zero until it is first needed.
    slots: AtomicUsize,
    /// There are no workers: the threads that bring requests compute them.
    caller_runs: AtomicBool,
    meter: Meter,
    state: Mutex<State<C>>,
    threads_to_wake: ToWake<C>,
    waiters_to_wake: ToWake<C>,
    /// Workers wait here for a slot or for wakers to call.
    idle: Condvar,
    /// Workers wait here for requests to fill the lanes.
    filled: Condvar,
}

/// Requests that are computed together.
type Batch<C> = Vec<Arc<Request<C>>>;

struct State<C: Compute> {
    waiting: Waiting<C>,
    /// Without workers: the threads that wait for the requests that they have handed over.
    callers: Callers,
    /// Slots in use: batches that are being computed, or that a thread was told to compute.
    computing: usize,
    /// Of these, batches that wait for a worker.
    for_workers: usize,
    /// Of these, batches of long operations.
    long: usize,
    /// Idle workers.
    idle: usize,
    /// Workers that wait for requests to fill the lanes.
    lingering: usize,
    /// Computed requests whose wakers are left to workers: by blocking threads, which may hold a lock that a
    /// waker needs, and by workers that have more to compute.
    to_wake: VecDeque<Batch<C>>,
    /// Workers inside a waker, which may block there.
    in_functions: usize,
    yielding: YieldBackoff,
    workers: Vec<JoinHandle<()>>,
    closed: bool,
}

impl<C: Compute> Queue<C> {
    /// An empty queue. Threads are started when first needed.
    pub fn new(compute: C, limits: Limits) -> Arc<Self> {
        let state = State {
            waiting: Waiting::default(),
            callers: Callers::default(),
            computing: 0,
            for_workers: 0,
            long: 0,
            idle: 0,
            lingering: 0,
            to_wake: VecDeque::new(),
            in_functions: 0,
            yielding: YieldBackoff::default(),
            workers: Vec::new(),
            closed: false,
        };
        Arc::new(Self {
            compute,
            limits: Limits { lanes: limits.lanes.max(1), max_batch: limits.max_batch.max(1), ..limits },
            slots: AtomicUsize::new(limits.threads.unwrap_or(0)),
            caller_runs: AtomicBool::new(limits.threads == Some(0)),
            meter: Meter::default(),
            state: Mutex::new(state),
            threads_to_wake: ToWake::default(),
            waiters_to_wake: ToWake::default(),
            idle: Condvar::new(),
            filled: Condvar::new(),
        })
    }

    /// The computation.
    pub fn compute(&self) -> &C {
        &self.compute
    }

    /// The size of a full batch, which waits for no more requests. Half as many private operations fill the
    /// lanes; verifications gain from more.
    pub fn full(&self) -> usize {
        2 * self.limits.lanes
    }

    /// Counters of what the queue has done.
    pub fn metrics(&self) -> Metrics {
        self.meter.read()
    }

    /// Whether the deadline of a new request has passed; if so, counts it as expired.
    pub fn note_expired(&self, deadline: Option<Instant>) -> bool {
        let late = has_passed(deadline);
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
    fn slots(&self) -> usize {
        match self.slots.load(Ordering::Relaxed) {
            0 => {
                let found = processors().max(1);
                self.slots.store(found, Ordering::Relaxed);
                found
            }
            limit => limit,
        }
    }

    /// Whether a batch may begin now.
    fn has_free_slot(&self, state: &State<C>) -> bool {
        // The first batch needs no limit, which is at least one: finding it makes system calls.
        state.computing == 0 || state.computing < self.slots()
    }

    /// The most requests in a batch of that kind. A batch of long operations fills the lanes only once, since
    /// others wait for it.
    fn max_batch(&self, kind: Kind) -> usize {
        let Limits { max_batch, lanes, .. } = self.limits;
        if kind == Kind::Long { max_batch.min(lanes) } else { max_batch }
    }

    fn lock(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes a request of a thread that may block and has enough stack to compute. If the computation has
    /// not ended by the deadline, the thread returns [`QueueError::Expired`], even while another thread
    /// computes.
    ///
    /// # Errors
    /// [`QueueError::Full`], [`QueueError::Expired`], [`QueueError::Panicked`].
    pub fn call(self: &Arc<Self>, operation: C::Operation, deadline: Option<Instant>) -> Outcome<C> {
        if self.limits.linger.is_some() && !self.caller_runs.load(Ordering::Relaxed) {
            return self.call_elsewhere(operation, deadline);
        }
        let kind = C::kind(&operation);
        if self.note_expired(deadline) {
            return Err(QueueError::Expired);
        }
        let mut state = self.lock();
        let may_begin = self.has_free_slot(&state) && !state.waiting.holds(kind);
        // Waiting requests share this thread's batch. If they alone fill it, they go first: a worker computes
        // them.
        let is_behind =
            state.waiting.count(kind) >= self.max_batch(kind) && !self.caller_runs.load(Ordering::Relaxed);
        if may_begin && !is_behind {
            state.computing += 1;
            self.note_begun(&mut state, kind);
            if self.yield_to_others(state, kind).waiting.count(kind) > 0 {
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

    /// Returns the lock if one more request may wait. Otherwise starts the waiting requests.
    ///
    /// # Errors
    /// [`QueueError::Full`].
    fn admit<'a>(
        self: &'a Arc<Self>,
        state: MutexGuard<'a, State<C>>,
    ) -> Result<MutexGuard<'a, State<C>>, QueueError> {
        if self.limits.capacity.is_none_or(|capacity| state.waiting.total() < capacity) {
            return Ok(state);
        }
        // The waiting requests may have been pushed without a kick.
        self.begin(state);
        self.meter.refused();
        Err(QueueError::Full)
    }

    /// Waits for a thread's request. The thread computes when it is told to.
    fn wait(self: &Arc<Self>, request: &Arc<Request<C>>, deadline: Option<Instant>) -> Outcome<C> {
        let wakeup = request.wait(deadline);
        self.wake_other_threads();
        match wakeup {
            Some(Wakeup::Done(result)) => result,
            Some(Wakeup::Lead) => {
                drop(self.yield_to_others(self.lock(), request.kind));
                self.lead(request.clone())
            }
            None => {
                // The thread may have been chosen to compute, but not told yet. Others then rely on it.
                let must_lead = !self.remove(request) && request.leads();
                if must_lead {
                    return self.wait(request, None);
                }
                // Another thread is computing it, or has just done so.
                request.give_up().unwrap_or_else(|| {
                    self.meter.expired();
                    Err(QueueError::Expired)
                })
            }
        }
    }

    /// Computes a request at once, without the queue.
    ///
    /// # Errors
    /// [`QueueError::Panicked`].
    pub fn call_at_once(&self, operation: &C::Operation) -> Outcome<C> {
        self.meter.batch([Duration::ZERO]);
        self.results(&[operation]).pop().unwrap_or(Err(QueueError::Panicked))
    }

    /// Has a worker compute a request while the calling thread waits, for threads whose stack may be too
    /// small.
    ///
    /// # Errors
    /// Those of [`call`](Self::call), [`QueueError::NoThread`] and [`QueueError::Closed`].
    pub fn call_elsewhere(
        self: &Arc<Self>,
        operation: C::Operation,
        deadline: Option<Instant>,
    ) -> Outcome<C> {
        let request = Request::of_idle(operation, deadline);
        if self.caller_runs.load(Ordering::Relaxed) {
            self.compute_here(std::slice::from_ref(&request));
            return request.wait_for_result();
        }
        let state = self.lock();
        if state.closed {
            return Err(QueueError::Closed);
        }
        if self.note_expired(deadline) {
            return Err(QueueError::Expired);
        }
        let mut state = self.admit(state)?;
        state.waiting.push(request.clone());
        self.note_filled(&state);
        self.begin(state);
        self.wait(&request, deadline)
    }

    /// Hands requests to workers, even if the queue is full. Without workers, this returns when the requests
    /// are computed: by this thread, together with requests of other waiting threads, or by one of those.
    pub fn submit(self: &Arc<Self>, requests: Vec<Arc<Request<C>>>) {
        if requests.is_empty() {
            return;
        }
        if self.caller_runs.load(Ordering::Relaxed) {
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

    /// Adds a request without starting a computation: [`kick`](Self::kick) starts one, or the next batch
    /// takes the request along. So an event loop can add all of its requests before any is computed.
    ///
    /// # Errors
    /// [`QueueError::Full`] and [`QueueError::Closed`].
    pub fn push(self: &Arc<Self>, request: Arc<Request<C>>) -> Result<(), QueueError> {
        let state = self.lock();
        if state.closed {
            return Err(QueueError::Closed);
        }
        let mut state = self.admit(state)?;
        state.waiting.push(request);
        self.note_filled(&state);
        if state.waiting.len() >= self.full() {
            self.begin(state);
        }
        Ok(())
    }

    /// How many requests fill the lanes, or a batch if that is smaller.
    fn enough(&self) -> usize {
        self.limits.lanes.min(self.limits.max_batch)
    }

    /// Wakes the lingering workers if the lanes are full or a waiting request has a deadline.
    fn note_filled(&self, state: &State<C>) {
        if state.lingering > 0 && (state.waiting.len() >= self.enough() || state.waiting.has_deadlines()) {
            self.filled.notify_all();
        }
    }

    /// Starts computing the waiting requests.
    pub fn kick(self: &Arc<Self>) {
        self.begin(self.lock());
    }

    /// Takes a request out of the queue, and returns whether it was still waiting. Otherwise it is being
    /// computed, or has its result.
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

    /// Fails requests with [`QueueError::Closed`].
    fn tell_closed(&self, requests: Batch<C>) {
        requests.iter().for_each(|request| request.finish(Err(QueueError::Closed)));
        self.wake(requests);
    }

    /// Ends the workers, when all waiting requests have been computed. Later requests for workers fail with
    /// [`QueueError::Closed`].
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
            // A worker does not wait for itself: a program may close the queue in a waker.
            if worker.thread().id() != thread::current().id() {
                // The error is a panic, whose message was printed.
                let _ = worker.join();
            }
        }
    }
}

/// Whether the deadline has passed.
fn has_passed(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| deadline <= Instant::now())
}

impl<C: Compute> fmt::Debug for Queue<C> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Queue").field("limits", &self.limits).finish_non_exhaustive()
    }
}
