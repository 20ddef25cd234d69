//! The process that signs, and is damaged. It runs as `faults --victim ENGINE KEYS BATCHES` under the tracer,
//! which stops it, copies it, and changes the copies.

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{Resource, setrlimit};
use std::fmt::{self, Display, Formatter};
use std::hint::black_box;
use std::io::Read;
use std::sync::atomic::Ordering::Relaxed;
use zariz::Engine;
use zariz::rsa::{Algorithm, Error, PrivateKey, SignJob, check_failures, sign_many};

use super::raw::{EPOCH, call_and_jump};

/// The bits of each key.
const BITS: usize = 2048;
/// Memory that a damaged size may ask for.
const MEMORY: u64 = 1 << 32;

/// What a victim does in each operation.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub engine: Engine,
    /// How many keys the requests have, in turn.
    pub keys: usize,
    /// How many batches one call has. All lanes of each are filled.
    pub batches: usize,
}

impl Work {
    /// Whether the requests of each key fill batches, or an equal part of one. Else operations take different ways:
    /// requests are sorted by the addresses of their keys, which differ between victims, and so do those that share a
    /// batch.
    pub fn is_even(self) -> bool {
        let (lanes, requests) = (self.engine.lanes(), self.engine.lanes() * self.batches);
        let of_a_key = requests / self.keys;
        requests.is_multiple_of(self.keys) && (of_a_key.is_multiple_of(lanes) || lanes.is_multiple_of(of_a_key))
    }

    /// As words of a command line.
    pub fn words(self) -> [String; 3] {
        [self.engine.to_string(), self.keys.to_string(), self.batches.to_string()]
    }

    /// From [`words`](Self::words).
    pub fn parse(words: &[String]) -> Option<Self> {
        let [engine, keys, batches] = words else { return None };
        Some(Self { engine: engine.parse().ok()?, keys: keys.parse().ok()?, batches: batches.parse().ok()? })
    }
}

impl Display for Work {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Self { engine, keys, batches } = self;
        write!(f, "{engine}, {keys} {}", if *keys == 1 { "key" } else { "keys" })?;
        write!(f, ", {batches} {} a call", if *batches == 1 { "batch" } else { "batches" })
    }
}

/// Waits for a byte on its input, and then signs until it is killed. The first report has the expected signatures.
pub fn run(work: Work) -> Result<()> {
    let Work { engine, keys, batches } = work;
    black_box(call_and_jump as extern "C" fn());
    setrlimit(Resource::RLIMIT_AS, MEMORY, MEMORY)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    std::io::stdin().read_exact(&mut [0]).context("no byte on standard input: this is for the tracer")?;
    let ders: Vec<_> =
        PrivateKey::generate_many(BITS, keys)?.iter().map(PrivateKey::to_pkcs8_der).collect::<Result<_, _>>()?;
    let messages: Vec<Vec<u8>> = (0..engine.lanes() * batches).map(|i| vec![i as u8; 40]).collect();
    let parsed = |engine| -> Result<Vec<PrivateKey>> {
        ders.iter().map(|der| Ok(PrivateKey::parse(der)?.with_engine(engine)?)).collect()
    };
    let scalar = parsed(Engine::Scalar)?;
    let expected = sign_many(&jobs(&scalar, &messages));
    ensure!(expected.iter().all(Result::is_ok), "an undamaged process does not sign");
    EPOCH.store(1, Relaxed);
    let keys = parsed(engine)?;
    EPOCH.store(0, Relaxed);
    let jobs = jobs(&keys, &messages);
    tell(&expected);
    for operation in 2.. {
        EPOCH.store(operation, Relaxed);
        let results = sign_many(&jobs);
        EPOCH.store(0, Relaxed);
        tell(&results);
    }
    Ok(())
}

/// One job for each message, with the keys in turn.
fn jobs<'a>(keys: &'a [PrivateKey], messages: &'a [Vec<u8>]) -> Vec<SignJob<'a>> {
    let keys = keys.iter().cycle();
    messages.iter().zip(keys).map(|(message, key)| SignJob { key, algorithm: Algorithm::RS256, message }).collect()
}

/// How a report tells of a request: 0 and the signature, or one of these.
fn code(error: Error) -> u8 {
    match error {
        Error::Fault => 1,
        Error::InvalidKey => 2,
        Error::Random => 3,
        _ => 4,
    }
}

/// A report: the counter of failed checks, and for each request a code and its signature.
fn tell(results: &[Result<Vec<u8>, Error>]) {
    let mut report = check_failures().to_le_bytes().to_vec();
    for result in results {
        // Looked at twice, as callers may: a fault may have made its tag neither of the two.
        report.push(result.as_ref().map_or_else(|error| code(*error), |_| 0));
        report.extend(result.as_deref().unwrap_or_default());
    }
    done(report.as_ptr(), report.len());
}

/// Where the tracer takes the report.
#[inline(never)]
pub extern "C" fn done(report: *const u8, len: usize) {
    black_box((report, len));
}
