//! Batches over a long input: several threads, results in order, bounded memory.

use std::collections::BTreeMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Batches that may be under way or waiting, for every thread: enough that none idles while the sink catches up.
const WINDOW_PER_THREAD: usize = 4;

/// Room made for a batch before its items are there.
const LIKELY_BATCH: usize = 1024;

/// More threads than this are never started.
const MOST_THREADS: usize = 1024;

/// Applies `work` to batches of `batch` items on `threads` threads, and gives the results to `sink` in input order.
///
/// `work` returns as many results as it is given items. At most a few batches for each thread are in memory at any
/// time: reading waits until the sink has taken what came before. The first error of `items` or `sink` ends the run and
/// is returned; what came before an error of `items` is still delivered. The run ends only when a call of `items` that
/// is under way returns.
///
/// The calling thread runs the sink. Where fewer threads can be started than asked for, those do the work; where none
/// can, the calling thread does.
pub fn ordered<T: Send, U: Send, E: Send>(
    items: impl Iterator<Item = Result<T, E>> + Send,
    threads: usize,
    batch: usize,
    work: impl Fn(Vec<T>) -> Vec<U> + Sync,
    mut sink: impl FnMut(U) -> Result<(), E>,
) -> Result<(), E> {
    let (threads, batch) = (threads.clamp(1, MOST_THREADS), batch.max(1));
    let reader = Mutex::new(Reader { items, batch, index: 0, ended: false, failed: None });
    // A batch may be read when a permit is free; delivering a batch frees its permit.
    let (release, permits) = channel::<()>();
    let permits = Mutex::new(permits);
    let worker = |to_sink: Sender<Option<Batch<U, E>>>| {
        let alarm = Alarm(&to_sink);
        // A closed channel means that the sink has given up; a poisoned lock, that reading panicked.
        while permits.lock().is_ok_and(|permits| permits.recv().is_ok()) {
            let Ok(read) = reader.lock().map(|mut reader| reader.next()) else { return };
            let Some((index, read)) = read else { return };
            if alarm.0.send(Some((index, read.map(&work)))).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads * WINDOW_PER_THREAD {
            // Cannot fail: the receiver is alive.
            let _ = release.send(());
        }
        // `None`: a worker has panicked, and what it worked on will never come.
        let (to_sink, results) = channel::<Option<Batch<U, E>>>();
        let start = |_: &usize| {
            let (to_sink, worker) = (to_sink.clone(), &worker);
            thread::Builder::new().spawn_scoped(scope, move || worker(to_sink)).is_ok()
        };
        if (0..threads).take_while(start).count() == 0 {
            let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
            while let Some((_, read)) = reader.next() {
                read.map(&work)?.into_iter().try_for_each(&mut sink)?;
            }
            return Ok(());
        }
        drop(to_sink);

        let release = release; // dropped on return, which ends the workers
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for result in results {
            // On a panic, leave: everybody else then finds a closed channel, and the scope passes the panic on.
            let Some((index, result)) = result else { return Ok(()) };
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&next) {
                next += 1;
                result?.into_iter().try_for_each(&mut sink)?;
                let _ = release.send(());
            }
        }
        Ok(())
    })
}

/// A batch's place among all, and its items or results, or the error that ended the input.
type Batch<T, E> = (usize, Result<Vec<T>, E>);

/// Cuts the input into batches.
struct Reader<I, E> {
    items: I,
    batch: usize,
    index: usize,
    ended: bool,
    /// An error that waits for the items before it to go.
    failed: Option<E>,
}

impl<T, E, I: Iterator<Item = Result<T, E>>> Reader<I, E> {
    /// The next batch, or the error that came in place of its first item; nothing after the end or an error.
    fn next(&mut self) -> Option<Batch<T, E>> {
        if self.ended {
            return None;
        }
        let mut items = Vec::with_capacity(self.batch.min(LIKELY_BATCH));
        let read = loop {
            if items.len() == self.batch {
                break Ok(items);
            }
            match self.failed.take().map(Err).or_else(|| self.items.next()) {
                Some(Ok(item)) => items.push(item),
                None => {
                    self.ended = true;
                    break Ok(items);
                }
                Some(Err(error)) if items.is_empty() => {
                    self.ended = true;
                    break Err(error);
                }
                // What came before goes first.
                Some(Err(error)) => {
                    self.failed = Some(error);
                    break Ok(items);
                }
            }
        };
        if read.as_ref().is_ok_and(Vec::is_empty) {
            return None;
        }
        self.index += 1;
        Some((self.index - 1, read))
    }
}

/// Sends `None` when it is dropped by a panic.
struct Alarm<'a, T>(&'a Sender<Option<T>>);

impl<T> Drop for Alarm<'_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = self.0.send(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn squares(items: Vec<u64>) -> Vec<u64> {
        items.into_iter().map(|x| x * x).collect()
    }

    #[test]
    fn keeps_order_whatever_the_threads() {
        for threads in [1, 2, 7] {
            for batch in [1, 3, 64, 5000] {
                let mut out = Vec::new();
                let slow_first = |items: Vec<u64>| {
                    if items[0].is_multiple_of(5) {
                        thread::yield_now();
                    }
                    squares(items)
                };
                ordered((0..1000).map(Ok::<u64, ()>), threads, batch, slow_first, |x| {
                    out.push(x);
                    Ok(())
                })
                .expect("no error");
                assert_eq!(out, squares((0..1000).collect()));
            }
        }
    }

    #[test]
    fn empty_input_is_done_at_once() {
        ordered(std::iter::empty::<Result<u64, ()>>(), 2, 8, squares, |_| Err(())).expect("nothing to deliver");
    }

    #[test]
    fn an_input_error_comes_after_what_was_read() {
        let items = (0..100).map(|i| if i == 77 { Err("bad") } else { Ok(i) });
        let mut out = Vec::new();
        let result = ordered(items, 2, 10, squares, |x| {
            out.push(x);
            Ok(())
        });
        assert_eq!(result, Err("bad"));
        assert_eq!(out, squares((0..77).collect()));
    }

    #[test]
    fn a_sink_error_stops_an_endless_input() {
        let result = ordered((0..).map(Ok), 2, 8, squares, |x| if x > 10_000 { Err("full") } else { Ok(()) });
        assert_eq!(result, Err("full"));
    }

    #[test]
    fn a_panic_of_the_work_is_passed_on() {
        let work = |items: Vec<u64>| if items.contains(&500) { panic!("five hundred") } else { squares(items) };
        let run = || ordered((0..).map(Ok::<u64, ()>), 3, 4, work, |_| Ok(()));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }

    #[test]
    fn reads_no_further_than_its_window() {
        let (read, delivered) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let items = (0..10_000u64).map(|i| {
            read.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ()>(i)
        });
        ordered(items, 2, 4, squares, |_| {
            let behind = read.load(Ordering::SeqCst) - delivered.fetch_add(1, Ordering::SeqCst);
            assert!(behind <= 2 * WINDOW_PER_THREAD * 4 + 4, "{behind} items in memory");
            Ok(())
        })
        .expect("no error");
    }
}
