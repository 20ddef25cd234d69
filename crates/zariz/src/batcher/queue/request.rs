//! A request, from its start to its result.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use super::compute::{Compute, Lost, Outcome, Waiter};
use super::in_place::Seat;
use super::kind::Kind;
use crate::batcher::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use crate::batcher::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The number of a request that does not wait in a queue.
const NOT_WAITING: u64 = u64::MAX;

/// The operation to compute, and who waits for it. Owned by the queue and by the one that waits.
pub struct Request<C: Compute> {
    pub(super) operation: C::Operation,
    pub(super) kind: Kind,
    by: By<C::Waiter>,
    /// When it is of no use any more.
    pub(super) deadline: Option<Instant>,
    /// When it was made.
    pub(super) made: Instant,
    state: Mutex<State<C>>,
    changed: Condvar,
    /// The number of its arrival, while it waits in the queue. Changed under the queue's lock.
    arrival: AtomicU64,
    /// Whether its thread was chosen to compute the next batch. Changed under the queue's lock.
    leads: AtomicBool,
    /// The kinds, a bit for each, of which a batch was taken from behind it when it was at the front.
    passed_by: AtomicU8,
}

/// Who waits.
enum By<W> {
    /// A thread that can compute.
    Thread,
    /// A thread that cannot.
    Idle,
    /// Something that is woken.
    Waiter(W),
}

struct State<C: Compute> {
    phase: Phase<C>,
    /// A thread sleeps until the phase changes. To wake without a sleeper would be a needless system call.
    asleep: bool,
    /// The thread that has handed it over, waits for it, and wakes its waiter.
    seat: Option<Arc<Seat>>,
}

enum Phase<C: Compute> {
    Waiting,
    /// The waiting thread must compute the next batch.
    Lead,
    Done(Outcome<C>),
    /// Somebody has the result, or nobody waits for it any more.
    Taken,
}

/// What a waiting thread gets.
pub(super) enum Turn<C: Compute> {
    /// The result.
    Done(Outcome<C>),
    /// It must compute its own request, and others.
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
            state: Mutex::new(State { phase: Phase::Waiting, asleep: false, seat: None }),
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

    /// A request of somebody who is woken when it has its result. If it is not computed before the deadline, it
    /// becomes [`Lost::Expired`] when its turn comes.
    pub fn new(operation: C::Operation, waiter: C::Waiter, deadline: Option<Instant>) -> Arc<Self> {
        Self::by(operation, By::Waiter(waiter), deadline)
    }

    /// Who is woken, where it is not a thread.
    pub fn waiter(&self) -> Option<&C::Waiter> {
        if let By::Waiter(waiter) = &self.by { Some(waiter) } else { None }
    }

    /// Whether waking calls a program's function, which may take long, or wait for somebody.
    pub(super) fn calls_program(&self) -> bool {
        self.waiter().is_some_and(|waiter| !waiter.is_prompt())
    }

    fn lock(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves to another phase. Returns whether a thread sleeps and must be woken ([`wake_thread`](Self::wake_thread)).
    fn change(&self, mut state: MutexGuard<State<C>>, phase: Phase<C>) -> bool {
        state.phase = phase;
        state.asleep
    }

    /// Wakes the thread that sleeps.
    pub(super) fn wake_thread(&self) {
        self.changed.notify_one();
    }

    /// Notes the thread that waits for it, before anybody else has the request.
    pub(super) fn sit(&self, seat: &Arc<Seat>) {
        self.lock().seat = Some(seat.clone());
    }

    /// Whether its thread can compute a batch.
    pub(super) fn can_lead(&self) -> bool {
        matches!(self.by, By::Thread)
    }

    /// Whether its thread was chosen to compute. Called under the queue's lock.
    pub(super) fn leads(&self) -> bool {
        self.leads.load(Ordering::Relaxed)
    }

    /// Notes, under the queue's lock, that its thread was chosen to compute.
    pub(super) fn note_leads(&self) {
        self.leads.store(true, Ordering::Relaxed);
    }

    /// Tells the waiting thread to compute.
    pub(super) fn lead(&self) {
        if self.change(self.lock(), Phase::Lead) {
            self.wake_thread();
        }
    }

    /// The number of its arrival, while it waits in the queue. Called under the queue's lock.
    pub(super) fn arrival(&self) -> Option<u64> {
        Some(self.arrival.load(Ordering::Relaxed)).filter(|&number| number != NOT_WAITING)
    }

    /// Notes, under the queue's lock, the number of its arrival; or that it no longer waits there.
    pub(super) fn note_arrival(&self, number: Option<u64>) {
        self.arrival.store(number.unwrap_or(NOT_WAITING), Ordering::Relaxed);
    }

    /// Whether a batch of that kind has passed it. Called under the queue's lock.
    pub(super) fn was_passed_by(&self, kind: Kind) -> bool {
        self.passed_by.load(Ordering::Relaxed) & 1 << kind as u8 != 0
    }

    /// Notes, under the queue's lock, that a batch of that kind passes it.
    pub(super) fn note_passed_by(&self, kind: Kind) {
        self.passed_by.fetch_or(1 << kind as u8, Ordering::Relaxed);
    }

    /// Stores the result, and returns whether a thread sleeps and must be woken ([`wake_thread`](Self::wake_thread));
    /// `None` if there is a result already, or nobody waits for one ([`give_up`](Self::give_up)). Waiters are not woken
    /// yet either ([`wake`](Self::wake)): first, all requests of a batch get their results, so that an event loop finds
    /// them together.
    pub(super) fn settle(&self, result: Outcome<C>) -> Option<bool> {
        let state = self.lock();
        if matches!(state.phase, Phase::Done(_) | Phase::Taken) {
            return None;
        }
        if let By::Waiter(waiter) = &self.by {
            waiter.finished();
        }
        let seat = state.seat.clone();
        let sleeps = self.change(state, Phase::Done(result));
        if let Some(seat) = seat {
            seat.one_done();
        }
        Some(sleeps)
    }

    /// Stores the result, and wakes the thread that sleeps until it is there.
    pub(super) fn finish(&self, result: Outcome<C>) {
        if self.settle(result) == Some(true) {
            self.wake_thread();
        }
    }

    /// Wakes the waiter, unless it is a thread, or a thread that waits for the request does that itself.
    pub(super) fn wake(&self) {
        let is_seated = self.lock().seat.is_some();
        if !is_seated {
            self.wake_own();
        }
    }

    /// Wakes the waiter, for the thread that has waited for the request.
    pub(super) fn wake_own(&self) {
        if let By::Waiter(waiter) = &self.by {
            waiter.wake();
        }
    }

    /// Takes the result, if there is one by now; at most one call gets it.
    pub fn collect(&self) -> Option<Outcome<C>> {
        take(&mut self.lock().phase)
    }

    /// Takes the result, if there is one by now. A later one is thrown away: the thread waits no more.
    pub(super) fn give_up(&self) -> Option<Outcome<C>> {
        match std::mem::replace(&mut self.lock().phase, Phase::Taken) {
            Phase::Done(result) => Some(result),
            Phase::Waiting | Phase::Lead | Phase::Taken => None,
        }
    }

    /// Waits for a turn, at most until the deadline, where there is one.
    pub(super) fn wait(&self, deadline: Option<Instant>) -> Option<Turn<C>> {
        let mut state = self.lock();
        loop {
            if matches!(state.phase, Phase::Lead) {
                state.phase = Phase::Waiting;
                return Some(Turn::Lead);
            }
            if let Some(result) = take(&mut state.phase) {
                return Some(Turn::Done(result));
            }
            state.asleep = true;
            state = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => {
                    state.asleep = false;
                    return None;
                }
                Some(left) => self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
            };
            state.asleep = false;
        }
    }

    /// Waits for the result of a request that was handed over. Only one thread may wait.
    ///
    /// # Errors
    /// Why there is no result.
    pub fn wait_for_result(&self) -> Outcome<C> {
        match self.wait(None) {
            Some(Turn::Done(result)) => result,
            Some(Turn::Lead) | None => Err(Lost::Panicked),
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
    /// Shows nothing of the operation, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Request").field("kind", &self.kind).field("deadline", &self.deadline).finish_non_exhaustive()
    }
}
