//! The waiting requests, and which of them are the next batch.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{iter, mem};

use super::compute::{Compute, Kind};
use super::request::Request;

/// The waiting requests.
///
/// A batch has requests of one kind, so that no result waits for long work of another kind; [`Kind`] gives
/// the order. Each other kind may pass the request at the front only once; then that request is next. So
/// every request is computed, however many of an earlier kind come.
///
/// Long operations can be held back ([`hold_long`](Self::hold_long)). Then only the others count, and the
/// front is the first of those.
pub(super) struct Waiting<C: Compute> {
    /// By kind.
    kinds: [OfKind<C>; Kind::ALL.len()],
    /// How many requests have ever come.
    arrived: u64,
    long_held: bool,
}

/// Requests with their arrival numbers, ascending.
type Line<C> = VecDeque<(u64, Arc<Request<C>>)>;

/// The requests of one kind.
struct OfKind<C: Compute> {
    /// Requests of threads that can compute a batch.
    leaders: Line<C>,
    others: Line<C>,
}

impl<C: Compute> Default for Waiting<C> {
    fn default() -> Self {
        let kinds = Kind::ALL.map(|_| OfKind { leaders: VecDeque::new(), others: VecDeque::new() });
        Self { kinds, arrived: 0, long_held: false }
    }
}

impl<C: Compute> OfKind<C> {
    fn len(&self) -> usize {
        self.leaders.len() + self.others.len()
    }

    /// The line with the oldest request.
    fn first_line(&mut self) -> &mut Line<C> {
        let number = |line: &Line<C>| line.front().map_or(u64::MAX, |&(number, _)| number);
        if number(&self.leaders) < number(&self.others) { &mut self.leaders } else { &mut self.others }
    }

    fn front(&self) -> Option<&(u64, Arc<Request<C>>)> {
        [&self.leaders, &self.others]
            .into_iter()
            .filter_map(VecDeque::front)
            .min_by_key(|(number, _)| *number)
    }
}

impl<C: Compute> Waiting<C> {
    /// The kinds that are not held back, in order, with their requests.
    fn kinds(&self) -> impl Iterator<Item = (Kind, &OfKind<C>)> {
        iter::zip(Kind::ALL, &self.kinds).filter(|&(kind, _)| !self.holds(kind))
    }

    /// The request at the front.
    fn front(&self) -> Option<&(u64, Arc<Request<C>>)> {
        self.kinds().filter_map(|(_, requests)| requests.front()).min_by_key(|(number, _)| *number)
    }

    /// The requests that are not held back.
    fn all(&self) -> impl Iterator<Item = &Request<C>> {
        self.kinds().flat_map(|(_, of)| of.leaders.iter().chain(&of.others)).map(|(_, request)| &**request)
    }

    /// Whether any request has a deadline. Ignores those that are held back.
    pub(super) fn has_deadlines(&self) -> bool {
        self.all().any(|request| request.deadline.is_some())
    }

    /// How long the requests may still wait for others. Each waits at most `linger` in all, and at most half
    /// of the time between its creation and its deadline.
    pub(super) fn linger_left(&self, linger: Duration) -> Duration {
        let now = Instant::now();
        let left = |request: &Request<C>| {
            let given = request.deadline.map(|deadline| deadline.saturating_duration_since(request.made) / 2);
            let most = given.map_or(linger, |given| given.min(linger));
            most.saturating_sub(now.saturating_duration_since(request.made))
        };
        self.all().map(left).min().unwrap_or_default()
    }

    /// How many requests are not held back.
    pub(super) fn len(&self) -> usize {
        self.kinds().map(|(_, requests)| requests.len()).sum()
    }

    /// The number of requests, including those held back.
    pub(super) fn total(&self) -> usize {
        self.kinds.iter().map(OfKind::len).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many requests have ever come.
    pub(super) fn arrived(&self) -> u64 {
        self.arrived
    }

    pub(super) fn push(&mut self, request: Arc<Request<C>>) {
        let requests = &mut self.kinds[request.kind as usize];
        let line = if request.can_lead() { &mut requests.leaders } else { &mut requests.others };
        request.note_arrival(Some(self.arrived));
        line.push_back((self.arrived, request));
        self.arrived += 1;
    }

    /// Removes a request. Returns whether it was there.
    pub(super) fn remove(&mut self, request: &Request<C>) -> bool {
        let Some(number) = request.arrival() else { return false };
        let requests = &mut self.kinds[request.kind as usize];
        let line = if request.can_lead() { &mut requests.leaders } else { &mut requests.others };
        let found =
            line.binary_search_by_key(&number, |&(number, _)| number).ok().and_then(|i| line.remove(i));
        request.note_arrival(None);
        found.is_some()
    }

    pub(super) fn extend(&mut self, requests: Vec<Arc<Request<C>>>) {
        requests.into_iter().for_each(|request| self.push(request));
    }

    /// Starts or stops holding long operations back.
    pub(super) fn hold_long(&mut self, hold: bool) {
        self.long_held = hold;
    }

    /// Whether that kind is held back.
    pub(super) fn holds(&self, kind: Kind) -> bool {
        self.long_held && kind == Kind::Long
    }

    /// The kind of the next batch: the first kind with requests, except kinds that have already passed the
    /// request at the front.
    pub(super) fn next_kind(&self) -> Option<Kind> {
        let (_, front) = self.front()?;
        let next = self.kinds().find(|&(kind, requests)| requests.len() > 0 && !front.was_passed_by(kind));
        next.map(|(kind, _)| kind)
    }

    /// How many requests of that kind wait.
    pub(super) fn count(&self, kind: Kind) -> usize {
        self.kinds[kind as usize].len()
    }

    /// Takes the oldest requests of that kind, at most `most`.
    pub(super) fn take(&mut self, kind: Kind, most: usize) -> Vec<Arc<Request<C>>> {
        let (mut taken, mut last) = (Vec::new(), 0);
        while taken.len() < most
            && let Some((number, request)) = self.kinds[kind as usize].first_line().pop_front()
        {
            request.note_arrival(None);
            taken.push(request);
            last = number;
        }
        if !taken.is_empty() {
            // If all requests of the kind are taken, the kind passes the front, even if that came later.
            let passes = |number| number < last || taken.len() < most;
            self.note_passed(kind, passes);
        }
        taken
    }

    /// Takes the oldest request of a thread that can compute a batch, of the given kind or of any.
    pub(super) fn take_leader(&mut self, kind: Option<Kind>) -> Option<Arc<Request<C>>> {
        let of_kind = self.kinds().filter(|&(of, _)| kind.is_none_or(|kind| of == kind));
        let firsts =
            of_kind.filter_map(|(of, requests)| requests.leaders.front().map(|&(number, _)| (number, of)));
        let (number, kind) = firsts.min_by_key(|&(number, _)| number)?;
        let (_, leader) = self.kinds[kind as usize].leaders.pop_front()?;
        self.note_passed(kind, |other| other < number);
        leader.note_arrival(None);
        leader.note_leads();
        Some(leader)
    }

    /// If the request at the front is of another kind, and `passes` is true of its number, notes that a batch
    /// of this kind passes it.
    fn note_passed(&self, kind: Kind, passes: impl Fn(u64) -> bool) {
        if let Some((_, front)) = self.front().filter(|(number, front)| front.kind != kind && passes(*number))
        {
            front.note_passed_by(kind);
        }
    }

    /// Takes all requests except those of threads that can compute a batch.
    pub(super) fn take_others(&mut self) -> Vec<Arc<Request<C>>> {
        let others = self.kinds.iter_mut().flat_map(|requests| mem::take(&mut requests.others));
        let taken = |(_, request): (u64, Arc<Request<C>>)| {
            request.note_arrival(None);
            request
        };
        others.map(taken).collect()
    }
}

#[cfg(test)]
mod tests;
