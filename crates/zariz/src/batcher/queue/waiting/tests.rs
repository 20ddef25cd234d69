use super::super::tests::stub::{Stub, Task};
use super::*;
use crate::batcher::sync::model;

/// A request with this name, of a thread that can compute (`leads`) or cannot.
fn request(kind: Kind, name: u64, leads: bool) -> Arc<Request<Stub>> {
    let task = Task::new(kind, name);
    if leads { Request::of_thread(task, None) } else { Request::of_idle(task, None) }
}

fn name(request: &Arc<Request<Stub>>) -> u64 {
    request.operation.name
}

fn waiting(requests: &[(Kind, u64)]) -> Waiting<Stub> {
    let mut waiting = Waiting::default();
    waiting.extend(requests.iter().map(|&(kind, name)| request(kind, name, false)).collect());
    waiting
}

/// Takes the next batch, like a queue.
fn next(waiting: &mut Waiting<Stub>, most: usize) -> Option<(Kind, Vec<u64>)> {
    let kind = waiting.next_kind()?;
    Some((kind, waiting.take(kind, most).iter().map(name).collect()))
}

use Kind::{Long, Private, Public};

#[test]
fn a_batch_is_of_one_kind_and_signatures_are_first() {
    model(|| {
        let all = [(Long, 1), (Public, 2), (Private, 3), (Long, 4), (Private, 5), (Public, 6), (Private, 7)];
        let mut some = waiting(&all);
        assert_eq!(some.count(Private), 3);
        assert_eq!(next(&mut some, 9), Some((Private, vec![3, 5, 7])));
        assert_eq!(next(&mut some, 9), Some((Public, vec![2, 6])));
        assert_eq!(next(&mut some, 9), Some((Long, vec![1, 4])));
        assert_eq!(next(&mut some, 9), None);
        // At most as many as asked for, oldest first.
        let mut some = waiting(&all);
        assert_eq!(next(&mut some, 2), Some((Private, vec![3, 5])));
    });
}

/// Even if signatures come without end, other kinds are computed: each kind passes the request at the front
/// once.
#[test]
fn no_kind_waits_for_ever() {
    model(|| {
        let mut some = waiting(&[(Long, 1), (Public, 2)]);
        let mut kinds = Vec::new();
        for name in 10..18 {
            some.push(request(Private, name, false));
            some.push(request(Public, name, false));
            kinds.extend(next(&mut some, 1).map(|(kind, _)| kind));
        }
        assert_eq!(kinds[..5], [Private, Public, Long, Private, Public]);
        assert!(kinds.contains(&Private) && kinds[5..].contains(&Public), "{kinds:?}");
    });
}

/// A kind that was taken whole has passed the front, like one that was taken past the request at the front.
#[test]
fn a_kind_that_is_taken_whole_passes_the_front() {
    model(|| {
        let mut some = waiting(&[(Private, 1), (Public, 2)]);
        assert_eq!(next(&mut some, 9), Some((Private, vec![1])));
        some.push(request(Private, 3, false));
        assert_eq!(next(&mut some, 9), Some((Public, vec![2])));
        let mut some = waiting(&[(Private, 1), (Public, 2), (Private, 3), (Private, 4)]);
        assert_eq!(next(&mut some, 1), Some((Private, vec![1])));
        assert_eq!(next(&mut some, 1), Some((Private, vec![3])));
        assert_eq!(next(&mut some, 1), Some((Public, vec![2])));
    });
}

/// Threads that compute their own requests pass others like batches do.
#[test]
fn leaders_are_of_the_next_kind() {
    model(|| {
        let mut some = Waiting::default();
        some.push(request(Long, 1, true));
        for name in 2..5 {
            some.push(request(Private, name, true));
        }
        assert_eq!(some.take_leader(some.next_kind()).as_ref().map(name), Some(2));
        // The request at the front was passed.
        assert_eq!(some.take_leader(some.next_kind()).as_ref().map(name), Some(1));
        assert_eq!(some.take_leader(some.next_kind()).as_ref().map(name), Some(3));
        // A thread that cannot compute is never a leader.
        let mut some = waiting(&[(Private, 1)]);
        some.push(request(Public, 2, true));
        assert!(some.take_leader(Some(Private)).is_none());
        assert_eq!(some.take_leader(None).as_ref().map(name), Some(2));
        assert!(some.take_leader(None).is_none());
        assert_eq!(next(&mut some, 9), Some((Private, vec![1])));
    });
}

/// Requests that are held back are not taken, and do not count when others pass each other.
#[test]
fn long_operations_can_be_held_back() {
    model(|| {
        let mut some = Waiting::default();
        some.push(request(Long, 1, true));
        some.push(request(Public, 2, false));
        some.hold_long(true);
        assert!(some.holds(Long) && !some.holds(Public) && some.len() == 1);
        for name in 10..13 {
            some.push(request(Private, name, false));
        }
        let order: Vec<_> = iter::from_fn(|| next(&mut some, 1)).collect();
        assert_eq!(order, [(Private, vec![10]), (Public, vec![2]), (Private, vec![11]), (Private, vec![12])]);
        assert!(some.is_empty() && some.take_leader(None).is_none() && some.count(Long) == 1);
        some.hold_long(false);
        assert_eq!(some.take_leader(some.next_kind()).as_ref().map(name), Some(1));
    });
}

/// A removed request is as if it had never come.
#[test]
fn requests_can_be_removed() {
    model(|| {
        let mut some = Waiting::default();
        let all: Vec<_> = (0..8)
            .map(|name| request(if name % 2 == 0 { Private } else { Public }, name, name < 4))
            .collect();
        all.iter().for_each(|request| some.push(request.clone()));
        for name in [0, 5, 6] {
            assert!(some.remove(&all[name]) && !some.remove(&all[name]));
        }
        assert_eq!((some.total(), some.count(Private)), (5, 2));
        assert_eq!(next(&mut some, 9), Some((Private, vec![2, 4])));
        assert!(!some.remove(&all[2]), "it was taken");
        assert_eq!(some.take_leader(None).as_ref().map(name), Some(1));
        assert!(!some.remove(&all[1]) && all[1].leads() && !all[3].leads());
        assert_eq!(next(&mut some, 9), Some((Public, vec![3, 7])));
        assert!(some.is_empty());
    });
}
