//! Threads that are really over when they are said to be.

use std::thread;

/// Calls a function in so many threads, with their numbers, and waits until the threads have ended. The end
/// of a scope of the standard library waits for the functions alone: OpenSSL would still be cleaning up
/// behind them, in a library context that the test then frees.
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
