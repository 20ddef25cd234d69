//! The numbers of a key: odd ones that are right and must work, and wrong ones, which are refused when the
//! key is loaded.
#![cfg(feature = "rsa")]

mod common;

use common::keys::{KEY_1024, MESSAGES, Numbers, assert_signs_right};
use common::numbers::{big, is_prime, prime, prime_in_steps, two_to};
use common::openssl::OpenSsl;
use common::{Random, engines};
use num_bigint::BigUint;
use zariz::Engine;
use zariz::rsa::{Algorithm, Error, KeyError, PrivateKey, PublicKey, SignJob, sign_many};
use zariz_needs::needs;

/// Whether an error is the one that should come.
type Expected = fn(&KeyError) -> bool;

fn assert_loads_and_signs(what: &str, numbers: &Numbers) {
    for engine in engines() {
        let what = format!("{what} on {engine}");
        let key = numbers.load(engine).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(key.validate(), Ok(()), "{what}");
        assert_signs_right(&what, &key, numbers);
    }
}

/// Loading fails with an error that the test accepts and that names what is wrong.
fn assert_refused(what: &str, numbers: &Numbers, expected: Expected, names: &str) {
    for der in [numbers.pkcs1_der(), numbers.pkcs8_der()] {
        let error = PrivateKey::parse(&der).err().unwrap_or_else(|| panic!("{what}: loaded"));
        assert!(expected(&error), "{what}: {error:?}");
        assert!(error.to_string().contains(names), "{what}: {error} does not name {names}");
    }
}

/// The key loads; validation names what is wrong with it, and no signature leaves it.
fn assert_invalid(what: &str, numbers: &Numbers, names: &str) {
    for engine in engines() {
        let key = numbers.load(engine).unwrap_or_else(|error| panic!("{what} on {engine}: {error}"));
        let error = key.validate().expect_err(what);
        assert!(inconsistent(&error) && error.to_string().contains(names), "{what} on {engine}: {error}");
        let good = KEY_1024.load(engine).expect("a good key");
        for _ in 0..2 {
            // Beside a good key in one batch, which the bad one does not touch.
            let sign = |key, message: &'static [u8]| SignJob::new(key, Algorithm::RS256, message);
            let jobs = [sign(&key, b"one"), sign(&good, b"message"), sign(&key, b"two")];
            let [one, right, two] = sign_many(&jobs).try_into().expect("three results");
            assert_eq!([one, two], [Err(Error::InvalidKey), Err(Error::InvalidKey)], "{what} on {engine}");
            assert_eq!(right, Ok(KEY_1024.rs256(b"message")), "{what} on {engine}");
        }
    }
}

fn inconsistent(error: &KeyError) -> bool {
    matches!(error, KeyError::Inconsistent(_))
}

#[test]
fn primes_of_unequal_length() {
    for (p_bits, q_bits) in [
        (400, 624),
        (624, 400),
        (128, 896),
        (896, 128),
        (513, 512),
        (512, 513),
        (515, 516),
        (700, 1000),
        (1000, 700),
    ] {
        let numbers = Numbers::generate((p_bits * 10_000 + q_bits) as u64, p_bits, q_bits, &big(65_537));
        assert_loads_and_signs(&format!("primes of {p_bits} and {q_bits} bits"), &numbers);
    }
}

#[test]
fn odd_lengths_of_the_modulus() {
    for bits in [1025, 1027, 1031, 1033, 1087, 1088, 1089] {
        let numbers = Numbers::of_bits(bits);
        assert_loads_and_signs(&format!("{bits} bits"), &numbers);
        // PSS encodes in one bit less than the modulus has: at 8k + 1 bits in one byte less.
        let key = numbers.load(Engine::best()).expect("a key");
        for algorithm in [Algorithm::PS256, Algorithm::PS384] {
            let signature = key.sign(algorithm, b"message").expect("a signature");
            assert_eq!(key.public_key().verify(algorithm, b"message", &signature), Ok(()), "{bits} bits");
        }
    }
}

#[test]
fn public_exponents_of_every_length() {
    for e in [3, 5, 17, 257, 65_537, (1 << 32) + 1, u64::MAX, u64::MAX - 58] {
        let numbers = Numbers::generate(e, 512, 512, &big(e));
        assert_loads_and_signs(&format!("e = {e}"), &numbers);
    }
    for bits in [65, 128, 129, 192, 255, 256] {
        let e = two_to(bits - 1) + big(0x1234_5677);
        let numbers = Numbers::generate(bits as u64, 512, 512, &e);
        assert_loads_and_signs(&format!("e of {bits} bits"), &numbers);
    }
    let e = two_to(256) + big(1);
    let numbers = Numbers::generate(257, 512, 512, &e);
    assert_refused("e of 257 bits", &numbers, |error| matches!(error, KeyError::Exponent(_)), "256");
}

#[test]
fn primes_in_either_order() {
    let Numbers { p, q, e, .. } = &*KEY_1024;
    for (p, q) in [(p, q), (q, p)] {
        let numbers = Numbers::from_primes(p, q, e).expect("a key");
        assert_loads_and_signs(if p < q { "p < q" } else { "p > q" }, &numbers);
    }
}

/// `d` may be any number below n that inverts e modulo p − 1 and q − 1.
#[test]
fn every_right_private_exponent() {
    let numbers = &*KEY_1024;
    let (order_p, order_q) = (&numbers.p - big(1), &numbers.q - big(1));
    let product = &order_p * &order_q;
    let gcd =
        (2..=10_000u64).rev().find(|&d| (&order_p % d, &order_q % d) == (big(0), big(0))).expect("both even");
    let step = product / big(gcd);
    let smallest = &numbers.d % &step;
    let mut d = smallest;
    let mut tried = 0;
    while d < numbers.n {
        if tried < 3 {
            assert_loads_and_signs("another d", &Numbers { d: d.clone(), ..numbers.clone() });
        }
        d += &step;
        tried += 1;
    }
    assert!(tried >= 2);
    assert_refused("d above n", &Numbers { d, ..numbers.clone() }, inconsistent, "d is not below n");
}

/// Numbers that are as short as a hostile key can make them: `qInv = 1`, and CRT exponents some limbs shorter
/// than their primes.
#[test]
fn short_crt_numbers() {
    let mut random = Random::new(21);
    let e = big(65_537);
    let p = prime(&mut random, 400);
    let q = loop {
        let q = prime_in_steps(&mut random, 624, &(&p * big(2)));
        if e.modinv(&(&q - big(1))).is_some() {
            break q;
        }
    };
    let numbers = Numbers::from_primes(&p, &q, &e).expect("a key");
    assert_eq!(numbers.qinv, big(1));
    assert_loads_and_signs("qInv = 1", &numbers);

    // p = (dP·e − 1)/k + 1 for a short dP and a long e.
    let mut random = Random::new(22);
    let (e, p) = 'found: loop {
        let e = BigUint::from_bytes_be(&random.bytes(31)) | big(1) | two_to(255);
        let dp = BigUint::from_bytes_be(&random.bytes(38)) | big(1) | two_to(290);
        let product = &dp * &e - big(1);
        for k in (2..200u64).step_by(2) {
            let p = &product / big(k) + big(1);
            if &product % big(k) == big(0) && p.bit(0) && is_prime(&p) {
                break 'found (e, p);
            }
        }
    };
    let q = loop {
        let q = prime(&mut random, 512);
        if e.modinv(&(&q - big(1))).is_some() {
            break q;
        }
    };
    for (p, q) in [(&p, &q), (&q, &p)] {
        let numbers = Numbers::from_primes(p, q, &e).expect("a key");
        assert!(
            numbers.dp.bits().min(numbers.dq.bits()) + 192 < p.bits().min(q.bits()),
            "a short CRT exponent"
        );
        assert_loads_and_signs("a short CRT exponent", &numbers);
    }
}

/// What a test does to one number of a key.
type Spoil = fn(&mut Numbers) -> &mut BigUint;

const FIELDS: [(&str, Spoil); 8] = [
    ("n", |key| &mut key.n),
    ("e", |key| &mut key.e),
    ("d", |key| &mut key.d),
    ("p", |key| &mut key.p),
    ("q", |key| &mut key.q),
    ("dP", |key| &mut key.dp),
    ("dQ", |key| &mut key.dq),
    ("qInv", |key| &mut key.qinv),
];

#[test]
fn every_number_wrong_in_every_way() {
    let right = &*KEY_1024;
    let huge = two_to(17_000) + big(1);
    for (name, field) in FIELDS {
        let value = field(&mut right.clone()).clone();
        let wrong = [
            ("one more", &value + big(1)),
            ("one less", &value - big(1)),
            ("two more", &value + big(2)),
            ("two less", &value - big(2)),
            ("zero", big(0)),
            ("one", big(1)),
            ("two", big(2)),
            ("three", big(3)),
            ("huge", huge.clone()),
            ("doubled", &value * big(2)),
            ("halved", &value / big(2)),
            ("n", right.n.clone()),
            ("plus n", &value + &right.n),
            ("plus p", &value + &right.p),
            ("plus p - 1", &value + &right.p - big(1)),
            ("plus q - 1", &value + &right.q - big(1)),
            ("a bit flipped low", flipped(&value, 3)),
            ("a bit flipped in the middle", flipped(&value, value.bits() / 2)),
            ("a bit flipped high", flipped(&value, value.bits() - 2)),
        ];
        for (how, wrong) in wrong {
            if wrong == value {
                continue;
            }
            let mut key = right.clone();
            *field(&mut key) = wrong;
            let what = format!("{name} {how}");
            assert_refused(
                &what,
                &key,
                |error| {
                    matches!(error, KeyError::Inconsistent(_) | KeyError::Size { .. } | KeyError::Exponent(_))
                },
                "",
            );
        }
        for (other_name, other) in FIELDS.into_iter().filter(|(other, _)| *other > name) {
            let mut key = right.clone();
            let other_value = std::mem::replace(other(&mut key), value.clone());
            *field(&mut key) = other_value;
            let what = format!("{name} and {other_name} swapped");
            assert_refused(
                &what,
                &key,
                |error| {
                    matches!(error, KeyError::Inconsistent(_) | KeyError::Size { .. } | KeyError::Exponent(_))
                },
                "",
            );
        }
    }
}

fn flipped(number: &BigUint, bit: u64) -> BigUint {
    let mut out = number.clone();
    out.set_bit(bit, !number.bit(bit));
    out
}

#[test]
fn errors_name_the_number_that_is_wrong() {
    let right = &*KEY_1024;
    let with = |change: &dyn Fn(&mut Numbers)| {
        let mut key = right.clone();
        change(&mut key);
        key
    };
    let two = big(2);
    assert_refused("n", &with(&|key| key.n += &two), inconsistent, "n is not p times q");
    assert_refused("p", &with(&|key| key.p += &two), inconsistent, "p");
    assert_refused("p even", &with(&|key| key.p += big(1)), inconsistent, "p is even");
    assert_refused("q even", &with(&|key| key.q += big(1)), inconsistent, "q is even");
    assert_refused("d", &with(&|key| key.d += &two), inconsistent, "d");
    assert_refused("dP", &with(&|key| key.dp += &two), inconsistent, "dP");
    assert_refused("dQ", &with(&|key| key.dq += &two), inconsistent, "dQ");
    assert_refused("qInv", &with(&|key| key.qinv += &two), inconsistent, "qInv");
    assert_refused("no dP", &with(&|key| key.dp = big(0)), inconsistent, "dP is missing");
    assert_refused("no dQ", &with(&|key| key.dq = big(0)), inconsistent, "dQ is missing");
    assert_refused("no qInv", &with(&|key| key.qinv = big(0)), inconsistent, "qInv is missing");
    assert_refused("no d", &with(&|key| key.d = big(0)), inconsistent, "d is missing");
    assert_refused("no p", &with(&|key| key.p = big(0)), inconsistent, "p is missing");
    assert_refused("no q", &with(&|key| key.q = big(0)), inconsistent, "q is missing");
    let is_exponent: Expected = |error| matches!(error, KeyError::Exponent(_));
    assert_refused("e = 0", &with(&|key| key.e = big(0)), is_exponent, "below 3");
    assert_refused("e = 1", &with(&|key| key.e = big(1)), is_exponent, "below 3");
    assert_refused("e = 2", &with(&|key| key.e = big(2)), is_exponent, "even");
    assert_refused("e = 65536", &with(&|key| key.e = big(65_536)), is_exponent, "even");
    assert_refused("another e", &with(&|key| key.e = big(65_539)), inconsistent, "inverse of e");
    // All numbers missing but those of the public half, as some programs write it.
    let bare = with(&|key| FIELDS[3..].iter().for_each(|(_, field)| *field(key) = big(0)));
    assert_refused("n, e, d alone", &bare, inconsistent, "missing");
}

#[test]
fn primes_swapped_with_what_does_not_belong_to_them() {
    let right = &*KEY_1024;
    let mut key = right.clone();
    std::mem::swap(&mut key.p, &mut key.q);
    assert_refused("p and q swapped", &key, inconsistent, "dP");
    std::mem::swap(&mut key.dp, &mut key.dq);
    assert_refused("p and q swapped, and their exponents", &key, inconsistent, "qInv");
    key.qinv = right.q.modinv(&right.p).expect("coprime");
    assert_refused("qInv of the other order", &key, inconsistent, "qInv");
    key.qinv = right.p.modinv(&right.q).expect("coprime");
    assert_loads_and_signs("all swapped", &key);
}

/// `n = p·q` and every relation holds as it would for primes, but one of the two is composite.
#[test]
fn composite_primes() {
    let mut random = Random::new(23);
    let e = big(65_537);
    let good = KEY_1024.p.clone();
    let pairs = [(256, 256), (128, 400), (64, 460), (20, 500)];
    let mut composites: Vec<BigUint> =
        pairs.map(|(a, b)| prime(&mut random, a) * prime(&mut random, b)).into();
    let root = prime(&mut random, 260);
    composites.push(&root * &root);
    composites.push(prime(&mut random, 511) * big(3));
    composites.push((0..4).map(|_| prime(&mut random, 130)).fold(big(1), |acc, p| acc * p));
    for composite in composites {
        for (p, q, name) in [(&composite, &good, "p is not prime"), (&good, &composite, "q is not prime")] {
            let Some(numbers) = Numbers::from_primes(p, q, &e) else { panic!("choose another seed") };
            assert_invalid(&format!("{} bits", composite.bits()), &numbers, name);
        }
    }
}

/// `p = r·(2r − 1)` of two primes, and a `d` that is right for these, too: powers are right without the
/// Chinese remainder theorem, and by it for about half of all numbers. Signatures are right until one was
/// not.
#[test]
fn a_composite_whose_powers_are_right() {
    let mut random = Random::new(24);
    let (one, e, q) = (big(1), big(65_537), KEY_1024.p.clone());
    let (p, d) = loop {
        let r = prime(&mut random, 256);
        let p = &r * (&r * big(2) - &one);
        // 2·(p − 1) is a multiple of r − 1 and 2r − 2.
        let order = (&p - &one) * (&q - &one);
        if is_prime(&(&r * big(2) - &one)) && (&order % (big(4) * (&r - &one)) == big(0)) {
            break (p, e.modinv(&order).expect("an inverse"));
        }
    };
    let (dp, dq, qinv) = (&d % (&p - &one), &d % (&q - &one), q.modinv(&p).expect("coprime"));
    let numbers = Numbers { n: &p * &q, e, d, p, q, dp, dq, qinv };
    for engine in engines() {
        let key = numbers.load(engine).expect("a key");
        let mut found = false;
        for i in 0u8..64 {
            let messages = [[i, 0], [i, 1], [i, 2]];
            let messages = messages.each_ref().map(|message| &message[..]);
            for (message, result) in messages.iter().zip(key.sign_batch(Algorithm::RS256, &messages)) {
                match result {
                    Ok(signature) => assert!(!found && signature == numbers.rs256(message), "{engine}"),
                    Err(error) => assert_eq!(error, Error::InvalidKey, "{engine}"),
                }
            }
            found = found || key.sign(Algorithm::RS256, b"message") == Err(Error::InvalidKey);
        }
        assert!(found, "{engine}");
    }
}

/// A Carmichael number `c = (6k+1)(12k+1)(18k+1)` with odd k: `a^((c−1)/2) = 1` for every `a` that shares no
/// factor with it, so Euler's criterion takes it for a prime, with every base.
#[test]
fn an_absolute_euler_pseudoprime() {
    let k = BigUint::from_bytes_be(&[
        0x8c, 0xa6, 0xa3, 0xa4, 0x50, 0x65, 0x13, 0x27, 0x0e, 0x26, 0x9e, 0x0d, 0x37, 0xf2, 0xa7, 0x4d, 0xe4,
        0x52, 0xe6, 0xf8, 0x83,
    ]);
    let factors = [6u64, 12, 18].map(|i| &k * big(i) + big(1));
    assert!(factors.iter().all(is_prime), "the three factors");
    let carmichael: BigUint = factors.iter().fold(big(1), |acc, factor| acc * factor);
    assert!(!is_prime(&carmichael));
    let e = big(65_537);
    for (p, q, name) in
        [(&carmichael, &KEY_1024.p, "p is not prime"), (&KEY_1024.p, &carmichael, "q is not prime")]
    {
        let numbers = Numbers::from_primes(p, q, &e).expect("e has inverses");
        for engine in engines() {
            // To numbers that share no factor with it, it is as good as a prime.
            let key = numbers.load(engine).expect("the numbers fit");
            assert_signs_right("a Carmichael number", &key, &numbers);
            let error = key.validate().expect_err("a Carmichael number");
            assert!(inconsistent(&error) && error.to_string().contains(name), "{engine}: {error}");
        }
    }
}

#[test]
fn equal_short_and_even_primes() {
    let right = &*KEY_1024;
    let mut random = Random::new(24);
    let square =
        Numbers { n: &right.p * &right.p, q: right.p.clone(), dq: right.dp.clone(), ..right.clone() };
    assert_refused("p = q", &square, inconsistent, "equal");
    for (p_bits, q_bits, name) in
        [(127, 900, "p is too short"), (900, 127, "q is too short"), (64, 1000, "too short")]
    {
        let (p, q) = (prime(&mut random, p_bits), prime(&mut random, q_bits));
        if let Some(numbers) = Numbers::from_primes(&p, &q, &big(65_537)) {
            assert_refused("a short prime", &numbers, inconsistent, name);
        }
    }
    let one = Numbers { p: right.n.clone(), q: big(1), ..right.clone() };
    assert_refused("p = n, q = 1", &one, inconsistent, "q is too short");
    // 2 is a prime; n is even.
    let two = Numbers { n: &right.n * big(2), p: right.n.clone(), q: big(2), ..right.clone() };
    assert_refused("q = 2", &two, inconsistent, "even");
}

#[test]
fn sizes_out_of_range_are_refused() {
    let is_size: Expected = |error| matches!(error, KeyError::Size { .. });
    for bits in [512, 768, 1016, 1022, 1023] {
        let numbers = Numbers::of_bits(bits);
        assert_eq!(numbers.n.bits() as usize, bits);
        assert_refused(&format!("{bits} bits"), &numbers, is_size, &bits.to_string());
        assert_eq!(PublicKey::parse(&numbers.spki_der()).err(), Some(KeyError::Size { bits }));
    }
    assert_loads_and_signs("1024 bits", &KEY_1024);
    for bits in [16_385, 16_448, 100_000] {
        let n = two_to(bits - 1) + big(1);
        let public = PublicKey::from_components(&n.to_bytes_be(), &[3]);
        assert_eq!(public.err(), Some(KeyError::Size { bits }));
        let numbers = Numbers { n, ..KEY_1024.clone() };
        assert_refused(&format!("{bits} bits"), &numbers, is_size, &bits.to_string());
    }
    #[cfg(feature = "keygen")]
    for bits in [0, 1, 1023, 16_385, usize::MAX] {
        assert_eq!(PrivateKey::generate(bits).err(), Some(KeyError::Size { bits }));
    }
}

#[test]
fn the_longest_key() {
    // A test key: see the text before its block.
    let text = include_bytes!("data/rsa16384.pem");
    let key = PrivateKey::parse(text).expect("the longest key");
    assert_eq!((key.bits(), key.size()), (16_384, 2048));
    let signatures = key.sign_batch(Algorithm::RS256, &MESSAGES[..2]);
    let (n, e) = (key.public_key().n(), key.public_key().e());
    let numbers = Numbers {
        n: BigUint::from_bytes_be(&n),
        e: BigUint::from_bytes_be(&e),
        ..KEY_1024.clone() // the public half alone is used below
    };
    for (message, signature) in MESSAGES.iter().zip(signatures) {
        let signature = signature.expect("a signature");
        assert!(numbers.verifies_rs256(message, &signature));
        for engine in engines() {
            let public = PublicKey::from_components(&n, &e)
                .expect("a public key")
                .with_engine(engine)
                .expect("available");
            assert_eq!(public.verify(Algorithm::RS256, message, &signature), Ok(()), "{engine}");
        }
    }
}

#[needs("openssl")]
#[test]
fn openssl_signs_the_same_with_the_longest_key() {
    let text = include_bytes!("data/rsa16384.pem");
    let signature = PrivateKey::parse(text).expect("the longest key").sign(Algorithm::RS256, MESSAGES[0]);
    let openssl = OpenSsl::new();
    openssl.write("key.pem", text);
    assert_eq!(openssl.run("dgst -sha256 -sign key.pem", MESSAGES[0]), signature.expect("a signature"));
}

#[test]
fn bad_public_keys() {
    let right = &*KEY_1024;
    let load = |n: &BigUint, e: &BigUint| {
        let numbers = Numbers { n: n.clone(), e: e.clone(), ..right.clone() };
        let results = [PublicKey::parse(&numbers.spki_der()), PublicKey::parse(&numbers.public_pkcs1_der())];
        let bare = PublicKey::from_components(&n.to_bytes_be(), &e.to_bytes_be());
        let errors = results.map(|result| result.err());
        assert!(errors.iter().all(|error| *error == bare.as_ref().err().cloned()), "{errors:?}, {bare:?}");
        bare
    };
    for e in [0, 1] {
        assert_eq!(load(&right.n, &big(e)).err(), Some(KeyError::Exponent("is below 3")));
    }
    for e in [2, 4, 65_536] {
        assert_eq!(load(&right.n, &big(e)).err(), Some(KeyError::Exponent("is even")));
    }
    assert!(matches!(load(&right.n, &(two_to(256) + big(1))), Err(KeyError::Exponent(_))));
    assert!(matches!(load(&(&right.n + big(1)), &right.e), Err(KeyError::Inconsistent(_))));
    assert_eq!(load(&big(0), &right.e).err(), Some(KeyError::Size { bits: 0 }));
    assert!(load(&right.n, &right.e).is_ok());
    // Leading zeros are no part of a number.
    let n = [vec![0; 99], right.n.to_bytes_be()].concat();
    let key = PublicKey::from_components(&n, &[0, 0, 1, 0, 1]).expect("a key");
    assert_eq!((key.n(), key.e()), (right.n.to_bytes_be(), vec![1, 0, 1]));
}
