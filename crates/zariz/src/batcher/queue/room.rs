//! A queue of limited length: who waits for room, and who is told that there is some.

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Instant;

use super::compute::{Compute, Lost};
use super::request::Request;
use super::{Queue, State};
use crate::batcher::sync::{Condvar, MutexGuard, PoisonError};

/// Those who wait for room.
#[derive(Default)]
pub(super) struct Room {
    /// How many threads.
    threads: usize,
    /// Futures, with the numbers of their places, ascending.
    futures: VecDeque<(u64, Waker)>,
    /// The number of the next place.
    next: u64,
}

/// A place among those who wait for room, from [`Queue::poll_push`].
#[derive(Debug, Default)]
pub struct Place(Option<u64>);

impl<C: Compute> Queue<C> {
    /// Whether one more request may wait.
    pub(super) fn has_room(&self, state: &State<C>) -> bool {
        self.limits.capacity.is_none_or(|capacity| state.waiting.total() < capacity)
    }

    /// Waits, on this thread, until room may have come or the deadline has passed: the caller checks which.
    pub(super) fn wait_for_room<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, State<C>>,
        deadline: Option<Instant>,
    ) -> Result<MutexGuard<'a, State<C>>, Lost> {
        if !self.limits.wait_for_room {
            self.meter.refused();
            drop(state);
            self.kick();
            return Err(Lost::Full);
        }
        if state.computing == 0 {
            // What waits was pushed, and nobody has kicked yet.
            self.begin(state);
            state = self.lock();
            if self.has_room(&state) {
                return Ok(state);
            }
        }
        state.room.threads += 1;
        let mut state = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
            None => self.room.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(left) => self.room.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
        };
        state.room.threads -= 1;
        Ok(state)
    }

    /// Like [`push`](Self::push), but if the queue is full, keeps a place for the waker and wakes it when room may
    /// have come. A caller that has a place and no longer waits must [`leave`](Self::leave) it.
    ///
    /// # Errors
    /// [`Lost::Closed`].
    pub fn poll_push(
        self: &Arc<Self>,
        request: &Arc<Request<C>>,
        place: &mut Place,
        waker: &Waker,
    ) -> Poll<Result<(), Lost>> {
        // To clone and to drop a waker is an executor's code, which may come back here: neither happens under the lock.
        let waker = waker.clone();
        let _former;
        let mut state = self.lock();
        if !state.closed && !self.has_room(&state) {
            let room = &mut state.room;
            let number = *place.0.get_or_insert_with(|| {
                room.next += 1;
                room.next
            });
            match room.find(number) {
                Ok(i) => _former = Some(mem::replace(&mut room.futures[i].1, waker)),
                Err(i) => room.futures.insert(i, (number, waker)),
            }
            // What waits may have been pushed, without a kick.
            self.begin(state);
            return Poll::Pending;
        }
        _former = state.room.give_up(place);
        if state.closed {
            return Poll::Ready(Err(Lost::Closed));
        }
        self.put(state, request.clone());
        Poll::Ready(Ok(()))
    }

    /// Gives a place up. If its waker was woken for room, the next one is woken instead.
    pub fn leave(&self, place: &mut Place) {
        if place.0.is_none() {
            return;
        }
        let former;
        let mut state = self.lock();
        former = state.room.give_up(place);
        if former.is_some() {
            return;
        }
        let told = if self.has_room(&state) { self.free(&mut state, 1) } else { Told::default() };
        drop(state);
        told.tell(&self.room);
    }

    /// Notes under the lock that so many requests no longer wait. Whoever has released it must
    /// [`tell`](Told::tell) those who waited for room.
    pub(super) fn free(&self, state: &mut State<C>, count: usize) -> Told {
        if self.limits.capacity.is_none() || count == 0 {
            return Told::default();
        }
        let room = &mut state.room;
        let wakers = room.futures.drain(..count.min(room.futures.len())).map(|(_, waker)| waker).collect();
        Told { threads: room.threads > 0, wakers }
    }
}

impl Room {
    #[cfg(test)]
    pub(super) fn has_threads(&self) -> bool {
        self.threads > 0
    }

    fn find(&self, number: u64) -> Result<usize, usize> {
        self.futures.binary_search_by_key(&number, |&(number, _)| number)
    }

    /// Takes the waker of a place that is given up, if it is still there.
    fn give_up(&mut self, place: &mut Place) -> Option<Waker> {
        let at = self.find(place.0.take()?).ok()?;
        self.futures.remove(at).map(|(_, waker)| waker)
    }
}

/// Those who are to be told that there is room.
#[derive(Default)]
#[must_use]
pub(super) struct Told {
    threads: bool,
    wakers: Vec<Waker>,
}

impl Told {
    /// Tells them. No lock may be held: a waker is an executor's code.
    pub fn tell(self, room: &Condvar) {
        if self.threads {
            room.notify_all();
        }
        for waker in self.wakers {
            // An executor's panic is not ours; the hook has printed a message.
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
    }
}
