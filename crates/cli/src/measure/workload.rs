//! The workloads of `zariz speed` and `zariz-papers`: benchmark keys; batches of powers, checked once before
//! they are timed; and keys and primes made during the measurement.

use std::hint::black_box;
use std::sync::{Mutex, MutexGuard, PoisonError};

use zariz::primes::Search;
use zariz::rsa::{KeyGenerator, PrivateKey};
use zariz::{Dispatch, Engine, FixedBase, Modulus};

use super::benchmark::{Benchmark, noise};
use crate::exit::Failure;
use crate::makers;

/// Published keys, only for measuring; see `keys/README.md`.
const KEYS: [(usize, &str); 5] = [
    (1024, include_str!("../../keys/bench-1024.pem")),
    (2048, include_str!("../../keys/bench-2048.pem")),
    (3072, include_str!("../../keys/bench-3072.pem")),
    (4096, include_str!("../../keys/bench-4096.pem")),
    (8192, include_str!("../../keys/bench-8192.pem")),
];

/// The benchmark key of `bits` bits.
pub fn benchmark_key(bits: usize, engine: Dispatch) -> Result<PrivateKey, Failure> {
    let key = KEYS.iter().find(|(size, _)| *size == bits);
    let (_, pem) = key.ok_or_else(|| Failure::Usage(format!("there is no benchmark key of {bits} bits")))?;
    let key = PrivateKey::parse(pem.as_bytes())
        .map_err(|error| Failure::Input(format!("the benchmark key of {bits} bits: {error}")))?;
    Ok(key.with_engine(engine)?)
}

/// A batch of powers with one modulus and one secret exponent, all three numbers of the same length.
pub struct Modexp {
    modulus: Modulus,
    bases: Vec<Vec<u8>>,
    exponent: Vec<u8>,
}

impl Modexp {
    /// A batch modulo the benchmark key's modulus of that size. The first result is checked with the portable
    /// engine.
    pub fn new(bits: usize, batch: usize, engine: Dispatch) -> Result<Self, Failure> {
        let n = benchmark_key(bits, engine)?.public_key().n();
        let modulus = Modulus::new(&n)?;
        let bases = (0..batch as u64).map(|i| noise(i + 1, n.len())).collect();
        let mut exponent = noise(0, n.len());
        exponent[0] |= 0x80;
        let load = Self { modulus: modulus.with_engine(engine)?, bases, exponent };
        let first = load.bases.first().map_or(&[][..], Vec::as_slice);
        let expected = modulus.with_engine(Engine::Portable)?.pow_vartime(first, &load.exponent);
        if load.modulus.pow_batch(&load.bases(), &load.exponent).first() != Some(&expected) {
            return Err(Failure::Input(format!(
                "engine {engine} computes a wrong power: do not use it here"
            )));
        }
        Ok(load)
    }

    fn bases(&self) -> Vec<&[u8]> {
        self.bases.iter().map(Vec::as_slice).collect()
    }

    /// The benchmark that raises the batch to the power.
    pub fn pow(&self) -> Benchmark<'_> {
        let bases = self.bases();
        let call = move || drop(black_box(self.modulus.pow_batch(&bases, &self.exponent)));
        Benchmark { name: format!("modexp{}", self.modulus.bits()), call: Box::new(call) }
    }
}

/// A batch of powers of one base, modulo one modulus, with secret exponents; all numbers have the same
/// length.
pub struct FixedPowers {
    bits: usize,
    base: FixedBase,
    exponents: Vec<Vec<u8>>,
}

impl FixedPowers {
    /// A batch modulo the benchmark key's modulus of that size. The first result is checked with the portable
    /// engine.
    pub fn new(bits: usize, batch: usize, engine: Dispatch) -> Result<Self, Failure> {
        let n = benchmark_key(bits, engine)?.public_key().n();
        let modulus = Modulus::new(&n)?;
        let base = noise(0, n.len());
        let exponents = (0..batch as u64).map(|i| noise(i + 1, n.len())).collect();
        let prepared = FixedBase::new(&modulus.with_engine(engine)?, &base, bits);
        let prepared = prepared.map_err(|error| Failure::Input(error.to_string()))?;
        let load = Self { bits, base: prepared, exponents };
        let first = load.exponents.first().map_or(&[][..], Vec::as_slice);
        let expected = modulus.with_engine(Engine::Portable)?.pow_vartime(&base, first);
        let powers =
            load.base.pow_batch(&load.exponents()).map_err(|error| Failure::Input(error.to_string()))?;
        if powers.first() != Some(&expected) {
            return Err(Failure::Input(format!(
                "engine {engine} computes a wrong power: do not use it here"
            )));
        }
        Ok(load)
    }

    fn exponents(&self) -> Vec<&[u8]> {
        self.exponents.iter().map(Vec::as_slice).collect()
    }

    /// The benchmark that raises the base to the powers.
    pub fn pow(&self) -> Benchmark<'_> {
        let exponents = self.exponents();
        let call = move || drop(black_box(self.base.pow_batch(&exponents)));
        Benchmark { name: format!("fixedbase{}", self.bits), call: Box::new(call) }
    }
}

/// An endless iterator that makes things.
type Made = Box<dyn Iterator<Item = Result<(), Failure>> + Send>;

/// Keys or primes, made in batches during the measurement. Work begun at the end of a batch continues in the
/// next.
pub struct Making {
    name: String,
    batch: usize,
    begin: Box<dyn Fn() -> Made + Sync>,
    begun: Mutex<Vec<Made>>,
    failure: Mutex<Option<Failure>>,
}

impl Making {
    /// RSA keys of `bits` bits.
    pub fn keys(bits: usize, batch: usize, engine: Dispatch) -> Result<Self, Failure> {
        let failed = |error| Failure::Input(format!("cannot make a key: {error}"));
        let generator = KeyGenerator::new(bits).map_err(failed)?.with_engine(engine)?;
        let begin = move || -> Made {
            let generator = generator.clone();
            match makers::small_share(batch as u64, 1) {
                Some(batch) => of(makers::in_shares(move || generator.generate_many(batch)), failed),
                None => of(generator.keys(), failed),
            }
        };
        Ok(Self::new(format!("keygen{bits}"), batch, begin))
    }

    /// Primes of `bits` bits, or safe primes.
    pub fn primes(bits: usize, safe: bool, batch: usize, engine: Dispatch) -> Result<Self, Failure> {
        let failed = |error| Failure::Input(format!("cannot make a prime: {error}"));
        let search = Search::new(bits).and_then(|search| if safe { search.safe() } else { Ok(search) });
        let search = search.map_err(failed)?.with_engine(engine)?;
        let begin = move || -> Made {
            let search = search.clone();
            match makers::small_share(batch as u64, 1) {
                Some(batch) => of(makers::in_shares(move || search.generate_many(batch)), failed),
                None => of(search.primes(), failed),
            }
        };
        Ok(Self::new(format!("{}prime{bits}", if safe { "safe" } else { "" }), batch, begin))
    }

    fn new(name: String, batch: usize, begin: impl Fn() -> Made + Sync + 'static) -> Self {
        Self { name, batch, begin: Box::new(begin), begun: Mutex::default(), failure: Mutex::default() }
    }

    /// The benchmark that makes a batch.
    pub fn make(&self) -> Benchmark<'_> {
        let call = || {
            let begun = locked(&self.begun).pop();
            let mut made = begun.unwrap_or_else(&self.begin);
            match made.by_ref().take(self.batch).collect() {
                Ok(()) => locked(&self.begun).push(made),
                Err(failure) => *locked(&self.failure) = Some(failure),
            }
        };
        Benchmark { name: self.name.clone(), call: Box::new(call) }
    }

    /// The error, if one could not be made.
    pub fn failure(self) -> Result<(), Failure> {
        self.failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// Drops the results: only the time counts.
fn of<T, E>(
    made: impl Iterator<Item = Result<T, E>> + Send + 'static,
    failed: impl Fn(E) -> Failure + Send + 'static,
) -> Made {
    Box::new(made.map(move |made| made.map(drop).map_err(&failed)))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The contents are complete even if a thread panicked while it held the lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
