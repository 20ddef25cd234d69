//! New keys: what FIPS 186-5 asks of their numbers, every length and method, and wrong inputs.
#![cfg(feature = "keygen")]

mod common;

use std::convert::Infallible;

use common::numbers::{big, is_prime, two_to};
use common::openssl::OpenSsl;
use common::{engines, slow};
use num_bigint::BigUint;
use rand_core::{TryCryptoRng, TryRng};
use zariz::primes::{PrimeError, Search};
use zariz::rsa::{Algorithm, KeyError, KeyGenerator, KeyMethod, PrivateKey};
use zariz_needs::needs;

const METHODS: [KeyMethod; 2] = [KeyMethod::Fips, KeyMethod::Incremental];
const LENGTHS: [usize; 6] = [1024, 1025, 1026, 1279, 1280, 2048];

fn exponents() -> [BigUint; 4] {
    // A prime, a product of many small primes, which half of all p − 1 have a factor in common with, and the
    // longest.
    let composite = [3u32, 5, 7, 11, 13, 17, 19, 23].iter().fold(big(1), |acc, &p| acc * p);
    [big(65_539), composite, two_to(256) - big(1), two_to(64) + big(13)]
}

fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// Every condition of FIPS 186-5, A.1.1 and A.1.3.
fn check(key: &PrivateKey, bits: usize, e: &BigUint) {
    let numbers = key.components();
    let [n, e_found, d, p, q] = [&numbers.n, &numbers.e, &*numbers.d, &*numbers.p, &*numbers.q]
        .map(|bytes| BigUint::from_bytes_be(bytes));
    assert_eq!((key.bits(), n.bits(), &e_found, &n), (bits, bits as u64, e, &(&p * &q)));
    for (prime, length) in [(&p, bits.div_ceil(2)), (&q, bits / 2)] {
        assert_eq!(prime.bits(), length as u64);
        // p ≥ √2·2^(k−1)
        assert!(prime.pow(2) >= two_to(2 * length - 1) && is_prime(prime));
        assert_eq!(gcd(prime - big(1), e.clone()), big(1));
    }
    let distance = if p > q { &p - &q } else { &q - &p };
    assert!(distance.pow(2) > two_to(bits - 200));
    let orders = [&p - big(1), &q - big(1)];
    let lambda = &orders[0] * &orders[1] / gcd(orders[0].clone(), orders[1].clone());
    assert!(&d * e % &lambda == big(1) && d < lambda && d.pow(2) > two_to(bits));
    let signature = key.sign(Algorithm::PS256, b"message").expect("a signature");
    key.public_key().verify(Algorithm::PS256, b"message", &signature).expect("it verifies");
}

/// SplitMix64: for tests alone.
struct Seeded(u64);

impl TryRng for Seeded {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok(x ^ (x >> 31))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.iter_mut().try_for_each(|byte| self.try_next_u64().map(|x| *byte = x as u8))
    }
}

impl TryCryptoRng for Seeded {}

#[test]
fn keys_and_primes_come_from_the_callers_generator() {
    for (bits, method) in [(1024, KeyMethod::Fips), (1025, KeyMethod::Incremental)] {
        let generator = KeyGenerator::new(bits).expect("a length").with_method(method);
        let key = |seed| generator.generate_with(Seeded(seed)).expect("a key");
        let keys = [key(1), key(1), key(2)].map(|key| key.public_key().clone());
        assert!(keys[0] == keys[1] && keys[0] != keys[2], "{bits} bits");
    }
    let prime = |seed| Search::new(512).expect("a length").generate_with(Seeded(seed)).expect("a prime");
    assert!(prime(1) == prime(1) && prime(1) != prime(2));
}

#[test]
fn keys_of_many_lengths_are_as_fips_wants_them() {
    let e = big(65_537);
    for method in METHODS {
        for bits in LENGTHS {
            let generator = KeyGenerator::new(bits).expect("a length").with_method(method);
            check(&generator.generate().expect("a key"), bits, &e);
        }
        let keys =
            KeyGenerator::new(1024).expect("a length").with_method(method).generate_many(9).expect("keys");
        assert_eq!(keys.len(), 9);
        keys.iter().for_each(|key| check(key, 1024, &e));
        let mut primes: Vec<_> =
            keys.iter().flat_map(|key| [key.components().p.to_vec(), key.components().q.to_vec()]).collect();
        primes.sort();
        primes.dedup();
        assert_eq!(primes.len(), 18, "every prime is used once");
    }
    check(&PrivateKey::generate(1024).expect("a key"), 1024, &e);
    assert_eq!(PrivateKey::generate_many(1025, 2).expect("keys").len(), 2);
    assert_eq!(PrivateKey::generate_many(1024, 0).expect("none").len(), 0);
    let mut keys = KeyGenerator::new(1024).expect("a length").keys();
    (0..6).for_each(|_| check(&keys.next().expect("no end").expect("a key"), 1024, &e));
}

#[test]
fn exponents_may_be_others() {
    for e in exponents() {
        for method in METHODS {
            let generator = KeyGenerator::new(1024).expect("a length").with_method(method);
            let generator = generator.with_exponent(&e.to_bytes_be()).expect("an exponent");
            check(&generator.generate().expect("a key"), 1024, &e);
        }
    }
}

#[test]
fn every_engine_makes_keys() {
    for engine in engines().into_iter().filter(|&engine| !slow(engine)) {
        let generator = KeyGenerator::new(1024).expect("a length").with_engine(engine).expect("available");
        let key = generator.generate().expect("a key");
        assert_eq!(key.engine(), engine);
        check(&key, 1024, &big(65_537));
    }
}

#[needs("openssl")]
#[test]
fn openssl_finds_nothing_wrong() {
    let openssl = OpenSsl::new();
    let check = |generator: KeyGenerator| {
        let pem = generator.generate().expect("a key").to_pem().expect("PEM");
        let said = openssl.run("pkey -check -noout", pem.as_bytes());
        assert!(String::from_utf8_lossy(&said).contains("Key is valid"), "{generator:?}");
    };
    for method in METHODS {
        let of = |bits| KeyGenerator::new(bits).expect("a length").with_method(method);
        LENGTHS.into_iter().for_each(|bits| check(of(bits)));
        for e in exponents() {
            check(of(1024).with_exponent(&e.to_bytes_be()).expect("an exponent"));
        }
        for engine in engines().into_iter().filter(|&engine| !slow(engine)) {
            check(of(1024).with_engine(engine).expect("available"));
        }
    }
}

#[test]
fn a_search_can_be_cancelled() {
    let generator = KeyGenerator::new(2048).expect("a length");
    for allowed in [0, 2] {
        // A key may be found before so many questions: then nothing was refused.
        let (mut asked, mut refused) = (0, false);
        let result = generator.generate_while(|| {
            assert!(!refused, "asked again after a refusal");
            refused = asked == allowed;
            asked += 1;
            !refused
        });
        assert_eq!(result.err(), refused.then_some(KeyError::Primes(PrimeError::Cancelled)));
        assert!(refused || allowed > 0, "the first question comes before any work");
    }
    check(&generator.generate_while(|| true).expect("a key"), 2048, &big(65_537));
}

#[test]
fn length_and_method_are_shown() {
    for method in METHODS {
        let generator = KeyGenerator::new(1040).expect("a length").with_method(method);
        let shown = format!("{:?}", generator.keys());
        assert!(shown.contains("1040") && shown.contains(&format!("{method:?}")), "{shown}");
    }
}

#[test]
fn wrong_inputs_are_errors() {
    for bits in [0, 1023, 16_385, usize::MAX] {
        assert_eq!(KeyGenerator::new(bits).err(), Some(KeyError::Size { bits }));
        assert_eq!(PrivateKey::generate_many(bits, 3).err(), Some(KeyError::Size { bits }));
    }
    let generator = KeyGenerator::new(1024).expect("a length");
    for e in [&[][..], &[0], &[3], &[0xff, 0xff], &[1, 0, 0], &[0, 0, 0, 17], &[0xff; 33]] {
        assert!(matches!(generator.with_exponent(e), Err(KeyError::Exponent(_))), "{e:?}");
    }
    assert!(generator.with_exponent(&[0, 0, 1, 0, 1]).is_ok());
}
