//! `zariz speed`: the speed of this machine, or beside the system's OpenSSL.

mod table;
mod target;

use serde::Serialize;

use crate::args::Execution;
use crate::exit::{Failure, Outcome};
use crate::measure::benchmark::{Benchmark, Rsa};
use crate::measure::figures::rounded;
use crate::measure::openssl::OpenSsl;
use crate::measure::throughput::{PeerRates, Schedule, Share, Throughput, throughput};
use crate::measure::workload::{FixedPowers, Making, Modexp, benchmark_key};
use crate::output::Output;
use crate::progress::Progress;
use table::Table;
use target::Target;

/// The rounds of a comparison: enough for a median.
const ROUNDS: u32 = 5;

/// Arguments of `speed`.
#[derive(clap::Args)]
pub struct Args {
    /// What to measure [default: rsa2048 rsa3072 rsa4096]
    #[arg(value_name = "TARGET", value_parser = target::parser())]
    targets: Vec<Target>,
    /// Seconds for each operation
    #[arg(long, value_name = "S", default_value = "3", allow_negative_numbers = true, value_parser = seconds)]
    seconds: f64,
    /// Operations in a batch [default: 64; 8 keys or primes; 1 safe prime]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    batch: Option<u16>,
    /// Run `openssl` in turn with zariz, with one process for each of zariz's threads: `openssl speed`,
    /// `openssl genrsa` for keygen, `openssl prime` for primes
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
    /// The least share of the time, in any round, in which the threads had the processors.
    processor_share: f64,
    disturbed_rounds: usize,
    #[serde(skip)]
    share: Share,
    #[serde(flatten)]
    comparison: Option<Comparison>,
}

/// The peer's part of a row; its fields are `None` if the peer lacks the operation.
#[derive(Serialize)]
struct Comparison {
    peer: Option<String>,
    peer_ops_per_second: Option<f64>,
    ratio: Option<f64>,
    /// The time that each operation of the peer spends on starting a process, if it needs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    peer_start_seconds: Option<f64>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let peer = args.compare.as_ref().map(|_| OpenSsl::find()).transpose()?;
    let schedule = Schedule {
        threads: args.execution.threads_or_one(),
        batch: 0,
        seconds: args.seconds,
        rounds: if peer.is_some() { args.rounds.unwrap_or(ROUNDS) } else { 1 },
    };
    let targets = if args.targets.is_empty() { &target::USUAL[..] } else { &args.targets };

    let (mut output, mut table, mut all) = (Output::stdout()?, Table::default(), Vec::new());
    for target in targets {
        let progress = Progress::step(args.execution.quiet, target.to_string());
        let batch = args.batch.map_or(target.usual_batch(), usize::from);
        let rows = measure_target(*target, args, Schedule { batch, ..schedule }, peer.as_ref())?;
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
            let peer_rates = |openssl| {
                move || OpenSsl::rates(openssl, bits, schedule.seconds_per_round(), schedule.threads)
            };
            let mut speed = peer.filter(|_| OpenSsl::has_speed(bits)).map(peer_rates);
            let peer_rates = speed.as_mut().map(|speed| speed as PeerRates);
            rows(&[load.sign(), load.verify()], args, schedule, peer, peer_rates)
        }
        Target::Modexp(bits) => {
            let load = Modexp::new(bits, schedule.batch, args.execution.engine)?;
            rows(&[load.pow()], args, schedule, peer, None)
        }
        Target::FixedBase(bits) => {
            let load = FixedPowers::new(bits, schedule.batch, args.execution.engine)?;
            rows(&[load.pow()], args, schedule, peer, None)
        }
        Target::Keygen(bits) => made(
            Making::keys(bits, schedule.batch, args.execution.engine)?,
            args,
            schedule,
            peer,
            |openssl| openssl.keys(bits, schedule.seconds_per_round(), schedule.threads),
        ),
        Target::Prime { bits, safe } => made(
            Making::primes(bits, safe, schedule.batch, args.execution.engine)?,
            args,
            schedule,
            peer,
            |openssl| openssl.primes(bits, safe, schedule.seconds_per_round(), schedule.threads),
        ),
    }
}

/// Measures the speed of making keys or primes. `peer_rate` has the peer make the same, in processes.
fn made(
    load: Making,
    args: &Args,
    schedule: Schedule,
    peer: Option<&OpenSsl>,
    peer_rate: impl Fn(&OpenSsl) -> Result<f64, Failure>,
) -> Result<Vec<Row>, Failure> {
    let mut rates = peer.map(|openssl| || Ok(vec![peer_rate(openssl)?]));
    let peer_rates = rates.as_mut().map(|rates| rates as PeerRates);
    let mut rows = rows(&[load.make()], args, schedule, peer, peer_rates)?;
    load.failure()?;
    let start = peer.map(OpenSsl::start_seconds).transpose()?;
    for comparison in rows.iter_mut().filter_map(|row| row.comparison.as_mut()) {
        comparison.peer_start_seconds = start.map(|seconds| rounded(seconds, 4));
    }
    Ok(rows)
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
        ops_per_second: rate(measured.ops_per_second),
        p50_us: rounded(measured.p50_us, 1),
        p99_us: rounded(measured.p99_us, 1),
        processor_share: rounded(measured.share.least, 3),
        disturbed_rounds: measured.share.disturbed_rounds,
        share: measured.share,
        comparison: peer.map(|openssl| Comparison {
            peer: measured.versus.as_ref().map(|_| openssl.version.clone()),
            peer_ops_per_second: measured.versus.as_ref().map(|versus| rate(versus.ops_per_second)),
            ratio: measured.versus.as_ref().map(|versus| rounded(versus.ratio, 3)),
            peer_start_seconds: None,
        }),
    };
    Ok(benchmarks.iter().zip(measured).map(row).collect())
}

/// A rate with only meaningful decimals: some operations take seconds.
fn rate(ops_per_second: f64) -> f64 {
    rounded(ops_per_second, if ops_per_second < 10.0 { 4 } else { 1 })
}
