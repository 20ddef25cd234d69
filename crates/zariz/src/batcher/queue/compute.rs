//! What a queue needs from its user: the computation, and how callers that do not block are woken.

use std::fmt;
use std::io;

use crate::batcher::sync::thread::{Builder, JoinHandle};

/// The computation of a queue, and how its threads are started.
pub trait Compute: Send + Sync + Sized + 'static {
    /// The input of a computation.
    type Operation: Send + Sync + 'static;
    /// Its result.
    type Output: Send + 'static;
    /// Waits for the result without blocking a thread.
    type Waiter: Waiter;

    /// The kind of an operation. It must never change.
    fn kind(operation: &Self::Operation) -> Kind;

    /// The results of a batch, in order. All its operations are of one kind. If this panics or returns too
    /// few results, the missing ones become [`QueueError::Panicked`].
    fn compute(&self, batch: &[&Self::Operation]) -> Vec<Self::Output>;

    /// Starts a worker thread.
    ///
    /// # Errors
    /// Why it cannot be started. If there is no worker at all, the threads that bring requests compute them.
    fn start(&self, worker: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        Builder::new().name("zariz".into()).spawn(worker)
    }

    /// Calls `work` on this thread, with a stack that is large enough for computations: about 100 KiB.
    /// Returns false if it could not be called. By default, the thread's own stack is used.
    fn with_stack(&self, work: &mut dyn FnMut()) -> bool {
        work();
        true
    }
}

/// Waits for a result without blocking a thread. The queue holds none of its locks when it calls
/// [`wake`](Self::wake).
pub trait Waiter: Send + Sync + 'static {
    /// The result is there. All requests of a batch get their results before any waiter is woken. The request
    /// is locked during this call, so do no more than count here.
    fn finished(&self) {}

    /// Tells the caller that the result is there.
    fn wake(&self);

    /// Whether [`wake`](Self::wake) returns at once because it calls no function of the program. Otherwise it
    /// is never called by a worker that has more to compute, nor by a thread that blocks in the queue.
    fn is_prompt(&self) -> bool {
        false
    }

    /// The request was dropped, and its result was never taken.
    fn forgotten(&self) {}
}

/// For queues whose callers are all threads that block.
impl Waiter for () {
    fn wake(&self) {}
}

/// The result of an operation.
pub type Outcome<C> = Result<<C as Compute>::Output, QueueError>;

/// Why the queue did not compute a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueueError {
    /// The queue is full.
    Full,
    /// The deadline passed before the request was computed.
    Expired,
    /// No thread can be started to compute the request, and the calling thread has too little stack.
    NoThread,
    /// A forked child asked for the result of its parent's request.
    Forked,
    /// The computation panicked.
    Panicked,
    /// The queue is closed.
    Closed,
}

impl std::error::Error for QueueError {}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "too many requests wait; try again later, or make the queue longer",
            Self::Expired => "the request's deadline passed before it was computed",
            Self::NoThread => "no thread can be started to compute; raise the limit of threads",
            Self::Forked => "the process that made the request has forked; make it again in the child",
            Self::Panicked => "the computation panicked, which is a bug in zariz; please report it",
            Self::Closed => "the queue is closed; make requests before you close it",
        })
    }
}

/// The kind of a request and of its batch. All requests of a batch are of one kind. Kinds are computed in
/// this order.
///
/// Operations with private keys are first: the program chose their keys. Public keys may come from anyone who
/// connects. Long operations are last: their batches take at most half of the slots, but at least one. So a
/// signature waits for at most one long batch in each slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// Operations with private keys of usual lengths.
    Private,
    /// Powers modulo numbers of usual lengths.
    Power,
    /// Operations with public keys of usual lengths.
    Public,
    /// Operations that cost many times as much as usual ones. Their batches fill the lanes only once.
    Long,
}

impl Kind {
    /// All kinds, first to last.
    pub const ALL: [Self; 4] = [Self::Private, Self::Power, Self::Public, Self::Long];
}
