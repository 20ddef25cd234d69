//! Every transition of a queue, with a stub that returns names.

mod caller_runs;
mod capacity;
mod ending;
pub(crate) mod stub;
mod wakers;
mod yielding;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::*;
use crate::batcher::sync::{REAL_TIME, REQUESTS, model, thread};
use stub::{Bell, LIMITS, POLICIES, Stub, Task, queue};

fn push(queue: &Arc<Queue<Stub>>, name: u64) -> (Arc<Request<Stub>>, Arc<Bell>) {
    let bell = Arc::new(Bell::default());
    let request = Request::new(Task::named(name), bell.clone(), None);
    assert_eq!(queue.push(request.clone()), Ok(()));
    (request, bell)
}

/// A queue whose worker computes request 0 until the gate is opened; and the bell of that request.
fn held_up(limits: Limits) -> (stub::Closing, Arc<Bell>) {
    let queue = queue(limits);
    queue.compute().close();
    let (_, first) = push(&queue, 0);
    queue.kick();
    until_begun(&queue, 1);
    (queue, first)
}

/// Starts a thread that calls the queue.
fn calling(queue: &Arc<Queue<Stub>>, task: Task) -> JoinHandle<Outcome<Stub>> {
    let queue = queue.clone();
    thread::spawn(move || queue.call(task, None))
}

/// Starts threads that call the queue, one for each name.
fn calling_all(queue: &Arc<Queue<Stub>>, names: Range<u64>) -> Vec<JoinHandle<Outcome<Stub>>> {
    names.map(|name| calling(queue, Task::named(name))).collect()
}

/// All callers have their results: ascending names from `first`.
fn assert_answered(callers: Vec<JoinHandle<Outcome<Stub>>>, first: u64) {
    for (name, caller) in (first..).zip(callers) {
        assert_eq!(caller.join().expect("no panic"), Ok(name));
    }
}

/// Waits until this many requests wait.
fn until_waiting(queue: &Queue<Stub>, count: usize) {
    while queue.waiting() != count {
        thread::yield_now();
    }
}

fn until_begun(queue: &Queue<Stub>, count: usize) {
    while queue.compute().begun() != count {
        thread::yield_now();
    }
}

/// The queue is idle, and no slot was lost.
fn assert_at_rest(queue: &Queue<Stub>) {
    while queue.lock().computing > 0 {
        thread::yield_now();
    }
    let state = queue.lock();
    assert_eq!((state.waiting.total(), state.for_workers, state.long, state.lingering), (0, 0, 0, 0));
}

#[test]
fn a_lone_caller_computes_at_once() {
    model(|| {
        let queue = queue(LIMITS);
        assert_eq!(queue.call(Task::named(5), None), Ok(5));
        assert_at_rest(&queue);
        assert!(queue.lock().workers.is_empty(), "no thread was started");
        assert_eq!((queue.metrics().operations, queue.metrics().largest_batch), (1, 1));
    });
}

/// Callers that come during a batch are the next batch: one of them computes it for all.
#[test]
fn callers_meanwhile_are_the_next_batch() {
    model(|| {
        let queue = queue(LIMITS);
        queue.compute().close();
        let first = calling(&queue, Task::named(0));
        until_begun(&queue, 1);
        let others = calling_all(&queue, 1..4);
        until_waiting(&queue, 3);
        queue.compute().open();
        assert_eq!(first.join().expect("no panic"), Ok(0));
        assert_answered(others, 1);
        assert_at_rest(&queue);
        let mut batches = queue.compute().batches();
        batches[1].sort_unstable();
        assert_eq!(batches, [vec![0], vec![1, 2, 3]]);
    });
}

/// If callers' requests fill the lanes, a worker computes them, and then the next batch.
#[test]
fn a_worker_computes_what_fills_the_lanes() {
    model(|| {
        for without_threads in [false, true] {
            let queue = queue(Limits { max_batch: 4, ..LIMITS });
            queue.compute().without_threads.store(without_threads, Ordering::SeqCst);
            queue.compute().close();
            let mut callers = calling_all(&queue, 0..1);
            until_begun(&queue, 1);
            callers.extend(calling_all(&queue, 1..9));
            until_waiting(&queue, 8);
            queue.compute().open();
            assert_answered(callers, 0);
            assert_at_rest(&queue);
            let sizes: Vec<_> = queue.compute().batches().iter().map(Vec::len).collect();
            assert_eq!((sizes, queue.lock().workers.len()), (vec![1, 4, 4], usize::from(!without_threads)));
        }
    });
}

/// One of two slots computes long operations. Other requests take the second, and further long ones wait.
#[test]
fn long_operations_leave_slots_for_others() {
    model(|| {
        let queue = queue(Limits { threads: Some(2), ..LIMITS });
        {
            let mut state = queue.lock();
            state.computing += 1;
            queue.note_begun(&mut state, Kind::Long);
        }
        let long = calling(&queue, Task::new(Kind::Long, 1));
        until_waiting(&queue, 1);
        assert_eq!(queue.call(Task::new(Kind::Public, 2), None), Ok(2));
        assert!(queue.waiting() == 1 && queue.lock().computing == 1);
        // The end of the batch that holds it back starts it.
        queue.pass_on(None, Some(Kind::Long));
        assert_eq!(long.join().expect("no panic"), Ok(1));
        assert_at_rest(&queue);
    });
}

#[test]
fn pushed_requests_wait_for_a_kick_and_are_one_batch() {
    model(|| {
        let queue = queue(LIMITS);
        let all: Vec<_> = (0..3).map(|name| push(&queue, name)).collect();
        assert!(queue.waiting() == 3 && queue.compute().begun() == 0 && all[0].0.collect().is_none());
        queue.kick();
        for (name, (request, bell)) in (0..3).zip(&all) {
            bell.wait(1);
            assert_eq!(request.collect(), Some(Ok(name)));
            assert_eq!(request.collect(), None, "nobody gets it twice");
            assert_eq!(bell.finished.load(Ordering::SeqCst), 1);
        }
        assert_eq!(queue.compute().batches(), [vec![0, 1, 2]]);
        assert_at_rest(&queue);
    });
}

#[test]
fn a_full_batch_needs_no_kick() {
    model(|| {
        let queue = queue(LIMITS);
        let all: Vec<_> = (0..8).map(|name| push(&queue, name)).collect();
        all.iter().for_each(|(_, bell)| bell.wait(1));
        assert_at_rest(&queue);
    });
}

/// With a second free slot, a full batch begins beside the one that is being computed.
#[test]
fn a_full_batch_begins_beside_another() {
    model(|| {
        let (queue, first) = held_up(Limits { threads: Some(2), ..LIMITS });
        let mut all: Vec<_> = (1..8).map(|name| push(&queue, name)).collect();
        queue.kick();
        assert_eq!((queue.waiting(), queue.lock().computing), (7, 1));
        all.push(push(&queue, 8));
        until_begun(&queue, 2);
        assert_eq!((queue.waiting(), queue.lock().computing), (0, 2));
        queue.compute().open();
        first.wait(1);
        all.iter().for_each(|(_, bell)| bell.wait(1));
        assert_at_rest(&queue);
    });
}

/// A caller that blocks computes pushed requests too.
#[test]
fn a_caller_takes_others_along() {
    model(|| {
        let queue = queue(LIMITS);
        let (request, _) = push(&queue, 1);
        assert_eq!(queue.call(Task::named(2), None), Ok(2));
        assert_eq!((request.collect(), queue.compute().batches()), (Some(Ok(1)), vec![vec![2, 1]]));
        assert_at_rest(&queue);
    });
}

#[test]
fn withdrawn_requests_are_not_computed() {
    model(|| {
        let queue = queue(LIMITS);
        let (kept, bell) = push(&queue, 1);
        let (withdrawn, silent) = push(&queue, 2);
        assert!(queue.withdraw(&withdrawn) && !queue.withdraw(&withdrawn));
        queue.kick();
        bell.wait(1);
        assert!(!queue.withdraw(&kept), "it has been computed");
        // The worker has dropped it, too.
        queue.close();
        drop((withdrawn, kept));
        assert_eq!((bell.forgotten.load(Ordering::SeqCst), silent.forgotten.load(Ordering::SeqCst)), (1, 0));
        assert_eq!((queue.compute().batches(), queue.metrics().withdrawn), (vec![vec![1]], 1));
        assert_at_rest(&queue);
    });
}

#[test]
fn late_requests_are_told_so() {
    model(|| {
        for limits in [LIMITS, Limits { threads: Some(0), ..LIMITS }] {
            let queue = queue(limits);
            let past = Some(Instant::now());
            assert_eq!(queue.call(Task::named(1), past), Err(QueueError::Expired));
            let bell = Arc::new(Bell::default());
            let late = Request::new(Task::named(2), bell.clone(), past);
            assert_eq!(queue.push(late.clone()), Ok(()));
            queue.kick();
            bell.wait(1);
            assert_eq!(late.collect(), Some(Err(QueueError::Expired)));
            assert_at_rest(&queue);
            assert!(queue.compute().batches().is_empty() && queue.metrics().expired == 2);
        }
    });
}

/// A waiting thread returns at its deadline, and its request is not computed.
#[test]
fn threads_wait_until_their_deadline() {
    if !REAL_TIME {
        return;
    }
    let queue = queue(LIMITS);
    queue.compute().close();
    let first = calling(&queue, Task::named(1));
    until_begun(&queue, 1);
    let soon = Some(Instant::now() + Duration::from_millis(5));
    assert_eq!(queue.call(Task::named(2), soon), Err(QueueError::Expired));
    assert_eq!(queue.waiting(), 0);
    // A thread that was chosen to compute does so, even if its deadline passes before it is told.
    let request = Request::of_thread(Task::named(3), soon);
    {
        let mut state = queue.lock();
        state.computing += 1;
        state.waiting.push(request.clone());
        assert!(state.waiting.take_leader(None).is_some());
    }
    let told = {
        let request = request.clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(5));
            request.lead();
        })
    };
    queue.compute().open();
    assert_eq!(queue.wait(&request, soon), Ok(3));
    told.join().expect("no panic");
    assert_eq!(first.join().expect("no panic"), Ok(1));
    assert_at_rest(&queue);
}

/// A thread gives up on a request that is already in another's batch. The request is counted as expired once,
/// whether the other thread notices before, after or never.
#[test]
fn requests_are_late_once() {
    model(|| {
        let queue = queue(LIMITS);
        let past = Some(Instant::now());
        let requests = [1, 2, 3].map(|name| Request::of_thread(Task::named(name), past));
        let gives_up =
            |request: &Arc<Request<Stub>>| assert_eq!(queue.wait(request, past), Err(QueueError::Expired));
        let others_see =
            |request: &Arc<Request<Stub>>| assert_eq!(queue.split_expired(vec![request.clone()]).0.len(), 1);
        others_see(&requests[0]);
        gives_up(&requests[0]);
        assert_eq!(queue.metrics().expired, 1);
        gives_up(&requests[1]);
        others_see(&requests[1]);
        assert_eq!(queue.metrics().expired, 2);
        gives_up(&requests[2]);
        queue.run(&requests[2..]);
        assert_eq!((queue.metrics().expired, queue.compute().batches()), (3, vec![vec![3]]));
        assert!(requests.iter().all(|request| request.collect().is_none()));
    });
}

/// A panic ends only its batch.
#[test]
fn panics_are_results() {
    model(|| {
        let queue = queue(LIMITS);
        assert_eq!(queue.call(Task::that_panics(), None), Err(QueueError::Panicked));
        let bells = [Bell::that_panics(), Bell::default()].map(Arc::new);
        let requests = bells.each_ref().map(|bell| Request::new(Task::that_panics(), bell.clone(), None));
        requests.iter().for_each(|request| assert_eq!(queue.push(request.clone()), Ok(())));
        queue.kick();
        bells.iter().for_each(|bell| bell.wait(1));
        requests.iter().for_each(|request| assert_eq!(request.collect(), Some(Err(QueueError::Panicked))));
        let (request, bell) = push(&queue, 7);
        queue.kick();
        bell.wait(1);
        assert_eq!(request.collect(), Some(Ok(7)));
        assert_at_rest(&queue);
    });
}

#[test]
fn without_threads_the_callers_compute() {
    model(|| {
        let queue = queue(LIMITS);
        queue.compute().without_threads.store(true, Ordering::SeqCst);
        let (request, bell) = push(&queue, 1);
        queue.kick();
        bell.wait(1);
        assert_eq!(request.collect(), Some(Ok(1)));
        assert_eq!(queue.call_elsewhere(Task::named(2), None), Ok(2));
        queue.compute().without_stack.store(true, Ordering::SeqCst);
        assert_eq!(queue.call_elsewhere(Task::named(3), None), Err(QueueError::NoThread));
        assert_at_rest(&queue);
    });
}

#[test]
fn by_default_each_processor_computes_a_batch() {
    model(|| {
        let queue = queue(Limits { threads: None, ..LIMITS });
        let all = std::thread::available_parallelism().map_or(1, |count| count.get());
        assert!(queue.slots() == all || !REAL_TIME);
    });
}

/// A queue with `linger` waits for requests to fill the lanes, but no longer than asked for.
#[test]
fn workers_can_linger() {
    if !REAL_TIME {
        return;
    }
    let queue = queue(Limits { linger: Some(Duration::MAX), ..LIMITS });
    let (first, bell) = push(&queue, 1);
    queue.kick();
    while queue.lock().lingering == 0 {
        thread::yield_now();
    }
    let others: Vec<_> = (2..5).map(|name| push(&queue, name)).collect();
    bell.wait(1);
    assert_eq!((first.collect(), queue.compute().batches()), (Some(Ok(1)), vec![vec![1, 2, 3, 4]]));
    assert_at_rest(&queue);
    drop(others);
    // A full batch is not kept waiting. Nor is a request with a deadline, until it is too late.
    let small = stub::queue(Limits { linger: Some(Duration::MAX), max_batch: 2, ..LIMITS });
    let two: Vec<_> = (1..3).map(|name| push(&small, name)).collect();
    small.kick();
    two.iter().for_each(|(_, bell)| bell.wait(1));
    let bell = Arc::new(Bell::default());
    let hurried = Request::new(Task::named(4), bell.clone(), Some(Instant::now() + Duration::from_secs(2)));
    let patient = stub::queue(Limits { linger: Some(Duration::MAX), ..LIMITS });
    let (first, _) = push(&patient, 3);
    patient.kick();
    while patient.lock().lingering == 0 {
        thread::yield_now();
    }
    assert_eq!(patient.push(hurried.clone()), Ok(()));
    bell.wait(1);
    assert_eq!((first.collect(), hurried.collect()), (Some(Ok(3)), Some(Ok(4))));
    // Closing the queue ends the wait.
    let (last, _) = push(&patient, 5);
    patient.kick();
    while patient.lock().lingering == 0 {
        thread::yield_now();
    }
    patient.close();
    assert_eq!(last.collect(), Some(Ok(5)));
    let short = stub::queue(Limits { linger: Some(Duration::from_millis(1)), ..LIMITS });
    assert_eq!(
        (short.call(Task::named(1), None), short.lock().workers.len()),
        (Ok(1), 1),
        "a worker computes it"
    );
    assert_at_rest(&short);
}

/// Many callers of all sorts, of whom many give up: no request is lost, and none is computed twice.
#[test]
fn many_requests() {
    model(|| {
        const THREADS: u64 = 8;
        const EACH: u64 = REQUESTS / THREADS;
        let queue = queue(Limits { threads: Some(2), capacity: Some(4), ..LIMITS });
        let counted: Vec<_> = (0..THREADS)
            .map(|t| {
                let queue = queue.0.clone();
                thread::spawn(move || {
                    let (mut done, mut gone) = (0, 0);
                    for name in t * EACH..(t + 1) * EACH {
                        let kind = Kind::ALL[(name % 7 % 4) as usize];
                        if name % 3 != 0 {
                            match queue.call(Task::new(kind, name), None) {
                                Err(QueueError::Full) => gone += 1,
                                result => {
                                    assert_eq!(result, Ok(name));
                                    done += 1;
                                }
                            }
                            continue;
                        }
                        let bell = Arc::new(Bell::default());
                        let request = Request::new(Task::new(kind, name), bell.clone(), None);
                        if queue.push(request.clone()) == Err(QueueError::Full) {
                            gone += 1;
                            continue;
                        }
                        if name % 2 == 0 && queue.withdraw(&request) {
                            gone += 1;
                            continue;
                        }
                        queue.kick();
                        bell.wait(1);
                        assert_eq!(request.collect(), Some(Ok(name)));
                        assert_eq!(bell.finished.load(Ordering::SeqCst), 1);
                        done += 1;
                    }
                    (done, gone)
                })
            })
            .collect();
        let (mut done, mut gone) = (0, 0);
        for thread in counted {
            let (more_done, more_gone) = thread.join().expect("no panic");
            (done, gone) = (done + more_done, gone + more_gone);
        }
        assert_at_rest(&queue);
        assert_eq!(done + gone, THREADS * EACH);
        assert_eq!(queue.metrics().refused + queue.metrics().withdrawn, gone);
        let mut names: Vec<_> = queue.compute().batches().concat();
        assert_eq!((names.len() as u64, queue.metrics().operations), (done, done));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len() as u64, done, "one was computed twice");
    });
}
