//! Wakers that block, panic, or use the queue.

use super::*;

/// Keeps the worker inside a waker, until the returned bell rings.
fn held_in_a_waker(queue: &Arc<Queue<Stub>>) -> Arc<Bell> {
    let last = Arc::new(Bell::default());
    let waits = Arc::new(Bell::that_waits_for(&last));
    queue.submit(vec![Request::new(Task::named(0), waits.clone(), None)]);
    waits.wait(1);
    last
}

/// Keeps the worker in the computation of a request whose waker will block until the bell rings.
fn computing_for_a_waker_that_waits(queue: &Arc<Queue<Stub>>) -> (Arc<Request<Stub>>, Arc<Bell>) {
    let last = Arc::new(Bell::default());
    queue.compute().close();
    let request = Request::new(Task::named(0), Arc::new(Bell::that_waits_for(&last)), None);
    queue.submit(vec![request.clone()]);
    until_begun(queue, 1);
    (request, last)
}

/// A worker holds no slot inside a waker: a thread that the waker waits for gets its result.
#[test]
fn a_waker_may_wait_for_a_thread_that_calls() {
    model(|| {
        for limits in POLICIES {
            let queue = queue(limits);
            let (first, last) = computing_for_a_waker_that_waits(&queue);
            let (next, bell) = push(&queue, 1);
            queue.compute().open();
            assert_eq!(queue.call(Task::named(2), None), Ok(2));
            last.wake();
            bell.wait(1);
            assert_eq!((first.collect(), next.collect()), (Some(Ok(0)), Some(Ok(1))));
            assert_at_rest(&queue);
        }
    });
}

/// Workers inside wakers are replaced, however many there are.
#[test]
fn workers_in_wakers_are_replaced() {
    model(|| {
        for limits in POLICIES {
            let queue = queue(limits);
            let all: Vec<_> = (0..3).map(|_| held_in_a_waker(&queue)).collect();
            let (next, bell) = push(&queue, 1);
            queue.kick();
            bell.wait(1);
            assert_eq!((next.collect(), queue.call_elsewhere(Task::named(2), None)), (Some(Ok(1)), Ok(2)));
            assert!(queue.lock().workers.len() > 3);
            all.iter().for_each(|last| last.wake());
            assert_at_rest(&queue);
        }
    });
}

/// If no thread can be started to replace a worker inside a waker, callers compute.
#[test]
fn workers_in_wakers_that_cannot_be_replaced() {
    model(|| {
        for limits in POLICIES {
            let queue = queue(limits);
            let last = held_in_a_waker(&queue);
            queue.compute().without_threads.store(true, Ordering::SeqCst);
            let (next, bell) = push(&queue, 1);
            queue.kick();
            assert_eq!((bell.rings(), next.collect()), (1, Some(Ok(1))));
            assert_eq!(queue.call(Task::named(2), None), Ok(2));
            assert_eq!(queue.call_elsewhere(Task::named(3), None), Ok(3));
            last.wake();
            assert_at_rest(&queue);
        }
    });
}

/// Makes request 9, waits for its result, and checks it.
type Use = fn(&Arc<Queue<Stub>>);

fn awaits(queue: &Arc<Queue<Stub>>) {
    let (request, bell) = push(queue, 9);
    queue.kick();
    bell.wait(1);
    assert_eq!(request.collect(), Some(Ok(9)));
}

fn joins(queue: &Arc<Queue<Stub>>, of_thread: Use) {
    let queue = queue.clone();
    thread::spawn(move || of_thread(&queue)).join().expect("no panic");
}

const USES: [Use; 5] = [
    |queue| assert_eq!(queue.call(Task::named(9), None), Ok(9)),
    |queue| assert_eq!(queue.call_elsewhere(Task::named(9), None), Ok(9)),
    awaits,
    |queue| joins(queue, |queue| assert_eq!(queue.call(Task::named(9), None), Ok(9))),
    |queue| joins(queue, awaits),
];

/// A waker may use the queue, and block on threads that use it. Others that call meanwhile get their results.
#[test]
fn wakers_may_use_the_queue() {
    for usage in USES {
        model(move || {
            for limits in POLICIES {
                let queue = queue(limits);
                let used = Arc::new(Bell::default());
                let waker = || {
                    // A strong reference would make the queue own itself.
                    let (queue, used) = (Arc::downgrade(&queue), used.clone());
                    Arc::new(Bell::with(move || {
                        usage(&queue.upgrade().expect("it is there"));
                        used.wake();
                    }))
                };
                // One is woken for a worker's batch and one perhaps for a thread's, or both for one batch.
                queue.submit(vec![Request::new(Task::named(0), waker(), None)]);
                assert_eq!(queue.push(Request::new(Task::named(1), waker(), None)), Ok(()));
                assert_eq!(queue.call(Task::named(2), None), Ok(2));
                queue.kick();
                used.wait(2);
                assert_at_rest(&queue);
            }
        });
    }
}

/// If no worker can be started at all, no slot is held inside a waker either.
#[test]
fn without_any_worker_wakers_may_use_the_queue() {
    for usage in USES {
        model(move || {
            let queue = queue(LIMITS);
            queue.compute().without_threads.store(true, Ordering::SeqCst);
            let used = Arc::new(Bell::default());
            let bell = {
                let (queue, used) = (Arc::downgrade(&queue), used.clone());
                Arc::new(Bell::with(move || {
                    usage(&queue.upgrade().expect("it is there"));
                    used.wake();
                }))
            };
            assert_eq!(queue.push(Request::new(Task::named(0), bell, None)), Ok(()));
            queue.kick();
            used.wait(1);
            assert_at_rest(&queue);
        });
    }
}

/// A request may panic when it is dropped, since it holds the executor's data: the worker goes on.
#[test]
fn a_request_may_panic_when_it_is_dropped() {
    model(|| {
        let queue = queue(LIMITS);
        queue.compute().close();
        let bell = Arc::new(Bell::that_panics_when_forgotten());
        queue.submit(vec![Request::new(Task::named(0), bell.clone(), None)]);
        queue.compute().open();
        bell.wait(1);
        let (second, bell) = push(&queue, 2);
        queue.kick();
        bell.wait(1);
        assert_eq!(second.collect(), Some(Ok(2)));
    });
}

/// The first waiter that is woken wakes the others of its batch; each is woken once.
#[test]
fn one_that_was_woken_wakes_the_others() {
    model(|| {
        let queue = queue(LIMITS);
        let last = Arc::new(Bell::default());
        let bells = [Bell::that_waits_for(&last), Bell::default(), Bell::that_panics(), Bell::default()]
            .map(Arc::new);
        let requests = bells.each_ref().map(|bell| Request::new(Task::named(0), bell.clone(), None));
        queue.submit(requests.to_vec());
        bells[0].wait(1);
        // The worker is inside the first waker.
        queue.wake_others(|bell| Arc::ptr_eq(bell, &bells[2]));
        assert_eq!(bells.each_ref().map(|bell| bell.rings()), [1, 0, 1, 0]);
        queue.wake_others(|_| true);
        bells.iter().for_each(|bell| bell.wait(1));
        assert!(requests.iter().all(|request| request.collect() == Some(Ok(0))));
        last.wake();
        queue.close();
        assert_eq!(bells.map(|bell| bell.rings()), [1; 4]);
    });
}

/// A worker inside a waker keeps no slot from threads, even if they fill the lanes.
#[test]
fn threads_are_served_while_a_worker_is_in_a_waker() {
    model(|| {
        for limits in POLICIES {
            let queue = queue(limits);
            let (_first, last) = computing_for_a_waker_that_waits(&queue);
            let callers = calling_all(&queue, 1..5);
            until_waiting(&queue, 4);
            queue.compute().open();
            assert_answered(callers, 1);
            last.wake();
            assert_at_rest(&queue);
        }
    });
}

/// If no second worker can be started, threads compute while the only worker is inside a waker.
#[test]
fn threads_compute_where_no_second_worker_can_be_started() {
    model(|| {
        let queue = queue(Limits { threads: Some(2), ..LIMITS });
        let last = held_in_a_waker(&queue);
        queue.compute().without_threads.store(true, Ordering::SeqCst);
        queue.compute().close();
        let mut callers = calling_all(&queue, 1..3);
        until_begun(&queue, 3);
        callers.extend(calling_all(&queue, 3..7));
        until_waiting(&queue, 4);
        queue.compute().open();
        assert_answered(callers, 1);
        last.wake();
        assert_at_rest(&queue);
    });
}

/// A thread that blocks calls no waker: a waker may need a lock that the thread holds.
#[test]
fn a_thread_that_calls_may_hold_a_lock_that_wakers_need() {
    model(|| {
        for limits in POLICIES {
            let (queue, lock) = (queue(limits), Arc::new(Mutex::new(())));
            let bells = [(); 3].map(|()| {
                let lock = lock.clone();
                Arc::new(Bell::with(move || drop(lock.lock())))
            });
            let held = lock.lock().expect("no panic");
            for (name, bell) in (0..).zip(&bells) {
                assert_eq!(queue.push(Request::new(Task::named(name), bell.clone(), None)), Ok(()));
                assert_eq!(queue.call(Task::named(9), None), Ok(9));
            }
            drop(held);
            bells.iter().for_each(|bell| bell.wait(1));
            assert_at_rest(&queue);
        }
    });
}

/// A worker that has more to compute leaves wakers to another worker, if they call functions of the program.
#[test]
fn a_worker_that_computes_on_calls_no_function() {
    model(|| {
        for (bell, workers) in [(Bell::that_is_prompt as fn() -> Bell, 1..=1), (Bell::default, 2..=3)] {
            let queue = queue(Limits { max_batch: 1, ..LIMITS });
            let bells = [(); 3].map(|()| Arc::new(bell()));
            let requests =
                (0..).zip(&bells).map(|(name, bell)| Request::new(Task::named(name), bell.clone(), None));
            queue.submit(requests.collect());
            bells.iter().for_each(|bell| bell.wait(1));
            assert_at_rest(&queue);
            assert!(workers.contains(&queue.lock().workers.len()));
        }
    });
}

/// If another worker is idle, it takes the slot of a worker that calls a waker.
#[test]
fn an_idle_worker_takes_the_slot_of_one_in_a_waker() {
    model(|| {
        let queue = queue(Limits { threads: Some(2), ..LIMITS });
        let (_first, last) = computing_for_a_waker_that_waits(&queue);
        // A full batch begins beside the first, and leaves an idle worker behind.
        let full: Vec<_> = (1..9).map(|name| push(&queue, name)).collect();
        until_begun(&queue, 2);
        let (next, bell) = push(&queue, 9);
        queue.compute().open();
        full.iter().for_each(|(_, bell)| bell.wait(1));
        bell.wait(1);
        assert_eq!(next.collect(), Some(Ok(9)));
        last.wake();
        assert_at_rest(&queue);
    });
}
