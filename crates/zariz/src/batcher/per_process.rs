//! A queue for each process. Servers load their keys and then fork; a child has none of its parent's threads.

use std::fmt;
use std::sync::Arc;

use zariz_process::PerProcess;

use super::queue::{Compute, Queue};

/// The queue of the calling process, made on first use.
pub struct PerProcessQueue<C: Compute> {
    make: Box<dyn Fn() -> Arc<Queue<C>> + Send + Sync>,
    queues: PerProcess<Arc<Queue<C>>>,
}

impl<C: Compute> PerProcessQueue<C> {
    /// `make` makes the queue of each process.
    pub fn new(make: impl Fn() -> Arc<Queue<C>> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), queues: PerProcess::new() }
    }

    /// The queue of this process. A forked child does not touch its parent's queue: the locks may be held,
    /// and the threads do not exist here.
    pub fn queue(&self) -> &Arc<Queue<C>> {
        self.queues.get_or_init(|_| (self.make)())
    }

    /// The queue of this process, if it has one.
    pub fn get(&self) -> Option<&Arc<Queue<C>>> {
        self.queues.get()
    }
}

impl<C: Compute> Drop for PerProcessQueue<C> {
    fn drop(&mut self) {
        if let Some(queue) = self.queues.get() {
            queue.close();
        }
    }
}

impl<C: Compute> fmt::Debug for PerProcessQueue<C> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("PerProcessQueue").finish_non_exhaustive()
    }
}
