//! What is timed: multiplications and decryptions by the carry chains, on one thread and on all, and beside
//! them what this library and OpenSSL do otherwise.

use std::hint::black_box;
use std::panic::resume_unwind;
use std::thread;

use zariz::rsa::{self, Padding};
use zariz::{Engine, Modulus, Residues};
use zariz_cli::exit::Failure;
use zariz_cli::measure::benchmark::noise;

use crate::timing::Contestant;
use crate::{Bench, peers};

/// The paper's way of computing.
pub const ENGINE: Engine = Engine::CarryChains;

/// Its name in results.
pub fn engine() -> &'static str {
    if ENGINE.uses_vectors() { "carry-chains, AVX-512F" } else { "carry-chains, no vectors" }
}

/// The number of threads of "all threads": those that this system runs at once.
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does some work on this many threads at a time, each of them `times` times. A contestant's call is one of
/// these.
fn on_threads(threads: usize, work: &(dyn Fn() -> Result<(), Failure> + Sync)) -> Result<(), Failure> {
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| thread::Builder::new().spawn_scoped(scope, work)).collect();
        let mut result = work();
        for other in others {
            let other =
                other.map_err(|error| Failure::io(format!("cannot start {threads} threads"), &error))?;
            result = result.and(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        result
    })
}

/// Multiplications in a call: enough that entering the domain and starting threads take a small part of its
/// time.
fn multiplications(bits: usize) -> usize {
    let many = if ENGINE.uses_vectors() { 1 << 24 } else { 1 << 20 };
    (many / (bits * bits / 64)).max(16)
}

/// The error if the engine's result is wrong.
fn wrong() -> Failure {
    Failure::Input(format!("engine {ENGINE} computes wrong numbers: do not use it here"))
}

/// Multiplications modulo a number of `bits` bits on `threads` threads. The time of one
/// multiplication of a thread is reported. Results are checked.
pub fn multiply<'a>(bits: usize, threads: usize) -> Result<Contestant<'a>, Failure> {
    let [mut modulus, mut x, mut y] = [1, 2, 3].map(|seed| noise(seed, bits / 8));
    modulus[0] |= 0x80;
    modulus[bits / 8 - 1] |= 1;
    x[0] &= 0x7f;
    y[0] &= 0x7f;
    let modulus = Modulus::new(&modulus)?;
    let (other, modulus) = (modulus.with_engine(Engine::Portable)?, modulus.with_engine(ENGINE)?);
    // x·y^times, in the domain throughout.
    let factor = y.clone();
    let product = move |x: &[u8], times: usize| -> Result<Vec<u8>, Failure> {
        let [mut x, factor] = [Residues::new(&[&modulus], &[x])?, Residues::new(&[&modulus], &[&factor])?];
        (0..times).try_for_each(|_| x.multiply(&factor))?;
        Ok(x.to_bytes().swap_remove(0))
    };
    let times = multiplications(bits);
    if product(&y, 3)? != other.pow_vartime(&y, &[4]) {
        return Err(wrong());
    }
    let work = move || {
        black_box(product(&x, times)?);
        Ok(())
    };
    Ok(Contestant { call: Box::new(move || on_threads(threads, &work)), calls: 1.0 / times as f64 })
}

/// Decryptions with the benchmark key of `bits` bits on `threads` threads; what is reported is one of a
/// thread. Every result is checked.
pub fn decrypt<'a>(bits: usize, threads: usize, bench: &Bench) -> Result<Contestant<'a>, Failure> {
    let failed = |error: rsa::Error| Failure::Input(error.to_string());
    let key = (bench.key)(bits, ENGINE.into())?;
    let message = noise(4, 48);
    let ciphertext = key.public_key().encrypt(&Padding::Pkcs1v15, &message).map_err(failed)?;
    let times = if ENGINE.uses_vectors() { (4096 / bits).pow(2) } else { 1 };
    let work = move || {
        for _ in 0..times {
            // Wrong padding gives another message, not an error.
            if *key.decrypt(&Padding::Pkcs1v15, &ciphertext).map_err(failed)? != message {
                return Err(wrong());
            }
        }
        Ok(())
    };
    Ok(Contestant { call: Box::new(move || on_threads(threads, &work)), calls: 1.0 / times as f64 })
}

/// OpenSSL's two powers of a decryption with a key of `bits` bits: its constant-time power modulo two numbers
/// of half the length. Its results are checked. The error says why there is none.
pub fn openssl(bits: usize, bench: &Bench) -> Result<Result<Contestant<'static>, String>, Failure> {
    let openssl = match &bench.peers.openssl {
        Ok(openssl) => openssl,
        Err(missing) => return Ok(Err(missing.to_string())),
    };
    let failed = |error: zariz_peers::Error| Failure::Input(format!("{}: {error}", openssl.version()));
    let mut powers = Vec::new();
    for seed in [10, 20] {
        let [mut modulus, mut base, mut exponent] = [1, 2, 3].map(|kind| noise(seed + kind, bits / 16));
        modulus[0] |= 0x80;
        modulus[bits / 16 - 1] |= 1;
        base[0] &= 0x7f;
        exponent[0] |= 0x80;
        let mut power = openssl.power(&base, &exponent, &modulus).map_err(failed)?;
        power.compute().map_err(failed)?;
        let ours = Modulus::new(&modulus)?.with_engine(Engine::Portable)?;
        peers::agree(
            &power.value().map_err(failed)?,
            &ours.pow_vartime(&base, &exponent),
            openssl.version(),
        )?;
        powers.push(power);
    }
    let name = openssl.version().to_owned();
    let call = move || {
        powers
            .iter_mut()
            .try_for_each(|power| power.compute().map_err(|error| Failure::Input(format!("{name}: {error}"))))
    };
    Ok(Ok(Contestant { call: Box::new(call), calls: 1.0 }))
}
