//! Wakes a job: through an event file descriptor in its wait context, or through the function that the
//! program has set there.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use zariz::batcher::provider::Waiter;

use super::Request;
use super::gather::Gather;
use crate::ffi::guard;
use crate::ffi::libcrypto::{AsyncCallback, Libcrypto, WaitCtx};

/// `ASYNC_STATUS_OK`.
const STATUS_OK: c_int = 2;
/// The address is the key of our file descriptor in every wait context.
static KEY: u8 = 0;

/// Our entry in a wait context. It lives until the program frees the wait context, and while its request is
/// computed.
///
/// It owns the request under way. The job's stack owns nothing: a program that drops a connection frees the
/// wait context, but never runs the job again.
pub struct Wake {
    state: Mutex<State>,
    /// Notified when a call of the program's function returns.
    returned: Condvar,
}

struct State {
    /// A non-blocking event file descriptor; `None` once the wait context is freed.
    event: Option<File>,
    /// Whether the descriptor can be read.
    signalled: bool,
    request: Option<Arc<Request>>,
    /// The program's function and its argument.
    callback: Option<(AsyncCallback, Argument)>,
    /// The threads inside the function.
    calling: Vec<libc::pthread_t>,
}

#[derive(Clone, Copy)]
struct Argument(*mut c_void);

// SAFETY: the program made it to be passed to its function on any thread.
unsafe impl Send for Argument {}

thread_local! {
    /// Whether this thread is inside a program's function.
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a program's function that we have called. Requests made there belong to no
/// job, and must not wait for threads that may wait for us.
pub fn is_in_callback() -> bool {
    IN_CALLBACK.get()
}

impl Wake {
    /// The wake of a job's wait context, made if the context has none. It lives as long as the context.
    /// `None` if the system refuses.
    ///
    /// # Safety
    /// `context` is the wait context of the running job.
    pub unsafe fn of<'a>(libcrypto: &Libcrypto, context: *mut WaitCtx) -> Option<&'a Arc<Self>> {
        let key = ptr::from_ref(&KEY).cast();
        let (mut fd, mut custom) = (-1, ptr::null_mut());
        // SAFETY: the caller's context. The value under our key was put there below: a box of ours.
        unsafe {
            if (libcrypto.wait_ctx_get_fd)(context, key, &mut fd, &mut custom) != 1 || custom.is_null() {
                let event = Self::event()?;
                fd = event.as_raw_fd();
                custom = Box::into_raw(Box::new(Self::new(event))).cast();
                if (libcrypto.wait_ctx_set_fd)(context, key, fd, custom, Some(cleanup)) != 1 {
                    drop(Box::from_raw(custom.cast::<Arc<Self>>()));
                    return None;
                }
            }
            let wake = &*custom.cast::<Arc<Self>>();
            let (mut function, mut argument) = (None, ptr::null_mut());
            let set = (libcrypto.wait_ctx_get_callback)(context, &mut function, &mut argument) == 1;
            if set && function.is_some() {
                (libcrypto.wait_ctx_set_status)(context, STATUS_OK);
            }
            wake.lock().callback = function.filter(|_| set).map(|function| (function, Argument(argument)));
            Some(wake)
        }
    }

    fn event() -> Option<File> {
        // SAFETY: it has no preconditions; the descriptor is new and only ours.
        match unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) } {
            -1 => None,
            // SAFETY: the descriptor is new and only ours.
            fd => Some(unsafe { File::from_raw_fd(fd) }),
        }
    }

    fn new(event: File) -> Arc<Self> {
        let state = State {
            event: Some(event),
            signalled: false,
            request: None,
            callback: None,
            calling: Vec::new(),
        };
        Arc::new(Self { state: Mutex::new(state), returned: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no request is under way.
    pub fn is_free(&self) -> bool {
        self.lock().request.is_none()
    }

    /// Keeps the request under way.
    pub fn keep(&self, request: Arc<Request>) {
        self.lock().request = Some(request);
    }

    /// Drops the request under way.
    pub fn release(&self) {
        let request = self.lock().request.take();
        drop(request);
    }

    /// Whether the program set a function to be called. It then does not watch the descriptor.
    pub fn has_callback(&self) -> bool {
        self.lock().callback.is_some()
    }

    /// Tells the program to run this job, if its request is still under way.
    pub fn signal(&self, job: *const Paused) {
        let mut guard = self.lock();
        let state = &mut *guard;
        let kept = state.request.as_ref().and_then(|kept| kept.waiter());
        if kept.is_none_or(|kept| !ptr::eq(kept, job)) {
            return;
        }
        let Some((function, Argument(argument))) = state.callback else {
            if let Some(event) = state.event.as_mut().filter(|_| !state.signalled) {
                state.signalled = event.write(&1u64.to_ne_bytes()).is_ok();
            }
            return;
        };
        // SAFETY: it has no preconditions.
        let here = unsafe { libc::pthread_self() };
        state.calling.push(here);
        drop(guard);
        let outer = IN_CALLBACK.replace(true);
        // SAFETY: the program's own function and argument. The wait context exists: `close` waits for this
        // call.
        unsafe { function(argument) };
        IN_CALLBACK.set(outer);
        let mut state = self.lock();
        if let Some(i) = state.calling.iter().position(|&thread| thread == here) {
            state.calling.swap_remove(i);
        }
        drop(state);
        self.returned.notify_all();
    }

    /// Resets the signal.
    pub fn clear(&self) {
        let mut guard = self.lock();
        let state = &mut *guard;
        if let Some(event) = state.event.as_mut().filter(|_| state.signalled) {
            // Cannot fail: nothing else reads it.
            let _ = event.read(&mut [0; 8]);
            state.signalled = false;
        }
    }

    /// Called when the wait context is freed. Afterwards the program's function does not run, and is never
    /// called again, unless that function itself freed the context. Closes the descriptor.
    fn close(&self) {
        let mut state = self.lock();
        // SAFETY: it has no preconditions.
        let here = unsafe { libc::pthread_self() };
        state.callback = None;
        let (request, event) = (state.request.take(), state.event.take());
        while state.calling.iter().any(|&thread| thread != here) {
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        drop((request, event));
    }
}

unsafe extern "C" fn cleanup(_: *mut WaitCtx, _: *const c_void, _: c_int, custom: *mut c_void) {
    guard((), || {
        // SAFETY: the box that `of` put there; OpenSSL gives it back once.
        let wake = unsafe { Box::from_raw(custom.cast::<Arc<Wake>>()) };
        wake.close();
    });
}

/// The waiter of a job's request.
pub struct Paused {
    pub wake: Arc<Wake>,
    pub gather: Arc<Gather>,
    /// Whether the request was handed over to workers.
    handed_over: AtomicBool,
}

impl Paused {
    pub fn new(wake: Arc<Wake>, gather: Arc<Gather>) -> Self {
        Self { wake, gather, handed_over: AtomicBool::new(false) }
    }

    pub fn is_handed_over(&self) -> bool {
        self.handed_over.load(Ordering::Acquire)
    }

    /// Notes that the request is handed over to workers.
    pub fn note_handed_over(&self) {
        self.handed_over.store(true, Ordering::Release);
    }
}

impl Waiter for Paused {
    /// All requests of a batch get their results before any job is woken, so a job's thread finds them
    /// together.
    fn finished(&self) {
        self.gather.note_finished();
    }

    fn wake(&self) {
        self.wake.signal(self);
    }

    /// Signalling a descriptor does not block; a program's function may.
    fn is_prompt(&self) -> bool {
        !self.wake.has_callback()
    }

    /// A result that its job never fetched no longer counts as uncollected.
    fn forgotten(&self) {
        self.gather.note_collected();
    }
}
