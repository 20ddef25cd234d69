//! Waking a job: an event file descriptor in its wait context, or the function that the program has set there.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::request::Request;
use crate::ffi::guard;
use crate::ffi::libcrypto::{AsyncCallback, Libcrypto, WaitCtx};

/// `ASYNC_STATUS_OK`.
const STATUS_OK: c_int = 2;
/// Its address is the name of our file descriptor in every wait context.
static KEY: u8 = 0;

/// What a wait context has of us: it lives until the program frees the wait context, and nobody computes for it.
///
/// It owns the request under way: the job's stack owns nothing, since a program that drops a connection frees the wait
/// context, but never runs the job again.
pub struct Wake {
    /// An event file descriptor, without blocking.
    event: File,
    state: Mutex<State>,
    /// The function has returned.
    returned: Condvar,
}

#[derive(Default)]
struct State {
    request: Option<Arc<Request>>,
    /// The program's function and its argument.
    callback: Option<(AsyncCallback, Argument)>,
    /// The thread that is in the function.
    calling: Option<libc::pthread_t>,
}

#[derive(Clone, Copy)]
struct Argument(*mut c_void);

// SAFETY: it is the program's, made to be handed to its function on whichever thread calls that.
unsafe impl Send for Argument {}

impl Wake {
    /// That of a job's wait context, which lives as long as the wait context; a new one where it has none. Nothing where
    /// the system refuses.
    ///
    /// # Safety
    /// `context` is the wait context of the job that runs.
    pub unsafe fn of<'a>(libcrypto: &Libcrypto, context: *mut WaitCtx) -> Option<&'a Arc<Self>> {
        let key = ptr::from_ref(&KEY).cast();
        let (mut fd, mut custom) = (-1, ptr::null_mut());
        // SAFETY: the caller's context. What we find under our key is what was put there below: a box of ours.
        unsafe {
            if (libcrypto.wait_ctx_get_fd)(context, key, &mut fd, &mut custom) != 1 || custom.is_null() {
                let wake = Self::new()?;
                fd = wake.event.as_raw_fd();
                custom = Box::into_raw(Box::new(wake)).cast();
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

    fn new() -> Option<Arc<Self>> {
        // SAFETY: it has no preconditions; the descriptor is new and nobody else's.
        let event = unsafe {
            match libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) {
                -1 => return None,
                fd => File::from_raw_fd(fd),
            }
        };
        Some(Arc::new(Self { event, state: Mutex::default(), returned: Condvar::new() }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the request under way.
    pub fn keep(&self, request: Arc<Request>) {
        let before = self.lock().request.replace(request);
        drop(before);
    }

    /// Lets go of the request under way.
    pub fn release(&self) {
        let request = self.lock().request.take();
        drop(request);
    }

    /// Whether the program wants its function to be called, and does not look at the descriptor.
    pub fn has_callback(&self) -> bool {
        self.lock().callback.is_some()
    }

    /// Tells the program that the job should run.
    pub fn signal(&self) {
        let mut state = self.lock();
        let Some((function, Argument(argument))) = state.callback else {
            drop(state);
            // Fails only when it has been signalled 2^64 - 1 times.
            let _ = (&self.event).write(&1u64.to_ne_bytes());
            return;
        };
        // SAFETY: it has no preconditions.
        state.calling = Some(unsafe { libc::pthread_self() });
        drop(state);
        // SAFETY: the program's own function and argument. The wait context is there: `cleanup` waits.
        unsafe { function(argument) };
        self.lock().calling = None;
        self.returned.notify_all();
    }

    /// Forgets that it was signalled.
    pub fn clear(&self) {
        // Fails where it was not.
        let _ = (&self.event).read(&mut [0; 8]);
    }

    /// The wait context goes: its function must not be called any more, and is not being called when this returns (but where
    /// it is the function itself that frees the wait context).
    fn close(&self) {
        let mut state = self.lock();
        // SAFETY: it has no preconditions.
        let here = unsafe { libc::pthread_self() };
        while state.calling.is_some_and(|thread| thread != here) {
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.callback = None;
        let request = state.request.take();
        drop(state);
        drop(request);
    }
}

unsafe extern "C" fn cleanup(_: *mut WaitCtx, _: *const c_void, _: c_int, custom: *mut c_void) {
    guard((), || {
        // SAFETY: the box that `of` put there; OpenSSL gives it back once.
        let wake = unsafe { Box::from_raw(custom.cast::<Arc<Wake>>()) };
        wake.close();
    });
}
