//! Closing a queue.

use super::*;

#[test]
fn after_the_end_there_are_no_requests() {
    model(|| {
        let queue = queue(LIMITS);
        let (left, bell) = push(&queue, 1);
        queue.close();
        bell.wait(1);
        assert_eq!(left.collect(), Some(Err(QueueError::Closed)));
        let request = || Request::new(Task::named(2), Arc::new(Bell::default()), None);
        assert_eq!(queue.push(request()), Err(QueueError::Closed));
        let submitted = request();
        queue.submit(vec![submitted.clone()]);
        assert_eq!(submitted.collect(), Some(Err(QueueError::Closed)));
        assert_eq!(queue.call_elsewhere(Task::named(2), None), Err(QueueError::Closed));
    });
}

/// Requests that waited for a worker before the queue was closed are computed, though no other worker is
/// started.
#[test]
fn what_waits_for_a_worker_is_computed() {
    model(|| {
        for limits in POLICIES {
            let (queue, first) = held_up(limits);
            let all = [Kind::Private, Kind::Public, Kind::Long].map(|kind| {
                let bell = Arc::new(Bell::default());
                let request = Request::new(Task::new(kind, kind as u64 + 1), bell.clone(), None);
                assert_eq!(queue.push(request.clone()), Ok(()));
                (request, bell)
            });
            let end = {
                let queue = queue.0.clone();
                thread::spawn(move || queue.close())
            };
            while !queue.lock().closed {
                thread::yield_now();
            }
            queue.compute().open();
            end.join().expect("no panic");
            assert!(
                all.iter()
                    .all(|(request, bell)| bell.rings() == 1 && request.collect().is_some_and(|r| r.is_ok()))
            );
            assert_eq!(first.rings(), 1);
            assert_at_rest(&queue);
        }
    });
}

/// If a thread's batch ends after the queue was closed, requests that wait for a worker fail: no worker is
/// started.
#[test]
fn after_the_end_no_worker_is_started() {
    model(|| {
        let queue = queue(LIMITS);
        queue.compute().close();
        let first = calling(&queue, Task::named(0));
        until_begun(&queue, 1);
        let (left, bell) = push(&queue, 1);
        queue.close();
        queue.compute().open();
        assert_eq!(first.join().expect("no panic"), Ok(0));
        bell.wait(1);
        assert_eq!(left.collect(), Some(Err(QueueError::Closed)));
        assert!(queue.lock().workers.is_empty());
        assert_at_rest(&queue);
    });
}

/// When `close` returns, no worker runs any more: the module with their code can be unloaded.
#[test]
fn the_end_waits_for_the_workers() {
    model(|| {
        let queue = queue(LIMITS);
        let (_, bell) = push(&queue, 1);
        queue.kick();
        bell.wait(1);
        assert_eq!(Arc::strong_count(&queue), 2, "the worker's and ours");
        queue.close();
        assert_eq!(Arc::strong_count(&queue), 1);
    });
}
