//! Requests of many callers, computed together.
//!
//! Batches form by themselves: a request that finds no computation under way is computed at once, even alone.
//! Requests that come meanwhile gather and make the next batch. There is no timer, and no request waits for
//! others to come.
//!
//! * A thread outside of OpenSSL's jobs computes its own request and those that wait ([`Queue::call`]). The
//!   setting `threads` limits how many batches are computed at once. Beyond that a thread waits, until
//!   another's batch has its result or it must compute the next batch.
//! * In a job, nothing is computed: its stack is small, and its thread has other jobs to run. [`job`] says
//!   how these wait. Worker threads compute for them, started when there is first something to do. Where none
//!   can be started, the thread that would hand requests over computes them, on a stack of its own
//!   (`crate::stack`).
//!
//! A batch has requests of one kind ([`waiting`]): private operations are first, long public operations last.
//! Each kind passes a waiting request at most once. A batch of long public operations fills the lanes once, and
//! at most half of the turns, but at least one, compute such batches at a time. So a signature waits for at
//! most one such batch in each turn.
//!
//! No lock is held while a batch is computed, while a job is paused, or while a job or thread is woken. A paused
//! job's stack owns nothing: its request belongs to the wait context ([`wake`]), since a program that drops a
//! connection frees that, and never runs the job again. Each process has its own queue and workers
//! ([`Processes`]), since servers fork after they have loaded the provider.

mod gather;
pub mod job;
mod primitive;
mod process;
mod request;
mod waiting;
mod wake;

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};
use std::{iter, mem};

use once_cell::race::OnceNonZeroUsize;

use crate::counters::Counters;
use crate::settings::processors;
use crate::stack;
use gather::Gathers;
use primitive::Kind;
pub use primitive::{ComputeError, ComputeResult, Primitive};
pub use process::Processes;
use request::{Request, Turn};
use waiting::Waiting;

/// The requests of a process for one instance of the provider.
pub struct Queue {
    /// The most batches that are computed at once.
    limit: OnceNonZeroUsize,
    /// The most requests in a batch.
    max_batch: usize,
    /// The engine's lanes. The halves of this many private operations fill them twice.
    lanes: usize,
    counters: Arc<Counters>,
    /// There are no workers: threads of jobs compute their own requests.
    in_place: AtomicBool,
    gathers: Gathers,
    state: Mutex<State>,
    /// Workers wait here for their turn.
    idle: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Waiting,
    /// Batches that are being computed, or that a thread was told to compute.
    computing: usize,
    /// How many of these are for workers that have not begun.
    for_workers: usize,
    /// How many of these are of long public operations.
    long: usize,
    /// Workers that wait.
    idle: usize,
    workers: Vec<JoinHandle<()>>,
    closed: bool,
}

impl Queue {
    /// A queue for `threads` threads, and an engine of `lanes` lanes. With zero threads, there are no
    /// workers. With zero or no number, at most one batch per processor is computed at once.
    pub fn new(threads: Option<usize>, max_batch: usize, lanes: usize, counters: Arc<Counters>) -> Arc<Self> {
        let limit = OnceNonZeroUsize::new();
        if let Some(threads) = threads.and_then(NonZero::new) {
            let _ = limit.set(threads); // it is new
        }
        let in_place = AtomicBool::new(threads == Some(0));
        let (gathers, state, idle) = (Gathers::default(), Mutex::default(), Condvar::new());
        Arc::new(Self { limit, max_batch, lanes, counters, in_place, gathers, state, idle })
    }

    /// The size of a full batch, which waits for no more. Half as many private operations fill the lanes;
    /// verifications gain from more.
    fn full(&self) -> usize {
        2 * self.lanes
    }

    /// The most batches that are computed at once.
    fn limit(&self) -> usize {
        self.limit.get_or_init(|| NonZero::new(processors()).unwrap_or(NonZero::<usize>::MIN)).get()
    }

    /// The most requests in a batch of that kind. Long public operations fill the lanes once, since others
    /// wait for them.
    fn most(&self, kind: Kind) -> usize {
        if kind == Kind::LongPublic { self.max_batch.min(self.lanes) } else { self.max_batch }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes a request of a thread that may wait and has a stack to compute on.
    pub fn call(self: &Arc<Self>, primitive: Primitive) -> ComputeResult {
        let mut state = self.lock();
        // The limit is at least one. The first batch does not need it, and finding it makes system calls.
        let kind = primitive.kind();
        if (state.computing == 0 || state.computing < self.limit()) && !state.waiting.holds(kind) {
            state.computing += 1;
            self.note_begun(&mut state, kind);
            if state.waiting.is_empty() {
                drop(state);
                let result = self.call_at_once(&primitive);
                self.pass_on(false, Some(kind));
                return result;
            }
            drop(state);
            return self.lead(Request::of_thread(primitive));
        }
        let request = Request::of_thread(primitive);
        state.waiting.push(request.clone());
        drop(state);
        match request.wait() {
            Turn::Done(result) => result,
            Turn::Lead => self.lead(request),
        }
    }

    /// Computes a request at once, independently of all others.
    pub fn call_at_once(&self, primitive: &Primitive) -> ComputeResult {
        self.compute(&[primitive]).pop().unwrap_or(Err(ComputeError::Panic))
    }

    /// Lets a worker compute a request while the calling thread, whose stack is too small, waits.
    pub fn call_elsewhere(self: &Arc<Self>, primitive: Primitive) -> ComputeResult {
        let request = Request::of_idle(primitive);
        self.submit(vec![request.clone()]);
        request.wait_for_result()
    }

    /// Takes requests of jobs, for workers to compute. Without workers, they are computed here, on a separate
    /// stack: these and no others, so that no thread computes for another thread's jobs.
    fn submit(self: &Arc<Self>, requests: Vec<Arc<Request>>) {
        if requests.is_empty() {
            return;
        }
        if self.in_place.load(Ordering::Relaxed) {
            return self.compute_here(requests);
        }
        let mut state = self.lock();
        state.waiting.extend(requests);
        // While batches are being computed, another one starts only when it is full; until then, requests
        // gather.
        while !state.waiting.is_empty()
            && state.computing < self.limit()
            && (state.computing == 0 || state.waiting.len() >= self.full() * (state.for_workers + 1))
        {
            state.computing += 1;
            self.assign(state);
            state = self.lock();
        }
    }

    /// Makes one batch a worker's turn: wakes one, or starts one. If there is no worker and none can be
    /// started, the queue stays without workers: from then on, jobs' threads compute their own requests.
    fn assign(self: &Arc<Self>, mut state: MutexGuard<State>) {
        state.for_workers += 1;
        if state.idle >= state.for_workers {
            drop(state);
            self.idle.notify_one();
        } else if state.workers.len() < self.limit() {
            let queue = self.clone();
            match stack::without_signals(|| Builder::new().name("zariz".into()).spawn(move || queue.run_worker())) {
                Ok(worker) => state.workers.push(worker),
                Err(_) if state.workers.is_empty() => {
                    self.in_place.store(true, Ordering::Relaxed);
                    state.for_workers -= 1;
                    let jobs = state.waiting.take_jobs();
                    drop(state);
                    self.compute_here(jobs);
                    self.pass_on(false, None);
                }
                // The existing workers compute it later.
                Err(_) => {}
            }
        }
    }

    /// Computes requests of jobs on this thread, whose stack is small.
    fn compute_here(&self, mut requests: Vec<Arc<Request>>) {
        requests.sort_by_key(|request| request.kind);
        let done = stack::on_another(|| {
            for of_kind in requests.chunk_by(|a, b| a.kind == b.kind) {
                of_kind.chunks(self.most(of_kind[0].kind)).for_each(|batch| self.run(batch));
                // Programs' functions may need a large stack: here they have one.
                notify(of_kind);
            }
        });
        if !matches!(done, Ok(Ok(()))) {
            requests.iter().for_each(|request| request.finish(Err(ComputeError::NoThread)));
            notify(&requests);
        }
    }

    /// A worker: computes batches when it is its turn, until the queue is closed.
    fn run_worker(self: Arc<Self>) {
        let mut state = self.lock();
        loop {
            if state.for_workers > 0 {
                state.for_workers -= 1;
                drop(state);
                let batch = self.take(None);
                self.run(&batch);
                self.pass_on(true, batch.first().map(|request| request.kind));
                notify(&batch);
                drop(batch);
                state = self.lock();
            } else if state.closed {
                return;
            } else {
                state.idle += 1;
                state = self.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }

    /// Computes the calling thread's request, and others that wait.
    fn lead(self: &Arc<Self>, own: Arc<Request>) -> ComputeResult {
        let batch = self.take(Some(own.clone()));
        self.run(&batch);
        self.pass_on(false, Some(own.kind));
        notify(&batch);
        own.wait_for_result()
    }

    /// Notes under the lock that a batch of that kind begins. At most half of the turns, but at least one,
    /// compute long public operations at a time. If they do, other long ones are held back, so that turns are
    /// left for signatures.
    fn note_begun(&self, state: &mut State, kind: Kind) {
        if kind == Kind::LongPublic {
            state.long += 1;
            state.waiting.hold_long(state.long >= (self.limit() / 2).max(1));
        }
    }

    /// After a batch of the kind `ended`, starts the next one, if requests wait: by a waiting thread, else by
    /// a worker, which may be the calling one. A thread leads a batch of its own kind. If the next batch is
    /// of another kind, a worker computes it, if one is free.
    fn pass_on(self: &Arc<Self>, by_worker: bool, ended: Option<Kind>) {
        let mut state = self.lock();
        if ended == Some(Kind::LongPublic) {
            state.long -= 1;
            state.waiting.hold_long(false);
        }
        let Some(kind) = state.waiting.next_kind() else {
            state.computing -= 1;
            return;
        };
        let mut leader = state.waiting.take_leader(Some(kind));
        if leader.is_none() && state.idle <= state.for_workers && state.workers.len() >= self.limit() {
            // A worker that is not free may be in a program's function, which may wait for the thread that
            // waits here.
            leader = state.waiting.take_leader(None);
        }
        match leader {
            Some(leader) => {
                self.note_begun(&mut state, leader.kind);
                drop(state);
                leader.lead();
            }
            None if by_worker && !state.waiting.has_leader() => state.for_workers += 1,
            None => self.assign(state),
        }
    }

    /// Takes a batch: the leader's own request, if there is one, and those of its kind that have waited
    /// longest; else requests of the next kind. Other workers whose turn it is get a share. A batch of more
    /// requests than lanes fills whole lanes: the requests that would fill a part of them begin the next
    /// batch.
    fn take(&self, own: Option<Arc<Request>>) -> Vec<Arc<Request>> {
        let mut state = self.lock();
        let kind = match (&own, state.waiting.next_kind()) {
            (Some(own), _) => own.kind,
            (None, Some(next)) => {
                self.note_begun(&mut state, next);
                next
            }
            (None, None) => return Vec::new(),
        };
        let (mut batch, waiting) = (Vec::from_iter(own), state.waiting.count(kind));
        let share = waiting.div_ceil(state.for_workers + 1).next_multiple_of(self.lanes).max(self.full());
        let mut count = (batch.len() + waiting).min(share).min(self.most(kind));
        if count > self.lanes {
            count -= count % self.lanes;
        }
        batch.extend(state.waiting.take(kind, count.saturating_sub(batch.len())));
        batch
    }

    /// Computes a batch, and gives every request its result. Jobs are woken afterwards ([`notify`]), so that
    /// a thread finds all its results at once, and others can already compute: a woken program may take long.
    fn run(&self, batch: &[Arc<Request>]) {
        if !batch.is_empty() {
            let primitives: Vec<_> = batch.iter().map(|request| &request.primitive).collect();
            iter::zip(batch, self.compute(&primitives)).for_each(|(request, result)| request.finish(result));
        }
    }

    fn compute(&self, primitives: &[&Primitive]) -> Vec<ComputeResult> {
        let (results, count) = (primitive::compute(primitives), primitives.len() as u64);
        match primitives.first() {
            Some(Primitive::Private(..)) => self.counters.batch(count, 0),
            Some(Primitive::Public(..)) => self.counters.batch(0, count),
            None => {}
        }
        results
    }

    /// Ends the workers. After this, there must be no more requests.
    pub fn close(&self) {
        let workers = {
            let mut state = self.lock();
            state.closed = true;
            mem::take(&mut state.workers)
        };
        self.idle.notify_all();
        for worker in workers {
            // A program may unload us from the function by which a worker wakes it.
            if worker.thread().id() != thread::current().id() {
                // A worker that panicked has printed a message.
                let _ = worker.join();
            }
        }
    }
}

/// Wakes the jobs of a batch.
fn notify(batch: &[Arc<Request>]) {
    batch.iter().for_each(|request| request.notify());
}

#[cfg(test)]
mod tests {
    use zariz::rsa::PublicKey;

    use super::*;

    fn public_operation(e: &[u8]) -> Primitive {
        let key = PublicKey::from_components(&[0xff; 128], e).expect("a public key");
        Primitive::Public(key, vec![7; 128].into())
    }

    /// Of two turns, one computes long public operations. Other requests take the second, and the long ones
    /// wait.
    #[test]
    fn long_operations_leave_turns_for_others() {
        let queue = Queue::new(Some(2), 16, 8, Counters::own().into());
        {
            let mut state = queue.lock();
            state.computing += 1;
            queue.note_begun(&mut state, Kind::LongPublic);
        }
        thread::scope(|scope| {
            let long = scope.spawn(|| queue.call(public_operation(&[1, 0, 0, 1])));
            let waits = || queue.lock().waiting.count(Kind::LongPublic) == 1;
            while !waits() {
                thread::yield_now();
            }
            assert!(queue.call(public_operation(&[3])).is_ok());
            assert!(waits() && queue.lock().computing == 1);
            // The end of the batch that holds it back is its turn.
            queue.pass_on(false, Some(Kind::LongPublic));
            assert!(long.join().expect("no panic").is_ok());
        });
        let state = queue.lock();
        assert_eq!((state.computing, state.long, state.waiting.is_empty()), (0, 0, true));
    }
}
