//! Whether the time of an operation tells anything of its secrets, measured as dudect does: two classes of
//! inputs, taken in turns at random, and Welch's t-test. Run by `cargo xtask timing`.

#[cfg(target_arch = "x86_64")]
mod clock;
mod decrypt;
mod keys;
mod planted;
mod powers;
mod report;
mod sample;
mod welch;

use anyhow::{Context, Result, ensure};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::json;
use std::fs;
use std::process::ExitCode;
use std::time::Instant;
use zariz::rsa::PrivateKey;
use zariz::{Dispatch, Engine};
use zariz_kernels::scalar::Kernels;
use zariz_machines::{CycleCounter, scalar};

use decrypt::Decrypt;
use keys::{Keys, Messages};
use planted::Planted;
use powers::Powers;
use report::Row;
use sample::{Experiment, collect};

const USAGE: &str = "\
Usage: timing [--samples N] [--engine E] [--only powers|rsa|decryption|keys|clock] [--results PATH]

  --samples N     samples of each row of powers (default: 1000000); rows of RSA have a tenth
  --engine E      this engine alone, for powers and for RSA (default: all for powers, the library's choice for RSA);
                  not with the clock
  --only PART     powers or RSA alone; of RSA only decryption, or only keys and numbers; or whether the processor's
                  clock follows what it multiplies
  --results PATH  writes PATH.json
";

/// The least number of samples: a tenth of it must leave enough for each class of RSA.
const LEAST: usize = 20_000;

/// Samples of a row of the planted leak.
const SELF_TEST: usize = 100_000;

struct Arguments {
    samples: usize,
    engine: Option<Engine>,
    powers: bool,
    decryption: bool,
    /// The private operation, of keys and numbers.
    keys: bool,
    /// Only when asked for: it is a property of the processor.
    clock: bool,
    results: Option<String>,
}

fn main() -> ExitCode {
    let Some(arguments) = parse(std::env::args().skip(1)) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("timing: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Option<Arguments> {
    let mut out = Arguments {
        samples: 1_000_000,
        engine: None,
        powers: true,
        decryption: true,
        keys: true,
        clock: false,
        results: None,
    };
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--samples" => out.samples = value.parse().ok().filter(|&samples| samples >= LEAST)?,
            "--engine" => out.engine = Some(value.parse().ok()?),
            "--only" => {
                let is = |names: &[&str]| names.contains(&value.as_str());
                (out.powers, out.decryption) = (is(&["powers"]), is(&["rsa", "decryption"]));
                (out.keys, out.clock) = (is(&["rsa", "keys"]), is(&["clock"]));
            }
            "--results" => out.results = Some(value),
            _ => return None,
        }
    }
    // The clock is that of the processor, whatever the engine.
    let is_asked = out.powers || out.decryption || out.keys || out.clock && out.engine.is_none();
    is_asked.then_some(out)
}

/// The rows so far, what they are made with, and where they go.
struct Measurement {
    clock: CycleCounter,
    random: StdRng,
    rows: Vec<Row>,
    start: Instant,
    results: Option<String>,
}

impl Measurement {
    /// Measures an experiment and compares each class with the first, with `samples` of both together.
    fn compare(
        &mut self,
        operation: &'static str,
        engine: impl ToString,
        classes: &[&'static str],
        samples: usize,
        planted: bool,
        mut experiment: impl Experiment,
    ) -> Result<()> {
        let samples = collect(&mut experiment, self.clock, &mut self.random, samples.div_ceil(2))?;
        for (i, class) in classes.iter().enumerate().skip(1) {
            let verdict = welch::test(&samples, [0, i]).context("too few samples")?;
            let row =
                Row { operation, engine: engine.to_string(), reference: classes[0], class, verdict, planted };
            println!("{row}");
            self.rows.push(row);
        }
        // A run is long: what it has found so far is kept if it is stopped.
        self.write(false)
    }

    fn failures(&self) -> usize {
        self.rows.iter().filter(|row| !row.passes()).count()
    }

    fn summary(&self) -> String {
        let (rows, seconds, failures) = (self.rows.len(), self.start.elapsed().as_secs(), self.failures());
        format!("{rows} rows in {seconds} s; {failures} do not pass.")
    }

    /// Writes the data, if it is to be kept.
    fn write(&self, complete: bool) -> Result<()> {
        let Some(path) = &self.results else { return Ok(()) };
        let info = fs::read_to_string("/proc/cpuinfo").context("cannot read /proc/cpuinfo")?;
        let named = info
            .lines()
            .find_map(|line| line.strip_prefix("model name").and_then(|rest| rest.split_once(':')));
        let processor = named.context("/proc/cpuinfo has no model name")?.1.trim();
        let data = json!({
            "processor": processor, "seconds": self.start.elapsed().as_secs(), "complete": complete,
            "threshold": welch::THRESHOLD, "rows": self.rows.iter().map(Row::json).collect::<Vec<_>>(),
        });
        let path = format!("{path}.json");
        fs::write(&path, format!("{data:#}\n")).with_context(|| format!("cannot write {path}"))
    }
}

/// Whether all rows pass.
fn run(arguments: &Arguments) -> Result<bool> {
    let clock = CycleCounter::new().context("this processor has no time stamp counter of a fixed rate")?;
    let results = arguments.results.clone();
    let mut it = Measurement {
        clock,
        random: StdRng::from_os_rng(),
        rows: Vec::new(),
        start: Instant::now(),
        results,
    };
    println!("{}", report::head());

    #[cfg(target_arch = "x86_64")]
    match scalar::Adx::new() {
        Some(machine) => self_test(&mut it, "scalar-adx", machine)?,
        None => self_test(&mut it, "scalar", scalar::Portable::new())?,
    }
    #[cfg(not(target_arch = "x86_64"))]
    self_test(&mut it, "scalar", scalar::Portable::new())?;
    ensure!(
        it.rows[0].passes(),
        "the planted leak was not found: this machine is too noisy for this measurement"
    );

    if arguments.decryption {
        decryption(&mut it, arguments)?;
    }
    if arguments.keys {
        private_operation(&mut it, arguments)?;
    }
    if arguments.powers {
        powers(&mut it, arguments)?;
    }
    if arguments.clock {
        clock_of_core(&mut it, arguments)?;
    }
    println!("\n{}", it.summary());
    it.write(true)?;
    Ok(it.failures() == 0)
}

/// A new key for one engine, or for those that the library chooses for one request; and the samples of a row
/// of RSA.
fn rsa(arguments: &Arguments) -> Result<(Dispatch, PrivateKey, usize)> {
    let dispatch = arguments.engine.map_or(Dispatch::Auto, Dispatch::Only);
    let key = PrivateKey::generate(8 * keys::BYTES)?.with_engine(dispatch)?;
    Ok((dispatch, key, arguments.samples / 10))
}

/// Right and wrong paddings.
fn decryption(it: &mut Measurement, arguments: &Arguments) -> Result<()> {
    let (dispatch, key, samples) = rsa(arguments)?;
    let experiment = Decrypt::pkcs1(key.clone(), &mut it.random)?;
    it.compare("RSA-2048, PKCS#1 v1.5 decryption", dispatch, &decrypt::PKCS1, samples, false, experiment)?;
    let experiment = Decrypt::oaep(key, &mut it.random)?;
    it.compare("RSA-2048, OAEP decryption", dispatch, &decrypt::OAEP, samples, false, experiment)
}

/// Numbers and keys.
fn private_operation(it: &mut Measurement, arguments: &Arguments) -> Result<()> {
    let (dispatch, key, samples) = rsa(arguments)?;
    // One request, and as many as fill the lanes: their numbers stay there.
    let here =
        || Engine::ALL.iter().filter(|engine| engine.is_available()).map(|engine| engine.lanes()).max();
    let lanes = arguments.engine.map(Engine::lanes).or_else(here).unwrap_or(1);
    let (one, full) = ((1, "RSA-2048, x^d mod n"), (lanes, "RSA-2048, x^d mod n, full lanes"));
    for (requests, operation) in [one, full].into_iter().take(1 + usize::from(lanes > 1)) {
        let experiment = Messages::new(key.clone(), requests);
        it.compare(operation, dispatch, &keys::MESSAGES, samples, false, experiment)?;
        let experiment = Keys::new(dispatch, requests, &mut it.random)?;
        it.compare(operation, dispatch, &keys::CLASSES, samples, false, experiment)?;
    }
    Ok(())
}

/// Powers on one engine, or on all of this processor, the fastest first.
fn powers(it: &mut Measurement, arguments: &Arguments) -> Result<()> {
    let wanted = |engine: &Engine| arguments.engine.map_or(engine.is_available(), |only| only == *engine);
    for engine in Engine::ALL.iter().copied().rev().filter(wanted) {
        let experiment = Powers::new(engine, &mut it.random)?;
        it.compare("power, 512 bits", engine, &powers::CLASSES, arguments.samples, false, experiment)?;
    }
    Ok(())
}

/// Whether the processor's clock follows what it multiplies.
#[cfg(target_arch = "x86_64")]
fn clock_of_core(it: &mut Measurement, arguments: &Arguments) -> Result<()> {
    let operation = "scalar multiplications in a chain";
    let products = clock::Products::here();
    ensure!(products.len() > 1, "this processor has neither AVX512-IFMA nor AVX2 with FMA");
    for (products, beside) in products {
        it.compare(
            operation,
            beside,
            &clock::CLASSES,
            arguments.samples,
            false,
            clock::Chain::new(products),
        )?;
    }
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
fn clock_of_core(_: &mut Measurement, _: &Arguments) -> Result<()> {
    anyhow::bail!("the products beside the chain are instructions of x86-64")
}

/// Measures the planted leak, and the same loop without it.
fn self_test(it: &mut Measurement, engine: &str, machine: impl Kernels) -> Result<()> {
    let planted = Planted::<_, true>::new(machine, &mut it.random)?;
    it.compare("self-test: a product is skipped", engine, &planted::CLASSES, SELF_TEST, true, planted)?;
    let sound = Planted::<_, false>::new(machine, &mut it.random)?;
    it.compare("self-test: no product is skipped", engine, &planted::CLASSES, SELF_TEST, false, sound)?;
    Ok(())
}
