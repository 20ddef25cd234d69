//! Different requests that come together: the long ones do not delay the results of the short ones. Nothing
//! here is measured by time: the provider's own counters say what was computed when a job was woken.

mod common;

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Condvar, Mutex, PoisonError};

use common::guard::Guard;
use common::job::{Job, Wait, serve};
use common::keys::{PEM_2048, native};
use common::threads::in_threads;
use common::{Counters, Ctx, Key, Operation, Params, Side, World, alone, ffi, is_zariz};

/// What a job requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sign,
    /// A public operation with e = 65,537.
    Verify,
    /// A public operation with an exponent of 256 bits.
    LongVerify,
}

use Kind::{LongVerify, Sign, Verify};

impl Kind {
    fn operation(self) -> Operation {
        if self == Sign { Operation::Sign } else { Operation::Recover }
    }
}

/// What happened, in order: who was woken, and what had been counted by then.
#[derive(Default)]
struct Record {
    woken: Mutex<Vec<(Kind, Counters)>>,
    /// Whether the first worker may go on from the function that it calls.
    open: Mutex<bool>,
    changed: Condvar,
}

/// The argument of a job's function, which notes that the job is woken, or, without a kind, waits until it
/// may go on.
struct Program<'w> {
    world: &'w World,
    record: &'w Record,
    kind: Option<Kind>,
}

impl Program<'_> {
    fn wait(&self) -> Wait {
        let wait = Wait::new();
        let argument = ptr::from_ref(self).cast_mut().cast();
        // SAFETY: a live wait context, and an argument that outlives it.
        assert_eq!(unsafe { ffi::ASYNC_WAIT_CTX_set_callback(wait.raw(), woken, argument) }, 1);
        wait
    }
}

unsafe extern "C" fn woken(argument: *mut c_void) -> c_int {
    // SAFETY: a `Program` that outlives the wait context.
    let Program { world, record, kind } = unsafe { &*argument.cast::<Program>() };
    let counters = world.counters();
    record.woken.lock().unwrap_or_else(PoisonError::into_inner).push((kind.unwrap_or(Sign), counters));
    record.changed.notify_all();
    if kind.is_none() {
        let open = record.open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(record.changed.wait_while(open, |open| !*open));
    }
    1
}

impl Record {
    /// Waits until so many were woken, and returns what was noted of them.
    fn of(&self, count: usize) -> Vec<(Kind, Counters)> {
        let woken = self.woken.lock().expect("noted");
        self.changed.wait_while(woken, |woken| woken.len() < count).expect("noted").clone()
    }

    fn open(&self) {
        *self.open.lock().expect("the gate") = true;
        self.changed.notify_all();
    }
}

/// A key for each kind.
struct Keys<'w> {
    usual: Key<'w>,
    long: Key<'w>,
}

impl<'w> Keys<'w> {
    fn new(world: &'w World) -> Self {
        let usual = native(world, Side::Subject, PEM_2048);
        // No key has this modulus.
        let numbers = Params::new().number("n", &[0xff; 256]).number("e", &[0xff; 32]);
        let long = Key::from_data(world, Side::Subject, ffi::PUBLIC_KEY, &numbers).expect("a public key");
        Self { usual, long }
    }

    fn ready(&'w self, world: &'w World, kind: Kind) -> Ctx<'w> {
        let key = if kind == LongVerify { &self.long } else { &self.usual };
        let raw = Params::new().text("pad-mode", "none");
        Ctx::ready(world, Side::Subject, key, kind.operation(), &raw).expect("ready")
    }

    /// A job of that kind.
    fn job(&'w self, world: &'w World, kind: Kind, wait: Wait) -> Job<'w> {
        let (ctx, mut out) = (self.ready(world, kind), vec![0; 256]);
        let number = [&[0][..], &[7; 255]].concat();
        Job::with(wait, move || c_int::from(ctx.once(kind.operation(), Some(&mut out), &number).is_ok()))
    }
}

/// In which order they are requested.
const ORDERS: [[Kind; 8]; 3] = [
    [LongVerify, LongVerify, Verify, Verify, Verify, Sign, Sign, Sign],
    [Sign, Verify, LongVerify, Sign, Verify, LongVerify, Sign, Verify],
    [Verify, LongVerify, Sign, Sign, LongVerify, Verify, Verify, Sign],
];

/// Eight requests wait while the only worker is held. All signatures are computed, and their jobs woken,
/// before any public operation begins; and those with usual exponents before any with a long one.
#[test]
fn signatures_do_not_wait_for_verifications_that_came_with_them() {
    let (_alone, _guard) = (alone(), Guard::new("signatures do not wait"));
    if !is_zariz() {
        return; // the default provider's jobs never pause
    }
    for order in ORDERS {
        let world = World::with(&[("threads", "1")]);
        let (keys, record) = (Keys::new(&world), Record::default());
        let gate = Program { world: &world, record: &record, kind: None };
        let mut first = keys.job(&world, Sign, gate.wait());
        assert!(!first.resume(), "a job with a function pauses");
        record.of(1);
        // The worker is in the function now, and nothing is computed.
        let before = world.counters();
        let programs = order.map(|kind| Program { world: &world, record: &record, kind: Some(kind) });
        let mut jobs: Vec<Job> = programs
            .iter()
            .zip(order)
            .map(|(program, kind)| {
                let mut job = keys.job(&world, kind, program.wait());
                assert!(!job.resume(), "a job with a function pauses");
                job
            })
            .collect();
        record.open();
        let woken = record.of(9);
        jobs.push(first);
        for mut job in jobs {
            while !job.resume() {}
            assert_eq!(job.result, Some(1), "{order:?}");
        }
        let expected = [(Sign, (3, 0)), (Verify, (3, 3)), (LongVerify, (3, 5))];
        for (at, (kind, counters)) in woken[1..].iter().enumerate() {
            let done = counters.since(before);
            let (_, counted) = expected.iter().find(|(known, _)| known == kind).expect("one of the kinds");
            assert_eq!((done.private, done.public), *counted, "{order:?}: {kind:?} is woken at {at}: {done:?}");
        }
        let done = world.counters().since(before);
        assert_eq!((done.batches, done.fallbacks), (3, 0), "{order:?}: a batch of each kind: {done:?}");
    }
}

/// A batch of long public operations fills an engine's lanes once, of which there are eight at most; others
/// have more.
#[test]
fn batches_of_long_operations_are_short() {
    let (_alone, _guard) = (alone(), Guard::new("short batches"));
    if !is_zariz() {
        return;
    }
    for (kind, most) in [(LongVerify, 8), (Verify, 40)] {
        let world = World::with(&[("threads", "1"), ("max-batch", "64")]);
        let (keys, record) = (Keys::new(&world), Record::default());
        let gate = Program { world: &world, record: &record, kind: None };
        let mut first = keys.job(&world, Sign, gate.wait());
        assert!(!first.resume(), "a job with a function pauses");
        record.of(1);
        let program = Program { world: &world, record: &record, kind: Some(kind) };
        let mut jobs: Vec<Job> = (0..40).map(|_| keys.job(&world, kind, program.wait())).collect();
        assert!(jobs.iter_mut().all(|job| !job.resume()), "jobs with a function pause");
        record.open();
        record.of(41);
        jobs.push(first);
        for mut job in jobs {
            while !job.resume() {}
            assert_eq!(job.result, Some(1), "{kind:?}");
        }
        let largest = world.counters().largest_batch;
        assert!(if kind == LongVerify { largest <= most } else { largest == most }, "{kind:?}: {largest}");
    }
}

/// Without workers, the thread that hands requests over computes them by kind as well.
#[test]
fn batches_are_of_one_kind_without_workers() {
    let (_alone, _guard) = (alone(), Guard::new("batches without workers"));
    if !is_zariz() {
        return;
    }
    for order in ORDERS {
        let world = World::with(&[("threads", "0")]);
        let keys = Keys::new(&world);
        let before = world.counters();
        let mut jobs: Vec<Job> = order.iter().map(|&kind| keys.job(&world, kind, Wait::new())).collect();
        for job in &mut jobs {
            job.resume();
        }
        for mut job in jobs {
            while job.result.is_none() {
                job.resume();
            }
            assert_eq!(job.result, Some(1), "{order:?}");
        }
        let done = world.counters().since(before);
        assert_eq!((done.private, done.public, done.fallbacks), (3, 5, 0), "{order:?}: {done:?}");
        // An engine of few lanes has them in several batches.
        assert!(done.batches >= 3 && done.largest_batch <= 3, "{order:?}: {done:?}");
    }
}

/// Requests of all kinds, of threads and of jobs, at once: each gets its result, on whichever thread it is
/// computed.
#[test]
fn all_kinds_of_threads_and_jobs_at_once() {
    let (_alone, _guard) = (alone(), Guard::new("all kinds at once"));
    for settings in [&[("threads", "1")][..], &[("threads", "3"), ("max-batch", "2")], &[("threads", "0")]] {
        let world = World::with(settings);
        let keys = Keys::new(&world);
        let before = world.counters();
        in_threads(6, |t| {
            let kind = |i: usize| [Sign, Verify, LongVerify][(i + t) % 3];
            if t < 2 {
                let done = |_: usize, job: &Job| assert_eq!(job.result, Some(1), "in a job");
                serve(12, 120, |i, wait| keys.job(&world, kind(i), wait), done);
            } else {
                let number = [&[0][..], &[7; 255]].concat();
                for i in 0..60 {
                    let done = keys.ready(&world, kind(i)).run(kind(i).operation(), &number);
                    assert!(done.is_ok(), "in a thread: {done:?}");
                }
            }
        });
        if is_zariz() {
            let done = world.counters().since(before);
            assert_eq!((done.private, done.public, done.fallbacks), (160, 320, 0), "{settings:?}: {done:?}");
        }
    }
}
