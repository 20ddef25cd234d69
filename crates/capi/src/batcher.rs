//! Batchers: requests of many threads, computed together.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use zariz::batcher::{self, Batcher as Queue, Job, Policy, Primitive, WhenFull};
use zeroize::Zeroizing;

use crate::failure::{Failure, Status, guard};
use crate::handle::{free, get, give, handle};
use crate::memory::{put, put_value};
use crate::numbers::{PowJob, to_pow};
use crate::operations::{PrivateJob, room_for, to_decrypt, to_raw, to_sign};

/// Computes requests of many threads in batches. Any number of threads may use it at once. After `fork`, the
/// child has its own queue.
pub struct Batcher {
    tag: u64,
    value: Queue,
}

handle!(Batcher, Queue, b"zrz-batc", "the batcher");

/// Settings of a batcher. For each, 0 is the default.
#[repr(C)]
pub struct BatcherOptions {
    /// The most batches computed at once; by default, the number of processors.
    pub threads: usize,
    /// The most requests in a batch; by default, 16.
    pub max_batch: usize,
    /// The most requests that may wait; one more fails with ZARIZ_FULL. By default, there is no limit.
    pub capacity: usize,
    /// The longest time, in microseconds, that a request waits for others. By default, none waits.
    pub linger_us: u64,
}

/// Counters of a batcher, in this process.
#[repr(C)]
pub struct Metrics {
    /// Requests that were computed.
    pub operations: u64,
    /// Batches in which they were computed.
    pub batches: u64,
    /// The most requests in one batch.
    pub largest_batch: u64,
    /// Requests that found the queue full.
    pub refused: u64,
    /// Requests whose time limit passed.
    pub expired: u64,
    /// Requests that were cancelled.
    pub withdrawn: u64,
}

/// A batcher's job: sign, like zariz_sign_many.
pub const ZARIZ_SIGN: u32 = 1;
/// A batcher's job: decrypt, like zariz_decrypt_many.
pub const ZARIZ_DECRYPT: u32 = 2;
/// A batcher's job: input^d mod n, like zariz_private_many.
pub const ZARIZ_PRIVATE: u32 = 3;

/// Makes a batcher; `options` may be NULL. Its threads start when they are needed. It must be freed with
/// zariz_batcher_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_batcher_new(
    options: *const BatcherOptions,
    batcher: *mut *mut Batcher,
) -> Status {
    guard(|| {
        let mut builder = Queue::builder();
        // SAFETY: the header asks it of the caller.
        if let Some(options) = unsafe { options.as_ref() } {
            if options.threads != 0 {
                builder = builder.threads(options.threads);
            }
            if options.max_batch != 0 {
                builder = builder.max_batch(options.max_batch);
            }
            if options.capacity != 0 {
                builder = builder.capacity(options.capacity).when_full(WhenFull::Refuse);
            }
            if options.linger_us != 0 {
                let linger = Duration::from_micros(options.linger_us);
                builder = builder.policy(Policy::Throughput { linger });
            }
        }
        // SAFETY: the header asks it of the caller.
        unsafe { give(batcher, builder.build()) }
    })
}

/// Frees a batcher. Submitted requests are still computed: for an orderly end, wait for their results first.
/// If there are none, the call waits for the batcher's threads, so hold no lock that a callback needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_batcher_free(batcher: *mut Batcher) {
    // SAFETY: the header asks it of the caller.
    unsafe { free(batcher) }
}

/// The counters of a batcher.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_batcher_metrics(batcher: *const Batcher, metrics: *mut Metrics) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let batcher::Metrics { operations, batches, largest_batch, refused, expired, withdrawn, .. } =
                get(batcher)?.metrics();
            let counters = Metrics { operations, batches, largest_batch, refused, expired, withdrawn };
            put_value(counters, metrics, "the pointer for the counters")
        }
    })
}

/// A request that owns all its data.
pub(crate) enum Submission {
    Sign(Job<Vec<u8>>),
    Other(Job<Zeroizing<Vec<u8>>>),
}

/// The result of a request, when it is there.
pub(crate) type Pending = Pin<Box<dyn Future<Output = Result<Zeroizing<Vec<u8>>, batcher::Error>> + Send>>;

impl Submission {
    /// A request for a job of the caller.
    pub(crate) unsafe fn of(
        operation: u32,
        job: *const PrivateJob,
        timeout_us: u64,
    ) -> Result<Self, Failure> {
        // SAFETY: as the caller promises.
        let job = unsafe { job.as_ref() }.ok_or_else(|| Failure::null("the job"))?;
        let request = match operation {
            ZARIZ_SIGN => {
                // SAFETY: as the caller promises.
                let job = unsafe { to_sign(job) }?;
                Self::Sign(Job::sign(job.key, job.algorithm, job.message)?)
            }
            ZARIZ_DECRYPT => {
                // SAFETY: as the caller promises.
                let (key, padding, ciphertext) = unsafe { to_decrypt(job) }?;
                Self::Other(Job::decrypt(key, &padding, ciphertext)?)
            }
            ZARIZ_PRIVATE => {
                // SAFETY: as the caller promises.
                let job = unsafe { to_raw(job) }?;
                let number = job.number.to_vec().into();
                Self::Other(Job::primitive(Primitive::Private(job.key.clone(), number)))
            }
            _ => return Err(Failure::argument(format_args!("{operation} is not an operation of a batcher"))),
        };
        request.within(timeout_us)
    }

    /// A request for a power of the caller.
    pub(crate) unsafe fn of_power(job: *const PowJob, timeout_us: u64) -> Result<Self, Failure> {
        // SAFETY: as the caller promises.
        let job = unsafe { to_pow(job.as_ref().ok_or_else(|| Failure::null("the job"))?) }?;
        let (base, exponent) = (job.base.to_vec().into(), job.exponent.to_vec().into());
        Self::Other(Job::primitive(Primitive::Power(job.modulus.clone(), base, exponent))).within(timeout_us)
    }

    /// With a time limit in microseconds, unless it is 0.
    fn within(self, timeout_us: u64) -> Result<Self, Failure> {
        if timeout_us == 0 {
            return Ok(self);
        }
        let deadline = Instant::now().checked_add(Duration::from_micros(timeout_us));
        let deadline = deadline.ok_or_else(|| Failure::argument("the time limit is too far away"))?;
        Ok(match self {
            Self::Sign(job) => Self::Sign(job.with_deadline(deadline)),
            Self::Other(job) => Self::Other(job.with_deadline(deadline)),
        })
    }

    fn call(self, queue: &Queue) -> Result<Zeroizing<Vec<u8>>, Failure> {
        Ok(match self {
            Self::Sign(job) => queue.call(job)?.into(),
            Self::Other(job) => queue.call(job)?,
        })
    }

    pub(crate) fn submit(self, queue: &Queue) -> Pending {
        match self {
            Self::Sign(job) => {
                let pending = queue.submit(job);
                Box::pin(async { pending.await.map(Zeroizing::new) })
            }
            Self::Other(job) => Box::pin(queue.submit(job)),
        }
    }
}

/// Computes one job (ZARIZ_SIGN, ZARIZ_DECRYPT or ZARIZ_PRIVATE) together with those of other threads, and
/// blocks until its result is there. Meanwhile this thread may compute jobs of other threads. After
/// `timeout_us` microseconds the call returns ZARIZ_EXPIRED, unless this thread is computing; 0 means no
/// limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_batcher_call(
    batcher: *const Batcher,
    operation: u32,
    job: *mut PrivateJob,
    timeout_us: u64,
) -> Status {
    let status = guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            if operation == ZARIZ_DECRYPT && !job.is_null() {
                room_for(&*job)?;
            }
            let result = Submission::of(operation, job, timeout_us)?.call(get(batcher)?)?;
            put(&result, (*job).output, (*job).capacity)?;
            (*job).output_len = result.len();
        }
        Ok(())
    });
    // SAFETY: the header asks it of the caller.
    if let Some(job) = unsafe { job.as_mut() } {
        job.status = status;
        if status != crate::ZARIZ_OK {
            job.output_len = 0;
        }
    }
    status
}

/// Computes one power in constant time, like zariz_batcher_call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_batcher_pow(
    batcher: *const Batcher,
    job: *mut PowJob,
    timeout_us: u64,
) -> Status {
    let status = guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let result = Submission::of_power(job, timeout_us)?.call(get(batcher)?)?;
            put(&result, (*job).output, (*job).capacity)
        }
    });
    // SAFETY: the header asks it of the caller.
    if let Some(job) = unsafe { job.as_mut() } {
        job.status = status;
    }
    status
}
