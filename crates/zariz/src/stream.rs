//! Batches over a long input: several threads, results in order, bounded memory.

use std::collections::BTreeMap;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Batches that may be under way or waiting, for every thread: enough that none idles while the sink catches up.
const WINDOW_PER_THREAD: usize = 4;

/// Room made for a batch before its items are there.
const LIKELY_BATCH: usize = 1024;

/// Applies `work` to batches of `batch` items on `threads` threads, and gives the results to `sink` in input order.
///
/// `work` returns as many results as it is given items. At most a few batches for each thread are in memory at any
/// time: reading waits until the sink has taken what came before. The first error of `items` or `sink` ends the run and
/// is returned; what came before an error of `items` is still delivered.
pub fn ordered<T: Send, U: Send, E: Send>(
    items: impl Iterator<Item = Result<T, E>> + Send,
    threads: usize,
    batch: usize,
    work: impl Fn(Vec<T>) -> Vec<U> + Sync,
    mut sink: impl FnMut(U) -> Result<(), E>,
) -> Result<(), E> {
    let (threads, batch) = (threads.max(1), batch.max(1));
    let window = threads.saturating_mul(WINDOW_PER_THREAD);
    thread::scope(|scope| {
        let (to_workers, from_reader) = sync_channel::<(usize, Vec<T>)>(window);
        let from_reader = Arc::new(Mutex::new(from_reader));
        // `None`: a worker has panicked, and what it worked on will never come.
        let (to_sink, results) = channel::<Option<(usize, Result<Vec<U>, E>)>>();
        // A batch may be read when a permit is free; delivering a batch frees its permit.
        let (release, permits) = channel::<()>();
        for _ in 0..window {
            // Cannot fail: the receiver is alive here.
            let _ = release.send(());
        }

        let to_sink_from_reader = to_sink.clone();
        scope.spawn(move || {
            let mut items = items;
            let mut index = 0;
            // A closed channel means that the sink has given up: stop reading.
            while permits.recv().is_ok() {
                let mut next = Vec::with_capacity(batch.min(LIKELY_BATCH));
                let mut error = None;
                for item in items.by_ref().take(batch) {
                    match item {
                        Ok(item) => next.push(item),
                        Err(e) => {
                            error = Some(e);
                            break;
                        }
                    }
                }
                let ended = next.is_empty();
                if !ended && to_workers.send((index, next)).is_err() {
                    return;
                }
                index += usize::from(!ended);
                if let Some(error) = error {
                    let _ = to_sink_from_reader.send(Some((index, Err(error))));
                    return;
                }
                if ended {
                    return;
                }
            }
        });

        let work = &work;
        for _ in 0..threads {
            let (to_sink, from_reader) = (to_sink.clone(), Arc::clone(&from_reader));
            scope.spawn(move || {
                let alarm = Alarm(&to_sink);
                loop {
                    let receiver = from_reader.lock().unwrap_or_else(PoisonError::into_inner);
                    let received = receiver.recv();
                    drop(receiver);
                    let Ok((index, items)) = received else { return };
                    if alarm.0.send(Some((index, Ok(work(items))))).is_err() {
                        return;
                    }
                }
            });
        }
        drop((to_sink, from_reader));

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
