//! `zariz papers`: the tables of the papers that zariz implements, measured here beside the published
//! figures.

use std::cell::LazyCell;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use zariz::{Dispatch, Engine};
use zariz_papers::{Bench, Clock, PAPERS, Paper, Peers, Results};
use zariz_peers::CryptoMb;

use super::info::provider::Module;
use super::speed::seconds;
use crate::args;
use crate::exit::{Failure, Outcome};
use crate::output::Output;
use crate::processor;
use crate::progress::Progress;
use crate::workload::benchmark_key;

/// Arguments of `papers`.
#[derive(clap::Args)]
pub struct Args {
    /// Papers to measure, always in the order listed here [default: all]
    #[arg(value_name = "PAPER", value_parser = paper())]
    papers: Vec<&'static Paper>,
    /// Seconds for each row that is timed, but at least three calls; 0.01 gives a quick look
    #[arg(long, value_name = "S", default_value = "0.4", allow_negative_numbers = true, value_parser = seconds)]
    seconds: f64,
    /// Print JSON: an object for one paper, an array of objects for several
    #[arg(long)]
    json: bool,
    /// Vector engine: auto, portable, avx2-fma, avx-ifma, avx512-fma or avx512-ifma
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = vector_engine)]
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

/// A vector engine: the papers' methods are ways for these to compute.
fn vector_engine(name: &str) -> Result<Engine, String> {
    match args::dispatch(name).map(Dispatch::main) {
        Ok(engine) if engine.has_lanes() => Ok(engine),
        Ok(engine) => Err(format!("engine {engine} is not a vector engine; the papers' methods need one")),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let named = |paper: &&Paper| args.papers.is_empty() || args.papers.iter().any(|named| named.name == paper.name);
    let papers: Vec<&Paper> = PAPERS.into_iter().filter(named).collect();
    if let Some(path) = &args.provider {
        // Errors of the module are reported before anything is measured.
        Module::ask(path)?;
    }
    let crypto_mb = match &args.crypto_mb {
        Some(file) => Some(CryptoMb::load(file).map_err(|e| Failure::Input(format!("--crypto-mb: {}", e.why())))?),
        None => None,
    };
    let bench = Bench {
        engine: args.engine,
        seconds: args.seconds,
        clock: Clock::find(),
        processor: processor::name(),
        key: |bits, engine| benchmark_key(bits, engine).map_err(|e| zariz_papers::Failure::Input(e.to_string())),
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
