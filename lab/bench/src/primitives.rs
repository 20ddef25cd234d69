//! Primitives without padding, beside crypto_mb: private and public operations of RSA, and powers.
//!
//! Each operation is done in batches of [`BATCH`], with eight keys or moduli in turn, so that every lane of
//! crypto_mb has its own. zariz takes part on each engine. Keys are made at the start, and prepared before
//! the clock starts; the fastest interface of each library is used, and results are compared before they are
//! timed.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use zariz::rsa::hazmat::primitive::{PrivateJob, PublicJob, private_many, public_many_vartime};
use zariz::rsa::{KeyGenerator, PrivateKey, PublicKey};
use zariz::{Dispatch, Modulus, PowJob, pow_many};
use zariz_peers::{CrtKey, CryptoMb, PowerJob};

use crate::measure::{Budget, Cell, Contestant, measure};
use crate::peers::CRYPTO_MB;
use crate::report::{NotMeasured, Report};
use crate::statistics::{median_of, median_ratio};
use crate::workload::random;

/// Operations of a batch.
pub const BATCH: usize = 64;

/// Keys and moduli, and the numbers of a call of crypto_mb.
const LANES: usize = CryptoMb::LANES;

/// Keys whose operations are measured, where the user named their size.
const RSA_BITS: [usize; 3] = [2048, 3072, 4096];

/// Moduli of powers.
const POWER_BITS: [usize; 2] = [1024, 2048];

/// What was measured of a library, or of an engine, at one operation.
#[derive(Serialize, Deserialize)]
pub struct Primitive {
    /// The operation, as `private2048`.
    pub operation: String,
    /// Bits of its moduli.
    pub bits: usize,
    /// Who.
    pub library: String,
    /// zariz's engine.
    pub engine: Option<String>,
    /// Operations per call; crypto_mb does them in eight calls.
    pub batch: usize,
    /// Rounds that it took part in.
    pub rounds: usize,
    /// Operations per second: the median of the rounds.
    pub ops_per_second_median: f64,
    /// Times crypto_mb's rate: the median of the rounds' ratios.
    pub ratio_vs_crypto_mb: Option<f64>,
}

/// zariz on an engine, or crypto_mb.
type Who = Option<Dispatch>;

/// Does a batch.
type Call = Box<dyn FnMut() -> Result<()>>;

/// An operation that all are to do.
struct Task {
    operation: String,
    bits: usize,
    contestants: Vec<Contestant<'static, Who>>,
}

/// Measures all operations, and puts them into the report.
pub fn run(
    library: &CryptoMb,
    sizes: &[usize],
    engines: &[Dispatch],
    budget: Budget,
    report: &mut Report,
) -> Result<()> {
    for bits in RSA_BITS.into_iter().filter(|bits| sizes.contains(bits)) {
        let keys = KeyGenerator::new(bits)?.generate_many(LANES)?;
        for task in [private(library, bits, &keys, engines)?, public(library, bits, &keys, engines)?] {
            task.measure(budget, report)?;
        }
    }
    for bits in POWER_BITS {
        power(library, bits, engines)?.measure(budget, report)?;
    }
    Ok(())
}

impl Task {
    /// `theirs` is crypto_mb's batch, whose results were `expected`; `ours` makes zariz ready on an engine.
    fn new<Ours, Number>(
        operation: String,
        bits: usize,
        expected: &[Vec<u8>],
        theirs: Call,
        engines: &[Dispatch],
        ours: impl Fn(Dispatch) -> Result<Ours>,
    ) -> Result<Self>
    where
        Ours: FnMut() -> Result<Vec<Number>> + 'static,
        Number: AsRef<[u8]>,
    {
        let mut contestants = vec![contestant(None, LANES, theirs)];
        for &engine in engines {
            let mut batch = ours(engine)?;
            let results = batch().with_context(|| format!("{operation}, zariz {engine}"))?;
            let equal = results.iter().map(AsRef::as_ref).eq(expected.iter().map(Vec::as_slice));
            ensure!(equal, "{operation}: zariz {engine} and crypto_mb compute different results");
            let call = Box::new(move || {
                black_box(batch()?);
                Ok(())
            });
            contestants.push(contestant(Some(engine), engine.main().lanes(), call));
        }
        Ok(Self { operation, bits, contestants })
    }

    fn measure(mut self, budget: Budget, report: &mut Report) -> Result<()> {
        let cells = measure(&mut self.contestants, BATCH, budget)?;
        let reference = cells.iter().find(|cell| cell.who.is_none());
        for cell in &cells {
            let (operation, engine) = (self.operation.clone(), cell.who.map(|engine| engine.to_string()));
            let library = if engine.is_some() { "zariz" } else { CRYPTO_MB }.to_owned();
            if let Some(reason) = cell.left_out.clone() {
                report.not_measured.push(NotMeasured {
                    operation,
                    library,
                    engine,
                    batch: Some(BATCH),
                    reason,
                });
                continue;
            }
            let against = |other: &Cell<Who>| median_ratio(&cell.rates, &other.rates);
            report.primitives.push(Primitive {
                operation,
                bits: self.bits,
                library,
                engine,
                batch: BATCH,
                rounds: cell.rates.iter().flatten().count(),
                ops_per_second_median: median_of(&cell.rates).unwrap_or(0.0),
                ratio_vs_crypto_mb: reference.and_then(against),
            });
        }
        Ok(())
    }
}

fn contestant(who: Who, lanes: usize, mut call: Call) -> Contestant<'static, Who> {
    Contestant { who, lanes, batches: vec![BATCH], call: Box::new(move |_, _| call()) }
}

/// `x^d mod n`.
fn private(library: &CryptoMb, bits: usize, keys: &[PrivateKey], engines: &[Dispatch]) -> Result<Task> {
    let components: Vec<_> = keys.iter().map(PrivateKey::components).collect();
    let mut theirs = library.private(
        bits,
        array(&components, |key| CrtKey {
            p: &key.p,
            q: &key.q,
            dp: &key.dp,
            dq: &key.dq,
            q_inverse: &key.qinv,
        })?,
    )?;
    let (numbers, mut results) = (numbers(bits, BATCH)?, vec![vec![0; bits / 8]; BATCH]);
    let mut batch = {
        let numbers = numbers.clone();
        move |results: &mut [Vec<u8>]| eights(&numbers, results, |from, to| Ok(theirs.compute(from, to)?))
    };
    batch(&mut results)?;
    let expected = results.clone();
    let theirs = Box::new(move || batch(&mut results));
    Task::new(format!("private{bits}"), bits, &expected, theirs, engines, |engine| {
        let keys: Vec<PrivateKey> =
            keys.iter().map(|key| key.with_engine(engine)).collect::<Result<_, _>>()?;
        let numbers = numbers.clone();
        Ok(move || {
            let job = |(key, number)| PrivateJob { key, number };
            let jobs: Vec<PrivateJob> =
                keys.iter().cycle().zip(numbers.iter().map(Vec::as_slice)).map(job).collect();
            Ok(private_many(&jobs).into_iter().collect::<Result<Vec<_>, _>>()?)
        })
    })
}

/// `x^65537 mod n`.
fn public(library: &CryptoMb, bits: usize, keys: &[PrivateKey], engines: &[Dispatch]) -> Result<Task> {
    let components: Vec<_> = keys.iter().map(PrivateKey::components).collect();
    let mut theirs = library.public(bits, array(&components, |key| key.n.as_slice())?)?;
    let (numbers, mut results) = (numbers(bits, BATCH)?, vec![vec![0; bits / 8]; BATCH]);
    let mut batch = {
        let numbers = numbers.clone();
        move |results: &mut [Vec<u8>]| eights(&numbers, results, |from, to| Ok(theirs.compute(from, to)?))
    };
    batch(&mut results)?;
    let expected = results.clone();
    let theirs = Box::new(move || batch(&mut results));
    Task::new(format!("public{bits}"), bits, &expected, theirs, engines, |engine| {
        let keys = keys.iter().map(|key| key.public_key().with_engine(engine));
        let keys: Vec<PublicKey> = keys.collect::<Result<_, _>>()?;
        let numbers = numbers.clone();
        Ok(move || {
            let job = |(key, number)| PublicJob { key, number };
            let jobs: Vec<PublicJob> =
                keys.iter().cycle().zip(numbers.iter().map(Vec::as_slice)).map(job).collect();
            Ok(public_many_vartime(&jobs).into_iter().collect::<Result<Vec<_>, _>>()?)
        })
    })
}

/// Powers, whose exponents are secret in both libraries.
fn power(library: &CryptoMb, bits: usize, engines: &[Dispatch]) -> Result<Task> {
    let mut moduli = numbers(bits, LANES)?;
    for modulus in &mut moduli {
        modulus[0] |= 0x80;
        modulus[bits / 8 - 1] |= 1;
    }
    let (bases, mut exponents) = (numbers(bits, BATCH)?, numbers(bits, BATCH)?);
    exponents.iter_mut().for_each(|exponent| exponent[0] |= 0x80);
    let job = |i: usize| PowerJob { base: &bases[i], exponent: &exponents[i], modulus: &moduli[i % LANES] };
    let mut theirs = library.powers(&(0..BATCH).map(job).collect::<Vec<_>>())?;
    theirs.compute()?;
    let expected = theirs.values();
    let theirs = Box::new(move || Ok(theirs.compute()?));
    Task::new(format!("pow{bits}"), bits, &expected, theirs, engines, |engine| {
        let modulus =
            |number: &Vec<u8>| -> Result<Modulus> { Ok(Modulus::new(number)?.with_engine(engine)?) };
        let moduli = moduli.iter().map(modulus).collect::<Result<Vec<_>>>()?;
        let (bases, exponents) = (bases.clone(), exponents.clone());
        Ok(move || {
            let job =
                |i: usize| PowJob { base: &bases[i], exponent: &exponents[i], modulus: &moduli[i % LANES] };
            Ok(pow_many(&(0..BATCH).map(job).collect::<Vec<_>>()))
        })
    })
}

/// Numbers below every modulus of as many bits.
fn numbers(bits: usize, count: usize) -> Result<Vec<Vec<u8>>> {
    let number = |_| {
        let mut number = random(bits / 8)?;
        number[0] &= 0x7f;
        Ok(number)
    };
    (0..count).map(number).collect()
}

/// What each lane has of its key.
fn array<'a, Item, T>(items: &'a [Item], of: impl Fn(&'a Item) -> T) -> Result<[T; LANES]> {
    let all: Vec<T> = items.iter().map(of).collect();
    all.try_into().ok().with_context(|| format!("there are not {LANES} keys"))
}

/// Calls `compute` for eight numbers and their results at a time.
fn eights(
    numbers: &[Vec<u8>],
    results: &mut [Vec<u8>],
    mut compute: impl FnMut(&[&[u8]; LANES], &mut [Vec<u8>]) -> Result<()>,
) -> Result<()> {
    for (numbers, results) in numbers.chunks(LANES).zip(results.chunks_mut(LANES)) {
        compute(&std::array::from_fn(|lane| numbers[lane].as_slice()), results)?;
    }
    Ok(())
}
