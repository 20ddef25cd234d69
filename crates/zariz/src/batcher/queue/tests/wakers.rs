//! What a worker and the queue make of programs' functions: wakers that wait, panic, or use the queue.

use super::*;

/// Leaves the worker in a program's function, until the bell rings.
fn held_in_a_waker(queue: &Arc<Queue<Stub>>) -> Arc<Bell> {
    let last = Arc::new(Bell::default());
    let waits = Arc::new(Bell::that_waits_for(&last));
    queue.submit(vec![Request::new(Task::named(0), waits.clone(), None)]);
    waits.wait(1);
    last
}

/// Leaves the worker in the computation of a request whose waker will wait until the bell rings.
fn computing_for_a_waker_that_waits(queue: &Arc<Queue<Stub>>) -> (Arc<Request<Stub>>, Arc<Bell>) {
    let last = Arc::new(Bell::default());
    queue.compute().close();
    let request = Request::new(Task::named(0), Arc::new(Bell::that_waits_for(&last)), None);
    queue.submit(vec![request.clone()]);
    until_begun(queue, 1);
    (request, last)
}

/// A worker's turn is not held in a waker: a thread that the waker waits for computes meanwhile.
#[test]
fn a_waker_may_wait_for_a_thread_that_computes() {
    model(|| {
        let queue = queue(LIMITS);
        let (first, last) = computing_for_a_waker_that_waits(&queue);
        // So the worker keeps its turn.
        let (next, bell) = push(&queue, 1);
        queue.compute().open();
        assert_eq!(queue.call(Task::named(2), None), Ok(2));
        last.wake();
        bell.wait(1);
        assert_eq!((first.collect(), next.collect()), (Some(Ok(0)), Some(Ok(1))));
        assert_at_rest(&queue);
    });
}

/// A request that comes meanwhile waits for the worker: there are never more workers than batches may be computed.
#[test]
fn a_worker_in_a_waker_is_not_replaced() {
    model(|| {
        let queue = queue(LIMITS);
        let last = held_in_a_waker(&queue);
        let (next, bell) = push(&queue, 1);
        queue.kick();
        let workers = queue.lock().workers.len();
        last.wake();
        bell.wait(1);
        assert_eq!((workers, next.collect()), (1, Some(Ok(1))));
        assert_at_rest(&queue);
    });
}

/// A thread that waits does not wait for the worker either: it computes its request, though another kind is next.
#[test]
fn a_thread_computes_while_the_worker_is_in_a_waker() {
    model(|| {
        let queue = queue(LIMITS);
        let last = held_in_a_waker(&queue);
        queue.compute().close();
        let first = calling(&queue, Task::named(1));
        until_begun(&queue, 2);
        let (private, bell) = push(&queue, 2);
        let second = calling(&queue, Task::new(Kind::Public, 3));
        until_waiting(&queue, 2);
        queue.compute().open();
        assert_eq!([first, second].map(|call| call.join().expect("no panic")), [Ok(1), Ok(3)]);
        last.wake();
        bell.wait(1);
        assert_eq!(private.collect(), Some(Ok(2)));
        assert_at_rest(&queue);
    });
}

/// A request that goes with its batch may panic, as what an executor keeps may: the worker stays.
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

/// A waker may use the queue when it is dropped: it is not dropped under the lock.
#[test]
fn a_dropped_waker_may_use_the_queue() {
    struct Nosy(Arc<Queue<Stub>>);
    impl Wake for Nosy {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Nosy {
        fn drop(&mut self) {
            self.0.waiting();
        }
    }
    model(|| {
        let queue = queue(Limits { capacity: Some(1), wait_for_room: true, ..LIMITS });
        queue.compute().close();
        queue.submit(vec![Request::new(Task::named(0), Arc::new(Bell::default()), None)]);
        until_begun(&queue, 1);
        let (first, bell) = push(&queue, 1);
        let request = Request::new(Task::named(2), Arc::new(Bell::default()), None);
        let (mut place, nosy) = (Place::default(), || Waker::from(Arc::new(Nosy(queue.0.clone()))));
        assert_eq!(queue.poll_push(&request, &mut place, &nosy()), Poll::Pending);
        assert_eq!(queue.poll_push(&request, &mut place, &nosy()), Poll::Pending);
        queue.leave(&mut place);
        assert_eq!(queue.poll_push(&request, &mut place, &nosy()), Poll::Pending);
        queue.compute().open();
        bell.wait(1);
        assert_eq!(first.collect(), Some(Ok(1)));
        assert_eq!(queue.poll_push(&request, &mut place, &nosy()), Poll::Ready(Ok(())));
    });
}

/// Whoever was woken first wakes the others of its batch, and each is woken once.
#[test]
fn one_that_was_woken_wakes_the_others() {
    model(|| {
        let queue = queue(LIMITS);
        let last = Arc::new(Bell::default());
        let bells = [Bell::that_waits_for(&last), Bell::default(), Bell::that_panics(), Bell::default()].map(Arc::new);
        let requests = bells.each_ref().map(|bell| Request::new(Task::named(0), bell.clone(), None));
        queue.submit(requests.to_vec());
        bells[0].wait(1);
        // The worker is in the first one's function.
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

/// A worker keeps no turn from threads while it is in a waker, though they fill the lanes.
#[test]
fn threads_compute_while_the_worker_is_in_a_waker() {
    model(|| {
        let queue = queue(LIMITS);
        let (_first, last) = computing_for_a_waker_that_waits(&queue);
        let callers = calling_all(&queue, 1..5);
        until_waiting(&queue, 4);
        queue.compute().open();
        assert_answered(callers, 1);
        last.wake();
        assert_at_rest(&queue);
    });
}

/// If no second worker can be started, threads compute while the only worker is in a waker.
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

/// A thread that computes wakes for its own batch alone: the function of another may need a lock that the thread holds.
#[test]
fn a_thread_wakes_for_its_own_batch_alone() {
    model(|| {
        let queue = queue(LIMITS);
        let last = Arc::new(Bell::default());
        let bells = [Bell::that_waits_for(&last), Bell::default()].map(Arc::new);
        queue.submit(bells.each_ref().map(|bell| Request::new(Task::named(0), bell.clone(), None)).to_vec());
        bells[0].wait(1);
        let (_, own) = push(&queue, 1);
        assert_eq!(queue.call(Task::named(2), None), Ok(2));
        assert_eq!((own.rings(), bells[1].rings()), (1, 0));
        last.wake();
        bells[1].wait(1);
        assert_at_rest(&queue);
    });
}

/// A worker keeps no turn while it is in a waker if another is idle.
#[test]
fn an_idle_worker_takes_the_turn_of_one_in_a_waker() {
    model(|| {
        let queue = queue(Limits { threads: Some(2), ..LIMITS });
        let (_first, last) = computing_for_a_waker_that_waits(&queue);
        // A full batch begins beside it, and leaves an idle worker behind.
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
