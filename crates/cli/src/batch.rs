//! Work in batches: items in, results out in the same order, on several threads and in bounded memory.

use zeroize::Zeroizing;

use crate::exit::{self, Failure, Outcome};
use crate::lines::{Source, Taken};
use crate::measure::figures::grouped;
use crate::output::Output;
use crate::progress::Progress;
use crate::report;
use crate::stream::{self, Limits};

/// The most items that are worked on together: enough to fill an engine's lanes many times.
const ITEMS: usize = 64;

/// A chunk that takes this much memory gets no more items.
const CHUNK: u64 = 1 << 20;

/// Lines and their results take less memory than this plus the largest of them, for all threads together.
pub const MEMORY: u64 = 64 << 20;

/// The result of one item: its output line, or why it failed. The line is wiped if its type does that.
pub type ItemResult<T = Vec<u8>> = Result<T, String>;

/// How many items succeeded and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Items done.
    pub done: u64,
    /// Items failed.
    pub failed: u64,
}

impl Tally {
    /// The run's outcome if a failed item fails its line. Reports the number of failures.
    pub fn outcome(self, progress: &Progress) -> Outcome {
        if self.failed == 0 {
            return Outcome::Done;
        }
        let total = report::counted(self.done + self.failed, "line");
        progress.failures(format_args!("{} of {total} failed", grouped(self.failed)));
        Outcome::SomeFailed
    }
}

/// Items read together.
struct Chunk<T> {
    items: Vec<T>,
    /// Bytes of input, for the progress.
    bytes: u64,
    /// Bytes that the items and their results take: less than [`CHUNK`] plus one item.
    memory: u64,
}

/// A chunk's results: output lines in order, and errors with the places of their items in the chunk.
struct Finished {
    /// Wiped: it may hold plaintexts.
    text: Zeroizing<Vec<u8>>,
    errors: Vec<(u64, String)>,
    items: u64,
    bytes: u64,
}

/// Gathers the items of `source` into chunks. It never waits for a second item: the items that have arrived
/// make a batch. So a slow writer gets its results at once, and a fast one gets full batches.
struct Chunks<S> {
    source: S,
    /// The longest possible result, as a line.
    result: u64,
    /// Why reading stopped; reported after the items before it.
    failure: Option<Failure>,
}

impl<S> Chunks<S> {
    fn new(source: S, longest: usize) -> Self {
        // One more, for the line end.
        Self { source, result: longest as u64 + 1, failure: None }
    }
}

impl<S: Source> Iterator for Chunks<S> {
    type Item = Result<Chunk<S::Item>, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(failure) = self.failure.take() {
            return Some(Err(failure));
        }
        let mut chunk = Chunk { items: Vec::with_capacity(ITEMS), bytes: 0, memory: 0 };
        while chunk.items.is_empty()
            || (chunk.items.len() < ITEMS && chunk.memory < CHUNK && self.source.is_ready())
        {
            match self.source.next() {
                Ok(Some(Taken { item, bytes, memory })) => {
                    chunk.items.push(item);
                    chunk.bytes += bytes;
                    chunk.memory += memory + self.result;
                }
                Ok(None) => break,
                Err(failure) => {
                    self.failure = Some(failure);
                    break;
                }
            }
        }
        if chunk.items.is_empty() { self.failure.take().map(Err) } else { Some(Ok(chunk)) }
    }
}

/// Runs `work` on all items, on `threads` threads. Each result makes a line of `output`; a failed item makes
/// an empty line, and its failure is reported with its line number. No result may be longer than `longest`
/// bytes.
///
/// Items and their results take less than [`MEMORY`] plus one item and its result, with any number of
/// threads.
pub fn run<S: Source, T: AsRef<[u8]>>(
    source: S,
    threads: usize,
    longest: usize,
    progress: &mut Progress,
    mut output: Option<&mut Output>,
    work: impl Fn(Vec<S::Item>) -> Vec<ItemResult<T>> + Sync,
) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    // Each chunk is one item of the stream: the stream's own batches would wait for slow input.
    let (source, limits) =
        (Chunks::new(source, longest), Limits { threads, batch: 1, weight: MEMORY - CHUNK });
    let finish = |chunks: Vec<Chunk<S::Item>>| chunks.into_iter().map(|chunk| finish(chunk, &work)).collect();
    stream::ordered(
        source,
        limits,
        |chunk| chunk.memory,
        finish,
        |finished: Finished| {
            let first = tally.done + tally.failed + 1;
            for (place, error) in &finished.errors {
                progress.error(format_args!("line {}: {error}", first + place));
            }
            tally.failed += finished.errors.len() as u64;
            tally.done += finished.items - finished.errors.len() as u64;
            if let Some(output) = &mut output {
                // Exit at once: nothing can be delivered any more, and a thread that waits for slow input
                // would only delay the message.
                output.write(&finished.text).unwrap_or_else(|failure| exit::at_once(&failure));
            }
            progress.advance(finished.items, finished.bytes);
            Ok(())
        },
    )?;
    Ok(tally)
}

fn finish<I, T: AsRef<[u8]>>(chunk: Chunk<I>, work: &impl Fn(Vec<I>) -> Vec<ItemResult<T>>) -> Finished {
    let items = chunk.items.len() as u64;
    let results = work(chunk.items);
    // Reserved at once: growing would leave copies behind.
    let length = results.iter().map(|result| result.as_ref().map_or(0, |line| line.as_ref().len()) + 1).sum();
    let (mut text, mut errors) = (Zeroizing::new(Vec::with_capacity(length)), Vec::new());
    for (place, result) in (0..).zip(results) {
        match result {
            Ok(line) => text.extend_from_slice(line.as_ref()),
            Err(error) => errors.push((place, error)),
        }
        text.push(b'\n');
    }
    Finished { text, errors, items, bytes: chunk.bytes }
}

/// Applies `work` to all good items at once. Failed items keep their places and errors.
pub fn among_good<T, U>(
    items: Vec<Result<T, String>>,
    work: impl FnOnce(&[T]) -> Vec<Result<U, String>>,
) -> Vec<Result<U, String>> {
    let mut good = Vec::with_capacity(items.len());
    let places: Vec<Result<(), String>> =
        items.into_iter().map(|item| item.map(|item| good.push(item))).collect();
    let mut results = work(&good).into_iter();
    let result_of = |place: Result<(), String>| {
        // If `work` ever returned too few results, the missing items have failed.
        place.and_then(|()| results.next().unwrap_or_else(|| Err("no result".into())))
    };
    places.into_iter().map(result_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    /// Numbers up to five, and then a failure.
    struct Failing(u64);

    impl Source for Failing {
        type Item = u64;

        fn next(&mut self) -> Result<Option<Taken<u64>>, Failure> {
            self.0 += 1;
            if self.0 > 5 {
                return Err(Failure::Input("six".into()));
            }
            Ok(Some(Taken { item: self.0, bytes: 1, memory: 1 }))
        }

        fn is_ready(&self) -> bool {
            self.0 != 2
        }
    }

    #[test]
    fn a_chunk_never_waits_and_what_came_before_a_failure_is_kept() {
        let chunks = Chunks::new(Failing(0), 0).take(3);
        let chunks: Vec<_> = chunks.map(|chunk| chunk.map(|chunk| chunk.items)).collect();
        assert!(
            matches!(&chunks[..], [Ok(a), Ok(b), Err(_)] if *a == [1, 2] && *b == [3, 4, 5]),
            "{chunks:?}"
        );
    }

    #[test]
    fn bad_items_keep_their_places() {
        let items = vec![Ok(1), Err("two".to_owned()), Ok(3), Ok(4), Err("five".to_owned())];
        let work = |good: &[i32]| {
            good.iter().map(|x| if *x == 3 { Err("three".into()) } else { Ok(10 * x) }).collect()
        };
        let expected = [Ok(10), Err("two".into()), Err("three".into()), Ok(40), Err("five".into())];
        assert_eq!(among_good(items, work), expected);
    }

    /// Counts the long lines in memory, now and at most.
    #[derive(Default)]
    struct Census {
        now: AtomicUsize,
        most: AtomicUsize,
        read: AtomicUsize,
    }

    /// A line that reports a large size.
    struct Line<'a>(&'a Census);

    impl Drop for Line<'_> {
        fn drop(&mut self) {
            self.0.now.fetch_sub(1, Ordering::SeqCst);
        }
    }

    struct LongLines<'a>(&'a Census);

    const LONG: u64 = 20 << 20;
    const LINES: usize = 200;

    impl<'a> Source for LongLines<'a> {
        type Item = Line<'a>;

        fn next(&mut self) -> Result<Option<Taken<Line<'a>>>, Failure> {
            if self.0.read.fetch_add(1, Ordering::SeqCst) >= LINES {
                return Ok(None);
            }
            self.0.most.fetch_max(self.0.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            Ok(Some(Taken { item: Line(self.0), bytes: LONG, memory: LONG }))
        }

        fn is_ready(&self) -> bool {
            true
        }
    }

    #[test]
    fn long_lines_have_one_bound_whatever_the_threads() {
        // The last line may begin when all others take almost `MEMORY`.
        let bound = (MEMORY / LONG) as usize + 1;
        for threads in [1, 2, 16, 64] {
            let census = Census::default();
            let work = |lines: Vec<Line>| {
                // Wait until too many are in memory, or long enough for that: there are always threads that
                // could read.
                (0..100)
                    .take_while(|_| census.now.load(Ordering::SeqCst) <= bound)
                    .for_each(|_| thread::yield_now());
                lines.iter().map(|_| Ok(Vec::new())).collect()
            };
            let mut progress = Progress::new(true, None, "line", false);
            let tally = run(LongLines(&census), threads, 0, &mut progress, None, work).expect("no failure");
            assert_eq!(tally, Tally { done: LINES as u64, failed: 0 });
            let most = census.most.into_inner();
            assert!(most <= bound, "{most} lines of {LONG} bytes in memory, with {threads} threads");
        }
    }

    /// The bound includes the memory that a chunk adds, and results that are longer than their items.
    #[test]
    fn a_chunk_is_a_small_part_of_the_memory() {
        struct Lines(u64);
        impl Source for Lines {
            type Item = ();
            fn next(&mut self) -> Result<Option<Taken<()>>, Failure> {
                Ok(Some(Taken { item: (), bytes: self.0, memory: self.0 }))
            }
            fn is_ready(&self) -> bool {
                true
            }
        }
        for (line, result) in [(1, 0), (1, 2732), (CHUNK / 2, 0), (CHUNK - 1, 1), (LONG, 100), (1, 1 << 20)] {
            let Some(Ok(chunk)) = Chunks::new(Lines(line), result).next() else { panic!("a chunk") };
            assert_eq!(chunk.memory, chunk.items.len() as u64 * (line + result as u64 + 1));
            assert!(chunk.memory < CHUNK + line + result as u64 + 1, "line {line}, result {result}");
        }
    }
}
