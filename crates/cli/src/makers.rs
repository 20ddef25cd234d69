//! Makes keys and primes on several threads. Some take longer than others, so each thread makes them without
//! end, and the caller takes the first that is ready.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::exit::Failure;

/// How many finished ones of all threads may wait for the caller before the threads wait.
const AHEAD: usize = 64;

/// The most lanes that an endless search fills.
const LANES: usize = 8;

/// The results of the threads, in the order in which they are ready. When this is dropped, each thread ends
/// after its next result; the process may end earlier.
pub struct Makers<T>(Receiver<Option<Result<T, Failure>>>);

impl<T: Send + 'static> Makers<T> {
    /// Starts `threads` threads, each with its own endless iterator; fewer if the system refuses some.
    pub fn start<I>(threads: usize, make: impl Fn() -> I) -> Result<Self, Failure>
    where
        I: Iterator<Item = Result<T, Failure>> + Send + 'static,
    {
        let (sender, receiver) = sync_channel(AHEAD);
        for started in 0..threads.max(1) {
            let (mut items, alarm) = (make(), Alarm(sender.clone()));
            let work = move || while items.next().is_some_and(|item| alarm.0.send(Some(item)).is_ok()) {};
            match thread::Builder::new().name("maker".into()).spawn(work) {
                Err(error) if started == 0 => return Err(Failure::io("cannot start a thread", &error)),
                Err(_) => break,
                Ok(_) => {}
            }
        }
        Ok(Self(receiver))
    }
}

impl<T> Iterator for Makers<T> {
    type Item = Result<T, Failure>;

    /// The next result. Panics if a thread has panicked, since its result is missing.
    fn next(&mut self) -> Option<Self::Item> {
        match self.0.recv() {
            Ok(Some(item)) => Some(item),
            Ok(None) => panic!("a thread that makes keys or primes has panicked"),
            Err(_) => None,
        }
    }
}

/// Makes the results of a thread in shares: for few results, a share is ready sooner than everything that an
/// endless search has begun.
pub fn in_shares<T, E>(mut make: impl FnMut() -> Result<Vec<T>, E>) -> impl Iterator<Item = Result<T, E>> {
    std::iter::repeat_with(move || match make() {
        Ok(share) => share.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    })
    .flatten()
}

/// The share of each thread, if it is so small that [`in_shares`] is faster than an endless search.
pub fn small_share(count: u64, threads: usize) -> Option<usize> {
    let share = count.div_ceil(threads.max(1) as u64);
    usize::try_from(share).ok().filter(|share| *share < LANES)
}

/// Sends `None` if it is dropped by a panic.
struct Alarm<T>(SyncSender<Option<T>>);

impl<T> Drop for Alarm<T> {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = self.0.send(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn every_thread_makes_its_own_and_nothing_is_lost() {
        for threads in [1, 2, 7] {
            let next = Arc::new(AtomicU64::new(0));
            let make = || {
                let next = Arc::clone(&next);
                std::iter::repeat_with(move || Ok(next.fetch_add(1, Ordering::SeqCst)))
            };
            let made = Makers::start(threads, make).expect("started");
            let taken: HashSet<u64> = made.take(1000).map(|number| number.expect("no failure")).collect();
            assert_eq!(taken.len(), 1000);
            assert!(
                taken.iter().all(|number| *number < 1000 + AHEAD as u64 + threads as u64),
                "{threads} threads"
            );
        }
    }

    #[test]
    fn small_shares_are_for_small_numbers() {
        for (count, threads, share) in
            [(1, 1, Some(1)), (1, 16, Some(1)), (7, 2, Some(4)), (8, 1, None), (15, 2, None)]
        {
            assert_eq!(small_share(count, threads), share, "{count} by {threads}");
        }
        let mut calls = 0;
        let share = || {
            calls += 1;
            if calls < 3 { Ok(vec![10 * calls, 10 * calls + 1]) } else { Err("no more") }
        };
        let made: Vec<_> = in_shares(share).take(5).collect();
        assert_eq!(made, [Ok(10), Ok(11), Ok(20), Ok(21), Err("no more")]);
    }

    #[test]
    fn a_failure_arrives_and_the_end_too() {
        let make = || [Ok(1), Err(Failure::Input("two".into()))].into_iter();
        let made: Vec<_> = Makers::start(1, make).expect("started").collect();
        assert!(matches!(&made[..], [Ok(1), Err(Failure::Input(text))] if text == "two"), "{made:?}");
    }

    #[test]
    fn a_panic_is_passed_on() {
        let make = || std::iter::repeat_with(|| -> Result<u64, Failure> { panic!("on purpose") });
        let take = || Makers::start(2, make).expect("started").next();
        assert!(std::panic::catch_unwind(take).is_err());
    }
}
