//! Keys that are given by their numbers, and keys compared by theirs.
#![cfg(feature = "rsa")]

mod common;

use common::der::spki;
use common::engines;
use common::keys::{KEY_1024, Numbers, assert_signs_right};
use common::numbers::{big, two_to};
use num_bigint::BigUint;
use zariz::Engine;
use zariz::rsa::{Components, CrtComponents, KeyError, PrimeComponents, PrivateKey, PublicKey};

#[test]
fn keys_from_their_numbers() {
    let right = &*KEY_1024;
    let load = |numbers: &Numbers, zeros: usize, engine: Engine| -> Result<PrivateKey, KeyError> {
        let bytes = |number: &BigUint| [vec![0; zeros], number.to_bytes_be()].concat();
        let [n, e, d, p, q] = [&numbers.n, &numbers.e, &numbers.d, &numbers.p, &numbers.q].map(bytes);
        let key = PrivateKey::from_primes(&PrimeComponents { n: &n, e: &e, d: &d, p: &p, q: &q })?;
        Ok(key.with_engine(engine).expect("available"))
    };
    let unequal = [(400, 624), (624, 400)].map(|(p, q)| Numbers::generate(p as u64, p, q, &big(65_537)));
    for numbers in unequal.iter().chain([right]) {
        for engine in engines() {
            // Leading zeros are no part of a number.
            for zeros in [0, 100, 100_000] {
                let key = load(numbers, zeros, engine).expect("a key");
                assert_signs_right(&format!("{engine}, {zeros} zeros"), &key, numbers);
                assert_eq!(key.to_der().expect("encoded")[..], numbers.pkcs8_der());
                let again = PrivateKey::from_components(&key.components())
                    .expect("a key")
                    .with_engine(engine)
                    .expect("available");
                assert_signs_right(&format!("{engine}, all numbers"), &again, numbers);
            }
        }
    }
    let (n, e, d) = (right.n.to_bytes_be(), right.e.to_bytes_be(), right.d.to_bytes_be());
    let [p, q] = [&right.p, &right.q].map(BigUint::to_bytes_be);
    let numbers = PrimeComponents { n: &n, e: &e, d: &d, p: &p, q: &q };
    let key = PrivateKey::from_primes(&numbers).expect("a key");
    assert_eq!(*key.public_key(), PublicKey::from_components(&n, &e).expect("a key"));

    let zero = big(0);
    for (wrong, names) in [
        (Numbers { d: zero.clone(), ..right.clone() }, "d is missing"),
        (Numbers { d: right.n.clone(), ..right.clone() }, "d is not below n"),
        (Numbers { d: two_to(1_000_000), ..right.clone() }, "d is not below n"),
        (Numbers { d: &right.d + big(2), ..right.clone() }, "d is not the inverse"),
        (Numbers { p: zero.clone(), ..right.clone() }, "p is missing"),
        (Numbers { q: zero.clone(), ..right.clone() }, "q is missing"),
        (Numbers { p: right.n.clone(), q: big(1), ..right.clone() }, "q is too short"),
        (Numbers { p: &right.p + big(1), ..right.clone() }, "p is even"),
        (Numbers { q: &right.q + big(2), ..right.clone() }, "not p times q"),
        (Numbers { q: right.p.clone(), ..right.clone() }, "equal"),
    ] {
        let error = load(&wrong, 0, Engine::best()).expect_err(names);
        assert!(
            matches!(error, KeyError::Inconsistent(_)) && error.to_string().contains(names),
            "{names}: {error}"
        );
    }
    let error = PrivateKey::from_primes(&PrimeComponents { d: &[], p: &[], q: &[], ..numbers })
        .expect_err("no secrets");
    assert!(matches!(error, KeyError::Inconsistent(_)), "{error}");
}

#[test]
fn public_keys_are_compared_by_their_numbers() {
    let numbers = &*KEY_1024;
    let of = |n: &BigUint, e: &BigUint| {
        PublicKey::from_components(&n.to_bytes_be(), &e.to_bytes_be()).expect("a key")
    };
    let key = of(&numbers.n, &numbers.e);
    for engine in engines() {
        let other = key.with_engine(engine).expect("available");
        assert_eq!((&other, other.dispatch()), (&key, engine.into()), "{engine}");
    }
    assert_eq!(PublicKey::parse(&key.to_der().expect("encoded")).as_ref(), Ok(&key));
    assert_eq!(key.to_der(), Ok(numbers.spki_der()));
    assert_ne!(of(&numbers.n, &big(3)), key);
    assert_ne!(of(&(&numbers.n + big(2)), &numbers.e), key);
    let pss = PublicKey::parse(&spki(&numbers.public_pkcs1_der(), true)).expect("a key");
    assert_ne!(pss, key);
}

/// Keys without modulus and exponents, or without primes, are the keys with them, for any public exponent.
#[test]
fn keys_of_which_numbers_are_missing() {
    let exponents = [big(3), big(17), big(65_537), two_to(64) + big(13), two_to(255) + big(95)];
    let generated = exponents.iter().enumerate().flat_map(|(i, e)| {
        [(512, 512), (400, 624), (624, 400)].map(|(p, q)| Numbers::generate((i + p) as u64, p, q, e))
    });
    for numbers in generated {
        let [n, e, d, p, q] =
            [&numbers.n, &numbers.e, &numbers.d, &numbers.p, &numbers.q].map(BigUint::to_bytes_be);
        let whole = PrivateKey::from_primes(&PrimeComponents { n: &n, e: &e, d: &d, p: &p, q: &q })
            .expect("a key")
            .components();
        let Components { dp, dq, qinv, .. } = &whole;
        let crt = CrtComponents { p: &p, q: &q, dp, dq, qinv };
        let key = PrivateKey::from_crt(&crt).expect("a key");
        assert_signs_right("from_crt", &key, &numbers);
        let Components { n: same_n, e: same_e, d: other_d, p: same_p, .. } = key.components();
        assert!(same_n == n && same_e == e && same_p[..] == p);
        let one = (BigUint::from_bytes_be(&other_d) * &numbers.e - big(1))
            % ((&numbers.p - big(1)) * (&numbers.q - big(1)));
        assert_eq!(one, big(0), "d is an inverse of e");

        let key = PrivateKey::from_exponents(&n, &e, &d).expect("a key");
        assert_signs_right("from_exponents", &key, &numbers);
        let components = key.components();
        assert!([&components.p, &components.q].map(|prime| prime.to_vec()).contains(&p));

        let other = (&numbers.p + big(2)).to_bytes_be();
        let even = (BigUint::from_bytes_be(dp) + big(1)).to_bytes_be();
        let long = vec![0xff; 1 << 20];
        for (what, wrong) in [
            ("p", CrtComponents { p: &other, ..crt }),
            ("no p", CrtComponents { p: &[], ..crt }),
            ("a long p", CrtComponents { p: &long, ..crt }),
            ("p and q", CrtComponents { q: &p, ..crt }),
            ("no dp", CrtComponents { dp: &[], ..crt }),
            ("dp of 1", CrtComponents { dp: &[1], ..crt }),
            ("an even dp", CrtComponents { dp: &even, ..crt }),
            ("dp of p", CrtComponents { dp: &p, ..crt }),
            ("a long dp", CrtComponents { dp: &long[..256], ..crt }),
            ("dq of dp", CrtComponents { dq: dp, ..crt }),
            ("no dq", CrtComponents { dq: &[], ..crt }),
            ("qinv", CrtComponents { qinv: &[1], ..crt }),
        ] {
            PrivateKey::from_crt(&wrong).expect_err(what);
        }
        let wrong_d = (&numbers.d + big(2)).to_bytes_be();
        for d in [&wrong_d[..], &[], &[1], &[2], &[3], &n, &long] {
            PrivateKey::from_exponents(&n, &e, d).expect_err("a wrong d");
        }
    }
    // A modulus that is a prime: `d` is right, and no root reveals a factor.
    let Numbers { p, e, .. } = Numbers::generate(1, 1024, 512, &big(65_537));
    let d = e.modinv(&(&p - big(1))).expect("an inverse");
    let [n, e, d] = [p, e, d].map(|number| number.to_bytes_be());
    PrivateKey::from_exponents(&n, &e, &d).expect_err("a prime");
}
