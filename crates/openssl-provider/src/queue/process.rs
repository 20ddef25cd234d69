//! A queue for each process: servers fork after they have loaded us, and a child has none of its parent's
//! threads.

use std::sync::Arc;

use zariz_process::PerProcess;

use super::Queue;

/// The queue of the calling process, made on first use.
pub struct Processes {
    make: Box<dyn Fn() -> Arc<Queue> + Send + Sync>,
    queues: PerProcess<Arc<Queue>>,
}

impl Processes {
    /// Queues that a function makes.
    pub fn new(make: impl Fn() -> Arc<Queue> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), queues: PerProcess::new() }
    }

    /// The queue of this process. A parent's queue is left as it is: its locks may be held, and its threads
    /// are not here.
    pub fn queue(&self) -> &Arc<Queue> {
        self.queues.get_or_init(|_| (self.make)())
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        if let Some(queue) = self.queues.get() {
            queue.close();
        }
    }
}
