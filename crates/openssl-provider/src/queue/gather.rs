//! Requests of jobs gather on each thread until its event loop has come round.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::request::Request;

/// Threads known before those that are idle are forgotten.
const KEPT: usize = 64;

/// What gathers on one thread.
#[derive(Default)]
pub struct Gather {
    requests: Mutex<Vec<Arc<Request>>>,
    /// Requests that are answered, and whose jobs have not come for the answers.
    uncollected: AtomicUsize,
}

impl Gather {
    /// Adds a request, and tells how many there are.
    pub fn add(&self, request: Arc<Request>) -> usize {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(request);
        requests.len()
    }

    /// All of them, for workers, but those that nobody waits for any more; they are marked as handed over.
    pub fn take(&self) -> Vec<Arc<Request>> {
        let mut requests = mem::take(&mut *self.requests.lock().unwrap_or_else(PoisonError::into_inner));
        requests.retain(|request| Arc::strong_count(request) > 1);
        requests.iter().for_each(|request| request.note_handed_over());
        requests
    }

    /// Whether answers wait for jobs of this thread: these will run in the present round of the loop, and may ask again.
    pub fn has_uncollected(&self) -> bool {
        self.uncollected.load(Ordering::Relaxed) > 0
    }

    pub fn note_answered(&self) {
        self.uncollected.fetch_add(1, Ordering::Relaxed);
    }

    pub fn note_collected(&self) {
        self.uncollected.fetch_sub(1, Ordering::Relaxed);
    }

    fn is_empty(&self) -> bool {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// What gathers, by thread.
#[derive(Default)]
pub struct Gathers(Mutex<HashMap<libc::pthread_t, Arc<Gather>>>);

impl Gathers {
    /// That of the calling thread.
    pub fn here(&self) -> Arc<Gather> {
        // SAFETY: it has no preconditions. Threads that are alive have different ones; a new thread may inherit that of one
        // that has ended, and what it left.
        let thread = unsafe { libc::pthread_self() };
        let mut gathers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if gathers.len() >= KEPT && !gathers.contains_key(&thread) {
            gathers.retain(|_, gather| Arc::strong_count(gather) > 1 || !gather.is_empty());
        }
        gathers.entry(thread).or_default().clone()
    }
}
