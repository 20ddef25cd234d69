//! The tables of the papers that zariz implements, measured on the machine at hand beside the published
//! figures.
//!
//! A paper is a [`Paper`]: what it is, and its tables in order. A paper's module has, as data, what its
//! tables measure and the published figures. `grid` runs tables of methods by sizes. `timing` compares
//! latencies, round by round, with the program's stopwatch (`zariz_cli::measure`). `measure` calls the
//! library, and `peers` the libraries that the papers compare with.
#![forbid(unsafe_code)]

mod ahmm;
mod counts;
mod grid;
mod measure;
mod ncc;
mod peers;
mod phirsa;
mod render;
mod row;
mod rsaz;
mod timing;
mod truncated;

use std::cell::LazyCell;
use std::path::PathBuf;

use serde::Serialize;
use zariz::rsa::PrivateKey;
use zariz::{Dispatch, Engine};
use zariz_cli::exit::Failure;
use zariz_cli::measure::figures::rounded;
use zariz_cli::measure::sample;
use zariz_peers::CryptoMb;

pub use peers::Peers;
pub use row::{Row, Unit};
pub use timing::Clock;

/// The papers there are, in the order in which they are measured.
pub const PAPERS: [&Paper; 5] = [&ahmm::PAPER, &rsaz::PAPER, &truncated::PAPER, &phirsa::PAPER, &ncc::PAPER];

/// A paper whose tables can be measured.
pub struct Paper {
    /// Its name on the command line.
    pub name: &'static str,
    /// Authors, title and year.
    pub citation: &'static str,
    /// What its figures were measured on, as far as it says.
    pub machine: &'static str,
    /// What a reader must know to compare its figures with ours.
    pub notes: fn(Engine) -> Vec<String>,
    /// Whether its own figures are those of AVX512-IFMA.
    pub uses_ifma: bool,
    /// Whether it compares with GMP and OpenSSL.
    pub has_peers: bool,
    /// Its tables.
    pub tables: &'static [TablePlan],
}

/// A table yet to be measured.
pub struct TablePlan {
    /// Its name in results and in what is said of progress.
    pub name: &'static str,
    /// How many things it times: what it takes is about as many times the seconds for each.
    pub timed: usize,
    /// Measures it.
    pub run: fn(&Bench) -> Result<Table, Failure>,
}

/// What measures, and how.
pub struct Bench {
    /// The engine of our rows.
    pub engine: Engine,
    /// Seconds for each thing that is timed.
    pub seconds: f64,
    /// The clocks.
    pub clock: Clock,
    /// The processor's name.
    pub processor: String,
    /// Gives the key to measure with, by its length in bits and its engine.
    pub key: fn(usize, Dispatch) -> Result<PrivateKey, Failure>,
    /// The libraries to compare with, loaded when a table first needs them: loading runs their code.
    pub peers: LazyCell<Peers>,
    /// Our module for OpenSSL, where its rows are to be measured.
    pub provider: Option<PathBuf>,
    /// crypto_mb, where its rows are to be measured.
    pub crypto_mb: Option<CryptoMb>,
}

impl TablePlan {
    /// About how long it takes.
    pub fn seconds(&self, bench: &Bench) -> f64 {
        self.timed as f64 * bench.seconds + ahmm::more_seconds(self, bench)
    }
}

/// A measured table.
#[derive(Serialize)]
pub struct Table {
    /// Its name: one word, unique in its paper.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// Where it is in the paper.
    pub source: &'static str,
    /// What its rows do not say.
    pub notes: Vec<String>,
    /// Its rows: those of one size follow each other.
    pub rows: Vec<Row>,
}

/// What `--json` says of a paper: the setting, and every table.
#[derive(Serialize)]
pub struct Results {
    paper: &'static str,
    citation: &'static str,
    published_on: &'static str,
    processor: String,
    engine: &'static str,
    lanes: usize,
    /// Seconds for each thing that was timed.
    seconds: f64,
    /// The rate of the time stamp counter, whose reference cycles are the unit of all cycles; nothing where
    /// there is no counter, and so no cycles.
    cycles_per_second: Option<f64>,
    /// The core's own clock in scalar code, from a chain of instructions of known latency. Where it is faster
    /// than the counter, the core does more cycles of its own.
    core_cycles_per_second: Option<f64>,
    /// The libraries that it compares with.
    libraries: Vec<Library>,
    notes: Vec<String>,
    /// The tables that were measured.
    pub tables: Vec<Table>,
}

/// A library to compare with.
#[derive(Serialize)]
struct Library {
    name: &'static str,
    /// Its name and version; nothing where it was not found.
    version: Option<String>,
    /// Why it was not found.
    note: Option<String>,
}

impl Results {
    /// The setting, without tables yet.
    pub fn new(paper: &Paper, bench: &Bench) -> Self {
        Self {
            paper: paper.name,
            citation: paper.citation,
            published_on: paper.machine,
            processor: bench.processor.clone(),
            engine: bench.engine.name(),
            lanes: bench.engine.lanes(),
            seconds: bench.seconds,
            cycles_per_second: bench.clock.hertz().map(|hertz| rounded(hertz, 0)),
            core_cycles_per_second: bench.clock.core_hertz().map(|hertz| rounded(hertz, 0)),
            libraries: if paper.has_peers { bench.peers.libraries() } else { Vec::new() },
            notes: notes(paper, bench),
            tables: Vec::new(),
        }
    }

    /// The text above the tables.
    pub fn head(&self) -> String {
        render::head(self)
    }
}

impl Table {
    /// The table as text of at most 80 columns.
    pub fn text(&self) -> String {
        render::table(self)
    }

    /// The table with figures that have no more decimals than mean something.
    pub fn rounded(mut self) -> Self {
        self.rows = self.rows.into_iter().map(Row::rounded).collect();
        self
    }
}

fn notes(paper: &Paper, bench: &Bench) -> Vec<String> {
    let mut notes = Vec::new();
    if paper.uses_ifma && bench.engine != Engine::Avx512Ifma {
        let why = if Engine::Avx512Ifma.is_available() { "which was named" } else { "the best here" };
        notes.push(format!("The paper uses AVX512-IFMA; these rows use engine {}, {why}.", bench.engine));
    }
    if bench.clock.hertz().is_none() {
        notes.push("This processor has no invariant time stamp counter: times, but no cycles.".into());
    }
    notes.push(format!(
        "Rows of one size are timed in turns, round by round, and figures are medians over rounds; ratios are medians over \
         rounds, not ratios of the figures shown. ~ marks figures whose rounds spread by more than {} % between the \
         quartiles, or of which the best round is as far from the median.",
        100.0 * sample::SPREAD
    ));
    notes.extend((paper.notes)(bench.engine));
    notes
}

/// How an engine does something eight times.
fn eight(engine: Engine) -> String {
    match engine.lanes() {
        1 => "one after the other".into(),
        8 => "all at once".into(),
        lanes => format!("{lanes} at once"),
    }
}
