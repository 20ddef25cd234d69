//! The process that computes, and is damaged. It runs as `faults --victim ENGINE KEYS BATCHES UNCHECKED`
//! under the tracer, which stops it, copies it, and changes the copies.

use anyhow::{Context, Result};
use nix::sys::resource::{Resource, setrlimit};
use num_bigint::BigUint;
use std::fmt::{self, Display, Formatter};
use std::hint::black_box;
use std::io::Read;
use std::sync::atomic::Ordering::Relaxed;
use zariz::rsa::hazmat::primitive::{PrivateJob, private_many};
use zariz::rsa::{Error, PrivateKey, check_failures};
use zariz::{Engine, Modulus, PowJob, pow_many};

use super::raw::{EPOCH, call_and_jump};

/// The bytes of each key.
const SIZE: usize = 256;
/// Memory that a damaged size may ask for.
const MEMORY: u64 = 1 << 32;
/// The most bytes that a report has of a result.
const LONGEST: usize = 1024;

/// What a victim does in each operation.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub engine: Engine,
    /// How many keys the requests have, in turn.
    pub keys: usize,
    /// How many batches one call has. All lanes of each are filled.
    pub batches: usize,
    /// Whether this program puts the halves together itself, without a mask and without a check.
    pub unchecked: bool,
}

impl Work {
    /// Whether the requests of each key fill batches, or an equal part of one. Else operations take different
    /// ways: requests are sorted by the addresses of their keys, which differ between victims, and so do
    /// those that share a batch.
    pub fn is_even(self) -> bool {
        let (lanes, requests) = (self.engine.lanes(), self.requests());
        let of_a_key = requests / self.keys;
        requests.is_multiple_of(self.keys)
            && (of_a_key.is_multiple_of(lanes) || lanes.is_multiple_of(of_a_key))
    }

    /// How many requests one call has.
    fn requests(self) -> usize {
        self.engine.lanes() * self.batches
    }

    /// The number of each request, below every modulus.
    pub fn numbers(self) -> impl Iterator<Item = Vec<u8>> {
        (1..=self.requests()).map(|i| [vec![0], vec![i as u8; SIZE - 1]].concat())
    }

    /// As words of a command line.
    pub fn words(self) -> [String; 4] {
        let Self { engine, keys, batches, unchecked } = self;
        [engine.to_string(), keys.to_string(), batches.to_string(), unchecked.to_string()]
    }

    /// From [`words`](Self::words).
    pub fn parse(words: &[String]) -> Option<Self> {
        let [engine, keys, batches, unchecked] = words else { return None };
        let (keys, batches) = (keys.parse().ok()?, batches.parse().ok()?);
        Some(Self { engine: engine.parse().ok()?, keys, batches, unchecked: unchecked.parse().ok()? })
    }
}

impl Display for Work {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Self { engine, keys, batches, unchecked } = self;
        write!(f, "{engine}, {keys} {}", if *keys == 1 { "key" } else { "keys" })?;
        write!(f, ", {batches} {} a call", if *batches == 1 { "batch" } else { "batches" })?;
        f.write_str(if *unchecked { ", without a check" } else { "" })
    }
}

/// A result, as the library gives it.
type Computed = std::result::Result<Vec<u8>, Error>;

/// Waits for a byte on its input, and then computes until it is killed. The first report has the modulus of
/// each request.
pub fn run(work: Work) -> Result<()> {
    black_box(call_and_jump as extern "C" fn());
    setrlimit(Resource::RLIMIT_AS, MEMORY, MEMORY)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    std::io::stdin().read_exact(&mut [0]).context("no byte on standard input: this is for the tracer")?;
    let ders: Vec<_> = PrivateKey::generate_many(8 * SIZE, work.keys)?
        .iter()
        .map(PrivateKey::to_der)
        .collect::<Result<_, _>>()?;
    let numbers: Vec<_> = work.numbers().collect();
    EPOCH.store(1, Relaxed);
    let keys = ders.iter().map(|der| Key::new(der, work)).collect::<Result<Vec<_>>>()?;
    EPOCH.store(0, Relaxed);
    let keys = || keys.iter().cycle().take(numbers.len());
    let jobs: Vec<_> =
        keys().zip(&numbers).map(|(key, number)| PrivateJob { key: &key.key, number }).collect();
    let halves: Vec<_> =
        keys().zip(&numbers).filter_map(|(key, x)| Some((key.halves.as_ref()?, &x[..]))).collect();
    tell(&keys().map(|key| Ok(key.key.components().n)).collect::<Vec<_>>());
    for number in 2.. {
        EPOCH.store(number, Relaxed);
        let results = operation(&jobs, &halves);
        EPOCH.store(0, Relaxed);
        tell(&results);
    }
    Ok(())
}

/// What is damaged, from its call to its return: the private operation, or if there are halves, what this
/// program makes of them.
#[inline(never)]
fn operation(jobs: &[PrivateJob], halves: &[(&Halves, &[u8])]) -> Vec<Computed> {
    if halves.is_empty() {
        private_many(jobs).into_iter().map(|result| Ok(std::mem::take(&mut *result?))).collect()
    } else {
        without_check(halves)
    }
}

struct Key {
    key: PrivateKey,
    halves: Option<Halves>,
}

/// The primes of a key with their exponents, and `q^{−1} mod p`.
struct Halves {
    powers: [(Modulus, Vec<u8>); 2],
    primes: [BigUint; 2],
    qinv: BigUint,
}

impl Key {
    fn new(der: &[u8], Work { engine, unchecked, .. }: Work) -> Result<Self> {
        let key = PrivateKey::parse(der)?.with_engine(engine)?;
        Ok(Self { halves: unchecked.then(|| Halves::new(&key, engine)).transpose()?, key })
    }
}

impl Halves {
    fn new(key: &PrivateKey, engine: Engine) -> Result<Self> {
        let numbers = key.components();
        let power = |prime: &[u8], exponent: &[u8]| -> Result<_> {
            Ok((Modulus::new(prime)?.with_engine(engine)?, exponent.to_vec()))
        };
        let powers = [power(&numbers.p, &numbers.dp)?, power(&numbers.q, &numbers.dq)?];
        let [p, q, qinv] =
            [&numbers.p, &numbers.q, &numbers.qinv].map(|number| BigUint::from_bytes_be(number));
        Ok(Self { powers, primes: [p, q], qinv })
    }
}

/// Private operations by the Chinese remainder theorem that nothing checks. Their faults reveal keys.
fn without_check(jobs: &[(&Halves, &[u8])]) -> Vec<Computed> {
    let powers = jobs.iter().flat_map(|&(halves, base)| {
        halves.powers.each_ref().map(|(modulus, exponent)| PowJob { modulus, base, exponent })
    });
    let powers = pow_many(&powers.collect::<Vec<_>>());
    let together = |((Halves { primes: [p, q], qinv, .. }, _), powers): (&(&Halves, _), &[Vec<u8>])| {
        let [y_p, y_q] = [0, 1].map(|half| BigUint::from_bytes_be(&powers[half]));
        let y = &y_q + q * ((y_p + p - &y_q % p) * qinv % p);
        Ok(y.to_bytes_be())
    };
    jobs.iter().zip(powers.chunks(2)).map(together).collect()
}

/// A report: the counter of failed checks, and for each request the length of its result and its bytes. An
/// error has no bytes.
fn tell(results: &[Computed]) {
    let mut report = check_failures().to_le_bytes().to_vec();
    for result in results {
        let bytes = result.as_deref().unwrap_or_default();
        let bytes = &bytes[..bytes.len().min(LONGEST)];
        report.extend((bytes.len() as u16).to_le_bytes());
        report.extend(bytes);
    }
    done(report.as_ptr(), report.len());
}

/// Where the tracer takes the report.
#[inline(never)]
pub extern "C" fn done(report: *const u8, len: usize) {
    black_box((report, len));
}
