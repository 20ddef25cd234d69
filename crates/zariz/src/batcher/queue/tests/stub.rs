//! A computation that returns names, and can be stopped by a gate.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::super::{Compute, Kind, Limits, Queue, Waiter};
use crate::batcher::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::batcher::sync::thread::{Builder, JoinHandle};
use crate::batcher::sync::{Condvar, Mutex};

/// An operation whose result is its name.
#[derive(Debug)]
pub struct Task {
    pub kind: Kind,
    pub name: u64,
    /// Its batch panics.
    panics: bool,
}

impl Task {
    pub fn new(kind: Kind, name: u64) -> Self {
        Self { kind, name, panics: false }
    }

    /// A private operation.
    pub fn named(name: u64) -> Self {
        Self::new(Kind::Private, name)
    }

    pub fn that_panics() -> Self {
        Self { panics: true, ..Self::named(0) }
    }
}

/// Lets threads pass while it is open.
#[derive(Default)]
struct Gate {
    closed: Mutex<bool>,
    opened: Condvar,
}

/// Records the batches that were computed, behind a gate.
#[derive(Default)]
pub struct Stub {
    gate: Gate,
    /// How many batches have begun.
    begun: AtomicUsize,
    batches: Mutex<Vec<Vec<u64>>>,
    /// No thread can be started.
    pub without_threads: AtomicBool,
    /// No thread has enough stack.
    pub without_stack: AtomicBool,
}

impl Stub {
    /// Closes the gate: batches that begin later wait until it is opened.
    pub fn close(&self) {
        *self.gate.closed.lock().expect("no panic") = true;
    }

    pub fn open(&self) {
        *self.gate.closed.lock().expect("no panic") = false;
        self.gate.opened.notify_all();
    }

    /// The names of each batch that was computed, in order.
    pub fn batches(&self) -> Vec<Vec<u64>> {
        self.batches.lock().expect("no panic").clone()
    }

    /// How many batches have begun.
    pub fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }
}

impl Compute for Stub {
    type Operation = Task;
    type Output = u64;
    type Waiter = Arc<Bell>;

    fn kind(task: &Task) -> Kind {
        task.kind
    }

    fn compute(&self, batch: &[&Task]) -> Vec<u64> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let mut closed = self.gate.closed.lock().expect("no panic");
        while *closed {
            closed = self.gate.opened.wait(closed).expect("no panic");
        }
        drop(closed);
        // Not `panic!`: the hook would print a message.
        if batch.iter().any(|task| task.panics) {
            std::panic::resume_unwind(Box::new("meant to"));
        }
        let names: Vec<_> = batch.iter().map(|task| task.name).collect();
        self.batches.lock().expect("no panic").push(names.clone());
        names
    }

    fn start(&self, worker: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        if self.without_threads.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        Builder::new().spawn(worker)
    }

    fn with_stack(&self, work: &mut dyn FnMut()) -> bool {
        let has_stack = !self.without_stack.load(Ordering::SeqCst);
        if has_stack {
            work();
        }
        has_stack
    }
}

/// A waiter that counts its calls.
#[derive(Default)]
pub struct Bell {
    rings: Mutex<usize>,
    rung: Condvar,
    pub finished: AtomicUsize,
    pub forgotten: AtomicUsize,
    /// Panics when its result is forgotten.
    panics_when_forgotten: bool,
    /// A function of the program, called after the ring.
    then: Option<Box<dyn Fn() + Send + Sync>>,
    is_prompt: bool,
}

impl Bell {
    /// With a function of the program.
    pub fn with(then: impl Fn() + Send + Sync + 'static) -> Self {
        Self { then: Some(Box::new(then)), ..Self::default() }
    }

    /// Its waker calls no function of the program.
    pub fn that_is_prompt() -> Self {
        Self { is_prompt: true, ..Self::default() }
    }

    pub fn that_panics() -> Self {
        Self::with(|| std::panic::resume_unwind(Box::new("meant to")))
    }

    pub fn that_panics_when_forgotten() -> Self {
        Self { panics_when_forgotten: true, ..Self::default() }
    }

    /// Its waker blocks until `other` rings.
    pub fn that_waits_for(other: &Arc<Self>) -> Self {
        let other = other.clone();
        Self::with(move || other.wait(1))
    }

    /// How often it has rung.
    pub fn rings(&self) -> usize {
        *self.rings.lock().expect("no panic")
    }

    /// Waits until it has rung this often.
    pub fn wait(&self, often: usize) {
        let mut rings = self.rings.lock().expect("no panic");
        while *rings < often {
            rings = self.rung.wait(rings).expect("no panic");
        }
    }
}

impl Waiter for Arc<Bell> {
    fn is_prompt(&self) -> bool {
        self.is_prompt
    }

    fn finished(&self) {
        self.finished.fetch_add(1, Ordering::SeqCst);
    }

    fn wake(&self) {
        *self.rings.lock().expect("no panic") += 1;
        self.rung.notify_all();
        if let Some(then) = &self.then {
            then();
        }
    }

    fn forgotten(&self) {
        self.forgotten.fetch_add(1, Ordering::SeqCst);
        if self.panics_when_forgotten {
            std::panic::resume_unwind(Box::new("meant to"));
        }
    }
}

/// One batch of at most eight at a time, four lanes.
pub const LIMITS: Limits = Limits { threads: Some(1), max_batch: 8, lanes: 4, capacity: None, linger: None };

/// The limits under each policy. With any `linger`, even zero, workers compute everything.
pub const POLICIES: [Limits; 2] = [LIMITS, Limits { linger: Some(Duration::ZERO), ..LIMITS }];

/// A queue that is closed when dropped.
pub struct Closing(pub Arc<Queue<Stub>>);

impl std::ops::Deref for Closing {
    type Target = Arc<Queue<Stub>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.compute().open();
        self.0.close();
    }
}

pub fn queue(limits: Limits) -> Closing {
    Closing(Queue::new(Stub::default(), limits))
}
