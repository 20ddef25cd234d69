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

#[test]
fn threads_wait_for_room() {
    model(|| {
        let queue = queue(Limits { capacity: Some(1), wait_for_room: true, ..LIMITS });
        queue.compute().close();
        let calls: Vec<_> = (0..4).map(|name| calling(&queue, Task::named(name))).collect();
        until_begun(&queue, 1);
        until_waiting(&queue, 1);
        queue.compute().open();
        for (name, call) in (0..4).zip(calls) {
            assert_eq!(call.join().expect("no panic"), Ok(name));
        }
        assert_at_rest(&queue);
    });
}

/// A queue of length one, with a batch under way and a request that waits; and a thread whose request a worker must
/// compute, which waits for room.
fn with_a_thread_that_waits() -> (stub::Closing, [Arc<Bell>; 2], thread::JoinHandle<Result<u64, Lost>>) {
    let (queue, first) = held_up(Limits { capacity: Some(1), wait_for_room: true, ..LIMITS });
    let (_, second) = push(&queue, 1);
    let call = {
        let queue = queue.0.clone();
        thread::spawn(move || queue.call_elsewhere(Task::named(2), None))
    };
    while !queue.lock().room.has_threads() {
        thread::yield_now();
    }
    (queue, [first, second], call)
}

#[test]
fn threads_with_small_stacks_wait_for_room() {
    model(|| {
        let (queue, bells, call) = with_a_thread_that_waits();
        queue.compute().open();
        assert_eq!(call.join().expect("no panic"), Ok(2));
        bells.iter().for_each(|bell| bell.wait(1));
        assert_at_rest(&queue);
        assert_eq!(queue.compute().batches().concat(), [0, 1, 2]);
    });
}

/// A thread that waits for room is told when the queue ends. What was in the queue before is computed.
#[test]
fn nobody_waits_for_room_in_a_queue_that_ends() {
    model(|| {
        let (queue, bells, call) = with_a_thread_that_waits();
        let end = {
            let queue = queue.0.clone();
            thread::spawn(move || queue.close())
        };
        assert_eq!(call.join().expect("no panic"), Err(Lost::Closed));
        queue.compute().open();
        bells.iter().for_each(|bell| bell.wait(1));
        end.join().expect("no panic");
        assert_at_rest(&queue);
        assert_eq!(queue.compute().batches().concat(), [0, 1]);
    });
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
