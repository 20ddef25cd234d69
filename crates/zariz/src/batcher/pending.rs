//! The future that a batcher returns.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use zariz_process::Process;
use zeroize::Zeroizing;

use super::compute::{Rsa, Task};
use super::error::Error;
use super::job::Job;
use super::per_process::PerProcessQueue;
use super::queue::{Outcome, Queue, QueueError, Request};
use crate::rsa;

/// The result of a [`Job`], for any executor. Dropping it withdraws the request.
#[must_use = "futures do nothing unless polled"]
pub struct Pending<T> {
    inner: Option<Result<Inner<T>, Error>>,
}

struct Inner<T> {
    /// Keeps the workers running.
    _queues: Arc<PerProcessQueue<Rsa>>,
    /// The process that made the request and owns the queue.
    process: Process,
    queue: Arc<Queue<Rsa>>,
    request: Arc<Request<Rsa>>,
    deadline: Option<Instant>,
    stage: Stage,
    finish: Option<Finish<T>>,
}

type Finish<T> = Box<dyn FnOnce(Zeroizing<Vec<u8>>) -> Result<T, rsa::Error> + Send + Sync>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The request is not in the queue yet.
    New,
    /// It is in the queue; a computation may not have been started.
    Pushed,
    /// It is being computed, or will be.
    Kicked,
}

impl<T> Pending<T> {
    pub(super) fn new(queues: &Arc<PerProcessQueue<Rsa>>, job: Result<Job<T>, Error>) -> Self {
        let inner = job.map(|job| Inner {
            _queues: queues.clone(),
            process: Process::current(),
            queue: queues.queue().clone(),
            request: Request::new(job.primitive, Task::default(), job.deadline),
            deadline: job.deadline,
            stage: Stage::New,
            finish: Some(job.finish),
        });
        Self { inner: Some(inner) }
    }
}

impl<T> Inner<T> {
    /// Puts the request in the queue.
    fn push(&self) -> Result<(), QueueError> {
        if self.queue.note_expired(self.deadline) {
            return Err(QueueError::Expired);
        }
        self.queue.push(self.request.clone())
    }

    fn poll(&mut self, context: &Context) -> Poll<Outcome<Rsa>> {
        if Process::current() != self.process {
            return Poll::Ready(Err(QueueError::Forked));
        }
        // Set the waker before looking for the result: a thread that stores the result later then finds the
        // waker.
        if let Some(task) = self.request.waiter() {
            task.set(context.waker());
        }
        match self.stage {
            Stage::New => {
                if let Err(error) = self.push() {
                    return Poll::Ready(Err(error));
                }
                // Wait for one more poll: until then, the executor's other ready tasks add their requests.
                self.stage = Stage::Pushed;
                context.waker().wake_by_ref();
            }
            Stage::Pushed => {
                self.stage = Stage::Kicked;
                self.queue.kick();
            }
            Stage::Kicked => {}
        }
        let Some(outcome) = self.request.collect() else { return Poll::Pending };
        self.queue.wake_others(|_| true);
        Poll::Ready(outcome)
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T, Error>;

    /// After it has returned its result, it is always pending.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Self::Output> {
        let ready = match &mut self.inner {
            None => return Poll::Pending,
            Some(Err(error)) => Err(*error),
            Some(Ok(inner)) => match (inner.poll(context), inner.finish.take()) {
                (Poll::Pending, finish) => {
                    inner.finish = finish;
                    return Poll::Pending;
                }
                (Poll::Ready(Ok(Ok(number))), Some(finish)) => finish(number).map_err(Error::Rsa),
                (Poll::Ready(Ok(Err(error))), _) => Err(Error::Rsa(error)),
                (Poll::Ready(Err(error)), _) => Err(Error::Queue(error)),
                (Poll::Ready(Ok(Ok(_))), None) => Err(Error::Queue(QueueError::Closed)),
            },
        };
        self.inner = None;
        Poll::Ready(ready)
    }
}

impl<T> Drop for Inner<T> {
    fn drop(&mut self) {
        // In a forked child, the locks of the parent's queue may never be released.
        if Process::current() == self.process && self.stage != Stage::New {
            self.queue.withdraw(&self.request);
        }
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Pending").finish_non_exhaustive()
    }
}
