//! `zariz speed`: how fast this machine is, alone or against the system's OpenSSL.

mod table;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use zariz_papers::figures::rounded;
use zariz_papers::openssl::OpenSsl;
use zariz_papers::throughput::{PeerRates, Schedule, Throughput, throughput};
use zariz_papers::workload::{Benchmark, Rsa};

use crate::args::Execution;
use crate::exit::{Failure, Outcome};
use crate::output::Output;
use crate::progress::Progress;
use crate::workload::{Modexp, benchmark_key};
use table::Table;

/// Rounds of a comparison: enough for a median.
const ROUNDS: u32 = 5;

/// Arguments of `speed`.
#[derive(clap::Args)]
pub struct Args {
    /// What to measure [default: rsa2048 rsa3072 rsa4096]
    #[arg(value_name = "TARGET", value_parser = target())]
    targets: Vec<Target>,
    /// Seconds for each operation
    #[arg(long, value_name = "S", default_value = "3", allow_negative_numbers = true, value_parser = seconds)]
    seconds: f64,
    /// Operations in a batch
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,
    /// Run `openssl speed` in turn with zariz, with one process for each of zariz's threads
    #[arg(long, value_name = "PEER", value_parser = ["openssl"])]
    compare: Option<String>,
    /// Rounds of a comparison; the result is their median [default: 5]
    #[arg(long, value_name = "N", requires = "compare", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// Print one JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    execution: Execution,
}

/// What can be measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Rsa(usize),
    Modexp(usize),
}

const TARGETS: [(&str, Target); 8] = [
    ("rsa1024", Target::Rsa(1024)),
    ("rsa2048", Target::Rsa(2048)),
    ("rsa3072", Target::Rsa(3072)),
    ("rsa4096", Target::Rsa(4096)),
    ("rsa8192", Target::Rsa(8192)),
    ("modexp1024", Target::Modexp(1024)),
    ("modexp2048", Target::Modexp(2048)),
    ("modexp4096", Target::Modexp(4096)),
];

const USUAL: [Target; 3] = [Target::Rsa(2048), Target::Rsa(3072), Target::Rsa(4096)];

fn target() -> impl TypedValueParser<Value = Target> {
    PossibleValuesParser::new(TARGETS.map(|(name, _)| name)).try_map(|name| {
        let found = TARGETS.iter().find(|(known, _)| *known == name);
        found.map(|(_, target)| *target).ok_or("no such target")
    })
}

/// A time in seconds on the command line.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.001..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number from 0.001 to 3600 was expected".into()),
    }
}

/// One operation's result.
#[derive(Serialize)]
struct Row {
    operation: String,
    engine: String,
    threads: usize,
    batch: usize,
    ops_per_second: f64,
    p50_us: f64,
    p99_us: f64,
    #[serde(flatten)]
    comparison: Option<Comparison>,
}

/// The peer's part of a row: nothing in it where the peer has no such operation.
#[derive(Serialize)]
struct Comparison {
    peer: Option<String>,
    peer_ops_per_second: Option<f64>,
    ratio: Option<f64>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let peer = args.compare.as_ref().map(|_| OpenSsl::find()).transpose()?;
    let schedule = Schedule {
        threads: args.execution.threads_or_one(),
        batch: args.batch.into(),
        seconds: args.seconds,
        rounds: if peer.is_some() { args.rounds.unwrap_or(ROUNDS) } else { 1 },
    };
    let targets = if args.targets.is_empty() { &USUAL[..] } else { &args.targets };

    let (mut output, mut table, mut all) = (Output::Stdout, Table::default(), Vec::new());
    for target in targets {
        let progress = Progress::step(args.execution.quiet, target.to_string());
        let rows = measure_target(*target, args, schedule, peer.as_ref())?;
        drop(progress);
        if !args.json {
            output.write(table.section(*target, &rows).as_bytes())?;
        }
        all.extend(rows);
    }
    if args.json {
        let text = serde_json::to_string_pretty(&all).map_err(|e| Failure::Input(e.to_string()))?;
        output.write(format!("{text}\n").as_bytes())?;
    }
    Ok(Outcome::Done)
}

fn measure_target(
    target: Target,
    args: &Args,
    schedule: Schedule,
    peer: Option<&OpenSsl>,
) -> Result<Vec<Row>, Failure> {
    match target {
        Target::Rsa(bits) => {
            let load = Rsa::new(benchmark_key(bits, args.execution.engine)?, schedule.batch)?;
            let peer_rates =
                |openssl| move || OpenSsl::rates(openssl, bits, schedule.seconds_per_round(), schedule.threads);
            let mut speed = peer.filter(|_| OpenSsl::has_speed(bits)).map(peer_rates);
            let peer_rates = speed.as_mut().map(|speed| speed as PeerRates);
            rows(&[load.sign(), load.verify()], args, schedule, peer, peer_rates)
        }
        Target::Modexp(bits) => {
            let load = Modexp::new(bits, schedule.batch, args.execution.engine)?;
            rows(&[load.pow()], args, schedule, peer, None)
        }
    }
}

fn rows(
    benchmarks: &[Benchmark],
    args: &Args,
    schedule: Schedule,
    peer: Option<&OpenSsl>,
    peer_rates: Option<PeerRates>,
) -> Result<Vec<Row>, Failure> {
    let measured = throughput(benchmarks, schedule, peer_rates)?;
    let row = |(benchmark, measured): (&Benchmark, Throughput)| Row {
        operation: benchmark.name.clone(),
        engine: args.execution.engine.to_string(),
        threads: schedule.threads,
        batch: schedule.batch,
        ops_per_second: rounded(measured.ops_per_second, 1),
        p50_us: rounded(measured.p50_us, 1),
        p99_us: rounded(measured.p99_us, 1),
        comparison: peer.map(|openssl| Comparison {
            peer: measured.versus.as_ref().map(|_| openssl.version.clone()),
            peer_ops_per_second: measured.versus.as_ref().map(|versus| rounded(versus.ops_per_second, 1)),
            ratio: measured.versus.as_ref().map(|versus| rounded(versus.ratio, 3)),
        }),
    };
    Ok(benchmarks.iter().zip(measured).map(row).collect())
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Rsa(bits) => write!(f, "rsa{bits}"),
            Self::Modexp(bits) => write!(f, "modexp{bits}"),
        }
    }
}
