//! A request, from its creation to its result.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use super::caller::Caller;
use super::compute::{Compute, Kind, Outcome, QueueError, Waiter};
use crate::batcher::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use crate::batcher::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The arrival number of a request that is not in a queue.
const NOT_WAITING: u64 = u64::MAX;

/// An operation, and who waits for its result. The queue and the caller own it together.
pub struct Request<C: Compute> {
    pub(super) operation: C::Operation,
    pub(super) kind: Kind,
    by: By<C::Waiter>,
    /// When it expires.
    pub(super) deadline: Option<Instant>,
    /// When it was made.
    pub(super) made: Instant,
    state: Mutex<State<C>>,
    changed: Condvar,
    /// The arrival number while the request is in the queue. Changed under the queue's lock.
    arrival: AtomicU64,
    /// Whether its thread was chosen to compute the next batch. Changed under the queue's lock.
    leads: AtomicBool,
    /// A bit for each kind of which a batch passed this request while it was at the front.
    passed_by: AtomicU8,
}

/// Who waits.
enum By<W> {
    /// A blocked thread that can compute.
    Thread,
    /// A blocked thread that cannot compute.
    Idle,
    /// A waiter that is woken.
    Waiter(W),
}

struct State<C: Compute> {
    phase: Phase<C>,
    /// A thread sleeps until the phase changes. Without one, waking would waste a system call.
    asleep: bool,
    /// The thread that handed the request over and waits. It calls the request's waker itself.
    caller: Option<Arc<Caller>>,
}

enum Phase<C: Compute> {
    Waiting,
    /// The waiting thread must compute the next batch.
    Lead,
    Done(Outcome<C>),
    /// The result was taken, or nobody waits for it any more.
    Taken,
}

/// Why a waiting thread goes on.
pub(super) enum Wakeup<C: Compute> {
    /// The result.
    Done(Outcome<C>),
    /// It must compute a batch: its own request and others.
    Lead,
}

impl<C: Compute> Request<C> {
    fn by(operation: C::Operation, by: By<C::Waiter>, deadline: Option<Instant>) -> Arc<Self> {
        Arc::new(Self {
            kind: C::kind(&operation),
            operation,
            by,
            deadline,
            made: Instant::now(),
            state: Mutex::new(State { phase: Phase::Waiting, asleep: false, caller: None }),
            changed: Condvar::new(),
            arrival: AtomicU64::new(NOT_WAITING),
            leads: AtomicBool::new(false),
            passed_by: AtomicU8::new(0),
        })
    }

    /// A request of a thread that can compute.
    pub(super) fn of_thread(operation: C::Operation, deadline: Option<Instant>) -> Arc<Self> {
        Self::by(operation, By::Thread, deadline)
    }

    /// A request of a thread that only waits.
    pub(super) fn of_idle(operation: C::Operation, deadline: Option<Instant>) -> Arc<Self> {
        Self::by(operation, By::Idle, deadline)
    }

    /// A request of a waiter, which is woken when the result is there. A request that is not computed before
    /// its deadline becomes [`QueueError::Expired`] when its batch is taken.
    pub fn new(operation: C::Operation, waiter: C::Waiter, deadline: Option<Instant>) -> Arc<Self> {
        Self::by(operation, By::Waiter(waiter), deadline)
    }

    /// The waiter, unless a thread waits.
    pub fn waiter(&self) -> Option<&C::Waiter> {
        if let By::Waiter(waiter) = &self.by { Some(waiter) } else { None }
    }

    /// Whether waking calls a function of the program, which may take long or block.
    pub(super) fn calls_program(&self) -> bool {
        self.waiter().is_some_and(|waiter| !waiter.is_prompt())
    }

    fn lock(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the phase. Returns whether a thread sleeps and must be woken
    /// ([`wake_thread`](Self::wake_thread)).
    fn change(&self, mut state: MutexGuard<State<C>>, phase: Phase<C>) -> bool {
        state.phase = phase;
        state.asleep
    }

    /// Wakes the thread that sleeps.
    pub(super) fn wake_thread(&self) {
        self.changed.notify_one();
    }

    /// Sets the thread that waits for the request, before others can see the request.
    pub(super) fn set_caller(&self, caller: &Arc<Caller>) {
        self.lock().caller = Some(caller.clone());
    }

    /// Whether its thread can compute a batch.
    pub(super) fn can_lead(&self) -> bool {
        matches!(self.by, By::Thread)
    }

    /// Whether its thread was chosen to compute. Call under the queue's lock.
    pub(super) fn leads(&self) -> bool {
        self.leads.load(Ordering::Relaxed)
    }

    /// Notes that its thread was chosen to compute. Call under the queue's lock.
    pub(super) fn note_leads(&self) {
        self.leads.store(true, Ordering::Relaxed);
    }

    /// Tells the waiting thread to compute.
    pub(super) fn lead(&self) {
        if self.change(self.lock(), Phase::Lead) {
            self.wake_thread();
        }
    }

    /// The arrival number while the request is in the queue. Call under the queue's lock.
    pub(super) fn arrival(&self) -> Option<u64> {
        Some(self.arrival.load(Ordering::Relaxed)).filter(|&number| number != NOT_WAITING)
    }

    /// Sets the arrival number, or notes that the request left the queue. Call under the queue's lock.
    pub(super) fn note_arrival(&self, number: Option<u64>) {
        self.arrival.store(number.unwrap_or(NOT_WAITING), Ordering::Relaxed);
    }

    /// Whether a batch of that kind has passed the request. Call under the queue's lock.
    pub(super) fn was_passed_by(&self, kind: Kind) -> bool {
        self.passed_by.load(Ordering::Relaxed) & 1 << kind as u8 != 0
    }

    /// Notes that a batch of that kind passes the request. Call under the queue's lock.
    pub(super) fn note_passed_by(&self, kind: Kind) {
        self.passed_by.fetch_or(1 << kind as u8, Ordering::Relaxed);
    }

    /// Stores the result. Returns whether a thread sleeps and must be woken
    /// ([`wake_thread`](Self::wake_thread)), or `None` if there is a result already or nobody waits for one
    /// ([`give_up`](Self::give_up)). Waiters are woken later ([`wake`](Self::wake)), when all requests of the
    /// batch have results: then an event loop finds them together.
    pub(super) fn settle(&self, result: Outcome<C>) -> Option<bool> {
        let state = self.lock();
        if matches!(state.phase, Phase::Done(_) | Phase::Taken) {
            return None;
        }
        if let By::Waiter(waiter) = &self.by {
            waiter.finished();
        }
        let caller = state.caller.clone();
        let sleeps = self.change(state, Phase::Done(result));
        if let Some(caller) = caller {
            caller.one_done();
        }
        Some(sleeps)
    }

    /// Stores the result, and wakes the thread that sleeps.
    pub(super) fn finish(&self, result: Outcome<C>) {
        if self.settle(result) == Some(true) {
            self.wake_thread();
        }
    }

    /// Wakes the waiter, unless a thread does that itself ([`set_caller`](Self::set_caller)).
    pub(super) fn wake(&self) {
        let has_caller = self.lock().caller.is_some();
        if !has_caller {
            self.wake_own();
        }
    }

    /// Wakes the waiter: called by the thread that handed the request over.
    pub(super) fn wake_own(&self) {
        if let By::Waiter(waiter) = &self.by {
            waiter.wake();
        }
    }

    /// Takes the result if it is there. At most one call gets it.
    pub fn collect(&self) -> Option<Outcome<C>> {
        take(&mut self.lock().phase)
    }

    /// Takes the result if it is there. A later result is discarded: the thread no longer waits.
    pub(super) fn give_up(&self) -> Option<Outcome<C>> {
        match std::mem::replace(&mut self.lock().phase, Phase::Taken) {
            Phase::Done(result) => Some(result),
            Phase::Waiting | Phase::Lead | Phase::Taken => None,
        }
    }

    /// Waits for the result, or until the thread must compute; `None` after the deadline.
    pub(super) fn wait(&self, deadline: Option<Instant>) -> Option<Wakeup<C>> {
        let mut state = self.lock();
        loop {
            if matches!(state.phase, Phase::Lead) {
                state.phase = Phase::Waiting;
                return Some(Wakeup::Lead);
            }
            if let Some(result) = take(&mut state.phase) {
                return Some(Wakeup::Done(result));
            }
            state.asleep = true;
            state = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => {
                    state.asleep = false;
                    return None;
                }
                Some(left) => {
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
            state.asleep = false;
        }
    }

    /// Blocks until a request that was handed over has its result. Only one thread may wait.
    ///
    /// # Errors
    /// Why there is no result.
    pub fn wait_for_result(&self) -> Outcome<C> {
        match self.wait(None) {
            Some(Wakeup::Done(result)) => result,
            Some(Wakeup::Lead) | None => Err(QueueError::Panicked),
        }
    }
}

fn take<C: Compute>(phase: &mut Phase<C>) -> Option<Outcome<C>> {
    match std::mem::replace(phase, Phase::Taken) {
        Phase::Done(result) => Some(result),
        other => {
            *phase = other;
            None
        }
    }
}

impl<C: Compute> Drop for Request<C> {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (Phase::Done(_), By::Waiter(waiter)) = (&state.phase, &self.by) {
            waiter.forgotten();
        }
    }
}

impl<C: Compute> fmt::Debug for Request<C> {
    /// Does not show the operation, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Request")
            .field("kind", &self.kind)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
