//! RSA keys as bare numbers: made, spoiled, encoded, and used by the book.

use num_bigint::BigUint;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;
use zariz::Dispatch;
use zariz::rsa::{Algorithm, KeyError, PrivateKey, PublicKey};

use super::der::{integer, pkcs8, sequence, spki};
use super::numbers::{big, fixed, prime};
use super::{Random, engines, slow};

/// The numbers of a private key, right or wrong.
#[derive(Clone, Debug)]
pub struct Numbers {
    pub n: BigUint,
    pub e: BigUint,
    pub d: BigUint,
    pub p: BigUint,
    pub q: BigUint,
    pub dp: BigUint,
    pub dq: BigUint,
    pub qinv: BigUint,
}

impl Numbers {
    /// The key of two primes (or of two numbers, taken for primes) and `e`, if there is one.
    pub fn from_primes(p: &BigUint, q: &BigUint, e: &BigUint) -> Option<Self> {
        let (order_p, order_q) = (p - big(1), q - big(1));
        let d = e.modinv(&(&order_p * &order_q))?;
        Some(Self {
            n: p * q,
            e: e.clone(),
            dp: &d % &order_p,
            dq: &d % &order_q,
            d,
            qinv: q.modinv(p)?,
            p: p.clone(),
            q: q.clone(),
        })
    }

    /// A key of random primes of the given lengths: the same for the same seed.
    pub fn generate(seed: u64, p_bits: usize, q_bits: usize, e: &BigUint) -> Self {
        let mut random = Random::new(seed);
        let mut coprime = |bits| loop {
            let p = prime(&mut random, bits);
            if e.modinv(&(&p - big(1))).is_some() {
                return p;
            }
        };
        let (p, q) = (coprime(p_bits), coprime(q_bits));
        Self::from_primes(&p, &q, e).expect("e has inverses")
    }

    /// A key of `bits` bits with primes of equal length and `e = 65537`.
    pub fn of_bits(bits: usize) -> Self {
        Self::generate(bits as u64, bits.div_ceil(2), bits / 2, &big(65_537))
    }

    pub fn pkcs1_der(&self) -> Vec<u8> {
        let numbers = [&self.n, &self.e, &self.d, &self.p, &self.q, &self.dp, &self.dq, &self.qinv];
        let parts: Vec<_> = std::iter::once(&BigUint::ZERO).chain(numbers).flat_map(integer).collect();
        sequence(&[&parts])
    }

    pub fn pkcs8_der(&self) -> Vec<u8> {
        pkcs8(&self.pkcs1_der(), false)
    }

    pub fn public_pkcs1_der(&self) -> Vec<u8> {
        sequence(&[&integer(&self.n), &integer(&self.e)])
    }

    pub fn spki_der(&self) -> Vec<u8> {
        spki(&self.public_pkcs1_der(), false)
    }

    pub fn load(&self, engine: impl Into<Dispatch>) -> Result<PrivateKey, KeyError> {
        let key = PrivateKey::parse(&self.pkcs1_der())?;
        Ok(key.with_engine(engine).expect("available"))
    }

    /// The length of a signature in bytes.
    pub fn size(&self) -> usize {
        self.n.bits().div_ceil(8) as usize
    }

    /// The RS256 signature of a message, by the book.
    pub fn rs256(&self, message: &[u8]) -> Vec<u8> {
        let encoded = BigUint::from_bytes_be(&emsa_sha256(message, self.size()));
        fixed(&encoded.modpow(&self.d, &self.n), self.size())
    }

    /// Whether a signature is the RS256 signature of a message, by the book and without the private numbers.
    pub fn verifies_rs256(&self, message: &[u8], signature: &[u8]) -> bool {
        let number = BigUint::from_bytes_be(signature);
        signature.len() == self.size()
            && number < self.n
            && fixed(&number.modpow(&self.e, &self.n), self.size()) == emsa_sha256(message, self.size())
    }

    /// The textbook private operation on an encoded message.
    pub fn raw_private(&self, encoded: &[u8]) -> Vec<u8> {
        fixed(&BigUint::from_bytes_be(encoded).modpow(&self.d, &self.n), self.size())
    }

    /// The textbook public operation on an encoded message.
    pub fn raw_public(&self, encoded: &[u8]) -> Vec<u8> {
        fixed(&BigUint::from_bytes_be(encoded).modpow(&self.e, &self.n), self.size())
    }
}

/// EMSA-PKCS1-v1_5 with SHA-256 (RFC 8017 section 9.2).
fn emsa_sha256(message: &[u8], size: usize) -> Vec<u8> {
    const INFO: [u8; 19] = [
        0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
        0x04, 0x20,
    ];
    let tail = [&[0], &INFO[..], &Sha256::digest(message)].concat();
    [vec![0, 1], vec![0xff; size - 2 - tail.len()], tail].concat()
}

/// The public halves of two keys are the same.
pub fn same_public(a: &PublicKey, b: &PublicKey) -> bool {
    a.n() == b.n() && a.e() == b.e()
}

pub const MESSAGES: [&[u8]; 3] = [b"", b"attack at dawn", &[0xa5; 1000]];

/// The key signs a batch as the book says.
pub fn assert_signs_right(what: &str, key: &PrivateKey, numbers: &Numbers) {
    assert_eq!(key.bits() as u64, numbers.n.bits(), "{what}");
    let signatures = key.sign_batch(Algorithm::RS256, &MESSAGES);
    for (message, signature) in MESSAGES.iter().zip(signatures) {
        let signature = signature.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(signature, numbers.rs256(message), "{what}");
        assert_eq!(key.public_key().verify(Algorithm::RS256, message, &signature), Ok(()), "{what}");
    }
}

pub static KEY_1024: LazyLock<Numbers> = LazyLock::new(|| Numbers::of_bits(1024));
pub static KEY_2048: LazyLock<Numbers> = LazyLock::new(|| Numbers::of_bits(2048));

/// Keys of the usual lengths.
pub static USUAL: LazyLock<[Numbers; 5]> =
    LazyLock::new(|| [1024, 1536, 2048, 3072, 4096].map(Numbers::of_bits));

/// The keys of the three shorter usual lengths on every engine; on a slow one the shortest alone.
pub fn loaded() -> Vec<(PrivateKey, &'static Numbers)> {
    let numbers = |engine| if slow(engine) { &USUAL[..1] } else { &USUAL[..3] };
    let pairs =
        engines().into_iter().flat_map(|engine| numbers(engine).iter().map(move |numbers| (engine, numbers)));
    pairs.map(|(engine, numbers)| (load(numbers, engine), numbers)).collect()
}

/// Loads what must load.
pub fn load(numbers: &Numbers, engine: impl Into<Dispatch>) -> PrivateKey {
    let engine = engine.into();
    numbers.load(engine).unwrap_or_else(|error| panic!("{engine}: {error}"))
}

/// What cannot be a ciphertext or signature of a key: with what is right among it.
pub fn with_bad_ones(numbers: &Numbers, good: &[Vec<u8>]) -> Vec<(Vec<u8>, Option<usize>)> {
    let (n, size) = (&numbers.n, numbers.size());
    let bad = [
        vec![],
        vec![0],
        vec![1; size - 1],
        vec![0; size + 1],
        [vec![0], good[0].clone()].concat(),
        [good[0].clone(), vec![0]].concat(),
        good[0][1..].to_vec(),
        fixed(n, size),
        fixed(&(n + big(1)), size),
        vec![0xff; size],
        vec![1; 100_000],
    ];
    let mut out = Vec::new();
    for (i, bad) in bad.into_iter().enumerate() {
        out.push((good[i % good.len()].clone(), Some(i % good.len())));
        out.push((bad, None));
    }
    out
}

/// Whether a signature by one of the named algorithms fits a key of `size` bytes: hash and salt of PS512 need
/// 130.
pub fn fits(algorithm: Algorithm, size: usize) -> bool {
    algorithm != Algorithm::PS512 || size >= 130
}
