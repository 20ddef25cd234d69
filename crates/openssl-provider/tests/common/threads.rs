//! Threads of tests: joined to their very end, and stopped if they hang.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Calls a function in `count` threads, with their numbers, and waits until the threads have ended. A scope
/// alone waits only for the functions: the threads would still clean up in a library context that the test
/// then frees.
#[track_caller]
pub fn in_threads(count: usize, work: impl Fn(usize) + Sync) {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|number| scope.spawn(move || work(number))).collect();
        let results: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        let failed = results.iter().filter(|result| result.is_err()).count();
        assert_eq!(failed, 0, "of {count} threads failed");
    });
}

/// Aborts the process with a message unless it is dropped within five minutes: a test that hangs would wait
/// for ever.
pub struct Guard(#[allow(dead_code)] Sender<()>);

impl Guard {
    pub fn new(what: &'static str) -> Self {
        let (sender, receiver): (Sender<()>, Receiver<()>) = channel();
        thread::spawn(move || {
            if receiver.recv_timeout(Duration::from_secs(300)) == Err(RecvTimeoutError::Timeout) {
                eprintln!("{what}: still not done after five minutes: hangs");
                std::process::abort();
            }
        });
        Self(sender)
    }
}
