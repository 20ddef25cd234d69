//! The keys that `speed` and `papers` measure with, and batches of powers, checked once before they are
//! timed.

use std::hint::black_box;

use zariz::rsa::PrivateKey;
use zariz::{Dispatch, Engine, Modulus};
use zariz_papers::workload::{Benchmark, noise};

use crate::exit::Failure;

/// Published keys, for measuring only; see `keys/README.md`.
const KEYS: [(usize, &str); 5] = [
    (1024, include_str!("../keys/bench-1024.pem")),
    (2048, include_str!("../keys/bench-2048.pem")),
    (3072, include_str!("../keys/bench-3072.pem")),
    (4096, include_str!("../keys/bench-4096.pem")),
    (8192, include_str!("../keys/bench-8192.pem")),
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
            return Err(Failure::Input(format!("engine {engine} computes a wrong power: do not use it here")));
        }
        Ok(load)
    }

    fn bases(&self) -> Vec<&[u8]> {
        self.bases.iter().map(Vec::as_slice).collect()
    }

    /// Raising the batch to the power.
    pub fn pow(&self) -> Benchmark<'_> {
        let bases = self.bases();
        let call = move || drop(black_box(self.modulus.pow_batch(&bases, &self.exponent)));
        Benchmark { name: format!("modexp{}", self.modulus.bits()), call: Box::new(call) }
    }
}
