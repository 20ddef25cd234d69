//! Results for event loops: a descriptor that is readable while there are some.

use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zariz_process::Process;

use crate::failure::{Failure, Status, ZARIZ_EMPTY, ZARIZ_FORKED, ZARIZ_RESOURCES, guard};
use crate::handle::{fact, free, get, give, handle};
use crate::memory::{Buffer, put_value, zariz_buffer_free};

/// A list of results that nobody has taken yet. Any number of threads may use it at once. A child of `fork`
/// must make its own.
pub struct Completions {
    tag: u64,
    value: Arc<List>,
}

handle!(Completions, Arc<List>, b"zrz-comp", "the list of completions");

/// The result of a request that has ended.
#[repr(C)]
pub struct Completion {
    /// The pointer that was submitted with the request.
    pub context: *mut c_void,
    /// The status of the request.
    pub status: Status,
    /// The result. The caller owns it, and must free it with zariz_buffer_free.
    pub result: Buffer,
}

// SAFETY: the context is only handed back; the buffer's memory has one owner.
unsafe impl Send for Completion {}

/// The results, and a byte in a socket while there are any.
pub(crate) struct List {
    /// The process that made the list. A child inherits the socket, and perhaps a locked mutex, and must
    /// touch neither.
    process: Process,
    results: Mutex<VecDeque<Completion>>,
    readable: UnixStream,
    writable: UnixStream,
}

impl List {
    fn new() -> std::io::Result<Self> {
        let (readable, writable) = UnixStream::pair()?;
        readable.set_nonblocking(true)?;
        writable.set_nonblocking(true)?;
        Ok(Self { process: Process::current(), results: Mutex::default(), readable, writable })
    }

    pub(crate) fn check_process(&self) -> Result<(), Failure> {
        if self.process == Process::current() {
            return Ok(());
        }
        Err(Failure::new(ZARIZ_FORKED, "the list of completions is the parent's; a child makes its own"))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Completion>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a result, in the process that made the list.
    pub(crate) fn push(&self, context: *mut c_void, status: Status, result: &[u8]) {
        let mut results = self.lock();
        results.push_back(Completion { context, status, result: Buffer::of(result) });
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
        let results = self.results.get_mut().unwrap_or_else(PoisonError::into_inner);
        for completion in results.iter_mut() {
            // SAFETY: the buffer is the library's own.
            unsafe { zariz_buffer_free(&raw mut completion.result) };
        }
    }
}

/// Makes a list of completions. It must be freed with zariz_completions_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_completions_new(completions: *mut *mut Completions) -> Status {
    guard(|| {
        let failure = |error| Failure::new(ZARIZ_RESOURCES, format_args!("no descriptor: {error}"));
        // SAFETY: the header asks it of the caller.
        unsafe { give(completions, Arc::new(List::new().map_err(failure)?)) }
    })
}

/// Frees a list, and wipes the results that nobody has taken. Remove the descriptor from your event loop
/// first. If requests still run, the library keeps the list until they have ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_completions_free(completions: *mut Completions) {
    // SAFETY: the header asks it of the caller.
    unsafe { free(completions) }
}

/// Returns a descriptor for poll, epoll or an event loop. It is readable while there are results: take them
/// until there are none. The list owns the descriptor, so do not read or close it. Returns −1 for a wrong
/// handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_completions_fd(completions: *const Completions) -> c_int {
    // SAFETY: the header asks it of the caller.
    unsafe { fact(completions, -1, |list| list.readable.as_raw_fd()) }
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
            let list = get(completions)?;
            list.check_process()?;
            match list.pop() {
                Some(next) => put_value(next, completion, "the completion")?,
                None => is_empty = true,
            }
        }
        Ok(())
    });
    // Not a failure: no message.
    if is_empty { ZARIZ_EMPTY } else { status }
}
