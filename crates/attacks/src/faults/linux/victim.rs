//! The process that signs, and is damaged. It runs as `faults --victim ENGINE` under the tracer, which stops it, copies
//! it, and changes the copies.

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{Resource, setrlimit};
use std::hint::black_box;
use std::io::Read;
use std::sync::atomic::Ordering::Relaxed;
use zariz::Engine;
use zariz::rsa::{Algorithm, Error, PrivateKey, check_failures};

use super::raw::{EPOCH, call_and_jump};

/// The bits of the key.
const BITS: usize = 2048;
/// Memory that a damaged size may ask for.
const MEMORY: u64 = 1 << 32;

/// Waits for a byte on its input, and then signs until it is killed. The first report has the expected signatures.
pub fn run(engine: Engine) -> Result<()> {
    black_box(call_and_jump as extern "C" fn());
    setrlimit(Resource::RLIMIT_AS, MEMORY, MEMORY)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    std::io::stdin().read_exact(&mut [0]).context("no byte on standard input: this is for the tracer")?;
    let der = PrivateKey::generate(BITS)?.to_pkcs8_der()?;
    let messages: Vec<Vec<u8>> = (0..engine.lanes()).map(|i| vec![i as u8; 40]).collect();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let expected = PrivateKey::parse(&der)?.with_engine(Engine::Scalar)?.sign_batch(Algorithm::RS256, &messages);
    ensure!(expected.iter().all(Result::is_ok), "an undamaged process does not sign");
    EPOCH.store(1, Relaxed);
    let key = PrivateKey::parse(&der)?.with_engine(engine)?;
    EPOCH.store(0, Relaxed);
    tell(&expected);
    for operation in 2.. {
        EPOCH.store(operation, Relaxed);
        let results = key.sign_batch(Algorithm::RS256, &messages);
        EPOCH.store(0, Relaxed);
        tell(&results);
    }
    Ok(())
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
