//! Results for event loops: a descriptor that is readable while there are some.

use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::async_requests::{Receive, Request, submit};
use crate::batcher::{Batcher, Submission as Job};
use crate::failure::{Failure, Status, ZARIZ_EMPTY, ZARIZ_RESOURCES, guard};
use crate::handle::{free, get, give, handle};
use crate::memory::{Buffer, put_value, zariz_buffer_free};
use crate::numbers::PowJob;
use crate::operations::PrivateJob;

/// A list of results that nobody has taken yet. Any number of threads may use it at once.
pub struct Completions {
    tag: u64,
    value: Arc<List>,
}

handle!(Completions, Arc<List>, b"zrz-comp", "the list of completions");

/// The end of a request.
#[repr(C)]
pub struct Completion {
    /// What came with the request.
    pub context: *mut c_void,
    /// How it ended.
    pub status: Status,
    /// The result. The caller owns it, and frees it with zariz_buffer_free.
    pub result: Buffer,
}

// SAFETY: the context belongs to the caller, who says on which threads requests and results are; the buffer's
// memory has one owner.
unsafe impl Send for Completion {}

/// The results, and a byte in a socket while there are any.
pub(crate) struct List {
    results: Mutex<VecDeque<Completion>>,
    readable: UnixStream,
    writable: UnixStream,
}

impl List {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Completion>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, completion: Completion) {
        let mut results = self.lock();
        results.push_back(completion);
        if results.len() == 1 {
            // One byte always fits.
            let _ = (&self.writable).write(&[0]);
        }
    }

    fn pop(&self) -> Option<Completion> {
        let mut results = self.lock();
        let completion = results.pop_front()?;
        if results.is_empty() {
            let _ = (&self.readable).read(&mut [0]);
        }
        Some(completion)
    }
}

impl Drop for List {
    fn drop(&mut self) {
        while let Some(mut completion) = self.pop() {
            // SAFETY: the buffer is the library's own.
            unsafe { zariz_buffer_free(&raw mut completion.result) };
        }
    }
}

struct Receiver {
    list: Arc<List>,
    context: *mut c_void,
}

// SAFETY: the context is only handed back.
unsafe impl Send for Receiver {}
// SAFETY: as above.
unsafe impl Sync for Receiver {}

impl Receive for Receiver {
    fn receive(&self, status: Status, result: &[u8]) {
        self.list.push(Completion { context: self.context, status, result: Buffer::of(result) });
    }
}

/// Makes a list of completions. It must be freed with zariz_completions_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_completions_new(completions: *mut *mut Completions) -> Status {
    guard(|| {
        let failure = |error| Failure::new(ZARIZ_RESOURCES, format_args!("no descriptor: {error}"));
        let (readable, writable) = UnixStream::pair().map_err(failure)?;
        readable.set_nonblocking(true).map_err(failure)?;
        writable.set_nonblocking(true).map_err(failure)?;
        let list = List { results: Mutex::default(), readable, writable };
        // SAFETY: the header asks it of the caller.
        unsafe { give(completions, Arc::new(list)) }
    })
}

/// Frees a list. Results that nobody has taken are wiped, and those of requests that still run are too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_completions_free(completions: *mut Completions) {
    // SAFETY: the header asks it of the caller.
    unsafe { free(completions) }
}

/// The descriptor that is readable while there are results: for poll, epoll or an event loop. The list owns
/// it: do not read or close it. −1 for a wrong handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_completions_fd(completions: *const Completions) -> c_int {
    // SAFETY: the header asks it of the caller.
    unsafe { get(completions) }.map_or(-1, |list| list.readable.as_raw_fd())
}

/// Takes the oldest result: ZARIZ_OK, or ZARIZ_EMPTY if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_completions_next(
    completions: *const Completions,
    completion: *mut Completion,
) -> Status {
    let mut is_empty = false;
    let status = guard(|| {
        if completion.is_null() {
            return Err(Failure::null("the completion"));
        }
        // SAFETY: the header asks it of the caller.
        unsafe {
            match get(completions)?.pop() {
                Some(next) => put_value(next, completion, "the completion")?,
                None => is_empty = true,
            }
        }
        Ok(())
    });
    // Not a failure: no message.
    if is_empty { ZARIZ_EMPTY } else { status }
}

/// Submits one job, like zariz_batcher_submit; its result goes to a list of completions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_batcher_submit_to(
    batcher: *const Batcher,
    operation: u32,
    job: *const PrivateJob,
    timeout_us: u64,
    completions: *const Completions,
    context: *mut c_void,
    request: *mut *mut Request,
) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let job = Job::of(operation, job, timeout_us)?;
            let list = get(completions)?.clone();
            submit(get(batcher)?, job, Box::new(Receiver { list, context }), request)
        }
    })
}

/// Submits one power, in constant time; its result goes to a list of completions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_batcher_submit_pow_to(
    batcher: *const Batcher,
    job: *const PowJob,
    timeout_us: u64,
    completions: *const Completions,
    context: *mut c_void,
    request: *mut *mut Request,
) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let job = Job::of_power(job, timeout_us)?;
            let list = get(completions)?.clone();
            submit(get(batcher)?, job, Box::new(Receiver { list, context }), request)
        }
    })
}
