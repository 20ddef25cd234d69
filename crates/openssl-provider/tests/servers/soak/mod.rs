//! `cargo xtask soak`: a long run of haproxy, reloaded again and again, with clients that are cut off, pause
//! or fall silent; nothing may fail, and neither memory nor descriptors may grow.
//!
//! Each reload starts a worker with another mode or number of threads: a generation. Its memory and
//! descriptors are sampled, and compared between its second and its last quarter. The master's are compared
//! in the same way over all reloads. A former worker ends when it believes that it has no connections left,
//! and must do so before the next reload; after the load, the last worker must have no more descriptors than
//! a new one.

#[path = "../../common/soak.rs"]
mod flat;
mod visit;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};
use std::{fs, iter};

use rustix::process::Signal;

use crate::haproxy::{BODY, Mode, assert_no_worker_failed, configuration, reload};
use crate::identity::Identity;
use crate::process::{Server, open_descriptors, resident_bytes, threads};
use crate::provider::{Active, Setup};
use crate::random::Random;
use crate::turn;
use flat::{Report, Series, Trend, amount, end, processor, state};
use visit::{Mix, PATIENCE, Stage, Tally, Visitors};

/// The allowed growth in bytes of a worker's memory between its second and its last quarter, and of the
/// master's over all reloads. A connection has some tens of kilobytes, and on a busy machine clients reach a
/// new worker late.
const MEMORY: f64 = 8192.0 * 1024.0;
/// What OpenSSL loses with a job that does not run to its end: haproxy frees a connection that is closed
/// while its signature is made, and never runs its job again. In every second round of modes, no client
/// closes at that time.
const LOST_JOB: f64 = 35_000.0;
/// The allowed growth of memory per handshake, in bytes: the mean of many workers without cut signatures,
/// minus three standard errors. Only workers with one thread count: those with two fill a second heap at
/// first, also with OpenSSL's own code (lab/results).
const SLOPE: f64 = 100.0;
/// The allowed growth of a worker's descriptors in that time: on a busy machine, clients reach it late, and
/// each has two. In the end, the last worker may have no more than a new one.
const DESCRIPTORS: f64 = 160.0;
/// Handshakes between two reloads.
const BETWEEN_RELOADS: std::ops::Range<u64> = 4000..12_000;
/// In a long run, the least lifetime of a worker. It is not judged before haproxy's timeout has passed once:
/// until then, more and more clients fall silent, and each has a connection.
const LIFE: Duration = Duration::from_secs(12);
/// Time between two samples.
const SAMPLE: Duration = Duration::from_millis(100);
/// The modes of successive generations, and haproxy's threads.
const MODES: [(Mode, usize); 4] =
    [(Mode::Alone, 1), (Mode::Threads, 1), (Mode::Alone, 2), (Mode::Threads, 2)];

/// The servers' names, each with its own key.
pub struct Identities {
    pub names: Vec<String>,
    pub certificates: Vec<PathBuf>,
    both: Vec<PathBuf>,
}

impl Identities {
    fn make(folder: &Path) -> Self {
        let names: Vec<String> = (1..=4).map(|number| format!("site-{number}.localhost")).collect();
        let made: Vec<Identity> = names.iter().map(|name| Identity::named(folder, name)).collect();
        let (certificates, both) =
            made.into_iter().map(|identity| (identity.certificate, identity.both)).unzip();
        Self { names, certificates, both }
    }
}

/// A worker from its start to the next reload.
struct Generation {
    worker: u32,
    mode: (Mode, usize),
    handshakes: usize,
    /// Connections that may have been closed while their signatures were made.
    cut: usize,
    memory: Series,
    descriptors: Series,
    threads: u64,
}

impl Generation {
    /// The allowed growth of its memory.
    fn tolerated(&self) -> f64 {
        MEMORY + LOST_JOB * self.cut as f64
    }
}

/// What happened so far.
struct Soak {
    server: Server,
    setup: Setup,
    identities: Arc<Identities>,
    patience: Duration,
    generations: Vec<Generation>,
    /// The master's memory at the end of each generation.
    memory: Series,
    descriptors: Series,
    /// Descriptors of a worker without connections, by mode.
    at_rest: Vec<usize>,
    /// The longest time that a former worker took to end.
    slowest_end: Duration,
    start: Instant,
}

fn write_configuration(
    setup: &Setup,
    identities: &Identities,
    patience: Duration,
    mode: (Mode, usize),
    port: u16,
) -> PathBuf {
    let path = setup.folder().join("haproxy.cfg");
    let service = format!(
        "    timeout client {}ms\n    http-request return status 200 content-type text/plain string \"{BODY}\"\n",
        patience.as_millis()
    );
    let files: Vec<&PathBuf> = identities.both.iter().collect();
    let global = format!("    nbthread {}\n", mode.1);
    fs::write(&path, configuration(setup, &files, mode.0, port, &global, &service)).expect("our own folder");
    path
}

impl Soak {
    fn start(patience: Duration) -> Self {
        let setup = Setup::new();
        let identities = Arc::new(Identities::make(setup.folder()));
        let openssl = setup.configuration(Active::ByName);
        let mut server = Server::start("haproxy", setup.folder(), |port| {
            let path = write_configuration(&setup, &identities, patience, MODES[0], port);
            let mut command = Command::new("haproxy");
            command.arg("-W").arg("-f").arg(&path).env("OPENSSL_CONF", &openssl);
            command
        });
        server.wait("it is loaded", |server| server.log().contains("Loading success"));
        let (generations, memory, descriptors) = (Vec::new(), Series::default(), Series::default());
        let (at_rest, slowest_end, start) = (Vec::new(), Duration::ZERO, Instant::now());
        let mut soak = Self {
            server,
            setup,
            identities,
            patience,
            generations,
            memory,
            descriptors,
            at_rest,
            slowest_end,
            start,
        };
        for number in 1..=MODES.len() {
            soak.alone();
            soak.at_rest.push(open_descriptors(soak.server.children()[0]));
            soak.reload(number);
        }
        soak.alone();
        soak
    }

    /// Watches the newest worker until this many handshakes were made and this much time has passed, or the
    /// load has ended. With a time, sampling begins after haproxy's timeout. The previous worker ends
    /// meanwhile.
    fn watch(&mut self, handshakes: usize, life: Duration, visitors: &Visitors, is_over: impl Fn() -> bool) {
        let done = || (visitors.progress(), visitors.tally().cut[Stage::AfterHello as usize]);
        let ((begun, begun_cut), start) = (done(), Instant::now());
        let former = self.generations.last().map(|generation| generation.worker);
        let worker = *self.server.children().iter().find(|id| Some(**id) != former).expect("a new worker");
        let mode = MODES[self.generations.len() % MODES.len()];
        let (memory, descriptors) = (Series::default(), Series::default());
        let mut generation =
            Generation { worker, mode, handshakes: 0, cut: 0, memory, descriptors, threads: 0 };
        let mut is_alone = false;
        loop {
            let (over, (now, now_cut)) = (is_over(), done());
            (generation.handshakes, generation.cut) = (now - begun, now_cut - begun_cut);
            if life.is_zero() || start.elapsed() > self.patience {
                generation.memory.push(generation.handshakes, resident_bytes(worker) as f64);
                generation.descriptors.push(generation.handshakes, open_descriptors(worker) as f64);
            }
            generation.threads = generation.threads.max(threads(worker));
            if !is_alone && self.server.children().len() == 1 {
                is_alone = true;
                self.slowest_end = self.slowest_end.max(start.elapsed());
            }
            if over || generation.handshakes >= handshakes && start.elapsed() >= life {
                break;
            }
            sleep(SAMPLE);
        }
        self.alone();
        let count = self.generations.len();
        self.memory.push(count, resident_bytes(self.server.id()) as f64);
        self.descriptors.push(count, open_descriptors(self.server.id()) as f64);
        self.generations.push(generation);
    }

    /// Waits until former workers have ended.
    fn alone(&mut self) {
        self.server.wait("the former workers have ended", |server| server.children().len() == 1);
    }

    /// Starts a worker in the mode of that generation.
    fn reload(&mut self, generation: usize) {
        let mode = MODES[generation % MODES.len()];
        write_configuration(&self.setup, &self.identities, self.patience, mode, self.server.port);
        reload(&mut self.server);
    }

    /// The growth of memory per handshake, for workers with this many threads, and with or without cut
    /// signatures: the number of workers, the mean of their slopes and its standard error.
    fn slopes(&self, threads: usize, cut: bool) -> Option<(usize, f64, f64)> {
        let alike = self
            .generations
            .iter()
            .filter(|generation| (generation.mode.1, generation.cut > 0) == (threads, cut));
        let slopes: Vec<f64> =
            alike.filter_map(|generation| Some(generation.memory.trend()?.slope)).collect();
        let count = slopes.len() as f64;
        let mean = slopes.iter().sum::<f64>() / count;
        let variance = slopes.iter().map(|slope| (slope - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (slopes.len() > 1).then_some((slopes.len(), mean, (variance / count).sqrt()))
    }

    /// All deviations from what is expected.
    fn faults(&self, tally: &Tally) -> Vec<String> {
        let mut faults = tally.failures.clone();
        let mut grows = |whose: &str, what: &str, series: &Series, most: f64| {
            if let Some(trend) = series.trend().filter(|trend| trend.growth() > most) {
                faults.push(format!("{whose}: {what} from {:.0} to {:.0}", trend.second, trend.last));
            }
        };
        for generation in &self.generations {
            let whose = format!("worker {} ({:?})", generation.worker, generation.mode);
            grows(&whose, "memory", &generation.memory, generation.tolerated());
            grows(&whose, "descriptors", &generation.descriptors, DESCRIPTORS);
        }
        grows("the master", "memory", &self.memory, MEMORY);
        grows("the master", "descriptors", &self.descriptors, 2.0);
        if let Some((count, mean, error)) =
            self.slopes(1, false).filter(|(count, mean, error)| *count >= 6 && mean - 3.0 * error > SLOPE)
        {
            faults.push(format!(
                "{count} workers with one thread grow by {mean:.0} ± {error:.0} bytes for a handshake"
            ));
        }
        let counters = self.setup.counters();
        if self.setup.module().is_some() {
            if (counters.fallbacks, counters.check_failures) != (0, 0) {
                faults.push(format!("fallbacks or wrong results: {counters:?}"));
            }
            if (counters.private as usize) < tally.answered()
                || counters.private as usize > tally.connections() + visit::CLIENTS
            {
                faults.push(format!("{} signatures for {tally:?}", counters.private));
            }
        }
        faults
    }

    /// The report as a page.
    fn page(&self, tally: &Tally, state: &str) -> String {
        let version = |program: &str, argument: &str| {
            let output = Command::new(program).arg(argument).output().expect("the program runs");
            String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
        };
        let mut page = format!(
            "# A soak of haproxy with zariz\n\n{}. {}. {}. Module: {}.\n\nState: {state}.\n\n",
            processor(),
            version("haproxy", "-v"),
            version("openssl", "version"),
            if self.setup.module().is_some() { "zariz, `ssl-mode-async`" } else { "OpenSSL's own code" },
        );
        let seconds = self.start.elapsed().as_secs_f64();
        let counters = self.setup.counters();
        let stages: Vec<String> =
            iter::zip(Stage::ALL, tally.cut).map(|(stage, count)| format!("{stage:?} {count}")).collect();
        let mut row = |what: &str, value: String| writeln!(page, "| {what} | {value} |").expect("text");
        row("", String::new());
        row("---", "---".into());
        row("time", format!("{seconds:.0} s, {:.0} handshakes a second", tally.answered() as f64 / seconds));
        row("connections", tally.connections().to_string());
        row(
            "handshakes, each followed by the right answer",
            format!("{} (TLS 1.2: {}, TLS 1.3: {})", tally.answered(), tally.answered[0], tally.answered[1]),
        );
        row("of these, with a pause of up to half a second", tally.paused.to_string());
        row("cut off by the client, by stage", stages.join(", "));
        row(
            &format!("silent until haproxy gave up, after {} s", self.patience.as_secs()),
            tally.left.to_string(),
        );
        row("given up by haproxy because the client was slower than that", tally.late.to_string());
        row("failed", tally.failed.to_string());
        row("workers", self.generations.len().to_string());
        row(
            "the longest that a former worker took to end",
            format!("{:.1} s", self.slowest_end.as_secs_f64()),
        );
        row("zariz's counters, of all workers", format!("{counters:?}"));
        row("operations in a batch", format!("{:.1}", counters.mean_batch()));
        let trend = |series: &Series, unit: f64| {
            series.trend().map_or("–".into(), |t| format!("{:.0} → {:.0}", t.second / unit, t.last / unit))
        };
        row(
            "the master's memory, second → last quarter of the reloads",
            trend(&self.memory, 1024.0) + " KiB",
        );
        row("the master's memory along the run, bytes", self.memory.along());
        row("the master's descriptors", trend(&self.descriptors, 1.0));
        for (threads, cut) in [(1, false), (1, true), (2, false), (2, true)] {
            if let Some((count, mean, error)) = self.slopes(threads, cut) {
                let with = if cut { "with" } else { "without" };
                let workers =
                    format!("{count} workers of {threads} threads, {with} connections cut off AfterHello");
                row(
                    &format!("bytes of memory for a handshake, {workers}"),
                    format!("{mean:.0} ± {error:.0}"),
                );
            }
        }
        let faults = self.faults(tally);
        write!(
            page,
            "\nFaults: {}\n\nA row for each worker; → is from its second to its last quarter. Tolerated: {:.0} KiB, \
             and {LOST_JOB} bytes for each connection cut off AfterHello, whose job OpenSSL may lose; {DESCRIPTORS} \
             descriptors.\n\n| worker | mode | haproxy's threads | all threads | handshakes | cut off AfterHello | memory, \
             KiB | bytes a handshake, least squares | descriptors |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|\n",
            if faults.is_empty() { "none.".into() } else { faults.join("; ") },
            MEMORY / 1024.0
        )
        .expect("text");
        for (number, generation) in self.generations.iter().enumerate() {
            writeln!(
                page,
                "| {} | {:?} | {} | {} | {} | {} | {} | {} | {} |",
                number + 1,
                generation.mode.0,
                generation.mode.1,
                generation.threads,
                generation.handshakes,
                generation.cut,
                trend(&generation.memory, 1024.0),
                generation.memory.trend().map_or("–".into(), |trend: Trend| format!("{:.0}", trend.slope)),
                trend(&generation.descriptors, 1.0),
            )
            .expect("text");
        }
        page
    }
}

#[test]
#[ignore = "a soak: cargo xtask soak"]
fn haproxy_with_reloads_cuts_and_silence() {
    let _turn = turn();
    let (wanted, report) = (amount("ZARIZ_SOAK_HANDSHAKES", 12_000), Report::new("-haproxy.md"));
    let mut soak = Soak::start(PATIENCE);
    let identities = soak.identities.clone();
    let (port, mut random) = (soak.server.port, Random(wanted as u64));
    let visitors = Visitors::new(port, &identities, BODY, Mix::USUAL, random.below(u64::MAX));
    let due = end(soak.start);
    thread::scope(|scope| {
        let _end = visitors.end();
        let load = scope.spawn(|| visitors.run(wanted, due));
        loop {
            let between = BETWEEN_RELOADS.start + random.below(BETWEEN_RELOADS.end - BETWEEN_RELOADS.start);
            let cuts = (soak.generations.len() / MODES.len()).is_multiple_of(2);
            visitors.cuts_signatures.store(cuts, Relaxed);
            let between = between as usize;
            let (between, life) =
                if wanted / 8 < between { (wanted / 8, Duration::ZERO) } else { (between, LIFE) };
            soak.watch(between, life, &visitors, || load.is_finished());
            report.write(&soak.page(&visitors.tally(), "under way"));
            if load.is_finished() {
                break;
            }
            soak.reload(soak.generations.len());
        }
    });
    visitors.close_all();
    let worker = soak.server.children()[0];
    let (tally, faults) = (visitors.tally(), soak.faults(&visitors.tally()));
    let page = soak.page(&tally, &state(tally.answered(), wanted));
    report.write(&page);
    println!("{page}");
    let at_rest = soak.at_rest[(soak.generations.len() - 1) % MODES.len()];
    soak.server.wait("the last worker has closed its descriptors", |_| open_descriptors(worker) <= at_rest);
    assert!(faults.is_empty(), "{faults:#?}");
    if soak.generations.len() > 1 {
        assert_no_worker_failed(&soak.server);
    }
    soak.server.stop(Signal::USR1);
}

/// With clients that stay although haproxy waits for them, the soak must report that memory and descriptors
/// grow.
#[test]
#[ignore = "a soak: cargo xtask soak"]
fn a_soak_finds_connections_that_stay() {
    let _turn = turn();
    let patience = Duration::from_secs(3600);
    let mut soak = Soak::start(patience);
    let identities = soak.identities.clone();
    let mix = Mix { cut: 0, pause: 0, leave: 200, silence: patience };
    let visitors = Visitors::new(soak.server.port, &identities, BODY, mix, 1);
    let due = end(soak.start);
    thread::scope(|scope| {
        let _end = visitors.end();
        let load = scope.spawn(|| visitors.run(4000, due));
        soak.watch(usize::MAX, Duration::ZERO, &visitors, || load.is_finished());
    });
    let faults = soak.faults(&visitors.tally());
    println!("{faults:#?}");
    for grown in ["memory from", "descriptors from"] {
        assert!(
            faults.iter().any(|fault| fault.contains(grown)),
            "{grown} is not among the faults: {faults:#?}"
        );
    }
}
