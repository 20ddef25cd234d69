//! Long calls: threads, progress and interruptions.
//!
//! Each call starts its own threads, which end with it, so a forked child has nothing to restart. The
//! caller's thread waits without the interpreter, and checks for signals ten times a second. After an
//! interruption the threads finish their current piece, and the results are dropped.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use crate::error::error;

/// How often the caller checks for signals.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How many items are read or written between two checks for signals.
const ITEMS_BETWEEN_CHECKS: usize = 1 << 12;
/// Work up to this time, in seconds on a slow engine, is done on the caller's thread.
const SHORT: f64 = 0.02;
/// The time of a piece of work, in seconds on a slow engine.
const PIECE: f64 = 0.2;
/// The most threads of a call.
const MAX_THREADS: usize = 4096;
/// The most keys or primes that a call makes.
const MAX_MADE: usize = 1 << 30;
/// The fewest items of a piece: the lanes of the widest engine.
const LANES: usize = 8;

/// The estimated seconds of a power with plain 64-bit multiplications, for choosing pieces.
pub fn cost(bits: usize, exponent_bits: usize) -> f64 {
    3.3e-13 * (bits.max(256) as f64).powi(2) * exponent_bits.max(16) as f64
}

/// Checks for signals at every 4096th item.
pub fn check_signals(py: Python<'_>, i: usize) -> PyResult<()> {
    if i.is_multiple_of(ITEMS_BETWEEN_CHECKS) { py.check_signals() } else { Ok(()) }
}

/// The caller's options.
#[derive(Debug)]
pub struct Options {
    threads: usize,
    progress: Option<Py<PyAny>>,
}

impl Options {
    /// `threads`: the most threads, by default one per processor. `progress`: a function that is called with
    /// the number of newly finished items, or an object with such a method `update`, for example a tqdm bar.
    pub fn new(py: Python<'_>, threads: Option<isize>, progress: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let threads = match threads {
            None => thread::available_parallelism().map_or(1, |number| number.get()),
            Some(number) => usize::try_from(number)
                .ok()
                .filter(|number| (1..=MAX_THREADS).contains(number))
                .ok_or_else(|| {
                    error(
                        py,
                        &format!("threads is {number}; give 1 to {MAX_THREADS}, or None for all processors"),
                    )
                })?,
        };
        let progress = progress.filter(|progress| !progress.is_none()).map(|progress| {
            if progress.is_callable() {
                return Ok(progress);
            }
            progress.getattr_opt(intern!(py, "update"))?.ok_or_else(|| {
                PyTypeError::new_err("progress is neither a function nor an object with a method update")
            })
        });
        let progress = progress.transpose()?;
        Ok(Self { threads, progress: progress.map(Bound::unbind) })
    }
}

/// The function that reports progress, if the caller gave one, for work that Python does itself. Refuses bad
/// options like the long calls do.
#[pyfunction]
pub fn reporter(
    py: Python<'_>,
    threads: Option<isize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Option<Py<PyAny>>> {
    Ok(Options::new(py, threads, progress)?.progress)
}

/// Checks how many keys or primes the caller asks for.
pub fn check_made(py: Python<'_>, count: usize) -> PyResult<()> {
    match count {
        ..=MAX_MADE => Ok(()),
        _ => Err(error(py, &format!("count is {count}; give at most {MAX_MADE}"))),
    }
}

/// Computes results for `count` items, in order. `compute` gets a range of them, and a flag that is set when
/// the results are no longer wanted. `each` is the time of one item ([`cost`]).
pub fn run<R: Send + 'static>(
    py: Python<'_>,
    count: usize,
    each: f64,
    options: &Options,
    compute: impl Fn(Range<usize>, &AtomicBool) -> Vec<R> + Send + Sync + 'static,
) -> PyResult<Vec<R>> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let caught = |range| catch_unwind(AssertUnwindSafe(|| compute(range, &AtomicBool::new(false))));
    if each * count as f64 <= SHORT {
        let results = py.detach(|| caught(0..count)).map_err(|_| panicked(py))?;
        report(py, options, count)?;
        return Ok(results);
    }
    let pieces = Arc::new(Pieces::new(count, each, options.threads));
    let compute = Arc::new(compute);
    let (sender, mut receiver) = channel();
    for started in 0..options.threads.min(pieces.count()) {
        let (sender, pieces, compute, stop) =
            (sender.clone(), pieces.clone(), compute.clone(), cancelled.clone());
        let work = move || {
            while let Some((place, range)) = pieces.next().filter(|_| !stop.load(Ordering::Relaxed)) {
                let results = catch_unwind(AssertUnwindSafe(|| compute(range, &stop)));
                if sender.send((place, results)).is_err() {
                    return;
                }
            }
        };
        match thread::Builder::new().name("zariz".into()).spawn(work) {
            Ok(_) => {}
            Err(failure) if started == 0 => {
                return Err(error(py, &format!("cannot start a thread: {failure}")));
            }
            Err(_) => break,
        }
    }
    drop(sender);
    let stop = Stop(&cancelled);
    let process = std::process::id();
    let mut done: BTreeMap<usize, Vec<R>> = BTreeMap::new();
    let (mut news, mut looked) = (0, Instant::now());
    while done.len() < pieces.count() {
        let messages = &mut receiver;
        match py.detach(move || messages.recv_timeout(CHECK_INTERVAL)) {
            Ok((place, results)) => {
                let results = results.map_err(|_| panicked(py))?;
                news += results.len();
                done.insert(place, results);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(panicked(py)),
        }
        if done.len() == pieces.count() || looked.elapsed() >= CHECK_INTERVAL {
            looked = Instant::now();
            py.check_signals()?;
            report(py, options, std::mem::take(&mut news))?;
            if std::process::id() != process {
                return Err(error(
                    py,
                    "progress called os.fork: the child does not have the threads of this call",
                ));
            }
        }
    }
    drop(stop);
    Ok(done.into_values().flatten().collect())
}

/// The result of one piece of work that takes about this many seconds on a slow engine. After an
/// interruption, it ends on its own. Its inputs are dropped before the result is there.
pub fn once<R: Send + 'static>(
    py: Python<'_>,
    seconds: f64,
    compute: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    let options = Options { threads: 1, progress: None };
    let compute = Mutex::new(Some(compute));
    let take = move || compute.lock().unwrap_or_else(PoisonError::into_inner).take();
    let results =
        run(py, 1, seconds, &options, move |_, _| take().map(|compute| compute()).into_iter().collect())?;
    results.into_iter().next().ok_or_else(|| panicked(py))
}

/// When dropped, tells the threads that nobody waits for them.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn report(py: Python<'_>, options: &Options, items: usize) -> PyResult<()> {
    match &options.progress {
        Some(progress) if items > 0 => progress.call1(py, (items,)).map(drop),
        _ => Ok(()),
    }
}

fn panicked(py: Python<'_>) -> PyErr {
    error(py, "zariz failed: this is a bug; please report it, with what it printed")
}

/// Ranges of items, which threads take one after the other.
struct Pieces {
    count: usize,
    size: usize,
    next: AtomicUsize,
}

impl Pieces {
    fn new(count: usize, each: f64, threads: usize) -> Self {
        // At least four for each thread, so that all end at about the same time; whole batches of lanes.
        let fair = count.div_ceil(4 * threads).max(LANES);
        let size = ((PIECE / each) as usize).clamp(LANES, 1 << 16).min(fair).next_multiple_of(LANES);
        Self { count, size, next: AtomicUsize::new(0) }
    }

    fn count(&self) -> usize {
        self.count.div_ceil(self.size)
    }

    fn next(&self) -> Option<(usize, Range<usize>)> {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        let start = place.checked_mul(self.size).filter(|start| *start < self.count)?;
        Some((place, start..(start + self.size).min(self.count)))
    }
}
