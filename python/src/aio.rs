//! Requests of asyncio: `zariz/aio.py` awaits the results of a batcher.
//!
//! An event loop has one [`Inbox`]. The first of several finished requests makes its pipe readable, without
//! the interpreter. The loop then calls [`Inbox::drain`] for all their results, and gives them to their
//! futures. So a worker never waits for Python, and a loop is woken once per batch.

use std::collections::HashMap;
use std::future::Future;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use pyo3::exceptions::PyOSError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use zariz::batcher::{Error, Job, Pending, Policy, WhenFull};
use zariz::rsa::Message;
use zeroize::Zeroizing;

use crate::error::{Failure, error};
use crate::keys;
use crate::numbers::{Batch, Width};
use crate::private_key::PrivateKey;

/// Shorter messages are hashed without releasing the interpreter, like in Python's hashlib.
const SHORT: usize = 2048;

/// Computes the requests of many callers in batches.
///
/// `threads`: the most batches at once, one for each processor by default. `max_batch`: the most requests in
/// a batch. `capacity`: with `refuse=True`, a request is refused if this many wait; otherwise any number may
/// wait, first come, first served. `linger`: the seconds that a request waits for others to fill the lanes;
/// by default it waits for none. A child of `fork` has a queue of its own.
///
/// >>> from zariz import PrivateKey, aio
/// >>> batcher = aio.Batcher(threads=1, capacity=100, refuse=True)
/// >>> signer = aio.Signer(PrivateKey.generate(2048), batcher=batcher)
/// >>> batcher.metrics()["operations"]
/// 0
#[pyclass(frozen, module = "zariz.aio")]
pub struct Batcher(zariz::batcher::Batcher);

#[pymethods]
impl Batcher {
    #[new]
    #[pyo3(signature = (*, threads=None, max_batch=None, capacity=None, refuse=false, linger=None))]
    fn new(
        py: Python<'_>,
        threads: Option<usize>,
        max_batch: Option<usize>,
        capacity: Option<usize>,
        refuse: bool,
        linger: Option<f64>,
    ) -> PyResult<Self> {
        let mut builder = zariz::batcher::Batcher::builder();
        let given = [("threads", threads), ("max_batch", max_batch), ("capacity", capacity)];
        if let Some((name, _)) = given.iter().find(|(_, number)| *number == Some(0)) {
            return Err(error(py, &format!("{name} is 0; give at least 1, or leave it out")));
        }
        if let Some(threads) = threads {
            builder = builder.threads(threads);
        }
        if let Some(requests) = max_batch {
            builder = builder.max_batch(requests);
        }
        if let Some(requests) = capacity {
            builder = builder.capacity(requests);
        }
        if refuse {
            builder = builder.when_full(WhenFull::Refuse);
        }
        if let Some(seconds) = linger {
            if !(0.0..=60.0).contains(&seconds) {
                return Err(error(
                    py,
                    &format!("linger is {seconds}; give seconds from 0 to 60, such as 0.002"),
                ));
            }
            builder = builder.policy(Policy::Throughput { linger: Duration::from_secs_f64(seconds) });
        }
        Ok(Self(builder.build()))
    }

    /// Counters of this process: `operations`, `batches`, `largest_batch`, `mean_batch`, `refused`,
    /// `expired`, `withdrawn`, and `waits`: how many requests waited below 1 µs until their batch began, then
    /// below 2, 4, 8 and so on.
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (metrics, dict) = (self.0.metrics(), PyDict::new(py));
        dict.set_item("operations", metrics.operations)?;
        dict.set_item("batches", metrics.batches)?;
        dict.set_item("largest_batch", metrics.largest_batch)?;
        dict.set_item("mean_batch", metrics.operations as f64 / metrics.batches.max(1) as f64)?;
        dict.set_item("refused", metrics.refused)?;
        dict.set_item("expired", metrics.expired)?;
        dict.set_item("withdrawn", metrics.withdrawn)?;
        dict.set_item("waits", metrics.waits.to_vec())?;
        Ok(dict)
    }
}

/// The requests that may have results, and how the loop is woken. Holds no Python object, since workers hold
/// it.
struct Bell {
    ready: Mutex<Vec<u64>>,
    /// The writing end of the pipe. Neither end blocks, and at most one byte is inside.
    writer: UnixStream,
}

/// One request's part of the bell.
struct Ring {
    bell: Arc<Bell>,
    request: u64,
}

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut ready = lock(&self.bell.ready);
        ready.push(self.request);
        if ready.len() == 1 {
            // There is space for the one byte. If the reader is gone, so is the loop.
            let _ = (&self.bell.writer).write(&[1]);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

type Outcome = Result<Zeroizing<Vec<u8>>, Error>;

enum Waiting {
    Signature(Pending<Vec<u8>>),
    Message(Pending<Zeroizing<Vec<u8>>>),
    /// The result came at once.
    Done(Option<Outcome>),
}

impl Waiting {
    fn poll(&mut self, context: &mut Context) -> Poll<Outcome> {
        match self {
            Self::Signature(pending) => {
                Pin::new(pending).poll(context).map(|result| result.map(Zeroizing::new))
            }
            Self::Message(pending) => Pin::new(pending).poll(context),
            Self::Done(result) => result.take().map_or(Poll::Pending, Poll::Ready),
        }
    }
}

/// A request, and the asyncio future that gets its result.
struct Entry {
    waiting: Waiting,
    waker: Waker,
    future: Py<PyAny>,
}

impl Entry {
    fn poll(&mut self) -> Poll<Outcome> {
        self.waiting.poll(&mut Context::from_waker(&self.waker))
    }
}

#[derive(Default)]
struct Entries {
    next: u64,
    of: HashMap<u64, Entry>,
}

/// The requests of one event loop.
#[pyclass(frozen, module = "zariz._zariz")]
pub struct Inbox {
    bell: Arc<Bell>,
    /// The reading end.
    reader: UnixStream,
    entries: Mutex<Entries>,
}

impl Inbox {
    /// Puts a request into its queue: its first poll does so, and rings. The loop polls it again when its
    /// other ready tasks have added their requests; then the computation begins.
    fn start(&self, waiting: Waiting, future: Py<PyAny>) -> u64 {
        let mut entries = lock(&self.entries);
        let request = entries.next;
        let waker = Waker::from(Arc::new(Ring { bell: self.bell.clone(), request }));
        let mut entry = Entry { waiting, waker, future };
        if let Poll::Ready(result) = entry.poll() {
            entry.waiting = Waiting::Done(Some(result));
            entry.waker.wake_by_ref();
        }
        entries.next += 1;
        entries.of.insert(request, entry);
        request
    }
}

fn raised(py: Python<'_>, failure: Error) -> PyErr {
    match failure {
        Error::Rsa(failure) => Failure::from(failure).exception(py, None),
        other => error(py, &other.to_string()),
    }
}

#[pymethods]
impl Inbox {
    #[new]
    fn new() -> PyResult<Self> {
        let made = || -> io::Result<_> {
            let (reader, writer) = UnixStream::pair()?;
            reader.set_nonblocking(true)?;
            writer.set_nonblocking(true)?;
            Ok((reader, writer))
        };
        let (reader, writer) = made().map_err(|failure| {
            PyOSError::new_err((
                failure.raw_os_error().unwrap_or(0),
                format!("no pair of sockets can be made: {failure}"),
            ))
        })?;
        let bell = Arc::new(Bell { ready: Mutex::default(), writer });
        Ok(Self { bell, reader, entries: Mutex::default() })
    }

    /// The descriptor that becomes readable when `drain` has something to do.
    fn fileno(&self) -> i32 {
        self.reader.as_raw_fd()
    }

    /// Requests a signature. Returns the number of the request, for `withdraw`.
    fn sign(
        &self,
        batcher: &Batcher,
        key: &PrivateKey,
        future: &Bound<'_, PyAny>,
        message: &Bound<'_, PyAny>,
        algorithm: &str,
        prehashed: bool,
    ) -> PyResult<u64> {
        let py = message.py();
        let algorithm = keys::algorithm(py, algorithm)?;
        let read = Batch::read_one(message, "message", Width::NoInts)?;
        let kind = if prehashed { Message::Digest } else { Message::Bytes };
        let make = || Job::sign(&key.0, algorithm, kind(read.get(0)));
        // Releasing is only worth it for long messages: another Python thread may keep the interpreter for
        // longer than a short one takes.
        let job = if read.get(0).len() < SHORT { make() } else { py.detach(make) };
        let job = job.map_err(|failure| Failure::from(failure).exception(py, None))?;
        Ok(self.start(Waiting::Signature(batcher.0.submit(job)), future.clone().unbind()))
    }

    /// Requests the message of a ciphertext. Returns the number of the request, for `withdraw`.
    fn decrypt(
        &self,
        batcher: &Batcher,
        key: &PrivateKey,
        future: &Bound<'_, PyAny>,
        ciphertext: &Bound<'_, PyAny>,
        padding: &str,
        label: Option<&[u8]>,
    ) -> PyResult<u64> {
        let py = ciphertext.py();
        let padding = keys::padding(py, padding, label.unwrap_or_default())?;
        let read = Batch::read_one(ciphertext, "ciphertext", Width::NoInts)?;
        let job = Job::decrypt(&key.0, &padding, read.get(0))
            .map_err(|failure| Failure::from(failure).exception(py, None))?;
        Ok(self.start(Waiting::Message(batcher.0.submit(job)), future.clone().unbind()))
    }

    /// Withdraws a request, if it has no result yet.
    fn withdraw(&self, request: u64) {
        let entry = lock(&self.entries).of.remove(&request);
        drop(entry);
    }

    /// How many requests have no result yet.
    fn __len__(&self) -> usize {
        lock(&self.entries).of.len()
    }

    /// The results so far: each future with its bytes or its exception. The caller gives them to the futures,
    /// because that runs Python code. If Python ends meanwhile, it unwinds the thread (before 3.14), which
    /// aborts inside Rust functions that wait for that code.
    fn drain<'py>(&self, py: Python<'py>) -> Vec<(Py<PyAny>, Bound<'py, PyAny>)> {
        let ready = {
            let mut ready = lock(&self.bell.ready);
            let _ = (&self.reader).read(&mut [0; 8]);
            std::mem::take(&mut *ready)
        };
        let mut done = Vec::with_capacity(ready.len());
        let mut entries = lock(&self.entries);
        for request in ready {
            if let Some(Poll::Ready(result)) = entries.of.get_mut(&request).map(Entry::poll)
                && let Some(entry) = entries.of.remove(&request)
            {
                done.push((entry.future, result));
            }
        }
        // Making an exception may run code that makes requests.
        drop(entries);
        let give = |result: Outcome| match result {
            Ok(bytes) => PyBytes::new(py, &bytes).into_any(),
            Err(failure) => raised(py, failure).into_value(py).into_bound(py).into_any(),
        };
        done.into_iter().map(|(future, result)| (future, give(result))).collect()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let entries = match self.entries.try_lock() {
            Ok(entries) => entries,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        entries.of.values().try_for_each(|entry| visit.call(&entry.future))
    }

    fn __clear__(&self) {
        let entries = std::mem::take(&mut lock(&self.entries).of);
        drop(entries);
    }
}
