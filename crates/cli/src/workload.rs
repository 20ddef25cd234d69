//! What `speed` and `demo` time: batches of signatures, verifications or powers, checked once before they are timed.

use std::hint::black_box;

use zariz::rsa::{Algorithm, PrivateKey};
use zariz::{Dispatch, Engine, Method, Modulus};

use crate::exit::Failure;
use crate::measure::Operation;

/// Keys for measuring only, which everybody knows; see `keys/README.md`.
const KEYS: [(usize, &str); 5] = [
    (1024, include_str!("../keys/bench-1024.pem")),
    (2048, include_str!("../keys/bench-2048.pem")),
    (3072, include_str!("../keys/bench-3072.pem")),
    (4096, include_str!("../keys/bench-4096.pem")),
    (8192, include_str!("../keys/bench-8192.pem")),
];

/// The benchmark key of `bits` bits.
fn benchmark_key(bits: usize, engine: Dispatch) -> Result<PrivateKey, Failure> {
    let key = KEYS.iter().find(|(size, _)| *size == bits);
    let (_, pem) = key.ok_or_else(|| Failure::Usage(format!("there is no benchmark key of {bits} bits")))?;
    PrivateKey::parse_with(pem.as_bytes(), engine)
        .map_err(|error| Failure::Input(format!("the benchmark key of {bits} bits: {error}")))
}

/// A batch of RS256 signatures to make and to verify.
pub struct Rsa {
    key: PrivateKey,
    messages: Vec<Vec<u8>>,
    signatures: Vec<Vec<u8>>,
}

impl Rsa {
    const ALGORITHM: Algorithm = Algorithm::RS256;

    /// A batch for the benchmark key of that size.
    pub fn benchmark(bits: usize, batch: usize, engine: Dispatch) -> Result<Self, Failure> {
        Self::new(benchmark_key(bits, engine)?, batch)
    }

    /// The same by a method of multiplication.
    pub fn benchmark_with(bits: usize, batch: usize, engine: Engine, method: Method) -> Result<Self, Failure> {
        Self::new(benchmark_key(bits, engine.into())?.with_method(method), batch)
    }

    /// A batch for a key. Every signature is verified.
    pub fn new(key: PrivateKey, batch: usize) -> Result<Self, Failure> {
        let messages: Vec<Vec<u8>> = (0..batch).map(|i| format!("message {i}").into_bytes()).collect();
        let mut load = Self { key, messages, signatures: Vec::new() };
        let results = load.key.sign_batch(Self::ALGORITHM, &load.messages());
        load.signatures = results.into_iter().collect::<Result<_, _>>().map_err(|e| Failure::Input(e.to_string()))?;
        let verified = load.key.public_key().verify_batch(Self::ALGORITHM, &load.pairs());
        verified.into_iter().collect::<Result<Vec<()>, _>>().map_err(|e| Failure::Input(e.to_string()))?;
        Ok(load)
    }

    fn messages(&self) -> Vec<&[u8]> {
        self.messages.iter().map(Vec::as_slice).collect()
    }

    fn pairs(&self) -> Vec<(&[u8], &[u8])> {
        self.messages.iter().zip(&self.signatures).map(|(m, s)| (m.as_slice(), s.as_slice())).collect()
    }

    /// Signing the batch.
    pub fn sign(&self) -> Operation<'_> {
        let messages = self.messages();
        let call = move || drop(black_box(self.key.sign_batch(Self::ALGORITHM, &messages)));
        Operation { name: format!("rsa{}-sign", self.key.bits()), call: Box::new(call) }
    }

    /// Verifying the batch.
    pub fn verify(&self) -> Operation<'_> {
        let pairs = self.pairs();
        let call = move || drop(black_box(self.key.public_key().verify_batch(Self::ALGORITHM, &pairs)));
        Operation { name: format!("rsa{}-verify", self.key.bits()), call: Box::new(call) }
    }
}

/// A batch of powers with one modulus and one secret exponent, all three numbers of the same length.
pub struct Modexp {
    modulus: Modulus,
    bases: Vec<Vec<u8>>,
    exponent: Vec<u8>,
}

impl Modexp {
    /// A batch modulo the benchmark key's modulus of that size. The first result is checked with the portable engine.
    pub fn new(bits: usize, batch: usize, engine: Dispatch) -> Result<Self, Failure> {
        let n = benchmark_key(bits, engine)?.public_key().n();
        let modulus = |engine| Modulus::with_engine(&n, engine).map_err(|error| Failure::Input(error.to_string()));
        let bases = (0..batch as u64).map(|i| noise(i + 1, n.len())).collect();
        let mut exponent = noise(0, n.len());
        exponent[0] |= 0x80;
        let load = Self { modulus: modulus(engine)?, bases, exponent };
        let first = load.bases.first().map_or(&[][..], Vec::as_slice);
        let expected = modulus(Engine::Portable.into())?.pow_vartime(first, &load.exponent);
        if load.modulus.pow_batch(&load.bases(), &load.exponent).first() != Some(&expected) {
            return Err(Failure::Input(format!("engine {engine} computes a wrong power: do not use it here")));
        }
        Ok(load)
    }

    fn bases(&self) -> Vec<&[u8]> {
        self.bases.iter().map(Vec::as_slice).collect()
    }

    /// Raising the batch to the power.
    pub fn pow(&self) -> Operation<'_> {
        let bases = self.bases();
        let call = move || drop(black_box(self.modulus.pow_batch(&bases, &self.exponent)));
        Operation { name: format!("modexp{}", self.modulus.bits()), call: Box::new(call) }
    }
}

/// Bytes without a pattern, the same in every run (SplitMix64).
pub fn noise(seed: u64, length: usize) -> Vec<u8> {
    let word = |i: u64| {
        let mut x = (seed << 32 | i).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)).to_be_bytes()
    };
    (0..).flat_map(word).take(length).collect()
}
