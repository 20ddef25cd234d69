//! The requests that wait, and which of them are the next batch.

use std::collections::VecDeque;
use std::sync::Arc;
use std::{iter, mem};

use super::primitive::Kind;
use super::request::Request;

/// The requests that wait.
///
/// A batch has requests of one kind, so that long work delays no result that is ready: [`Kind`] says which
/// kinds go first. Each other kind passes the request at the front at most once; then it is that request's
/// turn. So all requests are computed, however many of an earlier kind there are.
///
/// Long public operations can be held back ([`hold_long`](Self::hold_long)). Then only the others count, and
/// the front is the first of those.
#[derive(Default)]
pub struct Waiting {
    /// By kind.
    kinds: [OfKind; Kind::ALL.len()],
    /// How many requests have come.
    arrived: u64,
    long_held: bool,
}

/// Requests with the numbers of their arrival, ascending.
type Line = VecDeque<(u64, Arc<Request>)>;

/// The requests of one kind.
#[derive(Default)]
struct OfKind {
    /// Those of threads that can compute a batch.
    leaders: Line,
    others: Line,
}

impl OfKind {
    fn len(&self) -> usize {
        self.leaders.len() + self.others.len()
    }

    /// The line in which the first request is.
    fn first_line(&mut self) -> &mut Line {
        let number = |line: &Line| line.front().map_or(u64::MAX, |&(number, _)| number);
        if number(&self.leaders) < number(&self.others) { &mut self.leaders } else { &mut self.others }
    }

    fn front(&self) -> Option<&(u64, Arc<Request>)> {
        [&self.leaders, &self.others].into_iter().filter_map(VecDeque::front).min_by_key(|(number, _)| *number)
    }
}

impl Waiting {
    /// The kinds that are not held back, in their order, and their requests.
    fn kinds(&self) -> impl Iterator<Item = (Kind, &OfKind)> {
        iter::zip(Kind::ALL, &self.kinds).filter(|&(kind, _)| !self.holds(kind))
    }

    /// The request at the front.
    fn front(&self) -> Option<&(u64, Arc<Request>)> {
        self.kinds().filter_map(|(_, requests)| requests.front()).min_by_key(|(number, _)| *number)
    }

    /// How many requests are not held back.
    pub fn len(&self) -> usize {
        self.kinds().map(|(_, requests)| requests.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn push(&mut self, request: Arc<Request>) {
        let requests = &mut self.kinds[request.kind as usize];
        let line = if request.can_lead() { &mut requests.leaders } else { &mut requests.others };
        line.push_back((self.arrived, request));
        self.arrived += 1;
    }

    pub fn extend(&mut self, requests: Vec<Arc<Request>>) {
        requests.into_iter().for_each(|request| self.push(request));
    }

    /// Holds long public operations back, or no longer.
    pub fn hold_long(&mut self, hold: bool) {
        self.long_held = hold;
    }

    /// Whether that kind is held back.
    pub fn holds(&self, kind: Kind) -> bool {
        self.long_held && kind == Kind::LongPublic
    }

    /// The kind of the next batch: the earliest, but none twice that has passed the request at the front.
    pub fn next_kind(&self) -> Option<Kind> {
        let (_, front) = self.front()?;
        let next = self.kinds().find(|&(kind, requests)| requests.len() > 0 && !front.was_passed_by(kind));
        next.map(|(kind, _)| kind)
    }

    /// How many of that kind there are.
    pub fn count(&self, kind: Kind) -> usize {
        self.kinds[kind as usize].len()
    }

    /// The first of that kind, at most `most` of them.
    pub fn take(&mut self, kind: Kind, most: usize) -> Vec<Arc<Request>> {
        let (mut taken, mut last) = (Vec::new(), 0);
        while taken.len() < most
            && let Some((number, request)) = self.kinds[kind as usize].first_line().pop_front()
        {
            taken.push(request);
            last = number;
        }
        if !taken.is_empty() {
            // If all requests of the kind are taken, it has had its turn before the next request comes.
            let passes = |number| number < last || taken.len() < most;
            self.note_passed(kind, passes);
        }
        taken
    }

    /// The first request of a thread that can compute a batch, of that kind or of any.
    pub fn take_leader(&mut self, kind: Option<Kind>) -> Option<Arc<Request>> {
        let of_kind = self.kinds().filter(|&(of, _)| kind.is_none_or(|kind| of == kind));
        let firsts = of_kind.filter_map(|(of, requests)| requests.leaders.front().map(|&(number, _)| (number, of)));
        let (number, kind) = firsts.min_by_key(|&(number, _)| number)?;
        let (_, leader) = self.kinds[kind as usize].leaders.pop_front()?;
        self.note_passed(kind, |other| other < number);
        Some(leader)
    }

    /// Notes that a batch of that kind passes the request at the front, if it does, by that request's number.
    fn note_passed(&self, kind: Kind, passes: impl Fn(u64) -> bool) {
        if let Some((_, front)) = self.front().filter(|(number, front)| front.kind != kind && passes(*number)) {
            front.note_passed_by(kind);
        }
    }

    /// Whether a thread waits that can compute a batch.
    pub fn has_leader(&self) -> bool {
        self.kinds.iter().any(|requests| !requests.leaders.is_empty())
    }

    /// All requests but those of threads that can compute.
    pub fn take_jobs(&mut self) -> Vec<Arc<Request>> {
        let others = self.kinds.iter_mut().flat_map(|requests| mem::take(&mut requests.others));
        others.map(|(_, request)| request).collect()
    }
}

#[cfg(test)]
mod tests {
    use zariz::rsa::{PrivateKey, PublicKey};

    use super::super::primitive::Primitive;
    use super::*;

    /// A request with a number for its name: it is a thread's that can compute, or not.
    fn request(kind: Kind, name: u8, leads: bool) -> Arc<Request> {
        let number = vec![name];
        let public = |e: &[u8]| PublicKey::from_components(&[0xff; 128], e).expect("a public key");
        let primitive = match kind {
            Kind::Private => {
                let pem = include_bytes!("../../../cli/keys/bench-1024.pem");
                Primitive::Private(PrivateKey::parse(pem).expect("a key"), number.into())
            }
            Kind::Public => Primitive::Public(public(&[1, 0, 1]), number.into()),
            Kind::LongPublic => Primitive::Public(public(&[1, 0, 0, 1]), number.into()),
        };
        assert_eq!(primitive.kind(), kind);
        if leads { Request::of_thread(primitive) } else { Request::of_idle(primitive) }
    }

    fn name(request: &Arc<Request>) -> u8 {
        match &request.primitive {
            Primitive::Private(_, number) | Primitive::Public(_, number) => number[0],
        }
    }

    fn waiting(requests: &[(Kind, u8)]) -> Waiting {
        let mut waiting = Waiting::default();
        waiting.extend(requests.iter().map(|&(kind, name)| request(kind, name, false)).collect());
        waiting
    }

    /// The next batch, as a queue takes it.
    fn next(waiting: &mut Waiting, most: usize) -> Option<(Kind, Vec<u8>)> {
        let kind = waiting.next_kind()?;
        Some((kind, waiting.take(kind, most).iter().map(name).collect()))
    }

    use Kind::{LongPublic, Private, Public};

    #[test]
    fn kinds_of_public_operations() {
        let kind = |size: usize, e: &[u8]| {
            let key = PublicKey::from_components(&vec![0xff; size], e).expect("a public key");
            Primitive::Public(key, Vec::new().into()).kind()
        };
        assert!([kind(128, &[3]), kind(256, &[1, 0, 1]), kind(512, &[0xff; 3])].iter().all(|&kind| kind == Public));
        let long = [kind(128, &[1; 4]), kind(384, &[1; 32]), kind(513, &[3]), kind(2048, &[1, 0, 1])];
        assert!(long.iter().all(|&kind| kind == LongPublic));
    }

    #[test]
    fn a_batch_is_of_one_kind_and_signatures_are_first() {
        let all =
            [(LongPublic, 1), (Public, 2), (Private, 3), (LongPublic, 4), (Private, 5), (Public, 6), (Private, 7)];
        let mut some = waiting(&all);
        assert_eq!(some.count(Private), 3);
        assert_eq!(next(&mut some, 9), Some((Private, vec![3, 5, 7])));
        assert_eq!(next(&mut some, 9), Some((Public, vec![2, 6])));
        assert_eq!(next(&mut some, 9), Some((LongPublic, vec![1, 4])));
        assert_eq!(next(&mut some, 9), None);
        // No more than a batch has room for, and those that came first.
        let mut some = waiting(&all);
        assert_eq!(next(&mut some, 2), Some((Private, vec![3, 5])));
    }

    /// Even if signatures come without end, the others have their turn: each kind passes the request at the
    /// front once.
    #[test]
    fn no_kind_waits_for_ever() {
        let mut some = waiting(&[(LongPublic, 1), (Public, 2)]);
        let mut kinds = Vec::new();
        for name in 10..18 {
            some.push(request(Private, name, false));
            some.push(request(Public, name, false));
            kinds.extend(next(&mut some, 1).map(|(kind, _)| kind));
        }
        assert_eq!(kinds[..5], [Private, Public, LongPublic, Private, Public]);
        assert!(kinds.contains(&Private) && kinds[5..].contains(&Public), "{kinds:?}");
    }

    /// Threads that compute their own requests pass others as batches do.
    #[test]
    fn leaders_are_of_the_next_kind() {
        let mut some = Waiting::default();
        some.push(request(LongPublic, 1, true));
        for name in 2..5 {
            some.push(request(Private, name, true));
        }
        assert_eq!(some.take_leader(some.next_kind()).as_ref().map(name), Some(2));
        // The request at the front was passed.
        assert_eq!(some.take_leader(some.next_kind()).as_ref().map(name), Some(1));
        assert_eq!(some.take_leader(some.next_kind()).as_ref().map(name), Some(3));
        // A job's thread leads nothing.
        let mut some = waiting(&[(Private, 1)]);
        some.push(request(Public, 2, true));
        assert!(some.take_leader(Some(Private)).is_none() && some.has_leader());
        assert_eq!(some.take_leader(None).as_ref().map(name), Some(2));
        assert!(!some.has_leader());
        assert_eq!(next(&mut some, 9), Some((Private, vec![1])));
    }

    /// Requests that are held back have no turn, and others pass each other as if these were not there.
    #[test]
    fn long_operations_can_be_held_back() {
        let mut some = Waiting::default();
        some.push(request(LongPublic, 1, true));
        some.push(request(Public, 2, false));
        some.hold_long(true);
        assert!(some.holds(LongPublic) && !some.holds(Public) && some.len() == 1);
        for name in 10..13 {
            some.push(request(Private, name, false));
        }
        let order: Vec<_> = iter::from_fn(|| next(&mut some, 1)).collect();
        assert_eq!(order, [(Private, vec![10]), (Public, vec![2]), (Private, vec![11]), (Private, vec![12])]);
        assert!(some.is_empty() && some.take_leader(None).is_none() && some.count(LongPublic) == 1);
        some.hold_long(false);
        assert_eq!(some.take_leader(some.next_kind()).as_ref().map(name), Some(1));
    }
}
