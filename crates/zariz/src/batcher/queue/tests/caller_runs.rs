//! Without workers, threads that hand requests over compute each other's.

use super::*;

/// A queue without workers, with this many slots.
fn without_workers(slots: usize) -> stub::Closing {
    let queue = queue(Limits { threads: Some(0), ..LIMITS });
    queue.slots.store(slots, Ordering::Relaxed);
    queue
}

/// Requests with these names, and their bells.
fn requests(names: impl IntoIterator<Item = u64>) -> Vec<(Arc<Request<Stub>>, Arc<Bell>)> {
    let request = |name| {
        let bell = Arc::new(Bell::default());
        (Request::new(Task::named(name), bell.clone(), None), bell)
    };
    names.into_iter().map(request).collect()
}

/// Starts a thread that hands over requests with these names, and checks their results when that returns.
fn handing_over(queue: &Arc<Queue<Stub>>, names: std::ops::Range<u64>) -> thread::JoinHandle<()> {
    let queue = queue.clone();
    thread::spawn(move || hand_over(&queue, names))
}

fn hand_over(queue: &Arc<Queue<Stub>>, names: std::ops::Range<u64>) {
    let all = requests(names.clone());
    queue.submit(all.iter().map(|(request, _)| request.clone()).collect());
    for ((request, bell), name) in all.iter().zip(names) {
        assert_eq!((request.collect(), request.collect()), (Some(Ok(name)), None));
        assert_eq!((bell.rings(), bell.finished.load(Ordering::SeqCst)), (1, 1));
    }
}

fn assert_nobody_waits(queue: &Queue<Stub>) {
    assert_at_rest(queue);
    let state = queue.lock();
    assert!(state.callers.is_empty() && state.workers.is_empty(), "no thread was started");
}

#[test]
fn a_lone_thread_computes_at_once() {
    model(|| {
        let queue = without_workers(1);
        hand_over(&queue, 0..3);
        // Full batches first; the rest follows at once.
        hand_over(&queue, 3..12);
        assert_eq!(queue.call_elsewhere(Task::named(12), None), Ok(12));
        assert_eq!(queue.compute().batches(), [vec![0, 1, 2], (3..11).collect(), vec![11], vec![12]]);
        queue.submit(Vec::new());
        assert_nobody_waits(&queue);
    });
}

/// Requests of all threads that come during a batch make the next one.
#[test]
fn threads_combine() {
    model(|| {
        let queue = without_workers(1);
        queue.compute().close();
        let first = handing_over(&queue, 0..2);
        until_begun(&queue, 1);
        let others = [2, 4, 6].map(|from| handing_over(&queue, from..from + 2));
        until_waiting(&queue, 6);
        queue.compute().open();
        first.join().expect("no panic");
        others.into_iter().for_each(|other| other.join().expect("no panic"));
        let mut sizes: Vec<_> = queue.compute().batches().iter().map(Vec::len).collect();
        // Of six requests, four fill the lanes.
        assert_eq!(sizes.remove(0), 2);
        assert_eq!(sizes, [4, 2]);
        assert_nobody_waits(&queue);
    });
}

/// With a second slot, no thread waits.
#[test]
fn with_a_free_slot_no_thread_waits() {
    model(|| {
        let queue = without_workers(2);
        queue.compute().close();
        let first = handing_over(&queue, 0..1);
        until_begun(&queue, 1);
        let second = handing_over(&queue, 1..2);
        until_begun(&queue, 2);
        queue.compute().open();
        first.join().expect("no panic");
        second.join().expect("no panic");
        assert_nobody_waits(&queue);
    });
}

/// Threads that call and threads that hand requests over compute each other's requests.
#[test]
fn callers_and_threads_that_hand_over_combine() {
    model(|| {
        let queue = without_workers(1);
        queue.compute().close();
        let first = handing_over(&queue, 0..1);
        until_begun(&queue, 1);
        let handing = handing_over(&queue, 1..3);
        let calls =
            [(Kind::Private, 3), (Kind::Long, 4)].map(|(kind, name)| calling(&queue, Task::new(kind, name)));
        until_waiting(&queue, 4);
        queue.compute().open();
        first.join().expect("no panic");
        handing.join().expect("no panic");
        assert_eq!(calls.map(|call| call.join().expect("no panic")), [Ok(3), Ok(4)]);
        let mut batches = queue.compute().batches();
        batches[1].sort_unstable();
        assert_eq!(batches, [vec![0], vec![1, 2, 3], vec![4]]);
        assert_nobody_waits(&queue);
    });
}

/// Two threads that hand over requests 0 and 1: the first computes until the gate is opened, and the second
/// waits.
fn one_computes_and_one_waits(queue: &Arc<Queue<Stub>>) -> [thread::JoinHandle<()>; 2] {
    queue.compute().close();
    let first = handing_over(queue, 0..1);
    until_begun(queue, 1);
    let second = handing_over(queue, 1..2);
    until_waiting(queue, 1);
    while queue.lock().callers.is_empty() {
        thread::yield_now();
    }
    [first, second]
}

/// If a batch has one request, threads that call do not overtake requests that were handed over.
#[test]
fn callers_overtake_nobody() {
    model(|| {
        let queue = queue(Limits { threads: Some(0), max_batch: 1, ..LIMITS });
        queue.slots.store(1, Ordering::Relaxed);
        let [first, handing] = one_computes_and_one_waits(&queue);
        let caller = {
            let queue = queue.0.clone();
            thread::spawn(move || {
                (10..13).for_each(|name| assert_eq!(queue.call(Task::named(name), None), Ok(name)))
            })
        };
        until_waiting(&queue, 2);
        queue.compute().open();
        [first, handing, caller].into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert_eq!(queue.compute().batches().concat()[..2], [0, 1]);
        assert_nobody_waits(&queue);
    });
}

/// A thread that was chosen to compute does so, even if its results come before it is told.
#[test]
fn a_chosen_thread_computes_though_its_results_are_there() {
    model(|| {
        let queue = without_workers(1);
        let [first, second] = one_computes_and_one_waits(&queue);
        // Another thread computes its request, and passes a slot to it.
        let third = requests([2]).remove(0).0;
        {
            let mut state = queue.lock();
            state.computing += 1;
            state.waiting.take(Kind::Private, 1)[0].finish(Ok(1));
            state.waiting.push(third.clone());
            state.callers.pop_front().expect("it waits").lead();
        }
        queue.compute().open();
        second.join().expect("no panic");
        assert_eq!(third.collect(), Some(Ok(2)));
        first.join().expect("no panic");
        assert_at_rest(&queue);
    });
}

/// A waker may block on a thread that waits for a slot: no slot is held inside a waker, and a thread calls
/// only its own wakers.
#[test]
fn a_programs_function_may_wait_for_another_thread() {
    model(|| {
        let queue = without_workers(1);
        queue.compute().close();
        let last = Arc::new(Bell::default());
        // A request of no thread, whose deadline has passed.
        let late = Request::new(Task::named(9), Arc::new(Bell::that_waits_for(&last)), Some(Instant::now()));
        assert_eq!(queue.push(late.clone()), Ok(()));
        let first = {
            let (queue, last) = (queue.0.clone(), last.clone());
            thread::spawn(move || {
                let waits = || Arc::new(Bell::that_waits_for(&last));
                let of = |kind, name| Request::new(Task::new(kind, name), waits(), None);
                let all = vec![of(Kind::Private, 0), of(Kind::Public, 1)];
                queue.submit(all.clone());
                assert!(all.iter().all(|request| request.collect().is_some_and(|result| result.is_ok())));
            })
        };
        until_begun(&queue, 1);
        let second = {
            let (queue, last) = (queue.0.clone(), last.clone());
            thread::spawn(move || {
                let request = Request::new(Task::named(2), Arc::new(Bell::default()), None);
                queue.submit(vec![request.clone()]);
                assert_eq!(request.collect(), Some(Ok(2)));
                last.wake();
            })
        };
        queue.compute().open();
        first.join().expect("no panic");
        second.join().expect("no panic");
        assert_eq!(late.collect(), Some(Err(QueueError::Expired)));
        assert_nobody_waits(&queue);
    });
}

/// A thread without a stack to compute on passes its slot on, and fails its own requests.
#[test]
fn without_a_stack_the_slot_is_passed_on() {
    model(|| {
        let queue = without_workers(1);
        queue.compute().close();
        let first = handing_over(&queue, 0..1);
        until_begun(&queue, 1);
        queue.compute().without_stack.store(true, Ordering::SeqCst);
        let others: Vec<_> = (1..4)
            .map(|name| {
                let queue = queue.0.clone();
                thread::spawn(move || {
                    let (request, bell) = requests([name]).remove(0);
                    queue.submit(vec![request.clone()]);
                    assert_eq!((request.collect(), bell.rings()), (Some(Err(QueueError::NoThread)), 1));
                })
            })
            .collect();
        until_waiting(&queue, 3);
        queue.compute().open();
        first.join().expect("no panic");
        others.into_iter().for_each(|other| other.join().expect("no panic"));
        assert_nobody_waits(&queue);
        queue.compute().without_stack.store(false, Ordering::SeqCst);
        hand_over(&queue, 4..5);
    });
}

/// A batch that panics does not stop waiting threads.
#[test]
fn panics_of_a_batch_are_results() {
    model(|| {
        let queue = without_workers(1);
        queue.compute().close();
        let first = handing_over(&queue, 0..1);
        until_begun(&queue, 1);
        let bad = {
            let queue = queue.0.clone();
            thread::spawn(move || queue.call_elsewhere(Task::that_panics(), None))
        };
        until_waiting(&queue, 1);
        queue.compute().open();
        assert_eq!(bad.join().expect("no panic"), Err(QueueError::Panicked));
        first.join().expect("no panic");
        hand_over(&queue, 1..3);
        assert_nobody_waits(&queue);
    });
}

/// Many threads of all sorts: no request is lost, and none is computed twice.
#[test]
fn many_requests_without_workers() {
    model(|| {
        const THREADS: u64 = 6;
        const EACH: u64 = REQUESTS / THREADS / 4;
        let queue = without_workers(2);
        let threads: Vec<_> = (0..THREADS)
            .map(|t| {
                let queue = queue.0.clone();
                thread::spawn(move || {
                    let (mut name, end) = (t * EACH, (t + 1) * EACH);
                    while name < end {
                        let count = (1 + name % 3).min(end - name);
                        let kind = Kind::ALL[(name % 7 % 4) as usize];
                        match (name + t) % 4 {
                            0 => assert_eq!(queue.call(Task::new(kind, name), None), Ok(name)),
                            1 => assert_eq!(queue.call_elsewhere(Task::new(kind, name), None), Ok(name)),
                            _ => {
                                hand_over(&queue, name..name + count);
                                name += count;
                                continue;
                            }
                        }
                        name += 1;
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert_nobody_waits(&queue);
        let mut names = queue.compute().batches().concat();
        names.sort_unstable();
        assert!(names.into_iter().eq(0..THREADS * EACH), "one was lost, or computed twice");
    });
}
