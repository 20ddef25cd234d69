//! Keys and numbers, and what operations with them should give.

use num_bigint::BigUint;
use zariz::rsa::{KeyGenerator, PrivateKey};
use zariz_crypto_mb::LANES;

/// The lengths of keys.
pub const SIZES: [usize; 4] = [1024, 2048, 3072, 4096];

/// A key's numbers.
#[derive(Clone)]
pub struct Key {
    pub bits: usize,
    pub n: BigUint,
    pub e: BigUint,
    pub d: BigUint,
    pub p: BigUint,
    pub q: BigUint,
    pub dp: BigUint,
    pub dq: BigUint,
    pub qinv: BigUint,
}

impl Key {
    /// As many keys as there are lanes.
    pub fn generate(bits: usize, e: u64) -> Vec<Self> {
        let generator =
            KeyGenerator::new(bits).expect("a length").with_exponent(&e.to_be_bytes()).expect("an exponent");
        let numbers = |key: &PrivateKey| {
            let key = key.components();
            let [d, p, q, dp, dq, qinv] =
                [&key.d, &key.p, &key.q, &key.dp, &key.dq, &key.qinv].map(|it| BigUint::from_bytes_be(it));
            let [n, e] = [&key.n, &key.e].map(|it| BigUint::from_bytes_be(it));
            Self { bits, n, e, d, p, q, dp, dq, qinv }
        };
        generator.generate_many(LANES).expect("keys").iter().map(numbers).collect()
    }

    pub fn private(&self, x: &BigUint) -> BigUint {
        x.modpow(&self.d, &self.n)
    }

    pub fn public(&self, x: &BigUint) -> BigUint {
        x.modpow(&self.e, &self.n)
    }

    /// A number below the modulus: the edges, and others.
    pub fn number(&self, i: usize) -> BigUint {
        match i {
            0 => BigUint::ZERO,
            1 => BigUint::from(1u8),
            2 => &self.n - 1u8,
            3 => self.p.clone(),
            _ => BigUint::from(0xdead_beef_u32 + i as u32).pow(self.bits as u32 / 32) % &self.n,
        }
    }
}

/// A number in words, the lowest first.
pub fn words(number: &BigUint, len: usize) -> Vec<u64> {
    let mut words = number.to_u64_digits();
    assert!(words.len() <= len);
    words.resize(len, 0);
    words
}

/// A number as big-endian bytes.
pub fn bytes(number: &BigUint, len: usize) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; len - bytes.len()], bytes].concat()
}
