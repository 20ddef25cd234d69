//! Batch work: items in, results out in the same order, on several threads and in bounded memory.

use zariz::stream;
use zeroize::Zeroizing;

use crate::exit::{self, Failure, Outcome};
use crate::lines::Source;
use crate::output::Output;
use crate::progress::Progress;
use crate::report;

/// Items that are worked on together: enough to fill an engine's lanes many times over.
const ITEMS: usize = 64;

/// A chunk stops growing here, so that long lines do not add up in memory.
const BYTES: u64 = 1 << 20;

/// The result of one item: what goes to its output line, or why it failed. The line is wiped if its type does that.
pub type ItemResult<T = Vec<u8>> = Result<T, String>;

/// How many items went well, and how many failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Items done.
    pub done: u64,
    /// Items failed.
    pub failed: u64,
}

impl Tally {
    /// The run's outcome where a failed item means a failed line; the number of failures is reported.
    pub fn outcome(self, progress: &Progress) -> Outcome {
        if self.failed == 0 {
            return Outcome::Done;
        }
        let total = report::counted(self.done + self.failed, "line");
        progress.failures(format_args!("{} of {total} failed", report::grouped(self.failed)));
        Outcome::SomeFailed
    }
}

/// Items read together.
struct Chunk<T> {
    items: Vec<T>,
    bytes: u64,
}

/// A chunk's results: output lines in order, and the errors with their items' places in the chunk.
struct Finished {
    /// Wiped: it may hold plaintexts.
    text: Zeroizing<Vec<u8>>,
    errors: Vec<(u64, String)>,
    items: u64,
    bytes: u64,
}

/// Gathers what `source` has into chunks. It never waits for a second item: whatever is there makes a batch, so a slow
/// writer gets its answers at once and a fast one gets full batches.
struct Chunks<S> {
    source: S,
    /// Why reading stopped, to be told after the items that came before.
    failure: Option<Failure>,
}

impl<S: Source> Iterator for Chunks<S> {
    type Item = Result<Chunk<S::Item>, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(failure) = self.failure.take() {
            return Some(Err(failure));
        }
        let mut chunk = Chunk { items: Vec::with_capacity(ITEMS), bytes: 0 };
        while chunk.items.is_empty() || (chunk.items.len() < ITEMS && chunk.bytes < BYTES && self.source.is_ready()) {
            match self.source.next() {
                Ok(Some((item, bytes))) => {
                    chunk.items.push(item);
                    chunk.bytes += bytes;
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

/// Runs `work` over all items on `threads` threads. Each result makes a line of `output`, an empty one if the item
/// failed; failures are reported with their line numbers.
pub fn run<S: Source, T: AsRef<[u8]>>(
    source: S,
    threads: usize,
    progress: &mut Progress,
    mut output: Option<&mut Output>,
    work: impl Fn(Vec<S::Item>) -> Vec<ItemResult<T>> + Sync,
) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    // A chunk is one item of the stream: its size is bounded in bytes, which the stream's own batches are not.
    let finish = |chunks: Vec<Chunk<S::Item>>| chunks.into_iter().map(|chunk| finish(chunk, &work)).collect();
    stream::ordered(Chunks { source, failure: None }, threads, 1, finish, |finished: Finished| {
        let first = tally.done + tally.failed + 1;
        for (place, error) in &finished.errors {
            progress.error(format_args!("line {}: {error}", first + place));
        }
        tally.failed += finished.errors.len() as u64;
        tally.done += finished.items - finished.errors.len() as u64;
        if let Some(output) = &mut output {
            // Nothing can be delivered any more, and a reader that waits for slow input would only hold up the message.
            output.write(&finished.text).unwrap_or_else(|failure| exit::at_once(&failure));
        }
        progress.advance(finished.items, finished.bytes);
        Ok(())
    })?;
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

/// Applies `work` to the good among `items` at once; the bad keep their places and their errors.
pub fn among_good<T, U>(
    items: Vec<Result<T, String>>,
    work: impl FnOnce(&[T]) -> Vec<Result<U, String>>,
) -> Vec<Result<U, String>> {
    let mut good = Vec::with_capacity(items.len());
    let places: Vec<Result<(), String>> = items.into_iter().map(|item| item.map(|item| good.push(item))).collect();
    let mut results = work(&good).into_iter();
    let result_of = |place: Result<(), String>| {
        // `work` gives a result for every item; if it ever did not, the item has failed.
        place.and_then(|()| results.next().unwrap_or_else(|| Err("no result".into())))
    };
    places.into_iter().map(result_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers up to five, and then a failure.
    struct Failing(u64);

    impl Source for Failing {
        type Item = u64;

        fn next(&mut self) -> Result<Option<(u64, u64)>, Failure> {
            self.0 += 1;
            if self.0 > 5 { Err(Failure::Input("six".into())) } else { Ok(Some((self.0, 1))) }
        }

        fn is_ready(&self) -> bool {
            self.0 != 2
        }
    }

    #[test]
    fn a_chunk_never_waits_and_what_came_before_a_failure_is_kept() {
        let chunks = Chunks { source: Failing(0), failure: None }.take(3);
        let chunks: Vec<_> = chunks.map(|chunk| chunk.map(|chunk| chunk.items)).collect();
        assert!(matches!(&chunks[..], [Ok(a), Ok(b), Err(_)] if *a == [1, 2] && *b == [3, 4, 5]), "{chunks:?}");
    }

    #[test]
    fn bad_items_keep_their_places() {
        let items = vec![Ok(1), Err("two".to_owned()), Ok(3), Ok(4), Err("five".to_owned())];
        let work = |good: &[i32]| good.iter().map(|x| if *x == 3 { Err("three".into()) } else { Ok(10 * x) }).collect();
        let expected = [Ok(10), Err("two".into()), Err("three".into()), Ok(40), Err("five".into())];
        assert_eq!(among_good(items, work), expected);
    }
}
