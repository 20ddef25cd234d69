//! Requests of many callers, computed together by the library's queue (`zariz::batcher::queue`).
//!
//! * A thread outside of OpenSSL's jobs computes its own request and those that wait (`Queue::call`); where these
//!   fill the lanes, a worker does. The setting `threads` limits how many batches are computed at once.
//! * In a job, nothing is computed: its stack is small, and its thread has other jobs to run. [`job`] says
//!   how these wait. Worker threads compute for them. Where none can be started, the threads that hand requests
//!   over compute them, on stacks of their own (`crate::stack`), and each other's too. Each of them wakes its
//!   own jobs: a program's function is called by no other thread.
//!
//! No lock is held while a job is paused, or while a job or thread is woken. A paused job's stack owns nothing:
//! its request belongs to the wait context ([`wake`]), since a program that drops a connection frees that, and
//! never runs the job again. Each process has its own queue and workers, since servers fork after they have
//! loaded the provider.

mod gather;
pub mod job;
mod wake;

use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use zariz::batcher::queue::{self, Compute, Kind, Limits};
use zariz::batcher::{self, PrimitiveResult, primitive_many};
use zariz::rsa;
use zeroize::Zeroizing;

use crate::counters::Counters;
use crate::stack;
use gather::Gathers;
use job::Paused;
pub use zariz::batcher::Primitive;
pub use zariz::batcher::queue::Lost;

/// What the library's queue computes here, and what it needs.
pub struct Work {
    counters: Arc<Counters>,
    /// The requests of jobs that nobody has handed over yet.
    gathers: Gathers,
}

/// The requests of a process for one instance of the provider.
pub type Queue = queue::Queue<Work>;
/// A queue for each process.
pub type Processes = batcher::Processes<Work>;
/// One primitive to compute.
pub type Request = queue::Request<Work>;

/// Why there is no result.
#[derive(Clone, Copy, Debug)]
pub enum ComputeError {
    /// An error of the computation.
    Failed(rsa::Error),
    /// It was not computed.
    Lost(Lost),
}

/// The resulting number, as long as the key; or why there is none.
pub type ComputeResult = Result<Zeroizing<Vec<u8>>, ComputeError>;

impl Compute for Work {
    type Operation = Primitive;
    type Output = PrimitiveResult;
    type Waiter = Paused;

    fn kind(primitive: &Primitive) -> Kind {
        primitive.kind()
    }

    fn compute(&self, primitives: &[&Primitive]) -> Box<[PrimitiveResult]> {
        let results = primitive_many(primitives);
        let private = primitives.iter().filter(|primitive| matches!(primitive, Primitive::Private(..))).count();
        self.counters.batch(private as u64, (primitives.len() - private) as u64);
        results.into()
    }

    fn start(&self, worker: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        stack::without_signals(|| Builder::new().name("zariz".into()).spawn(worker))
    }

    fn with_room(&self, work: &mut dyn FnMut()) -> bool {
        matches!(stack::on_another(work), Ok(Ok(())))
    }
}

/// Queues for `threads` threads, and an engine of `lanes` lanes. With zero threads, there are no workers. With zero
/// or no number, at most one batch per processor is computed at once.
pub fn processes(threads: Option<usize>, max_batch: usize, lanes: usize, counters: Arc<Counters>) -> Processes {
    let limits = Limits { threads, max_batch, lanes, capacity: None, linger: None };
    Processes::new(move || Queue::new(Work { counters: counters.clone(), gathers: Gathers::default() }, limits))
}

/// Both sorts of failures in one.
fn result(outcome: Result<PrimitiveResult, Lost>) -> ComputeResult {
    outcome.map_err(ComputeError::Lost)?.map_err(ComputeError::Failed)
}
