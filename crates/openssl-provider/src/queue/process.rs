//! A queue for each process: servers fork after they have loaded us, and a child has none of its parent's threads.

use std::process;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Once};

use super::Queue;

/// The queue of the process that asks, made when it first does.
pub struct Processes {
    make: Box<dyn Fn() -> Arc<Queue> + Send + Sync>,
    current: AtomicPtr<OfProcess>,
}

struct OfProcess {
    id: Id,
    queue: Arc<Queue>,
}

/// A process: how many forks led to it since we were loaded, and its number. Neither would do: numbers come again in other
/// namespaces, and there are ways to fork that tell nobody.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Id(u64, u32);

static FORKS: AtomicU64 = AtomicU64::new(0);

extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

impl Id {
    fn now() -> Self {
        Self(forks(), process::id())
    }
}

impl Processes {
    /// With queues made by a function.
    pub fn new(make: impl Fn() -> Arc<Queue> + Send + Sync + 'static) -> Self {
        static COUNT_FORKS: Once = Once::new();
        COUNT_FORKS.call_once(|| {
            // SAFETY: the function only counts, and we are never removed from memory. Without memory for it, numbers must do.
            let _ = unsafe { libc::pthread_atfork(None, None, Some(forked)) };
        });
        Self { make: Box::new(make), current: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The queue of this process.
    pub fn queue(&self) -> &Arc<Queue> {
        let id = Id::now();
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

/// How many forks led here since we were loaded: whether there was one can be seen without a call of the system.
pub fn forks() -> u64 {
    FORKS.load(Ordering::Relaxed)
}

impl Drop for Processes {
    fn drop(&mut self) {
        let current = *self.current.get_mut();
        // SAFETY: null, or a box of ours; nobody uses it any more.
        if unsafe { current.as_ref() }.is_some_and(|of_process| of_process.id == Id::now()) {
            // SAFETY: as above.
            unsafe { Box::from_raw(current) }.queue.close();
        }
    }
}
