//! Keys that are given by their numbers, and keys compared by theirs.
#![cfg(feature = "rsa")]

mod common;

use common::der::spki;
use common::engines;
use common::keys::{KEY_1024, Numbers, assert_signs_right};
use common::numbers::{big, two_to};
use num_bigint::BigUint;
use zariz::Engine;
use zariz::rsa::{KeyError, PrimeComponents, PrivateKey, PublicKey};

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
