//! The library's queue under callers who give up, come late, panic and fork: no request is lost, none is answered twice
//! or wrongly, and memory does not grow. With a computation that gives numbers back, and with real keys through a
//! `Batcher`. Short here; `cargo xtask soak --requests N` is long.
//!
//! What children use is on the heap: the C library gives the stacks of threads that a child does not have to its new
//! ones. And no thread forks while another thread starts or ends: the standard library holds a lock then, which nobody
//! would release in the child, and no thread could start there. So both soaks are one test: the harness would start and
//! end a thread for each.

mod common;

use std::cell::Cell;
use std::fmt::Write;
use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex, PoisonError, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use common::keys::PEM_1024;
use common::process::{Child, fork, resident};
use common::random::Random;
use common::soak::{Report, Series, amount, end, processor, state};
use zariz::Modulus;
use zariz::batcher::queue::{Compute, Kind, Limits, Queue, Request, Waiter};
use zariz::batcher::{self, Batcher, Job, Lost, Processes};
use zariz::rsa::{Algorithm, PrivateKey};

/// Callers at once.
const THREADS: usize = 8;
/// How many more KiB may be resident in the last quarter than in the second.
const MEMORY: f64 = 1024.0;
/// How many children are forked in all.
const CHILDREN: u64 = 200;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Its result is there, once and right.
    Answered,
    /// Its caller gave up, and it was not computed.
    Withdrawn,
    /// Its caller gave up while it was computed: the result is thrown away.
    ThrownAway,
    Expired,
    /// The queue was full.
    Refused,
    /// It was in a batch whose computation panics.
    Panicked,
}

impl Fate {
    const ALL: [Self; 6] =
        [Self::Answered, Self::Withdrawn, Self::ThrownAway, Self::Expired, Self::Refused, Self::Panicked];
}

/// Children that are forked while all callers are at work.
struct Forks {
    /// No caller has ended.
    all_work: Mutex<bool>,
    children: AtomicUsize,
}

impl Forks {
    fn new() -> Self {
        Self { all_work: Mutex::new(true), children: AtomicUsize::new(0) }
    }

    /// Forks a child for some work, unless a caller has ended.
    fn fork(&self, work: impl FnOnce()) -> Option<Child> {
        let all_work = self.all_work.lock().expect("no panic");
        all_work.then(|| {
            self.children.fetch_add(1, Ordering::Relaxed);
            fork(work)
        })
    }

    fn children(&self) -> usize {
        self.children.load(Ordering::Relaxed)
    }
}

/// A caller at work. There are no forks after its end, be it a panic.
struct AtWork<'a>(&'a Forks);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        *self.0.all_work.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }
}

/// A whole soak.
struct Soak {
    title: &'static str,
    wanted: usize,
    /// By fate.
    fates: [usize; Fate::ALL.len()],
    children: usize,
    memory: Series,
    seconds: f64,
}

impl Soak {
    /// Lets callers make so many requests; `one` makes the request of that number. Memory is read along the way.
    fn run(
        title: &'static str,
        report: &Report,
        wanted: usize,
        one: impl Fn(&mut Random, usize, &Forks) -> Fate + Sync,
    ) -> Self {
        let (memory, fates) = (Series::default(), [0; Fate::ALL.len()]);
        let mut soak = Self { title, wanted, fates, children: 0, memory, seconds: 0.0 };
        let (next, forks, start) = (AtomicUsize::new(0), Forks::new(), Instant::now());
        let fates = Fate::ALL.map(|_| AtomicUsize::new(0));
        let all_started = Barrier::new(THREADS);
        thread::scope(|scope| {
            let caller = |thread: usize| {
                let _at_work = AtWork(&forks);
                all_started.wait();
                let mut random = Random((wanted + thread) as u64);
                while Instant::now() < end(start) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= wanted {
                        return;
                    }
                    let fate = one(&mut random, number, &forks);
                    fates[fate as usize].fetch_add(1, Ordering::Relaxed);
                }
            };
            let callers: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || caller(thread))).collect();
            let mut last = 0;
            while callers.iter().any(|caller| !caller.is_finished()) {
                thread::sleep(Duration::from_millis(5));
                soak.fates = fates.each_ref().map(|fate| fate.load(Ordering::Relaxed));
                soak.children = forks.children();
                soak.seconds = start.elapsed().as_secs_f64();
                if soak.done() >= last + wanted / 100 {
                    last = soak.done();
                    soak.memory.push(last, resident() as f64);
                    report.write(&soak.page("under way"));
                }
            }
            // A scope ends before its threads do.
            for caller in callers {
                caller.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
        });
        soak.fates = fates.map(AtomicUsize::into_inner);
        soak.children = forks.children();
        soak
    }

    fn done(&self) -> usize {
        self.fates.iter().sum()
    }

    fn of(&self, fate: Fate) -> usize {
        self.fates[fate as usize]
    }

    fn faults(&self) -> Vec<String> {
        let trend = self.memory.trend().filter(|trend| trend.growth() > MEMORY);
        trend.map(|trend| format!("memory from {:.0} to {:.0} KiB", trend.second, trend.last)).into_iter().collect()
    }

    /// All of it as a page.
    fn page(&self, state: &str) -> String {
        let mut page =
            format!("# A soak of requests: {}\n\n{}. {THREADS} callers at once.\n\n", self.title, processor());
        let mut row = |what: &str, value: String| writeln!(page, "| {what} | {value} |").expect("text");
        row("", String::new());
        row("---", "---".into());
        row("state", format!("{state}, {} of {}", self.done(), self.wanted));
        row("time", format!("{:.0} s", self.seconds));
        for fate in Fate::ALL {
            row(&format!("{fate:?}"), self.of(fate).to_string());
        }
        row("children that were forked with a request under way", self.children.to_string());
        if let Some(trend) = self.memory.trend() {
            row("KiB resident, second → last quarter", format!("{:.0} → {:.0}", trend.second, trend.last));
            row("KiB resident along the run", self.memory.along());
        }
        let faults = self.faults();
        let faults = if faults.is_empty() { "none.".into() } else { faults.join("; ") };
        page + &format!("\nFaults: {faults} Tolerated: {MEMORY} KiB more.\n")
    }

    /// Writes the last page, and checks it. Every request that was made has one fate.
    fn check(&self, report: &Report, made: &[Fate]) {
        let page = self.page(&state(self.done(), self.wanted));
        report.write(&page);
        println!("{page}");
        assert!(self.faults().is_empty(), "{:#?}", self.faults());
        let unseen: Vec<_> = made.iter().filter(|fate| self.of(**fate) == 0).collect();
        assert!(unseen.is_empty() && self.children > 0, "never seen: {unseen:?}; {} children", self.children);
    }
}

/// Gives numbers back, and counts how often each was computed.
struct Numbers {
    computed: Arc<Vec<AtomicU8>>,
    /// Operations of batches that panic.
    panicked: AtomicUsize,
    /// Held while a worker starts, and while a caller forks.
    starting: Mutex<()>,
}

impl Numbers {
    fn new(computed: &Arc<Vec<AtomicU8>>) -> Self {
        Self { computed: computed.clone(), panicked: AtomicUsize::new(0), starting: Mutex::new(()) }
    }
}

struct Number {
    number: usize,
    kind: Kind,
    panics: bool,
}

impl Compute for Numbers {
    type Operation = Number;
    type Output = usize;
    type Waiter = Ring;

    fn kind(number: &Number) -> Kind {
        number.kind
    }

    fn compute(&self, batch: &[&Number]) -> Vec<usize> {
        if batch.iter().any(|number| number.panics) {
            self.panicked.fetch_add(batch.len(), Ordering::Relaxed);
            meant_to();
        }
        let count = |number: &&Number| {
            self.computed[number.number].fetch_add(1, Ordering::SeqCst);
            number.number
        };
        batch.iter().map(count).collect()
    }

    fn start(&self, worker: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        let _starting = self.starting.lock().expect("no panic");
        let (begin, begun) = mpsc::channel();
        let thread = thread::Builder::new().spawn(move || {
            begin.send(()).expect("it is awaited");
            worker();
        })?;
        begun.recv().expect("it begins");
        Ok(thread)
    }
}

/// Rings when a result is there; some panic when they do.
#[derive(Default)]
struct Bell {
    rung: Mutex<bool>,
    changed: Condvar,
    panics: bool,
}

/// Rings a bell.
struct Ring(Arc<Bell>);

impl Bell {
    fn wait(&self) {
        let mut rung = self.rung.lock().expect("no panic");
        while !*rung {
            rung = self.changed.wait(rung).expect("no panic");
        }
    }
}

impl Waiter for Ring {
    fn wake(&self) {
        *self.0.rung.lock().expect("no panic") = true;
        self.0.changed.notify_one();
        if self.0.panics {
            meant_to();
        }
    }
}

/// A request that leaves the queue when it is dropped, and says what became of it.
struct Ticket<'a> {
    queue: &'a Queue<Numbers>,
    request: Arc<Request<Numbers>>,
    fate: &'a Cell<Fate>,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.fate.set(if self.queue.withdraw(&self.request) { Fate::Withdrawn } else { Fate::ThrownAway });
    }
}

/// Panics quietly: the hook would print a message.
fn meant_to() -> ! {
    resume_unwind(Box::new("meant to"))
}

/// Calls a function that is meant to panic.
fn panics(work: impl FnOnce()) {
    let message = catch_unwind(AssertUnwindSafe(work)).expect_err("a panic");
    assert_eq!(message.downcast_ref(), Some(&"meant to"), "another panic");
}

/// The callers of a queue of numbers.
struct Callers {
    processes: Processes<Numbers>,
    computed: Arc<Vec<AtomicU8>>,
    wanted: u64,
}

impl Callers {
    fn new(wanted: usize) -> Self {
        let computed: Arc<Vec<_>> = Arc::new((0..wanted).map(|_| AtomicU8::new(1)).collect());
        // All of that memory is in use from the beginning.
        computed.iter().for_each(|count| count.store(0, Ordering::SeqCst));
        let limits =
            Limits { threads: Some(2), max_batch: 16, lanes: 4, capacity: Some(6), wait_for_room: true, linger: None };
        let numbers = computed.clone();
        let make = move || Queue::new(Numbers::new(&numbers), limits);
        Self { processes: Processes::new(make), computed, wanted: wanted as u64 }
    }

    fn number(random: &mut Random, number: usize) -> Number {
        Number { number, kind: Kind::ALL[random.below(4) as usize], panics: random.one_in(500) }
    }

    fn fate(&self, number: usize, outcome: Result<usize, Lost>) -> Fate {
        match outcome {
            Ok(result) => {
                assert_eq!((result, self.computed[number].load(Ordering::SeqCst)), (number, 1));
                Fate::Answered
            }
            Err(Lost::Panicked) => Fate::Panicked,
            Err(Lost::Expired) => Fate::Expired,
            Err(Lost::Full) => Fate::Refused,
            Err(other) => panic!("{number}: {other:?}"),
        }
    }

    /// The request of that number.
    fn one(&self, random: &mut Random, number: usize, forks: &Forks) -> Fate {
        let (queue, operation) = (self.processes.queue(), Self::number(random, number));
        match random.below(10) {
            0..5 => return self.fate(number, queue.call(operation, None)),
            5 => {
                let deadline = Instant::now() + Duration::from_micros(random.below(30));
                return self.fate(number, queue.call(operation, Some(deadline)));
            }
            _ => {}
        }
        let bell = Arc::new(Bell { panics: random.one_in(100), ..Bell::default() });
        let request = Request::new(operation, Ring(bell.clone()), None);
        if queue.push(request.clone()) == Err(Lost::Full) {
            return Fate::Refused;
        }
        let fate = Cell::new(Fate::Answered);
        let ticket = Ticket { queue, request: request.clone(), fate: &fate };
        match random.below(4) {
            0 => drop(ticket),
            1 => panics(|| {
                let _ticket = ticket;
                queue.kick();
                meant_to();
            }),
            _ => {
                if random.below(self.wanted) < 4 * CHILDREN {
                    let starting = queue.compute().starting.lock().expect("no panic");
                    let child = forks.fork(|| self.in_a_child(number));
                    drop(starting);
                    if let Some(child) = child {
                        child.succeeds();
                    }
                }
                queue.kick();
                bell.wait();
                if random.one_in(10) {
                    // The result is there, and nobody takes it.
                    drop(ticket);
                    return fate.get();
                }
                let outcome = request.collect().expect("a result");
                assert_eq!(request.collect(), None, "answered twice");
                assert!(!queue.withdraw(&request));
                drop(ticket);
                return self.fate(number, outcome);
            }
        }
        fate.get()
    }

    /// A child has a queue of its own, which computes; here, each number is computed once more.
    fn in_a_child(&self, from: usize) {
        let queue = self.processes.queue();
        assert_eq!((queue.metrics().operations, queue.waiting()), (0, 0));
        for number in (from..self.computed.len()).take(20) {
            self.computed[number].store(0, Ordering::SeqCst);
            let operation = || Number { number, kind: Kind::Private, panics: false };
            let outcome =
                if number % 2 == 0 { queue.call(operation(), None) } else { queue.call_elsewhere(operation(), None) };
            assert_eq!(self.fate(number, outcome), Fate::Answered);
        }
    }
}

#[test]
fn callers_of_all_sorts() {
    soak_of_numbers();
    soak_of_signatures_and_powers();
}

fn soak_of_numbers() {
    let (wanted, report) = (amount("ZARIZ_SOAK_REQUESTS", 30_000), Report::new("-requests.md"));
    let callers = Box::new(Callers::new(wanted));
    let soak =
        Soak::run("numbers, given back", &report, wanted, |random, number, forks| callers.one(random, number, forks));
    soak.check(&report, &Fate::ALL);
    let queue = callers.processes.queue();
    // Workers may still compute what was thrown away.
    queue.close();
    let (metrics, panicked) = (queue.metrics(), queue.compute().panicked.load(Ordering::SeqCst) as u64);
    println!("{metrics:?}, {panicked} in batches that panicked");
    let computed = || callers.computed.iter().map(|count| count.load(Ordering::SeqCst));
    assert_eq!(computed().max(), Some(1), "a request was computed twice");
    assert_eq!(metrics.operations, computed().filter(|&count| count == 1).count() as u64 + panicked);
    assert!(soak.of(Fate::Answered) <= computed().map(usize::from).sum());
    assert_eq!((queue.waiting(), metrics.withdrawn), (0, soak.of(Fate::Withdrawn) as u64));
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future on this thread until it is ready, but at most so often.
fn wait<F: Future>(future: F, most: u64) -> Option<F::Output> {
    let (mut future, waker) = (pin!(future), Waker::from(Arc::new(Unpark(thread::current()))));
    for _ in 0..most {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        thread::park();
    }
    None
}

/// The callers of a batcher with real keys.
struct Signers {
    batcher: Batcher,
    key: PrivateKey,
    modulus: Modulus,
    messages: Vec<[u8; 20]>,
    signatures: Vec<Vec<u8>>,
    powers: Vec<Vec<u8>>,
    wanted: u64,
}

impl Signers {
    fn new(wanted: usize) -> Self {
        let key = PrivateKey::parse(PEM_1024).expect("a key");
        let modulus = Modulus::new(&[0xfb; 64]).expect("an odd number");
        let messages: Vec<_> = (0..16_u8).map(|i| [i; 20]).collect();
        let sign = |message: &[u8; 20]| key.sign(Algorithm::RS256, message).expect("a signature");
        let signatures: Vec<_> = messages.iter().map(sign).collect();
        let power = |i: usize| modulus.pow(&messages[i], &signatures[i][..64]);
        let powers = (0..messages.len()).map(power).collect();
        let batcher = Batcher::builder().threads(1).capacity(6).build();
        // Its worker is there before anybody forks.
        let job = Job::sign(&key, Algorithm::RS256, &messages[0]).expect("a job");
        assert_eq!(wait(batcher.submit(job), u64::MAX).expect("a result").as_ref(), Ok(&signatures[0]));
        Self { batcher, key, modulus, messages, signatures, powers, wanted: wanted as u64 }
    }

    fn job(&self, i: usize) -> Job<Vec<u8>> {
        Job::sign(&self.key, Algorithm::RS256, &self.messages[i]).expect("a job")
    }

    fn fate(expected: &[u8], outcome: Result<Vec<u8>, batcher::Error>) -> Fate {
        match outcome {
            Ok(result) => {
                assert_eq!(result, expected, "a wrong result");
                Fate::Answered
            }
            Err(batcher::Error::Lost(Lost::Expired)) => Fate::Expired,
            Err(error) => panic!("{error}"),
        }
    }

    /// The request of that number.
    fn one(&self, random: &mut Random, number: usize, forks: &Forks) -> Fate {
        let i = number % self.messages.len();
        let signature = |outcome| Self::fate(&self.signatures[i], outcome);
        match random.below(10) {
            0..3 => return signature(self.batcher.call(self.job(i))),
            3..5 => {
                let result = self.batcher.pow(&self.modulus, &self.messages[i], &self.signatures[i][..64]);
                return Self::fate(&self.powers[i], result.map(|number| number.to_vec()));
            }
            5 => {
                let deadline = Instant::now() + Duration::from_micros(random.below(1000));
                return signature(self.batcher.call(self.job(i).with_deadline(deadline)));
            }
            _ => {}
        }
        let pending = self.batcher.submit(self.job(i));
        let mut context = Context::from_waker(Waker::noop());
        match random.below(4) {
            // A result that comes so early is thrown away, too.
            0 => drop(wait(pending, 1 + random.below(3))),
            1 => panics(|| {
                let mut pending = pin!(pending);
                let _ = pending.as_mut().poll(&mut context);
                let _ = pending.as_mut().poll(&mut context);
                meant_to();
            }),
            _ => {
                let mut pending = pin!(pending);
                let result = match pending.as_mut().poll(&mut context) {
                    Poll::Ready(result) => result,
                    Poll::Pending => {
                        if random.below(self.wanted) < 4 * CHILDREN {
                            let child = forks.fork(|| {
                                // The parent's request is lost here, and new ones are computed.
                                let lost = Err(batcher::Error::Lost(Lost::Forked));
                                assert_eq!(wait(pending.as_mut(), 1), Some(lost));
                                self.in_a_child(i);
                            });
                            if let Some(child) = child {
                                child.succeeds();
                            }
                        }
                        wait(pending, u64::MAX).expect("a result")
                    }
                };
                return signature(result);
            }
        }
        Fate::ThrownAway
    }

    /// A child has a queue of its own.
    fn in_a_child(&self, i: usize) {
        let awaited = |job| wait(self.batcher.submit(job), u64::MAX).expect("a result");
        for outcome in [self.batcher.call(self.job(i)), awaited(self.job(i))] {
            assert_eq!(Self::fate(&self.signatures[i], outcome), Fate::Answered);
        }
        assert_eq!(self.batcher.metrics().operations, 2);
    }
}

fn soak_of_signatures_and_powers() {
    let wanted = amount("ZARIZ_SOAK_REQUESTS", 30_000) / 10;
    let (signers, report) = (Box::new(Signers::new(wanted)), Report::new("-signatures.md"));
    let title = "RS256 with 1024 bits, and powers modulo 512 bits";
    let soak = Soak::run(title, &report, wanted, |random, number, forks| signers.one(random, number, forks));
    soak.check(&report, &[Fate::Answered, Fate::ThrownAway, Fate::Expired]);
    let metrics = signers.batcher.metrics();
    println!("{metrics:?}");
    assert!((soak.of(Fate::Answered) as u64..=soak.done() as u64 + 1).contains(&metrics.operations));
}
