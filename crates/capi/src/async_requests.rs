//! Requests whose callers do not wait: a callback, or a list of completions, gets the result.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use zariz::batcher::Batcher as Queue;
use zariz_process::Process;
use zeroize::Zeroizing;

use crate::batcher::{Batcher, Pending, Submission};
use crate::completions::{Completions, List};
use crate::failure::{Failure, Status, ZARIZ_CANCELLED, ZARIZ_INTERNAL, ZARIZ_OK, guard};
use crate::handle::{free, get, give, handle};
use crate::memory::Bytes;
use crate::numbers::PowJob;
use crate::operations::PrivateJob;

/// Called once for each request. `context` is the pointer that was submitted with it. `result` is valid
/// during the call, and the library wipes it afterwards. It is empty unless the status is ZARIZ_OK.
///
/// A callback runs on a thread of the batcher, or on a thread that submits or cancels any of its requests. So
/// when you call these functions, hold no lock that a callback needs. A callback may call the library, but
/// must not wait for the result of a submitted request. It must return: no exception, no longjmp. It should
/// be short, because other results wait for it.
pub type Callback = Option<unsafe extern "C" fn(context: *mut c_void, status: Status, result: Bytes)>;

/// A submitted request. With this handle you can cancel it.
pub struct Request {
    tag: u64,
    value: Arc<Task>,
}

handle!(Request, Arc<Task>, b"zrz-requ", "the request");

/// Who gets the result, with the caller's context.
pub(crate) struct Receiver {
    to: Destination,
    context: *mut c_void,
}

enum Destination {
    Callback(unsafe extern "C" fn(*mut c_void, Status, Bytes)),
    List(Arc<List>),
}

// SAFETY: the header says that the callback is called on other threads; a list only hands the context back.
unsafe impl Send for Receiver {}

impl Receiver {
    fn callback(callback: Callback, context: *mut c_void) -> Result<Self, Failure> {
        let callback = callback.ok_or_else(|| Failure::null("the callback"))?;
        Ok(Self { to: Destination::Callback(callback), context })
    }

    unsafe fn list(list: *const Completions, context: *mut c_void) -> Result<Self, Failure> {
        // SAFETY: as the caller promises.
        let list = unsafe { get(list) }?;
        list.check_process()?;
        Ok(Self { to: Destination::List(list.clone()), context })
    }

    fn receive(self, status: Status, result: &[u8]) {
        match self.to {
            Destination::List(list) => list.push(self.context, status, result),
            Destination::Callback(callback) => {
                let result = Bytes { data: result.as_ptr(), len: result.len() };
                // SAFETY: the caller gave a function of this type.
                unsafe { callback(self.context, status, result) }
            }
        }
    }
}

/// The future of a request. A thread that wakes it also polls it. One thread polls at a time; if the future
/// is woken meanwhile, that thread polls it again.
pub(crate) struct Task {
    /// The process that submitted the request. No other process polls it.
    process: Process,
    state: AtomicU8,
    is_cancelled: AtomicBool,
    /// The future, and who gets its result; `None` when the future has ended.
    work: Mutex<Option<(Pending, Receiver)>>,
}

const WAITING: u8 = 0;
const POLLING: u8 = 1;
const WOKEN_WHILE_POLLING: u8 = 2;

thread_local! {
    /// While this thread polls: the tasks that it woke. When that poll ends, they are polled one after the
    /// other, because polls must not nest: a poll can wake all others of its batch, and each calls a
    /// callback.
    static WOKEN: RefCell<Option<VecDeque<Arc<Task>>>> = const { RefCell::new(None) };
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let states = (Ordering::AcqRel, Ordering::Acquire);
        let next = |state| Some(if state == WAITING { POLLING } else { WOKEN_WHILE_POLLING });
        if self.process != Process::current()
            || self.state.fetch_update(states.0, states.1, next) != Ok(WAITING)
        {
            return;
        }
        let later = WOKEN.with_borrow_mut(|woken| match woken {
            Some(woken) => {
                woken.push_back(self.clone());
                true
            }
            None => {
                *woken = Some(VecDeque::new());
                false
            }
        });
        if later {
            return;
        }
        self.poll();
        while let Some(task) = WOKEN.with_borrow_mut(|woken| woken.as_mut().and_then(VecDeque::pop_front)) {
            task.poll();
        }
        WOKEN.set(None);
    }
}

impl Task {
    /// Polls until the future has its result or waits. The state is `POLLING` or `WOKEN_WHILE_POLLING`.
    fn poll(self: &Arc<Self>) {
        let waker = Waker::from(self.clone());
        loop {
            // A wake up to here is seen by this poll, and so is a request to cancel.
            self.state.swap(POLLING, Ordering::AcqRel);
            if let Some((receiver, status, result)) = self.step(&waker) {
                // Nothing is locked here, and the state stays: no wake polls again.
                receiver.receive(status, &result);
                return;
            }
            let waits = self.state.compare_exchange(POLLING, WAITING, Ordering::AcqRel, Ordering::Acquire);
            if waits.is_ok() {
                return;
            }
        }
    }

    /// One poll; the result, if it is there, and who gets it. A panic is a result.
    fn step(&self, waker: &Waker) -> Option<(Receiver, Status, Zeroizing<Vec<u8>>)> {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let (pending, _) = work.as_mut()?;
        let outcome = if self.is_cancelled.load(Ordering::Acquire) {
            Poll::Ready(Err(ZARIZ_CANCELLED))
        } else {
            let poll = AssertUnwindSafe(|| pending.as_mut().poll(&mut Context::from_waker(waker)));
            let outcome = catch_unwind(poll).map(|poll| poll.map_err(|error| Failure::from(error).status));
            outcome.unwrap_or(Poll::Ready(Err(ZARIZ_INTERNAL)))
        };
        let Poll::Ready(outcome) = outcome else { return None };
        let (pending, receiver) = work.take()?;
        drop(work);
        // Withdraws the request, if it was cancelled.
        drop(pending);
        Some(match outcome {
            Ok(result) => (receiver, ZARIZ_OK, result),
            Err(status) => (receiver, status, Zeroizing::default()),
        })
    }
}

/// Hands a request over. A handle is there before the callback can run.
unsafe fn submit(
    queue: &Queue,
    submission: Submission,
    receiver: Receiver,
    request: *mut *mut Request,
) -> Result<(), Failure> {
    let task = Arc::new(Task {
        process: Process::current(),
        // As after a wake: this thread polls it now, even inside a callback.
        state: AtomicU8::new(POLLING),
        is_cancelled: AtomicBool::new(false),
        work: Mutex::new(Some((submission.submit(queue), receiver))),
    });
    if !request.is_null() {
        // SAFETY: as the caller promises.
        unsafe { give(request, task.clone()) }?;
    }
    task.poll();
    Ok(())
}

/// Submits one job (ZARIZ_SIGN, ZARIZ_DECRYPT or ZARIZ_PRIVATE) and returns at once. The library copies what
/// it needs; the job's `output` is not used. If the status is ZARIZ_OK, the callback is called once, perhaps
/// before this function returns. If `request` is not NULL, it receives a handle, which must be freed with
/// zariz_request_free. If the computation has not begun after `timeout_us` microseconds, the request ends
/// with ZARIZ_EXPIRED when its turn comes; 0 means no limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_batcher_submit(
    batcher: *const Batcher,
    operation: u32,
    job: *const PrivateJob,
    timeout_us: u64,
    callback: Callback,
    context: *mut c_void,
    request: *mut *mut Request,
) -> Status {
    guard(|| {
        let receiver = Receiver::callback(callback, context)?;
        // SAFETY: the header asks it of the caller.
        unsafe { submit(get(batcher)?, Submission::of(operation, job, timeout_us)?, receiver, request) }
    })
}

/// Submits one power, in constant time, like zariz_batcher_submit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_batcher_submit_pow(
    batcher: *const Batcher,
    job: *const PowJob,
    timeout_us: u64,
    callback: Callback,
    context: *mut c_void,
    request: *mut *mut Request,
) -> Status {
    guard(|| {
        let receiver = Receiver::callback(callback, context)?;
        // SAFETY: the header asks it of the caller.
        unsafe { submit(get(batcher)?, Submission::of_power(job, timeout_us)?, receiver, request) }
    })
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
            let receiver = Receiver::list(completions, context)?;
            submit(get(batcher)?, Submission::of(operation, job, timeout_us)?, receiver, request)
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
            let receiver = Receiver::list(completions, context)?;
            submit(get(batcher)?, Submission::of_power(job, timeout_us)?, receiver, request)
        }
    })
}

/// Cancels a request. Unless its result is there already, the request ends with ZARIZ_CANCELLED, perhaps
/// before this function returns. If it is being computed, the result is thrown away. In a child of `fork`,
/// requests of the parent have no result, and this function does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_request_cancel(request: *const Request) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        let task = unsafe { get(request) }?;
        task.is_cancelled.store(true, Ordering::Release);
        task.wake_by_ref();
        Ok(())
    })
}

/// Frees the handle of a request. The request goes on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_request_free(request: *mut Request) {
    // SAFETY: the header asks it of the caller.
    unsafe { free(request) }
}
