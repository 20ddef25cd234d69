//! A queue for each process: servers fork after they have loaded their keys, and a child has none of its parent's
//! threads.

use std::fmt;
use std::sync::Arc;

use zariz_process::PerProcess;

use super::queue::{Compute, Queue};

/// The queue of the calling process, made on first use.
pub struct Processes<C: Compute> {
    make: Box<dyn Fn() -> Arc<Queue<C>> + Send + Sync>,
    queues: PerProcess<Arc<Queue<C>>>,
}

impl<C: Compute> Processes<C> {
    /// Queues that a function makes.
    pub fn new(make: impl Fn() -> Arc<Queue<C>> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), queues: PerProcess::new() }
    }

    /// The queue of this process. A parent's queue is left as it is: its locks may be held, and its threads
    /// are not here.
    pub fn queue(&self) -> &Arc<Queue<C>> {
        self.queues.get_or_init(|_| (self.make)())
    }

    /// The queue of this process, if it has one.
    pub fn get(&self) -> Option<&Arc<Queue<C>>> {
        self.queues.get()
    }
}

impl<C: Compute> Drop for Processes<C> {
    fn drop(&mut self) {
        if let Some(queue) = self.queues.get() {
            queue.close();
        }
    }
}

impl<C: Compute> fmt::Debug for Processes<C> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Processes").finish_non_exhaustive()
    }
}
