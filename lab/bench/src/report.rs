//! The results as data: what the JSON file holds and what the tables and the chart are made from.

use serde::{Deserialize, Serialize};

use crate::measure::Cell;
use crate::peers::{CRYPTO_MB, Library, REFERENCE};
use crate::primitives::Primitive;
use crate::processor::Processor;
use crate::statistics::{median_of, median_ratio, percentile};

/// Everything that one run found out.
#[derive(Serialize, Deserialize)]
pub struct Report {
    /// Day of the run, UTC, as 2026-11-21.
    pub date: String,
    /// Commit of zariz and of this program, with "-dirty" when the sources differed from it.
    pub commit: String,
    /// The Rust compiler.
    pub compiler: String,
    /// The processor.
    pub processor: Processor,
    /// Whether OpenSSL and AWS-LC were kept from using AVX512-IFMA.
    pub ifma_masked: bool,
    /// OPENSSL_ia32cap as it was in the environment.
    pub openssl_ia32cap: Option<String>,
    /// The user's remark.
    pub note: Option<String>,
    /// Threads that measured.
    pub threads: usize,
    /// The processor that the run was bound to, if any.
    pub cpu: Option<usize>,
    /// Seconds of each cell over all rounds.
    pub seconds_per_cell: f64,
    /// Rounds.
    pub rounds: usize,
    /// Bytes of a message.
    pub message_bytes: usize,
    /// Who took part.
    pub libraries: Vec<LibraryVersion>,
    /// What was measured.
    pub measurements: Vec<Measurement>,
    /// Primitives beside crypto_mb; none without it, and none in older data.
    #[serde(default)]
    pub primitives: Vec<Primitive>,
    /// What was not, and why.
    pub not_measured: Vec<NotMeasured>,
}

/// A library and its version.
#[derive(Serialize, Deserialize)]
pub struct LibraryVersion {
    /// Name.
    pub library: String,
    /// Version.
    pub version: String,
}

/// Signing or verifying.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Signing.
    Sign,
    /// Verifying.
    Verify,
}

impl Kind {
    /// Both, in the order they are measured and shown.
    pub const ALL: [Kind; 2] = [Kind::Sign, Kind::Verify];

    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Sign => "sign",
            Kind::Verify => "verify",
        }
    }
}

/// One library, engine and batch size at one operation.
#[derive(Serialize, Deserialize)]
pub struct Measurement {
    /// The operation, as `rsa2048-sign`.
    pub operation: String,
    /// Its kind.
    pub kind: Kind,
    /// Its modulus size.
    pub bits: usize,
    /// Who.
    pub library: String,
    /// Which version.
    pub version: String,
    /// zariz's engine.
    pub engine: Option<String>,
    /// Messages per call; 1 for a peer without batches.
    pub batch: usize,
    /// Rounds that it took part in.
    pub rounds: usize,
    /// Calls that were timed.
    pub calls: usize,
    /// Signatures made or verified per second: the median of the rounds.
    pub ops_per_second_median: f64,
    /// The same, the best round.
    pub ops_per_second_best: f64,
    /// Times OpenSSL's rate: the median of the rounds' ratios.
    pub ratio_vs_openssl: Option<f64>,
    /// The peer with the best median at this operation, of those whose batch is not larger.
    pub best_peer: Option<String>,
    /// Times its rate: the median of the rounds' ratios.
    pub ratio_vs_best_peer: Option<f64>,
    /// Microseconds of a call (a whole batch), the median.
    pub p50_us: f64,
    /// Microseconds of a call that 99 of 100 calls do not exceed.
    pub p99_us: f64,
}

/// Something that has no measurement.
#[derive(Serialize, Deserialize)]
pub struct NotMeasured {
    /// The operation.
    pub operation: String,
    /// Who.
    pub library: String,
    /// zariz's engine.
    pub engine: Option<String>,
    /// The batch size; none when the library takes no part at all.
    pub batch: Option<usize>,
    /// Why.
    pub reason: String,
}

impl Report {
    /// Takes in the cells of one operation.
    pub fn add(&mut self, kind: Kind, bits: usize, cells: &[Cell<&dyn Library>]) {
        let operation = format!("rsa{bits}-{}", kind.name());
        let peers = || cells.iter().filter(|cell| cell.who.engine().is_none());
        let reference = peers().find(|cell| cell.who.name() == REFERENCE);
        let rate = |cell: &Cell<_>| median_of(&cell.rates).unwrap_or(0.0);
        for cell in cells {
            // A peer that computes several at once is no choice for a caller with fewer.
            let able = peers().filter(|peer| peer.batch <= cell.batch && rate(peer) > 0.0);
            let best = able.max_by(|a, b| rate(a).total_cmp(&rate(b)));
            let (library, engine) = (cell.who.name().to_owned(), cell.who.engine().map(|e| e.to_string()));
            if let Some(reason) = &cell.left_out {
                let (operation, reason, batch) = (operation.clone(), reason.clone(), Some(cell.batch));
                self.not_measured.push(NotMeasured { operation, library, engine, batch, reason });
                continue;
            }
            let against = |other: Option<&Cell<_>>| median_ratio(&cell.rates, &other?.rates);
            self.measurements.push(Measurement {
                operation: operation.clone(),
                kind,
                bits,
                library,
                version: cell.who.version(),
                engine,
                batch: cell.batch,
                rounds: cell.rates.iter().flatten().count(),
                calls: cell.calls.len(),
                ops_per_second_median: rate(cell),
                ops_per_second_best: cell.rates.iter().flatten().copied().fold(0.0, f64::max),
                ratio_vs_openssl: against(reference),
                best_peer: best.map(|cell| cell.who.name().to_owned()),
                ratio_vs_best_peer: against(best),
                p50_us: percentile(&cell.calls, 0.5).unwrap_or(0.0) * 1e6,
                p99_us: percentile(&cell.calls, 0.99).unwrap_or(0.0) * 1e6,
            });
        }
    }

    /// The modulus sizes that were measured, ascending.
    pub fn sizes(&self) -> Vec<usize> {
        distinct(self.measurements.iter().map(|measurement| measurement.bits))
    }

    /// The batch sizes that zariz was measured at, ascending.
    pub fn batches(&self) -> Vec<usize> {
        distinct(self.measurements.iter().filter(|m| m.engine.is_some()).map(|measurement| measurement.batch))
    }

    /// The engines that were measured, in the order they were measured.
    pub fn engines(&self) -> Vec<&str> {
        let mut engines = Vec::new();
        for engine in self.measurements.iter().filter_map(|measurement| measurement.engine.as_deref()) {
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
        engines
    }

    /// The peers that took part.
    pub fn peers(&self) -> impl Iterator<Item = &LibraryVersion> {
        self.libraries.iter().filter(|library| library.library != "zariz")
    }

    /// Whether crypto_mb took part.
    pub fn has_crypto_mb(&self) -> bool {
        self.peers().any(|peer| peer.library == CRYPTO_MB)
    }

    /// The batch sizes that a peer was measured at, ascending; 1 for one without batches.
    pub fn batches_of(&self, peer: &str) -> Vec<usize> {
        distinct(self.measurements.iter().filter(|m| m.library == peer).map(|measurement| measurement.batch))
    }

    /// One measurement, if it was made.
    pub fn find(&self, kind: Kind, bits: usize, who: Who<'_>) -> Option<&Measurement> {
        self.measurements.iter().find(|m| {
            let same = match who {
                Who::Peer(name, batch) => m.library == name && m.batch == batch,
                Who::Engine(name, batch) => m.engine.as_deref() == Some(name) && m.batch == batch,
            };
            same && m.kind == kind && m.bits == bits
        })
    }

    /// What the files of this run are called, without an ending: date, processor, commit, and what sets it
    /// apart.
    pub fn file_name(&self, quick: bool) -> String {
        let mut name = format!("{}-{}-{}", self.date, self.processor.slug(), self.commit);
        if self.ifma_masked {
            name += "-ifma-masked";
        }
        if quick {
            name += "-quick";
        }
        name
    }

    /// Whether the peers could use AVX512-IFMA, in words.
    pub fn ifma(&self) -> &'static str {
        match (self.processor.has_ifma(), self.ifma_masked) {
            (true, true) => "present, hidden from OpenSSL and AWS-LC",
            (true, false) => "present, used by OpenSSL and AWS-LC",
            (false, _) => "absent",
        }
    }
}

/// A row of the results.
#[derive(Clone, Copy)]
pub enum Who<'a> {
    /// A peer by name, at a batch size.
    Peer(&'a str, usize),
    /// zariz on an engine at a batch size.
    Engine(&'a str, usize),
}

/// The distinct numbers, ascending.
fn distinct(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    numbers.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}
