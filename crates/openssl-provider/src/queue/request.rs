//! A request, from its start to its result.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::gather::Gather;
use super::primitive::{ComputeError, ComputeResult, Kind, Primitive};
use super::wake::Wake;

/// The primitive to compute, and the thread or job that waits for it. Owned by the queue and by the waiter.
pub struct Request {
    pub primitive: Primitive,
    pub kind: Kind,
    waiter: Waiter,
    state: Mutex<State>,
    changed: Condvar,
    /// Whether it was handed over to workers, for requests of jobs.
    handed_over: AtomicBool,
    /// The kinds, a bit for each, of which a batch was taken from behind it when it was at the front.
    passed_by: AtomicU8,
}

enum Waiter {
    /// A thread that can compute.
    Thread,
    /// A thread that cannot.
    Idle,
    /// A job, to be woken; it belongs to the gathering requests of its thread.
    Job { wake: Arc<Wake>, gather: Arc<Gather> },
}

struct State {
    phase: Phase,
    /// A thread sleeps until the phase changes. To wake without a sleeper would be a needless system call.
    asleep: bool,
}

enum Phase {
    Waiting,
    /// The waiting thread must compute the next batch.
    Lead,
    Done(ComputeResult),
    Taken,
}

/// What a waiting thread gets.
pub enum Turn {
    /// The result.
    Done(ComputeResult),
    /// It must compute its own request, and others.
    Lead,
}

impl Request {
    fn new(primitive: Primitive, waiter: Waiter) -> Arc<Self> {
        let state = Mutex::new(State { phase: Phase::Waiting, asleep: false });
        let (handed_over, passed_by) = Default::default();
        Arc::new(Self {
            kind: primitive.kind(),
            primitive,
            waiter,
            state,
            changed: Condvar::new(),
            handed_over,
            passed_by,
        })
    }

    /// A request of a thread that can compute.
    pub fn of_thread(primitive: Primitive) -> Arc<Self> {
        Self::new(primitive, Waiter::Thread)
    }

    /// A request of a thread that only waits.
    pub fn of_idle(primitive: Primitive) -> Arc<Self> {
        Self::new(primitive, Waiter::Idle)
    }

    /// A request of a job.
    pub fn of_job(primitive: Primitive, wake: Arc<Wake>, gather: Arc<Gather>) -> Arc<Self> {
        Self::new(primitive, Waiter::Job { wake, gather })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves to another phase, and wakes the thread that sleeps.
    fn change(&self, mut state: MutexGuard<State>, phase: Phase) {
        state.phase = phase;
        let asleep = state.asleep;
        drop(state);
        if asleep {
            self.changed.notify_one();
        }
    }

    /// Whether its thread can compute a batch.
    pub fn can_lead(&self) -> bool {
        matches!(self.waiter, Waiter::Thread)
    }

    /// Tells the waiting thread to compute.
    pub fn lead(&self) {
        self.change(self.lock(), Phase::Lead);
    }

    /// Whether it was handed over to workers.
    pub fn is_handed_over(&self) -> bool {
        self.handed_over.load(Ordering::Acquire)
    }

    /// Notes that it is handed over to workers.
    pub fn note_handed_over(&self) {
        self.handed_over.store(true, Ordering::Release);
    }

    /// Whether a batch of that kind has passed it. Called under the queue's lock.
    pub fn was_passed_by(&self, kind: Kind) -> bool {
        self.passed_by.load(Ordering::Relaxed) & 1 << kind as u8 != 0
    }

    /// Notes, under the queue's lock, that a batch of that kind passes it.
    pub fn note_passed_by(&self, kind: Kind) {
        self.passed_by.fetch_or(1 << kind as u8, Ordering::Relaxed);
    }

    /// Stores the result. A waiting thread goes on; a job is not woken yet ([`notify`](Self::notify)): first,
    /// all requests of a batch get their results, so that a job's thread finds them together.
    pub fn finish(&self, result: ComputeResult) {
        let state = self.lock();
        if matches!(state.phase, Phase::Done(_) | Phase::Taken) {
            return;
        }
        if let Waiter::Job { gather, .. } = &self.waiter {
            gather.note_finished();
        }
        self.change(state, Phase::Done(result));
    }

    /// Wakes the waiting job, if it has one.
    pub fn notify(&self) {
        if let Waiter::Job { wake, .. } = &self.waiter {
            wake.signal(self);
        }
    }

    /// The result, if there is one by now.
    pub fn collect(&self) -> Option<ComputeResult> {
        take(&mut self.lock().phase)
    }

    /// Waits for a turn.
    pub fn wait(&self) -> Turn {
        let mut state = self.lock();
        loop {
            if matches!(state.phase, Phase::Lead) {
                state.phase = Phase::Waiting;
                return Turn::Lead;
            }
            if let Some(result) = take(&mut state.phase) {
                return Turn::Done(result);
            }
            state.asleep = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep = false;
        }
    }

    /// Waits for the result of a request that its own thread does not lead.
    pub fn wait_for_result(&self) -> ComputeResult {
        match self.wait() {
            Turn::Done(result) => result,
            Turn::Lead => Err(ComputeError::Panic),
        }
    }
}

fn take(phase: &mut Phase) -> Option<ComputeResult> {
    match std::mem::replace(phase, Phase::Taken) {
        Phase::Done(result) => Some(result),
        other => {
            *phase = other;
            None
        }
    }
}

impl Drop for Request {
    /// A result that its job never fetched no longer counts as uncollected.
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let uncollected = matches!(state.phase, Phase::Done(_));
        if let Waiter::Job { gather, .. } = &self.waiter
            && uncollected
        {
            gather.note_collected();
        }
    }
}
