//! Requests whose callers do not wait: a callback, or a list of completions, gets the result.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use zariz::batcher::Batcher as Queue;

use crate::batcher::{Batcher, Pending, Submission as Job};
use crate::failure::{Failure, Status, ZARIZ_CANCELLED, ZARIZ_OK, guard};
use crate::handle::{free, get, give, handle};
use crate::memory::Bytes;
use crate::numbers::PowJob;
use crate::operations::PrivateJob;

/// Called once for each request: `context` is what came with the request, and `result` is valid during the
/// call, after which the library wipes it. `result` is empty unless the status is ZARIZ_OK. It runs on a
/// thread of the batcher or on one that calls the library, perhaps before the request's function returns. It
/// may use the library. It should be short: other results wait for it.
pub type Callback = Option<unsafe extern "C" fn(context: *mut c_void, status: Status, result: Bytes)>;

/// A request that was submitted, for cancelling it.
pub struct Request {
    tag: u64,
    value: Arc<Task>,
}

handle!(Request, Arc<Task>, b"zrz-requ", "the request");

/// Who gets the result.
pub(crate) trait Receive: Send + Sync {
    fn receive(&self, status: Status, result: &[u8]);
}

struct Caller {
    callback: unsafe extern "C" fn(*mut c_void, Status, Bytes),
    context: *mut c_void,
}

// SAFETY: the header says that the callback is called on other threads.
unsafe impl Send for Caller {}
// SAFETY: it is called once.
unsafe impl Sync for Caller {}

impl Receive for Caller {
    fn receive(&self, status: Status, result: &[u8]) {
        let result = Bytes { data: result.as_ptr(), len: result.len() };
        // SAFETY: the caller gave a function of this type.
        unsafe { (self.callback)(self.context, status, result) }
    }
}

/// A future that whoever wakes it polls. One thread polls at a time; a wake meanwhile makes it poll again.
pub(crate) struct Task {
    state: AtomicU8,
    is_cancelled: AtomicBool,
    /// The future, until it has been polled to its end, and who gets the result.
    work: Mutex<Option<(Pending, Box<dyn Receive>)>>,
}

const WAITING: u8 = 0;
const POLLING: u8 = 1;
const WOKEN_WHILE_POLLING: u8 = 2;

thread_local! {
    /// Tasks that were woken by a poll on this thread, while it polls. One after the other they are polled
    /// when that poll ends: a poll can wake all others of its batch, and each poll calls a callback.
    static WOKEN: RefCell<Option<VecDeque<Arc<Task>>>> = const { RefCell::new(None) };
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let states = (Ordering::AcqRel, Ordering::Acquire);
        let next = |state| Some(if state == WAITING { POLLING } else { WOKEN_WHILE_POLLING });
        if self.state.fetch_update(states.0, states.1, next) != Ok(WAITING) {
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
            self.state.store(POLLING, Ordering::Release);
            if let Some((status, result, receiver)) = self.step(&waker) {
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

    /// One poll; the result, if it is there, and who gets it.
    #[allow(clippy::type_complexity)]
    fn step(&self, waker: &Waker) -> Option<(Status, zeroize::Zeroizing<Vec<u8>>, Box<dyn Receive>)> {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let (pending, _) = work.as_mut()?;
        let outcome = if self.is_cancelled.load(Ordering::Acquire) {
            Poll::Ready((ZARIZ_CANCELLED, Vec::new().into()))
        } else {
            pending.as_mut().poll(&mut Context::from_waker(waker)).map(|result| match result {
                Ok(result) => (ZARIZ_OK, result),
                Err(error) => (Failure::from(error).status, Vec::new().into()),
            })
        };
        let Poll::Ready((status, result)) = outcome else { return None };
        let (pending, receiver) = work.take()?;
        drop(work);
        // Withdraws the request, if it was cancelled.
        drop(pending);
        Some((status, result, receiver))
    }
}

/// Hands a request over.
pub(crate) unsafe fn submit(
    queue: &Queue,
    job: Job,
    receiver: Box<dyn Receive>,
    request: *mut *mut Request,
) -> Result<(), Failure> {
    let work = Mutex::new(Some((job.submit(queue), receiver)));
    let task = Arc::new(Task { state: AtomicU8::new(WAITING), is_cancelled: AtomicBool::new(false), work });
    if !request.is_null() {
        // SAFETY: as the caller promises. The handle is there before the callback can run.
        unsafe { give(request, task.clone()) }?;
    }
    task.wake();
    Ok(())
}

/// Submits one job (ZARIZ_SIGN, ZARIZ_DECRYPT or ZARIZ_PRIVATE) and returns at once. The library copies what
/// it needs; the job's `output` is not used. If the status is ZARIZ_OK, the callback is called once.
/// `request` may be NULL, or takes a handle that must be freed with zariz_request_free. `timeout_us` is the
/// most microseconds to wait for the computation to begin; 0 is no limit.
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
        let callback = callback.ok_or_else(|| Failure::null("the callback"))?;
        // SAFETY: the header asks it of the caller.
        unsafe {
            let job = Job::of(operation, job, timeout_us)?;
            submit(get(batcher)?, job, Box::new(Caller { callback, context }), request)
        }
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
        let callback = callback.ok_or_else(|| Failure::null("the callback"))?;
        // SAFETY: the header asks it of the caller.
        unsafe {
            let job = Job::of_power(job, timeout_us)?;
            submit(get(batcher)?, job, Box::new(Caller { callback, context }), request)
        }
    })
}

/// Cancels a request. Unless its result is there already, it completes with ZARIZ_CANCELLED, perhaps before
/// this function returns; what is being computed is thrown away.
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

/// Frees the handle of a request, which goes on without it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_request_free(request: *mut Request) {
    // SAFETY: the header asks it of the caller.
    unsafe { free(request) }
}
