//! A queue for each process: servers fork after they have loaded us, and a child has none of its parent's threads.

use std::process;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::Queue;

/// The queue of the process that asks, made when it first does.
pub struct Processes {
    make: Box<dyn Fn() -> Arc<Queue> + Send + Sync>,
    current: AtomicPtr<OfProcess>,
}

struct OfProcess {
    id: u32,
    queue: Arc<Queue>,
}

impl Processes {
    /// With queues made by a function.
    pub fn new(make: impl Fn() -> Arc<Queue> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), current: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The queue of this process.
    pub fn queue(&self) -> &Arc<Queue> {
        let id = process::id();
        let mut current = self.current.load(Ordering::Acquire);
        loop {
            // SAFETY: null, or a box that is freed by `drop` alone.
            if let Some(of_process) = unsafe { current.as_ref() }.filter(|of_process| of_process.id == id) {
                return &of_process.queue;
            }
            let new = Box::into_raw(Box::new(OfProcess { id, queue: (self.make)() }));
            match self.current.compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire) {
                // The parent's queue is left as it is: its locks may be held, and its threads are not here.
                Ok(_) => current = new,
                Err(other) => {
                    // SAFETY: nobody has seen it.
                    drop(unsafe { Box::from_raw(new) });
                    current = other;
                }
            }
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        let current = *self.current.get_mut();
        // SAFETY: null, or a box of ours; nobody uses it any more.
        if unsafe { current.as_ref() }.is_some_and(|of_process| of_process.id == process::id()) {
            // SAFETY: as above.
            unsafe { Box::from_raw(current) }.queue.close();
        }
    }
}
