//! Requests inside OpenSSL's jobs.
//!
//! A job is a function that can be paused. The program runs it again when the file descriptor in its wait
//! context can be read, or when the function set there was called. The program's event loop runs many jobs
//! one after the other. So a request is not handed to workers at once: it gathers with others of its thread,
//! and its descriptor is signalled. When the loop has come round, the first job that runs again hands over
//! all gathered requests. Any job can do this, so no job depends on another. A full batch is handed over
//! without waiting. A lone request costs one round of a loop that has nothing else to do.

use std::ptr;
use std::sync::Arc;

use zariz::batcher::PrimitiveResult;
use zariz_process::Process;

use super::gather::Gather;
use super::wake::{Paused, Wake, is_in_callback};
use super::{ComputeError, ComputeResult, PerProcessQueue, Primitive, Queue, QueueError, Request, result};
use crate::ffi::libcrypto::Libcrypto;

/// How often a job runs without a result before it blocks its thread. Its program then ignores the file
/// descriptor, or has forbidden jobs to pause.
const PATIENCE: usize = 16;

/// Computes a request of the running job or, outside of jobs, of the thread.
pub fn call(queues: &PerProcessQueue, libcrypto: &Libcrypto, primitive: Primitive) -> ComputeResult {
    let queue = queues.queue();
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
    // SAFETY: the job's wait context, if it has one.
    let wake = if context.is_null() { None } else { unsafe { Wake::of(libcrypto, context) } };
    // Two jobs with one wait context cannot be woken separately: the second blocks its thread.
    match wake.filter(|wake| wake.is_free()) {
        Some(wake) => paused(queue, libcrypto, wake, primitive),
        None => result(queue.call_elsewhere(primitive, None)),
    }
}

/// Whether this thread runs a job, on its small stack.
pub fn is_running(libcrypto: &Libcrypto) -> bool {
    // SAFETY: it has no preconditions.
    !unsafe { (libcrypto.current_job)() }.is_null()
}

/// Makes a request, which the wait context's wake owns.
fn begin(queue: &Arc<Queue>, wake: &Arc<Wake>, primitive: Primitive) -> *const Request {
    let gather = queue.compute().gathers.here();
    let request = Request::new(primitive, Paused::new(wake.clone(), gather.clone()), None);
    let pointer = Arc::as_ptr(&request);
    let job: *const Paused = request.waiter().map_or(ptr::null(), ptr::from_ref);
    wake.keep(request.clone());
    if gather.add(request) >= queue.full() || wake.has_callback() {
        hand_over(queue, &gather);
    } else {
        wake.signal(job);
    }
    pointer
}

/// Hands all gathered requests over to workers.
fn hand_over(queue: &Arc<Queue>, gather: &Gather) {
    let requests = gather.take();
    requests.iter().filter_map(|request| request.waiter()).for_each(Paused::note_handed_over);
    queue.submit(requests);
}

/// Pauses until there is a result. The stack owns nothing while the job is paused: it may be abandoned.
fn paused(
    queue: &Arc<Queue>,
    libcrypto: &Libcrypto,
    wake: &Arc<Wake>,
    primitive: Primitive,
) -> ComputeResult {
    let begun = Process::current();
    let request = begin(queue, wake, primitive);
    let (mut waited, mut idle) = (false, 0);
    loop {
        // Pause at least once, even if there is already a result. Programs read the descriptors of a wait
        // context when its job pauses; haproxy aborts if it finds a new one there later.
        // SAFETY: it has no preconditions.
        let paused = unsafe { (libcrypto.pause_job)() } == 1;
        if Process::current() != begun {
            // The threads that would compute the result are in the parent process.
            return Err(ComputeError::Queue(QueueError::Forked));
        }
        // SAFETY: this job runs again, so its wait context exists; that keeps the wake, which keeps the
        // request.
        let request = unsafe { &*request };
        let Some(job) = request.waiter() else { return Err(ComputeError::Queue(QueueError::Panicked)) };
        let gather = &job.gather;
        wake.clear();
        if !job.is_handed_over() {
            if gather.has_uncollected() && !waited {
                // Jobs with results run in this round, and may make more requests.
                waited = true;
                wake.signal(job);
            } else {
                hand_over(queue, gather);
            }
        } else if !paused || idle > PATIENCE {
            return done(wake, gather, request.wait_for_result());
        } else {
            idle += 1;
        }
        if let Some(outcome) = request.collect() {
            // Wake the other jobs of the batch, so that the next round of the loop finds them. Call no
            // function of the program here: a job's stack is small.
            queue.wake_others(|job| !job.wake.has_callback());
            return done(wake, gather, outcome);
        }
    }
}

/// Returns the result, and drops the request.
fn done(wake: &Wake, gather: &Gather, outcome: Result<PrimitiveResult, QueueError>) -> ComputeResult {
    wake.clear();
    gather.note_collected();
    wake.release();
    result(outcome)
}
