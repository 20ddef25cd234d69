//! Without workers: the threads that hand requests over compute them, their own and those of others that wait.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use super::compute::{Compute, Lost};
use super::request::Request;
use super::waking::for_each_quietly;
use super::{Queue, State};
use crate::batcher::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A thread that has handed requests over, waits for all of them, and can compute meanwhile.
pub(super) struct Seat {
    state: Mutex<Seated>,
    changed: Condvar,
}

struct Seated {
    /// How many of its requests have no result.
    left: usize,
    /// It must compute the next batch.
    leads: bool,
    /// It sleeps until something changes.
    asleep: bool,
}

/// The threads that wait, the first first. Changed under the queue's lock.
pub(super) type Seats = VecDeque<Arc<Seat>>;

impl Seat {
    fn new(requests: usize) -> Arc<Self> {
        let state = Mutex::new(Seated { left: requests, leads: false, asleep: false });
        Arc::new(Self { state, changed: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, Seated> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something, and wakes the thread if it has something to do then.
    fn change(&self, change: impl FnOnce(&mut Seated)) {
        let mut state = self.lock();
        change(&mut state);
        let wakes = state.asleep && (state.leads || state.left == 0);
        drop(state);
        if wakes {
            self.changed.notify_one();
        }
    }

    /// One of its requests has its result.
    pub(super) fn one_done(&self) {
        self.change(|state| state.left -= 1);
    }

    /// Tells the thread to compute the next batch. Called under the queue's lock.
    pub(super) fn lead(&self) {
        self.change(|state| state.leads = true);
    }

    /// Whether it was told to; says so once.
    fn was_told_to_lead(&self) -> bool {
        mem::take(&mut self.lock().leads)
    }

    fn is_done(&self) -> bool {
        self.lock().left == 0
    }

    /// Waits until the thread must compute, which it says once, or all its requests have results.
    fn wait(&self) -> Seen {
        let mut state = self.lock();
        loop {
            if mem::take(&mut state.leads) {
                return Seen::Leads;
            }
            if state.left == 0 {
                return Seen::Done;
            }
            state.asleep = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep = false;
        }
    }
}

/// What a thread that waits is woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// It must compute: others rely on it, even if all its own results are there.
    Leads,
    Done,
}

impl<C: Compute> Queue<C> {
    /// Computes requests on this thread, whose stack may be small, together with others that wait. While all turns are
    /// taken, the thread waits for its results or for its turn, and what comes meanwhile is the next batch. Returns
    /// when all these requests have results.
    pub(super) fn compute_here(self: &Arc<Self>, requests: &[Arc<Request<C>>]) {
        let seat = Seat::new(requests.len());
        requests.iter().for_each(|request| request.sit(&seat));
        if !self.compute_seated(requests, &seat) && !self.compute.with_room(&mut || wake_own(requests)) {
            wake_own(requests);
        }
    }

    /// Computes them, or waits for others that do. Whether their waiters were woken here.
    fn compute_seated(self: &Arc<Self>, requests: &[Arc<Request<C>>], seat: &Arc<Seat>) -> bool {
        let mut state = self.lock();
        state.waiting.extend(requests.to_vec());
        loop {
            if seat.is_done() {
                return false;
            }
            if self.take_turn(&mut state) {
                drop(state);
            } else {
                state.seats.push_back(seat.clone());
                drop(state);
                if seat.wait() == Seen::Done && !self.leave_seat(seat) {
                    return false;
                }
            }
            match self.lead_here(requests, seat) {
                Some(true) => return true,
                Some(false) => state = self.lock(),
                None => {
                    self.give_up(requests, seat);
                    return false;
                }
            }
        }
    }

    /// Takes a turn for this thread, if one is free and there is something to compute.
    fn take_turn(&self, state: &mut State<C>) -> bool {
        let takes = self.has_turn(state) && state.waiting.next_kind().is_some();
        state.computing += usize::from(takes);
        takes
    }

    /// The thread waits no more. Whether it was chosen before, and must compute.
    fn leave_seat(&self, seat: &Arc<Seat>) -> bool {
        let mut state = self.lock();
        state.seats.retain(|other| !Arc::ptr_eq(other, seat));
        seat.was_told_to_lead()
    }

    /// Computes batches on this thread, whose turn it is, until its requests have their results or the next turn is
    /// another's. Whether they have, and their waiters are woken; `None` if there was no stack with room.
    fn lead_here(self: &Arc<Self>, requests: &[Arc<Request<C>>], seat: &Seat) -> Option<bool> {
        let mut done = false;
        let had_room = self.compute.with_room(&mut || {
            loop {
                let batch = self.take(None);
                self.run(&batch.requests);
                // No turn is held in a program's function, which may wait for a thread that waits here. It may need a
                // large stack: here it has one.
                self.pass_on(None, batch.kind);
                self.wake(batch.done());
                done = seat.is_done();
                if done {
                    return wake_own(requests);
                }
                if !self.take_turn(&mut self.lock()) {
                    return;
                }
            }
        });
        had_room.then_some(done)
    }

    /// Gives the turn of this thread up, which has no stack to compute on, and its requests that wait. Others compute
    /// the rest already.
    fn give_up(self: &Arc<Self>, requests: &[Arc<Request<C>>], seat: &Seat) {
        let mut state = self.lock();
        let waiting: Vec<_> = requests.iter().filter(|request| state.waiting.remove(request)).cloned().collect();
        drop(state);
        waiting.iter().for_each(|request| request.finish(Err(Lost::NoThread)));
        self.pass_on(None, None);
        seat.wait();
    }

    /// Computes requests of others on this thread, whose stack may be small, without a turn: those that were left in
    /// the queue for workers that cannot be started.
    pub(super) fn compute_left(&self, mut state: MutexGuard<State<C>>) {
        let left = state.waiting.take_others();
        drop(state);
        self.compute_taken(left);
    }

    /// The same, after the turn that this thread has is passed on: none is held in a program's function.
    pub(super) fn compute_after_turn(self: &Arc<Self>, mut state: MutexGuard<State<C>>) {
        let left = state.waiting.take_others();
        drop(state);
        self.pass_on(None, None);
        self.compute_taken(left);
    }

    /// Computes requests that were taken from the queue, without a turn, and wakes for them.
    fn compute_taken(&self, left: Vec<Arc<Request<C>>>) {
        if left.is_empty() {
            return;
        }
        let (late, mut requests) = self.part_late(left);
        requests.sort_by_key(|request| request.kind);
        let done = self.compute.with_room(&mut || {
            self.wake(late.clone());
            for of_kind in requests.chunk_by(|a, b| a.kind == b.kind) {
                of_kind.chunks(self.most(of_kind[0].kind)).for_each(|batch| self.run(batch));
                // Programs' functions may need a large stack: here they have one.
                self.wake(of_kind.to_vec());
            }
        });
        if !done {
            requests.iter().for_each(|request| request.finish(Err(Lost::NoThread)));
            self.wake(late.into_iter().chain(requests));
        }
    }
}

/// Wakes the waiters of this thread's requests. No other thread does: a program's function may need a lock that the
/// program holds in that thread.
fn wake_own<C: Compute>(requests: &[Arc<Request<C>>]) {
    for_each_quietly(requests, Request::wake_own);
}
