//! Different kinds of requests that come together: long ones do not delay the results of short ones. Nothing
//! is measured by time: the provider's counters say what was computed when a job was woken.

mod common;

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{ptr, thread};

use common::job::{Job, Wait, serve};
use common::keys::{PEM_2048, PEM_8192, native};
use common::threads::{Guard, in_threads};
use common::{Counters, Ctx, Key, Operation, Params, Side, World, alone, ffi, is_zariz};

/// The kind of a job's request.
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

/// Which jobs were woken, in order, and the counters at each moment. `None` is the first job.
#[derive(Default)]
struct Record {
    woken: Mutex<Vec<(Option<Kind>, Counters)>>,
    changed: Condvar,
}

/// The argument of a job's function, which records that the job is woken.
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
    record.lock().push((*kind, counters));
    record.changed.notify_all();
    1
}

impl Record {
    fn lock(&self) -> MutexGuard<'_, Vec<(Option<Kind>, Counters)>> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `count` jobs were woken, and returns their records.
    fn of(&self, count: usize) -> Vec<(Option<Kind>, Counters)> {
        self.changed.wait_while(self.lock(), |woken| woken.len() < count).expect("noted").clone()
    }
}

/// A key for each kind, in the provider under test and in OpenSSL's own.
struct Keys<'w> {
    world: &'w World,
    usual: [Key<'w>; 2],
    long: [Key<'w>; 2],
    first: [Key<'w>; 2],
}

/// A number that no other request has, and the result of OpenSSL's own provider for it.
struct Request {
    number: Vec<u8>,
    expected: Vec<u8>,
}

/// How many numbers were made.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

impl<'w> Keys<'w> {
    fn new(world: &'w World) -> Self {
        // An arbitrary modulus: no key pair has it.
        let numbers = Params::new().number("n", &[0xff; 256]).number("e", &[0xff; 32]);
        let long = |side| Key::from_data(world, side, ffi::PUBLIC_KEY, &numbers).expect("a public key");
        let [usual, first] = [PEM_2048, PEM_8192].map(|pem| Side::BOTH.map(|side| native(world, side, pem)));
        Self { world, usual, long: Side::BOTH.map(long), first }
    }

    fn ready(&self, side: Side, kind: Option<Kind>) -> Ctx<'_> {
        let keys = match kind {
            None => &self.first,
            Some(LongVerify) => &self.long,
            Some(Sign | Verify) => &self.usual,
        };
        let key = keys.iter().zip(Side::BOTH).find(|(_, of)| *of == side).expect("a key of each side").0;
        let raw = Params::new().text("pad-mode", "none");
        Ctx::ready(self.world, side, key, operation(kind), &raw).expect("ready")
    }

    fn request(&self, kind: Option<Kind>) -> Request {
        let mut number = vec![7; if kind.is_none() { 1024 } else { 256 }];
        number[0] = 0;
        number[1..9].copy_from_slice(&NUMBERS.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        let expected =
            self.ready(Side::Reference, kind).run(operation(kind), &number).expect("computed by OpenSSL");
        Request { number, expected }
    }

    /// A job of that kind. Its result is 1 if it gets the result of its own number.
    fn job(&self, kind: Option<Kind>, wait: Wait) -> Job<'_> {
        let (ctx, request) = (self.ready(Side::Subject, kind), self.request(kind));
        let mut out = vec![0; request.number.len()];
        Job::with(wait, move || {
            let done = ctx.once(operation(kind), Some(&mut out), &request.number);
            c_int::from(done.is_ok_and(|size| out[..size] == request.expected))
        })
    }
}

fn operation(kind: Option<Kind>) -> Operation {
    kind.unwrap_or(Sign).operation()
}

/// Runs jobs of these kinds, which make their requests while the only worker computes a long one, the first
/// job's. Returns the jobs woken after that, with the counters at each moment; and all counts.
fn behind_a_long_one(settings: &[(&str, &str)], kinds: &[Kind]) -> (Vec<(Kind, Counters)>, Counters) {
    loop {
        let world = World::with(settings);
        let (keys, record) = (Keys::new(&world), Record::default());
        let before = world.counters();
        let first = Program { world: &world, record: &record, kind: None };
        let programs: Vec<_> = kinds.iter().map(|&kind| Program { kind: Some(kind), ..first }).collect();
        let job = |program: &Program| keys.job(program.kind, program.wait());
        let mut jobs = vec![job(&first)];
        jobs.extend(programs.iter().map(job));
        for (i, job) in jobs.iter_mut().enumerate() {
            assert!(!job.resume(), "a job with a function pauses");
            if i == 0 {
                // Let the worker begin.
                thread::sleep(Duration::from_millis(3));
            }
        }
        let in_time = record.lock().is_empty();
        let woken = record.of(jobs.len());
        for mut job in jobs {
            while !job.resume() {}
            assert_eq!(job.result, Some(1), "{kinds:?}");
        }
        // Otherwise this machine was too slow: try again.
        if in_time && woken[0].0.is_none() {
            let others =
                woken[1..].iter().filter_map(|(kind, counters)| Some(((*kind)?, counters.since(before))));
            return (others.collect(), world.counters().since(before));
        }
    }
}

/// Orders of the requests.
const ORDERS: [[Kind; 8]; 3] = [
    [LongVerify, LongVerify, Verify, Verify, Verify, Sign, Sign, Sign],
    [Sign, Verify, LongVerify, Sign, Verify, LongVerify, Sign, Verify],
    [Verify, LongVerify, Sign, Sign, LongVerify, Verify, Verify, Sign],
];

/// Eight requests wait while the only worker computes. All signatures are computed before any public
/// operation begins, and public operations with usual exponents before those with long ones.
#[test]
fn signatures_do_not_wait_for_verifications_that_came_with_them() {
    let (_alone, _guard) = (alone(), Guard::new("signatures do not wait"));
    if !is_zariz() {
        return; // the default provider's jobs never pause
    }
    for order in ORDERS {
        let (woken, done) = behind_a_long_one(&[("threads", "1")], &order);
        for (at, (kind, counted)) in woken.into_iter().enumerate() {
            let least =
                [(Sign, 0), (Verify, 3), (LongVerify, 5)].into_iter().find(|(known, _)| *known == kind);
            let (_, public) = least.expect("one of the kinds");
            let is_in_order = counted.private == 1 + 3 && counted.public >= public;
            assert!(is_in_order, "{order:?}: {kind:?} is woken at {at}: {counted:?}");
        }
        assert_eq!((done.batches, done.fallbacks), (1 + 3, 0), "{order:?}: a batch of each kind: {done:?}");
    }
}

/// A batch of long public operations fills an engine's lanes once, at most eight; other batches are larger.
#[test]
fn batches_of_long_operations_are_short() {
    let (_alone, _guard) = (alone(), Guard::new("short batches"));
    if !is_zariz() {
        return;
    }
    for (kind, most) in [(LongVerify, 8), (Verify, 40)] {
        let (_, done) = behind_a_long_one(&[("threads", "1"), ("max-batch", "64")], &[kind; 40]);
        let largest = done.largest_batch;
        assert!(if kind == LongVerify { largest <= most } else { largest == most }, "{kind:?}: {largest}");
    }
}

/// Without workers, the thread that hands requests over also computes them by kind.
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
        let mut jobs: Vec<Job> = order.iter().map(|&kind| keys.job(Some(kind), Wait::new())).collect();
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
        // An engine with few lanes computes them in several batches.
        assert!(done.batches >= 3 && done.largest_batch <= 3, "{order:?}: {done:?}");
    }
}

/// Requests of all kinds, of threads and of jobs, at once: each gets its own result, on whichever thread it
/// is computed.
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
                serve(12, 120, |i, wait| keys.job(Some(kind(i)), wait), done);
            } else {
                for kind in (0..60).map(|i| Some(kind(i))) {
                    let request = keys.request(kind);
                    let done = keys.ready(Side::Subject, kind).run(operation(kind), &request.number);
                    assert_eq!(done.expect("done"), request.expected, "in a thread");
                }
            }
        });
        if is_zariz() {
            let done = world.counters().since(before);
            assert_eq!((done.private, done.public, done.fallbacks), (160, 320, 0), "{settings:?}: {done:?}");
        }
    }
}
