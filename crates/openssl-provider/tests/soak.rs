//! `cargo xtask soak`: very many asynchronous jobs. Some are abandoned, some are late, and some have their
//! keys freed while they wait. Every result is right, and neither memory nor descriptors grow.
//!
//! Memory is counted to the byte, in the C library's allocator. OpenSSL never frees the stack of an abandoned
//! job. This loss is measured with jobs that only pause, without any provider; zariz may not exceed it.

mod common;

use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{mem, ptr, thread};

use common::job::{Job, Wait, only_fd, readable};
use common::keys::{PEM_1024, PEM_2048, PEM_3072, native, new};
use common::operation::{operate, verify};
use common::params::Params;
use common::process::{files_return_to, open_files};
use common::random::Random;
use common::soak::{Report, Series, amount, end, processor, state};
use common::threads::in_threads;
use common::world::text;
use common::{Ctx, Key, Operation, Side, World, alone, ffi, is_zariz};

/// Jobs at once.
const CONCURRENT: usize = 64;
/// The allowed growth in bytes between the second and the last quarter. Each key's pool of blinding pairs has
/// as many pairs as there were requests of that key in one batch, and the largest number comes late.
const MEMORY: f64 = 256.0 * 1024.0;
/// How many more bytes an abandoned job may lose than one that only pauses: pools fill, and a request is
/// larger.
const MORE: f64 = 400.0;
/// One in this many jobs is abandoned: OpenSSL loses the stack of each.
const ABANDONED: u64 = 500;

/// Bytes that the C library's allocator has given out and not got back.
fn in_use() -> usize {
    // SAFETY: it has no preconditions.
    let all = unsafe { libc::mallinfo2() };
    all.uordblks + all.hblkhd
}

/// What a job does with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    SignPkcs1,
    SignPss,
    DecryptPkcs1,
    DecryptOaep,
}

impl Kind {
    const ALL: [Self; 4] = [Self::SignPkcs1, Self::SignPss, Self::DecryptPkcs1, Self::DecryptOaep];

    fn operation(self) -> Operation {
        if matches!(self, Self::SignPkcs1 | Self::SignPss) { Operation::Sign } else { Operation::Decrypt }
    }

    fn params(self) -> Params {
        let params = Params::new();
        match self {
            Self::SignPkcs1 => params.text("digest", "SHA256"),
            Self::SignPss => {
                params.text("digest", "SHA256").text("pad-mode", "pss").text("saltlen", "digest")
            }
            Self::DecryptPkcs1 => params,
            Self::DecryptOaep => params.text("pad-mode", "oaep"),
        }
    }
}

/// A private key, in the provider under test and in OpenSSL's own.
struct Known<'w> {
    key: Key<'w>,
    numbers: common::key::Numbers,
    reference: Key<'w>,
}

impl<'w> Known<'w> {
    fn new(world: &'w World, key: &Key<'w>) -> Self {
        let (reference, numbers) =
            (key.on(world, Side::Reference), key.numbers(ffi::KEYPAIR).expect("the numbers"));
        Self { key: key.on(world, Side::Subject), numbers, reference }
    }

    /// The input of a job: the text itself to sign, or its ciphertext.
    fn given(&self, world: &World, kind: Kind, text: &Text) -> Vec<u8> {
        match kind.operation() {
            Operation::Sign => text.to_vec(),
            _ => operate(world, Side::Reference, &self.reference, Operation::Encrypt, &kind.params(), text)
                .expect("encrypted by OpenSSL"),
        }
    }

    fn is_right(&self, world: &World, kind: Kind, text: &Text, result: &[u8]) -> bool {
        match kind.operation() {
            Operation::Sign => {
                verify(world, Side::Reference, &self.reference, &kind.params(), result, text).is_ok()
            }
            _ => result == text,
        }
    }
}

/// The digest that is signed, or the text that was encrypted. No two jobs have the same.
type Text = [u8; 32];

/// How many texts were made.
static TEXTS: AtomicU64 = AtomicU64::new(0);

/// What a job reads and writes; on the heap, apart from the job.
struct Task<'w> {
    /// `None`: the job only pauses, without a provider.
    of: Option<(&'w Known<'w>, Kind, Ctx<'w>)>,
    text: Text,
    given: Vec<u8>,
    out: Vec<u8>,
    size: usize,
}

impl<'w> Task<'w> {
    fn pause() -> Box<Self> {
        Box::new(Self { of: None, text: [0; 32], given: Vec::new(), out: Vec::new(), size: 0 })
    }

    /// With the key itself, or with a copy that is freed at once, so that only the context keeps it.
    fn new(world: &'w World, known: &'w Known<'w>, kind: Kind, copy: bool) -> Box<Self> {
        let ctx = if copy {
            let key = Key::with_numbers(world, Side::Subject, ffi::KEYPAIR, &known.numbers).expect("a key");
            Ctx::keeping(world, Side::Subject, key, kind.operation(), &kind.params())
        } else {
            Ctx::ready(world, Side::Subject, &known.key, kind.operation(), &kind.params())
        };
        let (mut text, number, size) = ([7; 32], TEXTS.fetch_add(1, Ordering::Relaxed), known.key.size());
        text[..8].copy_from_slice(&number.to_be_bytes());
        let given = known.given(world, kind, &text);
        Box::new(Self { of: Some((known, kind, ctx.expect("ready"))), text, given, out: vec![0; size], size })
    }

    /// A job that uses the task without borrowing it: both may be abandoned and freed.
    fn job(&mut self, wait: Wait) -> Job<'w> {
        let (ctx, out, size) = match &self.of {
            None => (ptr::null_mut(), ptr::null_mut(), ptr::null_mut()),
            Some((.., ctx)) => (ctx.raw(), self.out.as_mut_ptr(), &raw mut self.size),
        };
        let operation = self.of.as_ref().map_or(Operation::Sign, |(_, kind, _)| kind.operation());
        let (data, length) = (self.given.as_ptr(), self.given.len());
        Job::with(wait, move || {
            // SAFETY: in a job, or the task's context and buffers, which live until the job is done or
            // abandoned.
            unsafe {
                if ctx.is_null() {
                    return ffi::ASYNC_pause_job();
                }
                match operation {
                    Operation::Sign => ffi::EVP_PKEY_sign(ctx, out, size, data, length),
                    _ => ffi::EVP_PKEY_decrypt(ctx, out, size, data, length),
                }
            }
        })
    }

    fn is_right(&self, world: &World) -> bool {
        let result = self.out.get(..self.size);
        self.of.as_ref().is_none_or(|(known, kind, _)| {
            result.is_some_and(|result| known.is_right(world, *kind, &self.text, result))
        })
    }
}

/// How many jobs had each fate.
#[derive(Clone, Debug, Default)]
struct Tally {
    started: usize,
    right: usize,
    wrong: usize,
    abandoned: usize,
    late: usize,
    copies: usize,
    early: usize,
}

/// A job under way.
struct Slot<'w> {
    job: Job<'w>,
    task: Box<Task<'w>>,
    /// Its program ignores it until this round of the loop.
    until: usize,
    /// It is abandoned in that round.
    abandon: bool,
}

/// An event loop for `count` jobs. With `forget`, leaks contexts on purpose.
fn event_loop<'w>(
    world: &'w World,
    known: &'w [Known<'w>],
    random: &mut Random,
    count: usize,
    forget: bool,
) -> Tally {
    let (mut tally, mut slots, mut round) = (Tally::default(), Vec::<Slot>::new(), 0);
    let finish = |tally: &mut Tally, job: &Job, task: Box<Task>| {
        if job.result == Some(1) && task.is_right(world) {
            tally.right += 1
        } else {
            tally.wrong += 1
        }
        if forget && tally.right.is_multiple_of(100) {
            mem::forget(task);
        }
    };
    while tally.started < count || !slots.is_empty() {
        round += 1;
        while tally.started < count && slots.len() < CONCURRENT {
            // The last keys are large.
            let small = known.len() - 2;
            let large = if random.one_in(4) { small + 1 } else { small };
            let key = if random.one_in(100) { large } else { random.below(small as u64) as usize };
            let kind = Kind::ALL[random.below(4) as usize];
            let copy = random.one_in(20);
            let mut task = Task::new(world, &known[key], kind, copy);
            let mut job = task.job(Wait::new());
            tally.started += 1;
            tally.copies += usize::from(copy);
            if job.resume() {
                finish(&mut tally, &job, task);
                continue;
            }
            let (abandon, late) = (is_zariz() && random.one_in(ABANDONED), random.one_in(20));
            tally.late += usize::from(late && !abandon);
            let until = if abandon || late { round + random.below(20) as usize } else { 0 };
            slots.push(Slot { job, task, until, abandon });
        }
        for slot in slots.extract_if(.., |slot| slot.abandon && slot.until <= round) {
            slot.job.abandon();
            tally.abandoned += 1;
        }
        let watched: Vec<usize> = (0..slots.len()).filter(|&at| slots[at].until <= round).collect();
        if watched.is_empty() {
            continue;
        }
        let ready = readable(&watched.iter().map(|&at| only_fd(&slots[at].job)).collect::<Vec<_>>());
        for (at, ready) in watched.into_iter().zip(ready).rev() {
            let early = !ready && random.one_in(50);
            tally.early += usize::from(early);
            if (ready || early) && slots[at].job.resume() {
                let slot = slots.swap_remove(at);
                finish(&mut tally, &slot.job, slot.task);
            }
        }
    }
    tally
}

/// When a job is abandoned: at its first pause, while its request is computed, or with its result.
const WHERE: [(usize, u64); 3] = [(0, 0), (1, 0), (1, 2)];

/// Bytes lost with each job that is abandoned after this many resumes and milliseconds. Repeats the
/// measurement while the loss is at least `enough`: workers release requests late, and pools fill, but a real
/// loss stays.
fn lost<'w>((resumes, wait): (usize, u64), enough: f64, mut task: impl FnMut() -> Box<Task<'w>>) -> f64 {
    let mut abandon = |count| {
        let mut abandoned = 0;
        for _ in 0..count {
            let mut task = task();
            let mut job = task.job(Wait::new());
            // A worker may be that fast.
            if !(0..=resumes).any(|_| job.resume()) {
                thread::sleep(Duration::from_millis(wait));
                job.abandon();
                abandoned += 1;
            }
        }
        abandoned
    };
    abandon(100); // pools fill
    thread::sleep(Duration::from_millis(100));
    let mut least = f64::INFINITY;
    for _ in 0..10 {
        let (before, abandoned) = (in_use() as f64, f64::from(abandon(100)).max(1.0));
        for _ in 0..20 {
            least = least.min((in_use() as f64 - before) / abandoned);
            if least < enough {
                return least;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
    least
}

/// A whole soak.
struct Soak {
    tally: Tally,
    memory: Series,
    lost: f64,
    start: Instant,
    seconds: f64,
}

impl Soak {
    /// Runs `jobs` jobs in rounds of two event loops, each in a new thread. Reads memory between rounds.
    fn run(world: &World, jobs: usize, forget: bool, each: impl Fn(&Self)) -> Self {
        let bits = |bits| new(world, Params::new().size("bits", bits));
        let mut known: Vec<Known> = (0..12).map(|_| Known::new(world, &bits(1024))).collect();
        known.extend(
            [PEM_1024, PEM_2048, PEM_3072].map(|pem| Known::new(world, &native(world, Side::Subject, pem))),
        );
        let lost = lost(WHERE[0], f64::INFINITY, Task::pause);
        let (rounds, start) = ((jobs / 1000).clamp(24, 400), Instant::now());
        let (tally, memory) = (Tally::default(), Series::default());
        let mut soak = Self { tally, memory, lost, start, seconds: 0.0 };
        for round in 0..rounds {
            if Instant::now() > end(start) {
                break;
            }
            let count = jobs * (round + 1) / rounds - soak.tally.started;
            let tallies = Mutex::new(Vec::new());
            in_threads(2, |thread| {
                let mut random = Random((jobs + 2 * round + thread) as u64);
                let share = if thread == 0 { count / 2 } else { count - count / 2 };
                let tally = event_loop(world, &known, &mut random, share, forget);
                tallies.lock().expect("the tallies").push(tally);
            });
            for tally in tallies.into_inner().expect("the tallies") {
                soak.tally.started += tally.started;
                soak.tally.right += tally.right;
                soak.tally.wrong += tally.wrong;
                soak.tally.abandoned += tally.abandoned;
                soak.tally.late += tally.late;
                soak.tally.copies += tally.copies;
                soak.tally.early += tally.early;
            }
            let memory = soak.at_rest();
            soak.memory.push(soak.tally.started, memory);
            soak.seconds = soak.start.elapsed().as_secs_f64();
            each(&soak);
        }
        soak
    }

    /// Bytes in use without the stacks of abandoned jobs, once workers have dropped abandoned requests.
    fn at_rest(&self) -> f64 {
        thread::sleep(Duration::from_millis(20));
        in_use() as f64 - self.lost * self.tally.abandoned as f64
    }

    fn faults(&self, world: &World) -> Vec<String> {
        let mut faults = Vec::new();
        if self.tally.wrong > 0 {
            faults.push(format!("{} results are wrong", self.tally.wrong));
        }
        if let Some(trend) = self.memory.trend().filter(|trend| trend.growth() > MEMORY) {
            faults.push(format!("memory from {:.0} to {:.0}", trend.second, trend.last));
        }
        let counters = world.counters();
        if is_zariz() && (counters.fallbacks, counters.check_failures) != (0, 0) {
            faults.push(format!("fallbacks or wrong results: {counters:?}"));
        }
        faults
    }

    /// The report as a page.
    fn page(&self, world: &World, state: &str) -> String {
        // SAFETY: a constant text of libcrypto's.
        let version = unsafe { text(ffi::OpenSSL_version(0)) }.expect("a version");
        let mut page = format!(
            "# A soak of asynchronous jobs with zariz\n\n{}. {version}. Two event loops of {CONCURRENT} jobs at once, RSA-1024; one key \
             in a hundred has 2048 or 3072 bits.\n\nState: {state}.\n\n",
            processor()
        );
        let mut row = |what: &str, value: String| writeln!(page, "| {what} | {value} |").expect("text");
        let (tally, counters) = (&self.tally, world.counters());
        row("", String::new());
        row("---", "---".into());
        row(
            "time",
            format!("{:.0} s, {:.0} jobs a second", self.seconds, tally.started as f64 / self.seconds),
        );
        row(
            "jobs: signatures (PKCS#1 v1.5, PSS), decryptions (PKCS#1 v1.5, OAEP)",
            tally.started.to_string(),
        );
        row("ended with the right result", tally.right.to_string());
        row("ended with a wrong one", tally.wrong.to_string());
        row("abandoned while paused: wait context, context and buffer freed", tally.abandoned.to_string());
        row("left alone for up to 20 rounds of the loop, then ended", tally.late.to_string());
        row("with a key that was freed while its context waits", tally.copies.to_string());
        row("resumed too early", tally.early.to_string());
        row("zariz's counters", format!("{counters:?}"));
        row("operations in a batch", format!("{:.1}", counters.mean_batch()));
        row(
            "bytes that OpenSSL loses with a job that only pauses, and is abandoned",
            format!("{:.0}", self.lost),
        );
        if let Some(trend) = self.memory.trend() {
            let stacks = self.lost * tally.abandoned as f64;
            row("bytes of those stacks, not counted below", format!("{stacks:.0}"));
            row("bytes in use, second → last quarter", format!("{:.0} → {:.0}", trend.second, trend.last));
            row("bytes in use along the run", self.memory.along());
            row("bytes for a job, least squares", format!("{:.3}", trend.slope));
        }
        let faults = self.faults(world);
        let faults = if faults.is_empty() { "none.".into() } else { faults.join("; ") };
        page + &format!("\nFaults: {faults} Tolerated: {MEMORY} bytes.\n")
    }
}

#[test]
#[ignore = "a soak: cargo xtask soak"]
fn jobs_that_are_abandoned_late_or_lose_their_keys() {
    let _alone = alone();
    let (world, files, report) = (World::new(), open_files(), Report::new("-jobs.md"));
    let wanted = amount("ZARIZ_SOAK_JOBS", 50_000);
    let soak = Soak::run(&world, wanted, false, |soak| {
        report.write(&soak.page(&world, "under way"));
    });
    files_return_to(files);
    let (page, faults) = (soak.page(&world, &state(soak.tally.started, wanted)), soak.faults(&world));
    report.write(&page);
    println!("{page}");
    let (tally, counters) = (&soak.tally, world.counters());
    assert!(faults.is_empty(), "{faults:#?}");
    assert_eq!(tally.right + tally.abandoned, tally.started);
    if is_zariz() {
        assert!(tally.abandoned > 0 && tally.late > 0 && tally.copies > 0, "{tally:?}");
        assert!((tally.right..=tally.started).contains(&(counters.private as usize)), "{counters:?}");
    }
}

/// One context in a hundred is leaked on purpose: the soak must notice.
#[test]
#[ignore = "a soak: cargo xtask soak"]
fn a_soak_finds_lost_contexts() {
    let _alone = alone();
    let world = World::new();
    let soak = Soak::run(&world, 50_000, true, |_| ());
    let faults = soak.faults(&world);
    println!("{faults:#?}");
    assert!(faults.iter().any(|fault| fault.contains("memory from")), "{faults:#?}");
}

#[test]
fn a_series_that_grows_is_told_from_one_that_does_not() {
    let series = |value: fn(usize) -> f64| {
        let mut series = Series::default();
        (0..100).for_each(|at| series.push(at, value(at)));
        series.trend().expect("a hundred samples")
    };
    // It rises at first, and then stays about one value.
    let flat = series(|at| (at.min(20) * 50 + at % 7) as f64);
    assert!(flat.growth().abs() < 1.0 && flat.slope.abs() < 0.1, "{flat:?}");
    let growing = series(|at| (at.min(20) * 50 + at % 7 + at) as f64);
    assert!((49.0..51.0).contains(&growing.growth()) && (0.9..1.1).contains(&growing.slope), "{growing:?}");
    let few = Series::default();
    assert!(few.trend().is_none());
}

#[test]
fn an_abandoned_job_loses_its_stack_alone() {
    let _alone = alone();
    let world = World::new();
    let known = Known::new(&world, &native(&world, Side::Subject, PEM_1024));
    let stack = lost(WHERE[0], f64::INFINITY, Task::pause);
    println!("{stack:.0} bytes for a job that only pauses");
    let planted = lost(WHERE[0], stack + MORE, || {
        mem::forget(std::hint::black_box(vec![1_u8; 2 * MORE as usize]));
        Task::pause()
    });
    assert!(planted >= stack + MORE, "{planted:.0} bytes: what is lost on purpose is not found");
    for (kind, copy) in Kind::ALL.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        for place in WHERE {
            let more = lost(place, stack + MORE, || Task::new(&world, &known, kind, copy)) - stack;
            println!("{kind:?}, key freed: {copy}, {place:?}: {more:.0} bytes more");
            assert!(
                more < MORE,
                "{kind:?}, key freed: {copy}, {place:?}: {more:.0} bytes more than its stack"
            );
        }
    }
}
