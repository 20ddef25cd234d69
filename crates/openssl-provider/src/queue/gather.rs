//! Gathers the requests of jobs on each thread, until its event loop has come round.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Request;

/// From this many threads on, entries of idle threads are dropped.
const KEPT: usize = 64;

/// The requests that gather on one thread.
#[derive(Default)]
pub struct Gather {
    requests: Mutex<Vec<Arc<Request>>>,
    /// Finished requests whose jobs have not yet fetched the results.
    uncollected: AtomicUsize,
}

impl Gather {
    /// Adds a request, and returns how many there are.
    pub fn add(&self, request: Arc<Request>) -> usize {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(request);
        requests.len()
    }

    /// Takes all requests, for workers. Drops those that no job waits for any more.
    pub fn take(&self) -> Vec<Arc<Request>> {
        let mut requests = mem::take(&mut *self.requests.lock().unwrap_or_else(PoisonError::into_inner));
        requests.retain(|request| Arc::strong_count(request) > 1);
        requests
    }

    /// Whether jobs of this thread have results to fetch: they run in this round of the loop, and may add
    /// requests.
    pub fn has_uncollected(&self) -> bool {
        self.uncollected.load(Ordering::Relaxed) > 0
    }

    pub fn note_finished(&self) {
        self.uncollected.fetch_add(1, Ordering::Relaxed);
    }

    pub fn note_collected(&self) {
        self.uncollected.fetch_sub(1, Ordering::Relaxed);
    }

    fn is_empty(&self) -> bool {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// The gathered requests, by thread.
#[derive(Default)]
pub struct Gathers(Mutex<HashMap<libc::pthread_t, Arc<Gather>>>);

impl Gathers {
    /// The gathered requests of the calling thread.
    pub fn here(&self) -> Arc<Gather> {
        // SAFETY: it has no preconditions. Live threads have different identifiers. A new thread may inherit
        // the identifier of an ended one, and its gathered requests.
        let thread = unsafe { libc::pthread_self() };
        let mut gathers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if gathers.len() >= KEPT && !gathers.contains_key(&thread) {
            gathers.retain(|_, gather| Arc::strong_count(gather) > 1 || !gather.is_empty());
        }
        gathers.entry(thread).or_default().clone()
    }
}
