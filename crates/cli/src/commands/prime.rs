//! `zariz prime`: makes primes, or tests numbers.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use zariz::primes::{self, PrimeError, Search};
use zeroize::Zeroizing;

use crate::args::Execution;
use crate::batch::{self, ItemResult, Tally};
use crate::exit::{Failure, Outcome};
use crate::input::Input;
use crate::lines::Lines;
use crate::makers::{self, Makers};
use crate::number::Number;
use crate::output::Output;
use crate::place::{Existing, PlaceError, System};
use crate::progress::Progress;

const PRIME: &str = "prime";
const COMPOSITE: &str = "composite";

/// Arguments of `prime`.
#[derive(clap::Args)]
pub struct Args {
    /// Bits of each prime: 256 to 8192
    #[arg(long, value_name = "N", required_unless_present = "check")]
    bits: Option<u16>,
    /// Make safe primes: (p - 1)/2 is also prime. They are rare, and always searched for as with
    /// --incremental
    #[arg(long)]
    safe: bool,
    /// How many primes to make [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Search upwards from random numbers: faster, but primes after long gaps come up more often. By default,
    /// each candidate is random
    #[arg(long)]
    incremental: bool,
    /// Test a number instead, in hexadecimal: prints prime or composite; 0 and 1 count as composite. - tests
    /// the number on each line of standard input: put secret numbers there, since other users can see the
    /// command line
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = Check::parse,
        conflicts_with_all = ["bits", "safe", "count", "incremental", "engine"],
    )]
    check: Option<Check>,
    /// Where results go; the file appears when it is complete, readable only by its owner [default: standard
    /// output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    execution: Execution,
}

/// The numbers to test.
#[derive(Clone, Debug)]
enum Check {
    Number(Number),
    Stdin,
}

impl Check {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "-" { Ok(Self::Stdin) } else { Number::parse(text).map(Self::Number) }
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let mut output = match args.out.as_deref() {
        // A prime may be half of a key.
        Some(path) => Output::private(path, Existing::Replaced)?,
        None => Output::stdout()?,
    };
    let outcome = match &args.check {
        None => generate(args, &mut output)?,
        Some(Check::Number(number)) => {
            let is_prime =
                primes::is_prime(&number.0).map_err(|error| Failure::Input(format!("--check: {error}")))?;
            output.write(format!("{}\n", word(is_prime)).as_bytes())?;
            if is_prime { Outcome::Done } else { Outcome::NotVerified }
        }
        Some(Check::Stdin) => check_lines(args, &mut output)?,
    };
    output.finish_on(&mut System, Existing::Replaced).map_err(PlaceError::failure)?;
    Ok(outcome)
}

fn generate(args: &Args, output: &mut Output) -> Result<Outcome, Failure> {
    let (bits, count) = (args.bits.unwrap_or_default(), args.count.unwrap_or(1));
    // The library checks its limits.
    let search =
        Search::new(bits.into()).and_then(|search| if args.safe { search.safe() } else { Ok(search) });
    let search = search.map_err(|error| Failure::Usage(format!("--bits {bits}: {error}")))?;
    let search = if args.incremental { search.incremental() } else { search };
    let search = search.with_engine(args.execution.engine)?;

    let quiet = args.execution.quiet;
    let mut progress = match count {
        1 => {
            let kind = if args.safe { "safe prime" } else { "prime" };
            Progress::step(quiet, format!("searching for a {kind} of {bits} bits"))
        }
        _ => Progress::of(quiet, count, "prime", output.is_terminal()),
    };
    let failed = |error: PrimeError| Failure::Input(format!("cannot make a prime: {error}"));
    let threads = args.execution.threads();
    let share = makers::small_share(count, threads);
    let mut primes = Makers::start(threads, || {
        let search = search.clone();
        let primes: Box<dyn Iterator<Item = _> + Send> = match share {
            Some(share) => Box::new(makers::in_shares(move || search.generate_many(share))),
            None => Box::new(search.primes()),
        };
        primes.map(move |prime| prime.map_err(failed))
    })?;
    for _ in 0..count {
        let prime = primes.next().unwrap_or_else(|| Err(Failure::Input("no more primes are made".into())))?;
        let digits = Number::format(&prime);
        // Reserved at once: growing would leave a copy behind.
        let mut line = Zeroizing::new(Vec::with_capacity(digits.len() + 1));
        line.extend_from_slice(&digits);
        line.push(b'\n');
        if count == 1 {
            progress.clear();
        }
        output.write(&line)?;
        progress.made();
    }
    Ok(Outcome::Done)
}

fn check_lines(args: &Args, output: &mut Output) -> Result<Outcome, Failure> {
    let input = Input::open(Path::new("-"))?;
    let mut progress = Progress::new(args.execution.quiet, input.size, "line", output.is_terminal());
    let any_composite = AtomicBool::new(false);
    let work = |lines: Vec<Vec<u8>>| -> Vec<ItemResult<&'static str>> {
        let numbers =
            lines.into_iter().map(Zeroizing::new).map(|line| Number::parse_bytes(line.trim_ascii()));
        batch::among_good(numbers.collect(), |numbers| {
            let results = test(numbers).into_iter();
            let results = results.inspect(|result| {
                if matches!(result, Ok(false)) {
                    any_composite.store(true, Ordering::Relaxed);
                }
            });
            results.map(|result| result.map(word)).collect()
        })
    };
    let (lines, threads) = (Lines::new(input).copied(), args.execution.threads());
    let tally = batch::run(lines, threads, COMPOSITE.len(), &mut progress, Some(output), work)?;
    if tally == Tally::default() {
        progress.error("nothing to check: standard input has no lines");
        return Ok(Outcome::NotVerified);
    }
    match tally.outcome(&progress) {
        Outcome::Done if any_composite.into_inner() => Ok(Outcome::NotVerified),
        outcome => Ok(outcome),
    }
}

/// Tests each number for primality. One that cannot be tested does not affect the others.
fn test(numbers: &[Number]) -> Vec<Result<bool, String>> {
    let all: Vec<&[u8]> = numbers.iter().map(|number| &number.0[..]).collect();
    match primes::is_prime_many(&all) {
        Ok(results) => results.into_iter().map(Ok).collect(),
        Err(_) => {
            all.iter().map(|number| primes::is_prime(number).map_err(|error| error.to_string())).collect()
        }
    }
}

fn word(is_prime: bool) -> &'static str {
    if is_prime { PRIME } else { COMPOSITE }
}
