//! A soak: callers that make rounds of requests, and the fates of these.

use std::fmt::Write;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::process::{Child, fork, resident};
use crate::common::random::Random;
use crate::common::soak::{Report, Series, end, processor, state};

/// Callers at once.
const THREADS: usize = 8;
/// The allowed growth of resident memory in KiB between the second and the last quarter. The heaps of all
/// threads fill slowly.
const MEMORY: f64 = 2048.0;
/// How many children are forked in all.
pub const CHILDREN: u64 = 200;
/// How long nothing may happen before the soak gives up: much longer than any round takes.
const STALLED: Duration = Duration::from_secs(600);

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its result came, once and right.
    Answered,
    /// Its caller gave up, and it was not computed.
    Withdrawn,
    /// Its caller gave up during the computation, and the result was discarded.
    ThrownAway,
    /// Withdrawn or thrown away: a dropped future does not say which.
    GivenUp,
    Expired,
    /// The queue was full.
    Refused,
    /// It was in a batch whose computation panicked.
    Panicked,
}

impl Fate {
    pub const ALL: [Self; 7] = [
        Self::Answered,
        Self::Withdrawn,
        Self::ThrownAway,
        Self::GivenUp,
        Self::Expired,
        Self::Refused,
        Self::Panicked,
    ];
}

/// How many requests had each fate.
#[derive(Default)]
pub struct Fates([AtomicUsize; Fate::ALL.len()]);

impl Fates {
    pub fn add(&self, fates: &[Fate]) {
        for &fate in fates {
            self.0[fate as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn of(&self, fate: Fate) -> u64 {
        self.0[fate as usize].load(Ordering::Relaxed) as u64
    }
}

/// Forks children while all callers are at work.
pub struct Forks {
    /// No caller has ended.
    all_work: Mutex<bool>,
    children: AtomicUsize,
}

impl Forks {
    fn new() -> Self {
        Self { all_work: Mutex::new(true), children: AtomicUsize::new(0) }
    }

    /// Forks a child to do some work, unless a caller has ended.
    pub fn fork(&self, work: impl FnOnce()) -> Option<Child> {
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

/// A caller at work. When it ends, even by a panic, forking stops.
struct AtWork<'a>(&'a Forks);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        *self.0.all_work.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }
}

/// A whole soak.
pub struct Soak {
    title: &'static str,
    /// How many rounds of requests to make.
    wanted: usize,
    pub done: usize,
    fates: Fates,
    children: usize,
    memory: Series,
    seconds: f64,
}

impl Soak {
    /// Has callers make this many rounds of requests; `round` makes those of one number. Reads memory along
    /// the way.
    pub fn run<F: AsRef<[Fate]>>(
        title: &'static str,
        report: &Report,
        wanted: usize,
        round: impl Fn(&mut Random, usize, &Forks) -> F + Sync,
    ) -> Self {
        let mut soak = Self {
            title,
            wanted,
            done: 0,
            fates: Fates::default(),
            children: 0,
            memory: Series::default(),
            seconds: 0.0,
        };
        let (next, done, forks, start) =
            (AtomicUsize::new(0), AtomicUsize::new(0), Forks::new(), Instant::now());
        let fates = Fates::default();
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
                    fates.add(round(&mut random, number, &forks).as_ref());
                    done.fetch_add(1, Ordering::Relaxed);
                }
            };
            let callers: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || caller(thread))).collect();
            let (mut last, mut moved) = (0, Instant::now());
            while callers.iter().any(|caller| !caller.is_finished()) {
                thread::sleep(Duration::from_millis(5));
                let now = done.load(Ordering::Relaxed);
                if now > soak.done {
                    moved = Instant::now();
                } else if moved.elapsed() > STALLED {
                    // A caller waits for a lost request. No thread can end it, nor this scope.
                    eprintln!("{}\nNothing moves any more: a request is lost.", soak.page("stalled"));
                    std::process::exit(1);
                }
                soak.done = now;
                soak.children = forks.children();
                soak.seconds = start.elapsed().as_secs_f64();
                if soak.done >= last + wanted.div_ceil(100) {
                    last = soak.done;
                    soak.fates = Fates(Fate::ALL.map(|fate| AtomicUsize::new(fates.of(fate) as usize)));
                    soak.memory.push(last, resident() as f64);
                    report.write(&soak.page("under way"));
                }
            }
            // A scope ends before its threads do.
            for caller in callers {
                caller.join().unwrap_or_else(|panic| resume_unwind(panic));
            }
        });
        soak.done = done.into_inner();
        soak.fates = fates;
        soak.children = forks.children();
        soak
    }

    pub fn of(&self, fate: Fate) -> u64 {
        self.fates.of(fate)
    }

    fn faults(&self) -> Vec<String> {
        let trend = self.memory.trend().filter(|trend| trend.growth() > MEMORY);
        trend
            .map(|trend| format!("memory from {:.0} to {:.0} KiB", trend.second, trend.last))
            .into_iter()
            .collect()
    }

    /// The report as a page.
    fn page(&self, state: &str) -> String {
        let mut page = format!(
            "# A soak of requests: {}\n\n{}. {THREADS} callers at once.\n\n",
            self.title,
            processor()
        );
        let mut row = |what: &str, value: String| writeln!(page, "| {what} | {value} |").expect("text");
        row("", String::new());
        row("---", "---".into());
        row("state", format!("{state}, {} of {} rounds of requests", self.done, self.wanted));
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

    /// Writes the last page, and checks it.
    pub fn check(&self, report: &Report, made: &[Fate]) {
        let page = self.page(&state(self.done, self.wanted));
        report.write(&page);
        println!("{page}");
        assert!(self.faults().is_empty(), "{:#?}", self.faults());
        let unseen: Vec<_> = made.iter().filter(|fate| self.of(**fate) == 0).collect();
        assert!(unseen.is_empty() && self.children > 0, "never seen: {unseen:?}; {} children", self.children);
    }
}
