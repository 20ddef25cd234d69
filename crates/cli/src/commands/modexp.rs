//! `zariz modexp`: base^exponent mod modulus for every line.

mod fixed;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use zariz::{Dispatch, Modulus, PowJob, pow_many, pow_many_vartime};
use zeroize::Zeroizing;

use crate::args::Execution;
use crate::batch::{self, ItemResult, Tally};
use crate::exit::{Failure, Outcome};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::Number;
use crate::output::Output;
use crate::progress::Progress;
use fixed::Base;

/// The digits of the largest modulus.
const LONGEST_RESULT: usize = Modulus::MAX_BITS / 4;

/// Arguments of `modexp`.
#[derive(clap::Args)]
pub struct Args {
    /// The modulus for lines without one
    #[arg(long, value_name = "HEX", value_parser = Number::parse)]
    modulus: Option<Number>,
    /// The exponent for lines without one. Put a secret exponent into the lines instead: other users of the
    /// machine can see the command line
    #[arg(long, value_name = "HEX", value_parser = Number::parse)]
    exponent: Option<Number>,
    /// Raise this base to the exponent on each line; lines then hold only exponents. Needs --modulus. Several
    /// times as fast for many lines: a table of the base's powers is computed first. The table takes up to 64
    /// MiB, or 128 MiB with --public
    #[arg(long, value_name = "HEX", value_parser = Number::parse, conflicts_with = "exponent")]
    fixed_base: Option<Number>,
    /// The exponents are public: compute faster, in time that depends on them
    #[arg(long)]
    public: bool,
    /// Where results go; the file appears when it is complete [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The input; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    input: PathBuf,
    #[command(flatten)]
    execution: Execution,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let powers = Powers::new(args)?;
    let mut output = Output::open(args.out.as_deref())?;
    let input = Input::open(&args.input)?;
    let mut progress = Progress::new(args.execution.quiet, input.size, "line", output.is_terminal());
    let tally = modexp_lines(&powers, input, &mut output, args.execution.threads(), &mut progress)?;
    output.finish()?;
    Ok(tally.outcome(&progress))
}

/// Computes the power for each line of `input`, and writes it as a line of `output`.
pub fn modexp_lines(
    powers: &Powers,
    input: Input,
    output: &mut Output,
    threads: usize,
    progress: &mut Progress,
) -> Result<Tally, Failure> {
    // Numbers are half as long as their digits, and results as long as the modulus.
    let lines = Lines::new(input).copied();
    batch::run(lines, threads, LONGEST_RESULT, progress, Some(output), |lines| powers.of(lines))
}

/// The settings that all lines share.
pub struct Powers {
    base: Option<Base>,
    defaults: Defaults,
    moduli: Moduli,
    public: bool,
}

impl Powers {
    /// As the command line says.
    pub fn new(args: &Args) -> Result<Self, Failure> {
        let moduli = Moduli::new(args.execution.engine);
        let modulus = args.modulus.as_ref().map(|modulus| moduli.get(modulus)).transpose();
        let modulus = modulus.map_err(|error| Failure::Input(format!("--modulus: {error}")))?;
        let base = match (&args.fixed_base, &modulus) {
            (Some(base), Some(modulus)) => Some(Base::new(modulus.clone(), base.clone(), args.public)),
            (Some(_), None) => {
                let text =
                    "--fixed-base needs --modulus HEX: the powers of a base are prepared for one modulus";
                return Err(Failure::Usage(text.into()));
            }
            (None, _) => None,
        };
        let defaults = Defaults { modulus, exponent: args.exponent.clone() };
        Ok(Self { base, defaults, moduli, public: args.public })
    }

    /// The power for each line, or the line's error.
    pub fn of(&self, lines: Vec<Vec<u8>>) -> Vec<ItemResult<Zeroizing<Vec<u8>>>> {
        // Exponents and results may be secret. Only the input buffer is not wiped.
        let lines: Vec<_> = lines.into_iter().map(Zeroizing::new).collect();
        // Drop each line once its numbers are read: it may be long.
        let lines = lines.into_iter();
        if let Some(base) = &self.base {
            let exponents = lines.map(|line| Base::parse(&line)).collect();
            return batch::among_good(exponents, |exponents| base.powers(exponents));
        }
        batch::among_good(
            lines.map(|line| Job::parse(&line, &self.defaults, &self.moduli)).collect(),
            |jobs| {
                let jobs: Vec<PowJob> = jobs.iter().map(Job::pow_job).collect();
                let results = if self.public { pow_many_vartime(&jobs) } else { pow_many(&jobs) };
                results.into_iter().map(|result| Ok(Number::format(&Zeroizing::new(result)))).collect()
            },
        )
    }
}

/// The numbers for lines without them.
struct Defaults {
    modulus: Option<Modulus>,
    exponent: Option<Number>,
}

/// One line's exponentiation.
struct Job {
    base: Number,
    exponent: Number,
    modulus: Modulus,
}

impl Job {
    fn parse(line: &[u8], defaults: &Defaults, moduli: &Moduli) -> Result<Self, String> {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let mut number = |name: &str| {
            let number = fields.next().map(Number::parse_bytes).transpose();
            number.map_err(|error| format!("{name}: {error}"))
        };
        let base = number("base")?.ok_or("the line is empty: a base was expected")?;
        let exponent = number("exponent")?.or_else(|| defaults.exponent.clone());
        let exponent = exponent.ok_or("no exponent: put it after the base, or give --exponent")?;
        let modulus = match number("modulus")? {
            Some(modulus) => moduli.get(&modulus).map_err(|error: Failure| error.to_string())?,
            None => defaults
                .modulus
                .clone()
                .ok_or("no modulus: put it after base and exponent, or give --modulus")?,
        };
        match fields.next() {
            Some(_) => Err("more than three numbers on the line".into()),
            None => Ok(Self { base, exponent, modulus }),
        }
    }

    fn pow_job(&self) -> PowJob<'_> {
        PowJob { modulus: &self.modulus, base: &self.base.0, exponent: &self.exponent.0 }
    }
}

/// Prepared moduli: lines often share one, and preparing it is a part of the work.
struct Moduli {
    engine: Dispatch,
    known: Mutex<HashMap<Vec<u8>, Modulus>>,
}

impl Moduli {
    /// The most moduli that are kept; at the largest size, they take a few megabytes.
    const MOST: usize = 256;

    fn new(engine: Dispatch) -> Self {
        Self { engine, known: Mutex::default() }
    }

    fn get(&self, modulus: &Number) -> Result<Modulus, Failure> {
        // The map is complete even if a thread panicked while it held the lock.
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&modulus.0[..]) {
            return Ok(found.clone());
        }
        // Prepared outside the lock: if two threads do it, both get the same.
        let made = Modulus::new(&modulus.0)?.with_engine(self.engine)?;
        let mut known = known();
        if known.len() >= Self::MOST {
            known.clear();
        }
        known.insert(modulus.0.to_vec(), made.clone());
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_bounded_and_true() {
        let moduli = Moduli::new(zariz::Engine::Portable.into());
        for round in 0..2 {
            for i in 0..2 * Moduli::MOST {
                let modulus = Number(vec![1, (i >> 7) as u8, (2 * i + 1) as u8].into());
                let made = moduli.get(&modulus).expect("odd");
                assert_eq!(made.pow_vartime(&modulus.0, &[1]), [0, 0, 0], "round {round}");
                assert!(moduli.known.lock().expect("no panic").len() <= Moduli::MOST);
            }
        }
        assert!(moduli.get(&Number(vec![10].into())).is_err());
    }

    #[test]
    fn lines_say_what_they_lack() {
        let (moduli, none) =
            (Moduli::new(zariz::Engine::Portable.into()), Defaults { modulus: None, exponent: None });
        let error = |line: &str| Job::parse(line.as_bytes(), &none, &moduli).err().unwrap_or_default();
        assert!(error("").contains("empty") && error(" \t").contains("empty"));
        assert!(error("2").contains("--exponent"));
        assert!(error("2 3").contains("--modulus"));
        assert!(error("2 3 5 7").contains("more than three"));
        assert!(error("2 3 4").contains("even"));
        assert!(error("2 x 5").starts_with("exponent: 'x'"));
        assert_eq!(error("2 \t 0x3\t5 "), "");
    }
}
