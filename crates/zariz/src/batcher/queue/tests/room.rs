//! A queue of limited length: who is refused, who waits for room, and who is told of it.

use super::*;

#[test]
fn a_full_queue_refuses() {
    model(|| {
        let (queue, first) = held_up(Limits { capacity: Some(2), ..LIMITS });
        let all = [push(&queue, 1), push(&queue, 2)];
        let third = Request::new(Task::named(3), Arc::new(Bell::default()), None);
        assert_eq!(queue.push(third), Err(Lost::Full));
        assert_eq!(queue.call(Task::named(4), None), Err(Lost::Full));
        assert_eq!(queue.metrics().refused, 2);
        queue.compute().open();
        first.wait(1);
        all.iter().for_each(|(_, bell)| bell.wait(1));
        assert_eq!(queue.call(Task::named(5), None), Ok(5));
        assert_at_rest(&queue);
    });
}

/// No deadline, and one that does not pass.
fn in_time() -> [Option<Instant>; 2] {
    [None, Some(Instant::now() + Duration::from_secs(3600))]
}

#[test]
fn threads_wait_for_room() {
    model(|| {
        for deadline in in_time() {
            let queue = queue(Limits { capacity: Some(1), wait_for_room: true, ..LIMITS });
            queue.compute().close();
            let call = |name| {
                let queue = queue.0.clone();
                thread::spawn(move || queue.call(Task::named(name), deadline))
            };
            let calls: Vec<_> = (0..4).map(call).collect();
            until_begun(&queue, 1);
            until_waiting(&queue, 1);
            queue.compute().open();
            for (name, call) in (0..4).zip(calls) {
                assert_eq!(call.join().expect("no panic"), Ok(name));
            }
            assert_at_rest(&queue);
            assert_eq!(queue.metrics().expired, 0);
        }
    });
}

/// A queue of length one, with a batch under way and a request that waits; and a thread whose request a worker must
/// compute, which waits for room.
fn with_a_thread_that_waits(
    deadline: Option<Instant>,
) -> (stub::Closing, [Arc<Bell>; 2], thread::JoinHandle<Result<u64, Lost>>) {
    let (queue, first) = held_up(Limits { capacity: Some(1), wait_for_room: true, ..LIMITS });
    let (_, second) = push(&queue, 1);
    let call = {
        let queue = queue.0.clone();
        thread::spawn(move || queue.call_elsewhere(Task::named(2), deadline))
    };
    while !queue.lock().room.has_threads() {
        thread::yield_now();
    }
    (queue, [first, second], call)
}

#[test]
fn threads_with_small_stacks_wait_for_room() {
    model(|| {
        for deadline in in_time() {
            let (queue, bells, call) = with_a_thread_that_waits(deadline);
            queue.compute().open();
            assert_eq!(call.join().expect("no panic"), Ok(2));
            bells.iter().for_each(|bell| bell.wait(1));
            assert_at_rest(&queue);
            assert_eq!(queue.compute().batches().concat(), [0, 1, 2]);
        }
    });
}

/// A thread that waits for room is told when the queue ends. What was in the queue before is computed.
#[test]
fn nobody_waits_for_room_in_a_queue_that_ends() {
    model(|| {
        for deadline in in_time() {
            let (queue, bells, call) = with_a_thread_that_waits(deadline);
            let end = {
                let queue = queue.0.clone();
                thread::spawn(move || queue.close())
            };
            assert_eq!(call.join().expect("no panic"), Err(Lost::Closed));
            queue.compute().open();
            bells.iter().for_each(|bell| bell.wait(1));
            end.join().expect("no panic");
            assert_at_rest(&queue);
            assert_eq!((queue.compute().batches().concat(), queue.metrics().expired), (vec![0, 1], 0));
        }
    });
}

/// A queue of length one, whose only turn is taken until `pass_on` is called; and the request that waits there.
fn without_room() -> (stub::Closing, Arc<Request<Stub>>, Arc<Bell>) {
    let queue = queue(Limits { capacity: Some(1), wait_for_room: true, ..LIMITS });
    queue.lock().computing += 1;
    let (kept, bell) = push(&queue, 1);
    (queue, kept, bell)
}

/// How a thread asks for a computation.
type Call = fn(&Arc<Queue<Stub>>, Task, Option<Instant>) -> Outcome<Stub>;

const CALLS: [Call; 2] = [Queue::call, Queue::call_elsewhere];

/// Times until deadlines. On a slow machine, a short one passes before the thread waits: then the next is tried.
fn times() -> impl Iterator<Item = Duration> {
    (2..8).map(|zeros| Duration::from_micros(10_u64.pow(zeros)))
}

/// A thread that makes request 2; returns when it waits for room, or its deadline has passed.
fn calling_late(queue: &Arc<Queue<Stub>>, call: Call, deadline: Instant) -> JoinHandle<Outcome<Stub>> {
    let caller = {
        let queue = queue.clone();
        thread::spawn(move || call(&queue, Task::named(2), Some(deadline)))
    };
    while !queue.lock().room.has_threads() && Instant::now() < deadline {
        thread::yield_now();
    }
    caller
}

/// A thread makes request 2, and its deadline passes while it waits for room. Then `meanwhile` is done to the queue;
/// the thread sees nothing before that.
fn late_in_the_line(queue: &Arc<Queue<Stub>>, call: Call, meanwhile: impl Fn(&mut State<Stub>)) {
    let waits = |time| {
        let (deadline, expired) = (Instant::now() + time, queue.metrics().expired);
        let caller = calling_late(queue, call, deadline);
        let mut state = queue.lock();
        let waits = state.room.has_threads();
        if waits {
            while Instant::now() < deadline {
                std::hint::spin_loop();
            }
            meanwhile(&mut state);
        }
        drop(state);
        if !REAL_TIME {
            queue.room.notify_all();
        }
        assert_eq!(caller.join().expect("no panic"), Err(Lost::Expired));
        assert_eq!((queue.metrics().expired, queue.lock().room.has_threads()), (expired + 1, false));
        waits
    };
    assert!(times().any(waits), "the thread never waits");
}

/// The time of a thread that waits for room ends. Its request never was in the queue.
#[test]
fn threads_wait_for_room_until_their_deadline() {
    model(|| {
        for call in CALLS {
            let (queue, kept, bell) = without_room();
            late_in_the_line(&queue, call, |_| {});
            assert_eq!((queue.waiting(), queue.lock().waiting.arrived(), queue.metrics().refused), (1, 1, 0));
            queue.pass_on(None, None);
            bell.wait(1);
            assert_eq!((kept.collect(), queue.compute().batches()), (Some(Ok(1)), vec![vec![1]]));
            assert_at_rest(&queue);
        }
    });
}

/// Room and a turn that come after the deadline are for others.
#[test]
fn room_may_come_too_late() {
    model(|| {
        for call in CALLS {
            let (queue, kept, _) = without_room();
            late_in_the_line(&queue, call, |state| {
                assert!(state.waiting.remove(&kept));
                state.computing -= 1;
            });
            assert!(queue.compute().batches().is_empty() && queue.lock().workers.is_empty());
            assert_at_rest(&queue);
        }
    });
}

/// Room comes in time, and the deadline passes in the queue: the request leaves it.
#[test]
fn a_thread_that_had_room_may_still_be_late() {
    if !REAL_TIME {
        return;
    }
    for call in CALLS {
        let was_there = |time| {
            let (queue, kept, _) = without_room();
            let deadline = Instant::now() + time;
            let caller = calling_late(&queue, call, deadline);
            assert!(queue.withdraw(&kept));
            let mut was_there = false;
            while !was_there && Instant::now() < deadline {
                was_there = queue.waiting() == 1;
            }
            assert_eq!(caller.join().expect("no panic"), Err(Lost::Expired));
            assert_eq!((queue.waiting(), queue.metrics().expired), (0, 1));
            queue.pass_on(None, None);
            assert!(queue.compute().batches().is_empty());
            assert_at_rest(&queue);
            was_there
        };
        assert!(times().any(was_there), "the thread never has room");
    }
}

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Futures that wait for room are woken, and one that leaves after it was woken wakes the next.
#[test]
fn futures_wait_for_room() {
    model(|| {
        let (queue, first) = held_up(Limits { capacity: Some(1), wait_for_room: true, ..LIMITS });
        let (kept, _) = push(&queue, 1);
        let count = || Arc::new(Count(AtomicUsize::new(0)));
        let counts = [count(), count(), count()];
        let wakers = counts.clone().map(Waker::from);
        let request = |name| Request::new(Task::named(name), Arc::new(Bell::default()), None);
        let requests = [request(2), request(3), request(4)];
        let mut places = [Place::default(), Place::default(), Place::default()];
        for i in 0..3 {
            assert!(queue.poll_push(&requests[i], &mut places[i], &wakers[i]).is_pending());
        }
        let woken = || counts.each_ref().map(|count| count.0.load(Ordering::SeqCst));
        assert!(queue.withdraw(&kept));
        assert_eq!(woken(), [1, 0, 0]);
        queue.leave(&mut places[0]);
        assert_eq!(woken(), [1, 1, 0]);
        assert_eq!(queue.poll_push(&requests[1], &mut places[1], &wakers[1]), Poll::Ready(Ok(())));
        queue.leave(&mut places[2]);
        assert_eq!(woken(), [1, 1, 0]);
        queue.compute().open();
        first.wait(1);
        assert_eq!(requests[1].wait_for_result(), Ok(3));
        assert_at_rest(&queue);
    });
}
