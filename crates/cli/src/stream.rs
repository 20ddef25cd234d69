//! Processes a long input in batches: several threads, results in order, bounded memory.

use std::collections::BTreeMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use capacity::{Capacity, Closing};

mod capacity;

/// Batches per thread that are being computed or wait: enough that no thread idles while the sink catches up.
const WINDOW_PER_THREAD: usize = 4;

/// How many items to reserve memory for before a batch is read.
const LIKELY_BATCH: usize = 1024;

/// The most threads that are started.
const MOST_THREADS: usize = 1024;

/// The number of threads, and limits on their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Worker threads. A number outside 1 to 1024 is replaced by the nearest.
    pub threads: usize,
    /// The most items in a batch, at least 1.
    pub batch: usize,
    /// The limit on the weight of all items in memory, for all threads together: at this weight, reading
    /// waits. At least 1, in the unit of the weighing function.
    pub weight: u64,
}

/// Applies `work` to batches of items on several threads, and gives the results to `sink` in input order.
///
/// `work` returns one result for each item. Only a few batches per thread are in memory at any time: reading
/// waits until the sink has taken earlier results. The first error of `items` or `sink` ends the run and is
/// returned; results of items before an error of `items` are still delivered. The run ends only when a call
/// of `items` that is under way returns.
///
/// `weigh` returns the weight of an item, which should include the item's result. It counts from when the
/// item is read until the sink has taken the results of its batch. Reading waits while the items in memory
/// weigh `limits.weight` or more, so together they weigh less than that plus the heaviest item. A batch that
/// has used up the capacity is started before it is full.
///
/// The calling thread runs the sink. If fewer threads can be started, those do the work; if none can, the
/// calling thread does. A panic of `items`, `work` or `sink` is passed on to the caller.
pub fn ordered<T: Send, U: Send, E: Send>(
    items: impl Iterator<Item = Result<T, E>> + Send,
    limits: Limits,
    weigh: impl Fn(&T) -> u64 + Send,
    work: impl Fn(Vec<T>) -> Vec<U> + Sync,
    mut sink: impl FnMut(U) -> Result<(), E>,
) -> Result<(), E> {
    let (threads, batch) = (limits.threads.clamp(1, MOST_THREADS), limits.batch.max(1));
    let capacity = Capacity::new(threads * WINDOW_PER_THREAD, limits.weight);
    let reader =
        Mutex::new(Reader { items, weigh, capacity: &capacity, batch, index: 0, ended: false, failed: None });
    let worker = |to_sink: Sender<Option<Batch<U, E>>>| {
        let alarm = Alarm(&to_sink);
        // The thread that waits for capacity holds the lock, so that no other thread reads meanwhile. A
        // poisoned lock means that reading panicked.
        while let Ok(Some(batch)) = reader.lock().map(|mut reader| reader.next()) {
            if alarm.0.send(Some(batch.map(&work))).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        // When the sink is done or fails, workers that wait for capacity return.
        let _closing = Closing(&capacity);
        // `None`: a worker has panicked, and its batch will never come.
        let (to_sink, results) = channel::<Option<Batch<U, E>>>();
        let start = |_: &usize| {
            let (to_sink, worker) = (to_sink.clone(), &worker);
            thread::Builder::new().spawn_scoped(scope, move || worker(to_sink)).is_ok()
        };
        let mut deliver = |batch: Batch<U, E>| -> Result<(), E> {
            batch.contents?.into_iter().try_for_each(&mut sink)?;
            capacity.release(batch.weight);
            Ok(())
        };
        if (0..threads).take_while(start).count() == 0 {
            let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
            while let Some(batch) = reader.next() {
                deliver(batch.map(&work))?;
            }
            return Ok(());
        }
        drop(to_sink);

        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for batch in results {
            // After a panic, return: the other threads find the capacity closed, and the scope passes the
            // panic on.
            let Some(batch) = batch else { return Ok(()) };
            waiting.insert(batch.index, batch);
            while let Some(batch) = waiting.remove(&next) {
                next += 1;
                deliver(batch)?;
            }
        }
        Ok(())
    })
}

/// Items read together, or their results.
struct Batch<T, E> {
    /// Its place among all batches.
    index: usize,
    /// The weight of its items.
    weight: u128,
    /// The items or results, or the error that ended the input.
    contents: Result<Vec<T>, E>,
}

impl<T, E> Batch<T, E> {
    fn map<U>(self, work: impl FnOnce(Vec<T>) -> Vec<U>) -> Batch<U, E> {
        Batch { index: self.index, weight: self.weight, contents: self.contents.map(work) }
    }
}

/// Cuts the input into batches.
struct Reader<'a, I, W, E> {
    items: I,
    weigh: W,
    capacity: &'a Capacity,
    batch: usize,
    index: usize,
    ended: bool,
    /// An error that is returned after the items before it.
    failed: Option<E>,
}

impl<T, E, I: Iterator<Item = Result<T, E>>, W: Fn(&T) -> u64> Reader<'_, I, W, E> {
    /// Waits for capacity, then returns the next batch, or the error in place of its first item; `None` after
    /// the end, after an error, or when the capacity is closed.
    fn next(&mut self) -> Option<Batch<T, E>> {
        if self.ended {
            return None;
        }
        let free = u128::from(self.capacity.wait()?);
        let (mut items, mut weight) = (Vec::with_capacity(self.batch.min(LIKELY_BATCH)), 0);
        let contents = loop {
            if items.len() == self.batch || weight >= free {
                break Ok(items);
            }
            match self.failed.take().map(Err).or_else(|| self.items.next()) {
                Some(Ok(item)) => {
                    weight += u128::from((self.weigh)(&item));
                    items.push(item);
                }
                None => {
                    self.ended = true;
                    break Ok(items);
                }
                Some(Err(error)) if items.is_empty() => {
                    self.ended = true;
                    break Err(error);
                }
                // Return the items before the error first.
                Some(Err(error)) => {
                    self.failed = Some(error);
                    break Ok(items);
                }
            }
        };
        if contents.as_ref().is_ok_and(Vec::is_empty) {
            return None;
        }
        self.capacity.take(weight);
        self.index += 1;
        Some(Batch { index: self.index - 1, weight, contents })
    }
}

/// Sends `None` if it is dropped by a panic.
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
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    use zariz::rsa::{Algorithm, Error, PrivateKey};

    /// [`ordered`], for items without weight.
    fn in_batches<T: Send, U: Send, E: Send>(
        items: impl Iterator<Item = Result<T, E>> + Send,
        threads: usize,
        batch: usize,
        work: impl Fn(Vec<T>) -> Vec<U> + Sync,
        sink: impl FnMut(U) -> Result<(), E>,
    ) -> Result<(), E> {
        ordered(items, Limits { threads, batch, weight: u64::MAX }, |_| 0, work, sink)
    }

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
                in_batches((0..1000).map(Ok::<u64, ()>), threads, batch, slow_first, |x| {
                    out.push(x);
                    Ok(())
                })
                .expect("no error");
                assert_eq!(out, squares((0..1000).collect()));
            }
        }
    }

    #[test]
    fn signatures_of_a_stream_are_in_order() {
        let key = PrivateKey::generate(1024).expect("a key");
        let messages = (0..300u32).map(|i| Ok::<_, Error>(i.to_be_bytes()));
        let work = |batch: Vec<[u8; 4]>| {
            let messages: Vec<&[u8]> = batch.iter().map(|message| &message[..]).collect();
            key.sign_batch(Algorithm::RS256, &messages)
        };
        let mut count = 0u32;
        in_batches(messages, 3, 8, work, |signature| {
            key.public_key().verify(Algorithm::RS256, &count.to_be_bytes(), &signature?)?;
            count += 1;
            Ok(())
        })
        .expect("no error");
        assert_eq!(count, 300);
    }

    #[test]
    fn empty_input_is_done_at_once() {
        in_batches(std::iter::empty::<Result<u64, ()>>(), 2, 8, squares, |_| Err(()))
            .expect("nothing to deliver");
    }

    #[test]
    fn an_input_error_comes_after_what_was_read() {
        let items = (0..100).map(|i| if i == 77 { Err("bad") } else { Ok(i) });
        let mut out = Vec::new();
        let result = in_batches(items, 2, 10, squares, |x| {
            out.push(x);
            Ok(())
        });
        assert_eq!(result, Err("bad"));
        assert_eq!(out, squares((0..77).collect()));
    }

    #[test]
    fn a_sink_error_stops_an_endless_input() {
        let result =
            in_batches((0..).map(Ok), 2, 8, squares, |x| if x > 10_000 { Err("full") } else { Ok(()) });
        assert_eq!(result, Err("full"));
    }

    #[test]
    fn a_panic_of_the_work_is_passed_on() {
        let work =
            |items: Vec<u64>| if items.contains(&500) { panic!("five hundred") } else { squares(items) };
        let run = || in_batches((0..).map(Ok::<u64, ()>), 3, 4, work, |_| Ok(()));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }

    #[test]
    fn reads_no_further_than_its_window() {
        let (read, delivered) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let items = (0..10_000u64).map(|i| {
            read.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ()>(i)
        });
        in_batches(items, 2, 4, squares, |_| {
            let behind = read.load(Ordering::SeqCst) - delivered.fetch_add(1, Ordering::SeqCst);
            assert!(behind <= 2 * WINDOW_PER_THREAD * 4 + 4, "{behind} items in memory");
            Ok(())
        })
        .expect("no error");
    }

    /// A weight from 1 to 100; one in 50 exceeds the whole capacity.
    fn weight(number: u64) -> u64 {
        if number.is_multiple_of(50) { 5000 } else { number * 7919 % 100 + 1 }
    }

    #[test]
    fn one_bound_on_weight_whatever_the_threads() {
        const MOST: u64 = 1000;
        for (threads, batch) in [(1, 1), (2, 64), (16, 1), (16, 7), (64, 64)] {
            let (read, delivered) = (AtomicU64::new(0), AtomicU64::new(0));
            let items = (0..3000).map(|number| {
                let held = read.load(Ordering::SeqCst) - delivered.load(Ordering::SeqCst);
                // A batch is released as a whole, after its last item was delivered.
                assert!(held < MOST, "{held} in memory, and still reading");
                read.fetch_add(weight(number), Ordering::SeqCst);
                Ok::<u64, ()>(number)
            });
            let (limits, mut out) = (Limits { threads, batch, weight: MOST }, Vec::new());
            let slow_first = |items: Vec<u64>| {
                // Later items are read while this one waits.
                (0..if items[0].is_multiple_of(3) { 20 } else { 0 }).for_each(|_| thread::yield_now());
                squares(items)
            };
            ordered(
                items,
                limits,
                |number| weight(*number),
                slow_first,
                |square| {
                    delivered.fetch_add(weight(square.isqrt()), Ordering::SeqCst);
                    out.push(square);
                    Ok(())
                },
            )
            .expect("no error");
            assert_eq!(out, squares((0..3000).collect()), "{threads} threads, batches of {batch}");
        }
    }

    #[test]
    fn one_item_at_a_time_where_each_fills_the_capacity() {
        let (read, delivered) = (AtomicU64::new(0), AtomicU64::new(0));
        let items = (0..200).map(|number| {
            assert_eq!(read.fetch_add(1, Ordering::SeqCst), delivered.load(Ordering::SeqCst));
            Ok::<u64, ()>(number)
        });
        let limits = Limits { threads: 16, batch: 64, weight: 0 };
        ordered(
            items,
            limits,
            |_| u64::MAX,
            squares,
            |_| {
                delivered.fetch_add(1, Ordering::SeqCst);
                Ok(())
            },
        )
        .expect("no error");
        assert_eq!(delivered.into_inner(), 200);
    }

    #[test]
    fn workers_that_wait_for_capacity_end_with_the_sink() {
        let limits = Limits { threads: 8, batch: 2, weight: 4 };
        let result =
            ordered((0..).map(Ok), limits, |_| 1, squares, |x| if x > 10_000 { Err("full") } else { Ok(()) });
        assert_eq!(result, Err("full"));
        let sink = |x| if x > 10_000 { panic!("full") } else { Ok::<(), ()>(()) };
        let run = || ordered((0..).map(Ok), limits, |_| 1, squares, sink);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }
}
