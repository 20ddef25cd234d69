//! The benchmarks of the library: batches of signatures and verifications, checked once before they are
//! timed; and pseudo-random numbers.

use std::hint::black_box;

use zariz::rsa::{Algorithm, PrivateKey, Signed};

use crate::exit::Failure;

/// Something to time; each call computes a batch of operations.
pub struct Benchmark<'a> {
    /// Its name in results, such as `rsa2048-sign`.
    pub name: String,
    /// Does the batch.
    pub call: Box<dyn Fn() + Sync + 'a>,
}

/// A batch of RS256 signatures to make and to verify.
pub struct Rsa {
    key: PrivateKey,
    messages: Vec<Vec<u8>>,
    signatures: Vec<Vec<u8>>,
}

impl Rsa {
    const ALGORITHM: Algorithm = Algorithm::RS256;

    /// A batch for a key. Verifies every signature.
    pub fn new(key: PrivateKey, batch: usize) -> Result<Self, Failure> {
        let messages: Vec<Vec<u8>> = (0..batch).map(|i| format!("message {i}").into_bytes()).collect();
        let mut load = Self { key, messages, signatures: Vec::new() };
        let results = load.key.sign_batch(Self::ALGORITHM, &load.messages());
        load.signatures =
            results.into_iter().collect::<Result<_, _>>().map_err(|e| Failure::Input(e.to_string()))?;
        let verified = load.key.public_key().verify_batch(Self::ALGORITHM, &load.signed());
        verified.into_iter().collect::<Result<Vec<()>, _>>().map_err(|e| Failure::Input(e.to_string()))?;
        Ok(load)
    }

    /// The key.
    pub fn key(&self) -> &PrivateKey {
        &self.key
    }

    /// The messages.
    pub fn messages(&self) -> Vec<&[u8]> {
        self.messages.iter().map(Vec::as_slice).collect()
    }

    /// The messages with their signatures.
    pub fn signed(&self) -> Vec<Signed<'_>> {
        let pairs = self.messages.iter().zip(&self.signatures);
        pairs.map(|(message, signature)| Signed { message: message.into(), signature }).collect()
    }

    /// Signing the batch.
    pub fn sign(&self) -> Benchmark<'_> {
        let messages = self.messages();
        let call = move || drop(black_box(self.key.sign_batch(Self::ALGORITHM, &messages)));
        Benchmark { name: format!("rsa{}-sign", self.key.bits()), call: Box::new(call) }
    }

    /// Verifying the batch.
    pub fn verify(&self) -> Benchmark<'_> {
        let signed = self.signed();
        let call = move || drop(black_box(self.key.public_key().verify_batch(Self::ALGORITHM, &signed)));
        Benchmark { name: format!("rsa{}-verify", self.key.bits()), call: Box::new(call) }
    }
}

/// Pseudo-random bytes, equal in every run (SplitMix64).
pub fn noise(seed: u64, length: usize) -> Vec<u8> {
    let word = |i: u64| {
        let mut x = (seed << 32 | i).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)).to_be_bytes()
    };
    (0..).flat_map(word).take(length).collect()
}
