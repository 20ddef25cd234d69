//! What a queue computes, and how those wait who do not block.

use std::fmt;
use std::io;

use super::kind::Kind;
use crate::batcher::sync::thread::{Builder, JoinHandle};

/// What a queue computes, and what its threads need.
pub trait Compute: Send + Sync + Sized + 'static {
    /// What is asked for.
    type Operation: Send + Sync + 'static;
    /// Its result.
    type Output: Send + 'static;
    /// Who waits for it without blocking a thread.
    type Waiter: Waiter;

    /// The kind of an operation. It must always be the same.
    fn kind(operation: &Self::Operation) -> Kind;

    /// The results of a batch, in order. All its operations are of one kind. If this panics, or returns too few
    /// results, those that are missing become [`Lost::Panicked`]. A box is returned in registers: no address is
    /// kept that a fault could change.
    fn compute(&self, batch: &[&Self::Operation]) -> Box<[Self::Output]>;

    /// Starts a thread for a worker.
    ///
    /// # Errors
    /// Why it cannot be started. Without any worker, the threads that bring requests compute them.
    fn start(&self, worker: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        Builder::new().name("zariz".into()).spawn(worker)
    }

    /// Calls `work` on this thread, where its stack has room for computations: about 100 KiB. Returns whether it
    /// was called. By default, the thread's own stack is large enough.
    fn with_room(&self, work: &mut dyn FnMut()) -> bool {
        work();
        true
    }
}

/// Who waits for a result without blocking a thread. The queue holds no lock of its own when it calls
/// [`wake`](Self::wake).
pub trait Waiter: Send + Sync + 'static {
    /// The result is there. All requests of a batch get their results before any of them is woken. The request is
    /// locked meanwhile, so this may only count.
    fn finished(&self) {}

    /// Tells the one who waits that the result is there.
    fn wake(&self);

    /// Whether [`wake`](Self::wake) returns at once, since it calls no function of a program. If not, no worker calls
    /// it that has more to compute, and no thread that blocks in the queue.
    fn is_prompt(&self) -> bool {
        false
    }

    /// The request was dropped, and nobody has taken its result.
    fn forgotten(&self) {}
}

/// Nobody: all requests are those of threads that block.
impl Waiter for () {
    fn wake(&self) {}
}

/// What an operation becomes.
pub type Outcome<C> = Result<<C as Compute>::Output, Lost>;

/// Why a request has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// As many requests wait as may wait.
    Full,
    /// Its time was over before it was computed.
    Expired,
    /// No thread could be started to compute it, and the calling thread's stack has no room.
    NoThread,
    /// The process that made the request has forked, and this is its child.
    Forked,
    /// The computation panicked.
    Panicked,
    /// The queue is closed.
    Closed,
}

impl std::error::Error for Lost {}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "too many requests wait; try again later, or let the queue be longer",
            Self::Expired => "the request's deadline passed before it was computed",
            Self::NoThread => "no thread can be started to compute; raise the limit of threads",
            Self::Forked => "the process that made the request has forked; make it again in the child",
            Self::Panicked => "the computation panicked, which is a bug in zariz; please report it",
            Self::Closed => "the queue is closed; make requests before it is",
        })
    }
}
