//! The tables of the papers that zariz implements, measured here beside the published figures:
//! `cargo run --release -p zariz-papers -- ahmm`.
#![forbid(unsafe_code)]

use std::cell::LazyCell;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use zariz::{Dispatch, Engine};
use zariz_cli::commands::info::provider::Module;
use zariz_cli::commands::speed::seconds;
use zariz_cli::exit::{Failure, Outcome};
use zariz_cli::measure::workload::benchmark_key;
use zariz_cli::output::Output;
use zariz_cli::progress::Progress;
use zariz_cli::{args, processor};
use zariz_papers::{Bench, Clock, PAPERS, Paper, Peers, Results};
use zariz_peers::CryptoMb;

/// Measure the tables of the papers that zariz implements, beside their published figures
///
/// Papers are measured in the order of the list below; the order of the names does not matter.
///
/// Cycles are reference cycles of the processor's time stamp counter, which does not follow the clock of
/// the core. ns are the nanoseconds of the same measurement. - marks what is not published or could not
/// be measured. Rows of GMP and OpenSSL need libgmp.so.10 and libcrypto.so.3 (or what other systems call
/// them) where the system finds shared libraries; if one is missing, a line says so. Rows of one size are
/// timed in turns, in three to fifteen rounds; each row takes at least three calls, even if they are
/// long. Figures are medians over rounds; ratios are medians of the ratios of each round, not ratios of
/// the figures shown. If other programs had more than 5 % of the time in a round, its figure counts
/// processor time only. ~ marks figures whose rounds spread by more than 15 %; * marks figures that the
/// paper does not print, computed from those that it prints.
///
/// The rows of `openssl speed` in ahmm run the system's openssl program on its default provider, and on
/// zariz's module with either method. In each round, signing takes a second and verifying takes a second.
/// --seconds is the number of rounds, at least three.
///
/// JSON has for each paper its name (`paper`), the setting, and `tables`, each with `name`, `title`,
/// `source`, `notes` and `rows`; a row has `row`, `size` (bits), `unit`, `published` and `measured` (in
/// that unit, or null), `published_note` where the paper's figure is not printed there, `rounds`, `least`
/// and `most` of the rounds (in the unit; null where nothing was timed), `noisy` (what ~ marks),
/// `nanoseconds` (or null), `engine` (or "counted", where `measured` is a count), and a `note` where
/// nothing could be measured or the reader should be careful.
#[derive(Parser)]
#[command(name = "zariz-papers", version, max_term_width = 100)]
struct Args {
    /// Papers to measure, always in the order listed here [default: all]
    #[arg(value_name = "PAPER", value_parser = paper())]
    papers: Vec<&'static Paper>,
    /// Seconds for each row that is timed, but at least three calls; 0.01 gives a quick look
    #[arg(long, value_name = "S", default_value = "0.4", allow_negative_numbers = true, value_parser = seconds)]
    seconds: f64,
    /// Print JSON: an object for one paper, an array of objects for several
    #[arg(long)]
    json: bool,
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = vector_engine)]
    #[arg(help = vector_engines())]
    engine: Engine,
    /// The module for OpenSSL, for the rows of ahmm that are measured by `openssl speed` (about a minute
    /// more)
    #[arg(long, value_name = "PATH")]
    provider: Option<PathBuf>,
    /// Intel's crypto_mb, which you built (libcrypto_mb.so), for rows of ahmm beside it; needs AVX512-IFMA
    #[arg(long, value_name = "FILE")]
    crypto_mb: Option<PathBuf>,
    /// Print nothing but errors on standard error: no progress
    #[arg(long, short)]
    quiet: bool,
}

fn paper() -> impl TypedValueParser<Value = &'static Paper> {
    PossibleValuesParser::new(PAPERS.map(|paper| paper.name))
        .try_map(|name| PAPERS.into_iter().find(|paper| paper.name == name).ok_or("no such paper"))
}

fn vector_engines() -> String {
    let engines: Vec<&str> =
        Engine::ALL.iter().filter(|engine| engine.has_lanes()).map(|engine| engine.name()).collect();
    format!("Vector engine: auto, {}", engines.join(", "))
}

/// A vector engine: the papers' methods are ways for these to compute.
fn vector_engine(name: &str) -> Result<Engine, String> {
    match args::dispatch(name).map(Dispatch::main) {
        Ok(engine) if engine.has_lanes() => Ok(engine),
        Ok(engine) => Err(format!("engine {engine} is not a vector engine; the papers' methods need one")),
        Err(error) => Err(error.to_string()),
    }
}

fn main() -> ExitCode {
    zariz_cli::run(|args: Args| run(&args))
}

fn run(args: &Args) -> Result<Outcome, Failure> {
    let named =
        |paper: &&Paper| args.papers.is_empty() || args.papers.iter().any(|named| named.name == paper.name);
    let papers: Vec<&Paper> = PAPERS.into_iter().filter(named).collect();
    if let Some(path) = &args.provider {
        // Errors of the module are reported before anything is measured.
        Module::ask(path)?;
    }
    let crypto_mb = match &args.crypto_mb {
        Some(file) => {
            Some(CryptoMb::load(file).map_err(|e| Failure::Input(format!("--crypto-mb: {}", e.why())))?)
        }
        None => None,
    };
    let bench = Bench {
        engine: args.engine,
        seconds: args.seconds,
        clock: Clock::find(),
        processor: processor::name(),
        key: benchmark_key,
        peers: LazyCell::new(Peers::load),
        provider: args.provider.clone(),
        crypto_mb,
    };

    let mut left: f64 = papers.iter().flat_map(|paper| paper.tables).map(|table| table.seconds(&bench)).sum();
    let (mut output, mut all) = (Output::stdout()?, Vec::new());
    for paper in &papers {
        let mut results = Results::new(paper, &bench);
        let mut write = |text: String| if args.json { Ok(()) } else { output.write(text.as_bytes()) };
        if !all.is_empty() {
            write("\n".into())?;
        }
        write(results.head())?;
        for plan in paper.tables {
            let text = format!("{}: {}  (about {} s left)", paper.name, plan.name, left.ceil());
            let progress = Progress::step(args.quiet, text);
            let table = (plan.run)(&bench)?.rounded();
            drop(progress);
            left -= plan.seconds(&bench);
            write(table.text())?;
            results.tables.push(table);
        }
        all.push(results);
    }
    if args.json {
        let text = match &all[..] {
            [one] => serde_json::to_string_pretty(one),
            all => serde_json::to_string_pretty(all),
        };
        let text = text.map_err(|e| Failure::Input(e.to_string()))?;
        output.write(format!("{text}\n").as_bytes())?;
    }
    Ok(Outcome::Done)
}
