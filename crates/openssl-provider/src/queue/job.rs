//! Requests inside OpenSSL's jobs.
//!
//! A job is a function that can be paused: the program runs it again when the file descriptor in its wait
//! context can be read, or when the function set there was called. The program's event loop runs many jobs
//! one after the other, so a request is not handed to workers at once: it gathers on its thread, and its own
//! descriptor is signalled. When the loop has come round, the first job that runs again hands over all
//! gathered requests. Any job can do this, so no job depends on another. A full batch is handed over without
//! waiting. A lone request costs one round of a loop that has nothing else to do.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zariz::batcher::PrimitiveResult;
use zariz::batcher::queue::Waiter;
use zariz_process::Process;

use super::gather::Gather;
use super::wake::{Wake, is_in_callback};
use super::{ComputeError, ComputeResult, Lost, Primitive, Processes, Queue, Request, result};
use crate::ffi::libcrypto::Libcrypto;

/// How often a job may be run without a result before it waits in place: its program ignores the file
/// descriptor, or has forbidden jobs to pause.
const PATIENCE: usize = 16;

/// The job that waits for a request: it belongs to the gathering requests of its thread.
pub struct Paused {
    wake: Arc<Wake>,
    gather: Arc<Gather>,
    /// Whether the request was handed over to workers.
    handed_over: AtomicBool,
}

impl Paused {
    fn is_handed_over(&self) -> bool {
        self.handed_over.load(Ordering::Acquire)
    }

    /// Notes that the request is handed over to workers.
    pub fn note_handed_over(&self) {
        self.handed_over.store(true, Ordering::Release);
    }
}

impl Waiter for Paused {
    /// First, all requests of a batch get their results, so that a job's thread finds them together.
    fn finished(&self) {
        self.gather.note_finished();
    }

    fn wake(&self) {
        self.wake.signal(self);
    }

    /// A descriptor is signalled at once.
    fn is_prompt(&self) -> bool {
        !self.wake.has_callback()
    }

    /// A result that its job never fetched no longer counts as uncollected.
    fn forgotten(&self) {
        self.gather.note_collected();
    }
}

/// The result of a request: of the running job, or of the thread.
pub fn call(processes: &Processes, libcrypto: &Libcrypto, primitive: Primitive) -> ComputeResult {
    let queue = processes.queue();
    if is_in_callback() {
        return result(queue.call_at_once(&primitive));
    }
    // SAFETY: it has no preconditions.
    let job = unsafe { (libcrypto.current_job)() };
    if job.is_null() {
        return result(queue.call(primitive, None));
    }
    // SAFETY: the job that runs.
    let context = unsafe { (libcrypto.wait_ctx)(job) };
    // SAFETY: its wait context, where it has one.
    let wake = if context.is_null() { None } else { unsafe { Wake::of(libcrypto, context) } };
    // Two jobs with one wait context cannot be woken separately: the second waits in place.
    match wake.filter(|wake| wake.is_free()) {
        Some(wake) => paused(queue, libcrypto, wake, primitive),
        None => result(queue.call_elsewhere(primitive, None)),
    }
}

/// Whether a job is running, on its small stack.
pub fn is_running(libcrypto: &Libcrypto) -> bool {
    // SAFETY: it has no preconditions.
    !unsafe { (libcrypto.current_job)() }.is_null()
}

/// Makes a request, and leaves it to the wake, which the wait context keeps.
fn begin(queue: &Arc<Queue>, wake: &Arc<Wake>, primitive: Primitive) -> *const Request {
    let gather = queue.compute().gathers.here();
    let paused = Paused { wake: wake.clone(), gather: gather.clone(), handed_over: AtomicBool::new(false) };
    let request = Request::new(primitive, paused, None);
    let pointer = Arc::as_ptr(&request);
    let job: *const Paused = request.waiter().map_or(ptr::null(), ptr::from_ref);
    wake.keep(request.clone());
    if gather.add(request) >= queue.full() || wake.has_callback() {
        queue.submit(gather.take());
    } else {
        wake.signal(job);
    }
    pointer
}

/// Pauses until there is a result. Nothing on this stack owns anything while it is paused: it may be
/// forgotten.
fn paused(queue: &Arc<Queue>, libcrypto: &Libcrypto, wake: &Arc<Wake>, primitive: Primitive) -> ComputeResult {
    let begun = Process::current();
    let request = begin(queue, wake, primitive);
    let (mut waited, mut idle) = (false, 0);
    loop {
        // Pauses at least once, even if there is already a result: programs read the descriptors of a wait
        // context when its job pauses, and haproxy aborts if it later finds a new one there.
        // SAFETY: it has no preconditions.
        let paused = unsafe { (libcrypto.pause_job)() } == 1;
        if Process::current() != begun {
            // The threads that would compute the result are in another process.
            return Err(ComputeError::Lost(Lost::Forked));
        }
        // SAFETY: this job runs again, so its wait context is there, which keeps the wake, which keeps the
        // request.
        let request = unsafe { &*request };
        let Some(job) = request.waiter() else { return Err(ComputeError::Lost(Lost::Panicked)) };
        let gather = &job.gather;
        wake.clear();
        if !job.is_handed_over() {
            if gather.has_uncollected() && !waited {
                // Jobs with results run in this round, and may make more requests.
                waited = true;
                wake.signal(job);
            } else {
                queue.submit(gather.take());
            }
        } else if !paused || idle > PATIENCE {
            return done(wake, gather, request.wait_for_result());
        } else {
            idle += 1;
        }
        if let Some(outcome) = request.collect() {
            // The next round of the loop finds the other jobs of the batch. A program's function is not called on a
            // job's small stack.
            queue.wake_others(|job| !job.wake.has_callback());
            return done(wake, gather, outcome);
        }
    }
}

/// Returns the result, and forgets the request.
fn done(wake: &Wake, gather: &Gather, outcome: Result<PrimitiveResult, Lost>) -> ComputeResult {
    wake.clear();
    gather.note_collected();
    wake.release();
    result(outcome)
}
