//! The queue's own tests, with threads in orders that shuttle chooses at random; and a wake-up that is lost
//! on purpose, which they must find.

use std::cell::Cell;
use std::panic::catch_unwind;
use std::sync::Arc;

#[path = "../src/batcher/queue/mod.rs"]
#[expect(dead_code, reason = "the rest of the library uses all of it")]
mod queue;

/// Shuttle's locks and threads, in the place of the standard library's.
mod sync {
    use std::sync::LockResult;
    pub use std::sync::PoisonError;
    use std::time::Duration;

    use shuttle::sync::WaitTimeoutResult;
    pub use shuttle::sync::{Mutex, MutexGuard, atomic};
    pub use shuttle::thread;

    /// Shuttle has no clock: nobody who waits for a time is woken by it.
    pub const REAL_TIME: bool = false;
    pub const REQUESTS: u64 = 48;
    /// Runs of a test, each in another order.
    const ORDERS: usize = 2_000;

    pub fn processors() -> usize {
        2
    }

    pub fn model(test: impl Fn() + Send + Sync + 'static) {
        shuttle::check_random(test, ORDERS);
    }

    /// Shuttle's, which can lose what [`lose`](super::lose) says.
    #[derive(Debug, Default)]
    pub struct Condvar(shuttle::sync::Condvar);

    impl Condvar {
        pub fn new() -> Self {
            Self::default()
        }

        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
            self.0.wait(guard)
        }

        pub fn wait_timeout<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            time: Duration,
        ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
            self.0.wait_timeout(guard, time)
        }

        pub fn notify_one(&self) {
            if !super::lose() {
                self.0.notify_one();
            }
        }

        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

/// Where the queue looks for them.
mod batcher {
    pub(crate) use super::sync;
}

thread_local! {
    /// How many wake-ups are left until one is lost. All threads of a run are one thread of the system.
    static UNTIL_LOST: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Whether this wake-up of one thread is to be lost.
fn lose() -> bool {
    let left = UNTIL_LOST.get();
    UNTIL_LOST.set(left.and_then(|left| left.checked_sub(1)));
    left == Some(0)
}

/// A thread that is told to compute sleeps on, or one whose result is there.
#[test]
fn a_lost_wake_up_is_found() {
    use queue::tests::stub::{LIMITS, Task, queue};

    let lost_after = |wake_ups: Option<usize>| {
        catch_unwind(move || {
            sync::model(move || {
                UNTIL_LOST.set(wake_ups);
                let queue = queue(LIMITS);
                let callers: Vec<_> = (0..3)
                    .map(|name| {
                        let queue = Arc::clone(&queue);
                        sync::thread::spawn(move || assert_eq!(queue.call(Task::named(name), None), Ok(name)))
                    })
                    .collect();
                callers.into_iter().for_each(|caller| caller.join().expect("no panic"));
            });
        })
    };
    assert!(lost_after(None).is_ok());
    for wake_ups in 0..2 {
        let message = lost_after(Some(wake_ups)).expect_err("a lost wake-up");
        let message = message.downcast_ref::<String>().expect("a message");
        assert!(message.contains("deadlock"), "{message}");
    }
}
