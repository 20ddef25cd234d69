//! The paper's own measurement: `openssl speed` on asynchronous jobs, on OpenSSL's default provider and
//! through ours with either method, in turns.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use zariz::Method;
use zariz_cli::exit::Failure;
use zariz_cli::measure::openssl::{Jobs, OpenSsl, Speed};
use zariz_cli::measure::sample::{Measured, Sample};

use super::super::{Bench, Row, Table, Unit};
use super::{PUBLISHED, Published};

/// The table's name.
pub const NAME: &str = "openssl-speed";

/// Lengths of keys that `openssl speed` can measure; the paper has the first, and suggests the others.
const SIZES: [usize; 3] = [2048, 3072, 4096];

/// The paper's number of asynchronous jobs.
const JOBS: usize = 8;

/// Rounds at least, so that one is neither the best nor the worst; and at most.
const ROUNDS: [usize; 2] = [3, 15];

/// What `openssl speed` measures at least: a second for signing, and one for verifying.
const SECONDS: f64 = 2.0;

/// Why there is no figure without a module.
const HOW: &str = "to measure these rows, name the module for OpenSSL: --provider PATH (cargo build --release -p \
                   zariz-openssl-provider makes target/release/libzariz_provider.so)";

/// The contestants.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contestant {
    Default,
    Ours(Method),
}

const CONTESTANTS: [Contestant; 3] =
    [Contestant::Default, Contestant::Ours(Method::AMM), Contestant::Ours(Method::AHMM)];

/// About how long the table takes.
pub fn seconds(bench: &Bench) -> f64 {
    let each = rounds(bench) as f64 * SECONDS * CONTESTANTS.len() as f64;
    if bench.provider.is_some() { each * SIZES.len() as f64 } else { 0.0 }
}

fn rounds(bench: &Bench) -> usize {
    (bench.seconds.ceil() as usize).clamp(ROUNDS[0], ROUNDS[1])
}

/// Measures the table.
pub fn run(bench: &Bench) -> Result<Table, Failure> {
    let (mut rows, mut notes) = (
        Vec::new(),
        vec![format!(
            "openssl speed -provider-path … -provider … -elapsed -async_jobs {JOBS} rsa2048: one thread that starts {JOBS} \
             jobs and waits for all of them, a second for signing and one for verifying in each round. The provider \
             computes one batch at a time (threads = 1).",
        )],
    );
    match &bench.provider {
        None => {
            for bits in SIZES {
                rows.extend(of_size(bits, &Results::none(), "OpenSSL", bench));
            }
        }
        Some(module) => {
            let (openssl, setup) = (OpenSsl::find()?, Setup::new(module, bench)?);
            for bits in SIZES {
                let results = setup.measure(bits, rounds(bench))?;
                notes.push(format!("RSA-{bits}: {}", results.batches()));
                rows.extend(of_size(bits, &results, &openssl.version, bench));
            }
        }
    }
    let title = format!("By openssl speed, {JOBS} jobs (operations per second)");
    Ok(Table {
        name: NAME,
        title,
        source: "sections 3.2.1 to 3.2.3; section 5 suggests the longer keys",
        notes,
        rows,
    })
}

/// The rows of one size.
fn of_size(bits: usize, results: &Results, openssl: &str, bench: &Bench) -> Vec<Row> {
    let published = (bits == 2048).then_some(PUBLISHED);
    let of = |which: fn(&Published) -> f64| published.as_ref().map(which);
    let row = |name: &str, unit, published, sample: Option<Sample>| {
        // Rates spread as far as the times that they come from.
        let measured =
            sample.as_ref().map(|sample| Measured::ratios(sample, |figure| figure)).unwrap_or_default();
        let timed = sample.filter(|_| unit == Unit::PerSecond);
        Row {
            measured,
            nanoseconds: timed.map(|sample| 1e9 / sample.median()),
            engine: if name.contains("default") && unit == Unit::PerSecond {
                openssl
            } else {
                bench.engine.name()
            }
            .into(),
            note: bench.provider.is_none().then(|| HOW.to_owned()),
            ..Row::new(name, bits, unit, published)
        }
    };
    let [plain, amm, ahmm] = CONTESTANTS;
    let (sign, verify) = (|speed: &Speed| speed.sign, |speed: &Speed| speed.verify);
    let rate = |who, which: fn(&Speed) -> f64| results.rates(who, which);
    let ratio = |who, over| Some(rate(who, sign)?.per(&rate(over, sign)?));
    let per_second = Unit::PerSecond;
    vec![
        row("sign: default provider", per_second, None, rate(plain, sign)),
        row("sign: zariz, baseline (AMM)", per_second, of(|figures| figures.baseline[0]), rate(amm, sign)),
        row("sign: zariz, new (AHMM)", per_second, of(|figures| figures.new[0]), rate(ahmm, sign)),
        row("sign: gain", Unit::Gain, of(|figures| figures.gain), ratio(ahmm, amm)),
        row("sign: AMM vs default provider", Unit::Times, None, ratio(amm, plain)),
        row("sign: AHMM vs default provider", Unit::Times, None, ratio(ahmm, plain)),
        row("verify: default provider", per_second, None, rate(plain, verify)),
        row(
            "verify: zariz, baseline (AMM)",
            per_second,
            of(|figures| figures.baseline[1]),
            rate(amm, verify),
        ),
        row("verify: zariz, new (AHMM)", per_second, of(|figures| figures.new[1]), rate(ahmm, verify)),
    ]
}

/// Configurations for `openssl`, in a folder of their own.
struct Setup {
    folder: TempDir,
    module: PathBuf,
    name: String,
}

impl Setup {
    fn new(module: &Path, bench: &Bench) -> Result<Self, Failure> {
        let folder = tempfile::tempdir().map_err(|error| Failure::io("a temporary folder", &error))?;
        let module = std::path::absolute(module).map_err(|error| Failure::io(module.display(), &error))?;
        let name = module.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let setup = Self { folder, module, name };
        for who in CONTESTANTS {
            // The default provider is active by default, and the command loads ours.
            let text = match who {
                Contestant::Default => String::new(),
                Contestant::Ours(method) => format!(
                    "openssl_conf = all\n[all]\nproviders = list\n[list]\n{} = ours\n[ours]\nengine = {}\n\
                     method = {method}\nthreads = 1\ncounters = {}\n",
                    setup.name,
                    bench.engine,
                    setup.file(who, "counters").display()
                ),
            };
            let path = setup.file(who, "cnf");
            fs::write(&path, text).map_err(|error| Failure::io(path.display(), &error))?;
        }
        Ok(setup)
    }

    fn file(&self, who: Contestant, ending: &str) -> PathBuf {
        let name = match who {
            Contestant::Default => "default".into(),
            Contestant::Ours(method) => method.to_string(),
        };
        self.folder.path().join(format!("{name}.{ending}"))
    }

    /// All contestants in turn, round by round.
    fn measure(&self, bits: usize, rounds: usize) -> Result<Results, Failure> {
        let before = CONTESTANTS.map(|who| self.counted(who));
        let mut results = Results::none();
        for _ in 0..rounds {
            for (i, who) in CONTESTANTS.into_iter().enumerate() {
                let provider =
                    (who != Contestant::Default).then_some((self.module.as_path(), self.name.as_str()));
                let configuration = self.file(who, "cnf");
                let speed = Jobs { count: JOBS, configuration: &configuration, provider }.speed(bits, 1)?;
                results.speeds[i].push(speed);
            }
        }
        for (i, who) in CONTESTANTS.into_iter().enumerate().skip(1) {
            let (before, after) = (before[i], self.counted(who));
            let [operations, batches, left] = [0, 1, 2].map(|counter| after[counter] - before[counter]);
            if batches == 0 || left > 0 {
                let why = format!(
                    "openssl speed rsa{bits} should have used it, but it counted {operations} operations, \
                     and {left} that it left to OpenSSL"
                );
                return Err(Failure::Input(format!("{}: {why}", self.module.display())));
            }
            results.means[i] = Some(operations as f64 / batches as f64);
        }
        Ok(results)
    }

    /// Operations, batches and fallbacks so far, from the provider's file of counters; zeros where there is
    /// none yet.
    fn counted(&self, who: Contestant) -> [u64; 3] {
        let bytes = fs::read(self.file(who, "counters")).unwrap_or_default();
        // Eight bytes that say what it is, and the counters: private, public, batches, largest batch,
        // fallbacks.
        let number = |i: usize| {
            let bytes = bytes.get(8 * i..8 * i + 8).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_ne_bytes)
        };
        [number(1) + number(2), number(3), number(5)]
    }
}

/// What was measured at one size, of each contestant.
struct Results {
    speeds: [Vec<Speed>; 3],
    /// Operations in a batch.
    means: [Option<f64>; 3],
}

impl Results {
    fn none() -> Self {
        Self { speeds: [const { Vec::new() }; 3], means: [None; 3] }
    }

    /// Operations per second, in each round.
    fn rates(&self, who: Contestant, which: fn(&Speed) -> f64) -> Option<Sample> {
        let i = CONTESTANTS.iter().position(|other| *other == who)?;
        let sample: Sample = self.speeds[i].iter().map(which).collect();
        (sample.rounds() > 0).then_some(sample)
    }

    /// Batches by the counters.
    fn batches(&self) -> String {
        let mean = |mean: Option<f64>| mean.map_or_else(|| "-".into(), |mean| format!("{mean:.1}"));
        let [_, amm, ahmm] = self.means.map(mean);
        format!(
            "by the provider's counters, {amm} (AMM) and {ahmm} (AHMM) operations in each batch, on average"
        )
    }
}
