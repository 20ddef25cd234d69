//! Which requests a full queue refuses; the others are served in order of arrival.

use super::*;

#[test]
fn a_full_queue_refuses() {
    model(|| {
        let (queue, first) = held_up(Limits { capacity: Some(2), ..LIMITS });
        let all = [push(&queue, 1), push(&queue, 2)];
        let third = Request::new(Task::named(3), Arc::new(Bell::default()), None);
        assert_eq!(queue.push(third), Err(QueueError::Full));
        assert_eq!(queue.call(Task::named(4), None), Err(QueueError::Full));
        assert_eq!(queue.metrics().refused, 2);
        queue.compute().open();
        first.wait(1);
        all.iter().for_each(|(_, bell)| bell.wait(1));
        assert_eq!(queue.call(Task::named(5), None), Ok(5));
        assert_at_rest(&queue);
    });
}

/// Threads and waiters are served in order of arrival, and no later request overtakes them. Requests that
/// were withdrawn or dropped hold nothing up.
#[test]
fn first_come_first_served() {
    model(|| {
        for limits in POLICIES {
            let (queue, first) = held_up(Limits { max_batch: 1, ..limits });
            let hammering: Vec<_> = [10, 20]
                .map(|from| {
                    let caller = {
                        let queue = queue.0.clone();
                        thread::spawn(move || {
                            (from..from + 3)
                                .for_each(|name| assert_eq!(queue.call(Task::named(name), None), Ok(name)));
                        })
                    };
                    until_waiting(&queue, from as usize / 10);
                    caller
                })
                .into();
            let (taken_back, _) = push(&queue, 1);
            let (waits, bell) = push(&queue, 2);
            drop(push(&queue, 3));
            assert!(queue.withdraw(&taken_back));
            queue.compute().open();
            bell.wait(1);
            assert_eq!(waits.collect(), Some(Ok(2)));
            first.wait(1);
            hammering.into_iter().for_each(|caller| caller.join().expect("no panic"));
            assert_at_rest(&queue);
            let order = queue.compute().batches().concat();
            assert_eq!((&order[..5], order.len()), (&[0, 10, 20, 2, 3][..], 9));
        }
    });
}

/// A thread that calls while a slot is free does not overtake a waiting request, if a batch has one request.
#[test]
fn a_free_slot_goes_to_the_oldest_request() {
    model(|| {
        for threads in [1, 2] {
            let (queue, first) = held_up(Limits { threads: Some(threads), max_batch: 1, ..LIMITS });
            let (waits, bell) = push(&queue, 1);
            let caller = calling(&queue, Task::named(2));
            // A second slot is free: a worker uses it for the first of both.
            until_waiting(&queue, 3 - threads);
            until_begun(&queue, threads);
            assert_eq!(waits.arrival().is_none(), threads == 2);
            queue.compute().open();
            assert_eq!(caller.join().expect("no panic"), Ok(2));
            bell.wait(1);
            first.wait(1);
            assert_eq!(waits.collect(), Some(Ok(1)));
            assert_at_rest(&queue);
            assert!(threads == 2 || queue.compute().batches() == [[0], [1], [2]]);
        }
    });
}
