//! Requests of many callers, computed together by the library's queue (`zariz::batcher::provider`).
//!
//! * A thread outside of OpenSSL's jobs computes its own request and others that wait (`Queue::call`); if
//!   these fill the lanes, a worker does. The setting `threads` limits how many batches are computed at once.
//! * Jobs compute nothing: a job's stack is small, and its thread has other jobs to run. Worker threads
//!   compute their requests; [`job`] says how jobs wait. If no worker can be started, the threads that hand
//!   requests over compute them, and each other's, on separate stacks (`crate::stack`). Each of these threads
//!   wakes only its own jobs: no other thread calls the program's function.
//!
//! No lock is held while a job is paused, or while a job or thread is woken. A paused job's stack owns
//! nothing: its request belongs to the wait context ([`wake`]), since a program that drops a connection frees
//! the context, and never runs the job again. Each process has its own queue and workers, since servers fork
//! after they have loaded the provider.

mod gather;
pub mod job;
mod wake;

use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use zariz::batcher::provider::{self as queue, Compute, Kind, Limits};
use zariz::batcher::{self, PrimitiveResult, primitive_many};
use zariz::rsa;
use zeroize::Zeroizing;

use crate::counters::Counters;
use crate::stack;
use gather::Gathers;
use wake::Paused;
pub use zariz::batcher::Primitive;
pub use zariz::batcher::provider::QueueError;

/// The computation of the queue, and its shared state.
pub struct Work {
    counters: Arc<Counters>,
    /// Requests of jobs that are not handed over yet.
    gathers: Gathers,
}

/// The queue of one process, for one instance of the provider.
pub type Queue = queue::Queue<Work>;
/// A queue for each process.
pub type PerProcessQueue = batcher::PerProcessQueue<Work>;
/// One primitive to compute.
pub type Request = queue::Request<Work>;

/// Why there is no result.
#[derive(Clone, Copy, Debug)]
pub enum ComputeError {
    /// An error of the computation.
    Failed(rsa::Error),
    /// The queue did not compute it.
    Queue(QueueError),
}

/// The resulting number, as long as the key.
pub type ComputeResult = Result<Zeroizing<Vec<u8>>, ComputeError>;

impl Compute for Work {
    type Operation = Primitive;
    type Output = PrimitiveResult;
    type Waiter = Paused;

    fn kind(primitive: &Primitive) -> Kind {
        primitive.kind()
    }

    fn compute(&self, primitives: &[&Primitive]) -> Vec<PrimitiveResult> {
        let results = primitive_many(primitives);
        let private =
            primitives.iter().filter(|primitive| matches!(primitive, Primitive::Private(..))).count();
        self.counters.batch(private as u64, (primitives.len() - private) as u64);
        results
    }

    fn start(&self, worker: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        stack::without_signals(|| Builder::new().name("zariz".into()).spawn(worker))
    }

    fn with_stack(&self, work: &mut dyn FnMut()) -> bool {
        matches!(stack::on_another(work), Ok(Ok(())))
    }
}

/// The queues of an engine with `lanes` lanes. With zero `threads`, there are no workers. With zero or
/// `None`, at most one batch per processor is computed at once.
pub fn queues(
    threads: Option<usize>,
    max_batch: usize,
    lanes: usize,
    counters: Arc<Counters>,
) -> PerProcessQueue {
    let limits = Limits { threads, max_batch, lanes, capacity: None, linger: None };
    PerProcessQueue::new(move || {
        Queue::new(Work { counters: counters.clone(), gathers: Gathers::default() }, limits)
    })
}

/// Merges both kinds of errors.
fn result(outcome: Result<PrimitiveResult, QueueError>) -> ComputeResult {
    outcome.map_err(ComputeError::Queue)?.map_err(ComputeError::Failed)
}
