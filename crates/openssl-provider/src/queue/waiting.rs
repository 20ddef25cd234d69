//! The requests that wait, and which of them are the next batch.

use std::collections::VecDeque;
use std::sync::Arc;

use super::request::Request;
use super::work::Kind;

/// The requests that wait, those that came first at the front.
///
/// A batch has requests of one kind, so that what takes long delays no answer that is ready: [`Kind`] says which kinds go first.
/// Each other kind passes the request at the front once at most; then it is that request's turn. So all requests are
/// answered, however many of an earlier kind there are.
#[derive(Default)]
pub struct Waiting(VecDeque<Arc<Request>>);

impl Waiting {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn push(&mut self, request: Arc<Request>) {
        self.0.push_back(request);
    }

    pub fn extend(&mut self, requests: Vec<Arc<Request>>) {
        self.0.extend(requests);
    }

    /// The kind of the next batch: the earliest, but none twice that has passed the request at the front.
    pub fn next_kind(&self) -> Option<Kind> {
        let front = self.0.front()?;
        self.0.iter().map(|request| request.kind).filter(|&kind| !front.was_passed_by(kind)).min()
    }

    /// How many of that kind there are.
    pub fn count(&self, kind: Kind) -> usize {
        self.0.iter().filter(|request| request.kind == kind).count()
    }

    /// The first of that kind, at most so many.
    pub fn take(&mut self, kind: Kind, most: usize) -> Vec<Arc<Request>> {
        let (mut taken, mut passed) = (Vec::new(), Vec::new());
        while taken.len() < most
            && let Some(request) = self.0.pop_front()
        {
            if request.kind == kind { &mut taken } else { &mut passed }.push(request);
        }
        if let Some(front) = passed.first().filter(|_| !taken.is_empty()) {
            front.note_passed_by(kind);
        }
        passed.into_iter().rev().for_each(|request| self.0.push_front(request));
        taken
    }

    /// The first request of a thread that can compute a batch, of that kind or of any.
    pub fn take_leader(&mut self, kind: Option<Kind>) -> Option<Arc<Request>> {
        let leads = |request: &Arc<Request>| request.can_lead() && kind.is_none_or(|kind| request.kind == kind);
        let at = self.0.iter().position(leads)?;
        let leader = self.0.remove(at)?;
        if let Some(front) = self.0.front().filter(|front| at > 0 && front.kind != leader.kind) {
            front.note_passed_by(leader.kind);
        }
        Some(leader)
    }

    /// Whether a thread waits that can compute a batch.
    pub fn has_leader(&self) -> bool {
        self.0.iter().any(|request| request.can_lead())
    }

    /// All requests but those of threads that can compute.
    pub fn take_jobs(&mut self) -> Vec<Arc<Request>> {
        let (threads, jobs): (VecDeque<_>, VecDeque<_>) = self.0.drain(..).partition(|request| request.can_lead());
        self.0 = threads;
        jobs.into()
    }
}

#[cfg(test)]
mod tests {
    use zariz::rsa::{PrivateKey, PublicKey};

    use super::super::work::Work;
    use super::*;

    /// A request with a number for its name: it is a thread's that can compute, or not.
    fn request(kind: Kind, name: u8, leads: bool) -> Arc<Request> {
        let number = vec![name];
        let public = |e: &[u8]| PublicKey::from_components(&[0xff; 128], e).expect("a public key");
        let work = match kind {
            Kind::Private => {
                let pem = include_bytes!("../../../cli/keys/bench-1024.pem");
                Work::Private(PrivateKey::parse(pem).expect("a key"), number.into())
            }
            Kind::Public => Work::Public(public(&[1, 0, 1]), number.into()),
            Kind::LongPublic => Work::Public(public(&[1, 0, 0, 1]), number.into()),
        };
        assert_eq!(work.kind(), kind);
        if leads { Request::of_thread(work) } else { Request::of_idle(work) }
    }

    fn name(request: &Arc<Request>) -> u8 {
        match &request.work {
            Work::Private(_, number) | Work::Public(_, number) => number[0],
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
            Work::Public(key, Vec::new().into()).kind()
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

    /// However many signatures come, the others have their turn: each kind passes the request at the front once.
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
}
