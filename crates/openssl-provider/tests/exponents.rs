//! Long public exponents. OpenSSL accepts every key, but computes `x^e mod n` only if it cannot take long:
//! with a modulus of more than 3072 bits, the exponent may have at most 64. Private operations have no such
//! limit.

mod common;

use common::keys::new;
use common::operation::{operate, verify};
use common::schemes::{digest, message, pss};
use common::{Failure, Faults, Key, Operation, Params, Side, World, ffi, is_zariz, stream};

/// Lengths of moduli and exponents at OpenSSL's limits and far from them. OpenSSL makes no 3073-bit keys.
const MODULI: [usize; 4] = [2048, 3072, 3074, 4096];
const EXPONENTS: [usize; 3] = [64, 65, 256];

/// An odd exponent with this many bits.
fn exponent(bits: usize) -> Vec<u8> {
    let mut e = vec![0; bits.div_ceil(8)];
    e[0] = 1 << ((bits - 1) % 8);
    *e.last_mut().expect("bytes") |= 1;
    e
}

fn padding(mode: &str) -> Params {
    Params::new().text("pad-mode", mode)
}

/// Both outcomes are alike, and if the exponent is refused, both errors say so. Returns whether it was
/// refused.
fn alike<T: std::fmt::Debug>(faults: &mut Faults, what: &str, results: &[Result<T, Failure>; 2]) -> bool {
    let [ours, theirs] = results;
    faults.outcome(what, ours, theirs);
    let told =
        |result: &Result<T, Failure>| result.as_ref().is_err_and(|why| why.text().contains("bad e value"));
    faults.check(told(ours) == told(theirs), || {
        format!("{what}: {ours:?}, but {theirs:?} of the default provider")
    });
    told(theirs)
}

/// Does everything that the public half of a key can do. Returns how many calls were made and refused.
fn public_operations(
    faults: &mut Faults,
    world: &World,
    what: &str,
    keys: [&Key; 2],
    whole: &Key,
) -> (usize, usize) {
    let (mut done, mut refused) = (0, 0);
    let mut note = |was_refused: bool| {
        done += 1;
        refused += usize::from(was_refused);
    };
    let sides = [0, 1].map(|i| (Side::BOTH[i], keys[i]));
    let number = [&[0][..], &message(whole.size() - 1)].concat();
    for (params, data) in [
        (digest("SHA256"), message(32)),
        (pss("SHA256", "digest"), message(32)),
        (padding("pkcs1"), message(40)),
        (padding("none"), number.clone()),
    ] {
        let signature =
            operate(world, Side::Reference, whole, Operation::Sign, &params, &data).expect("signed");
        let what = format!("{what}, {params:?}");
        let results = sides.map(|(side, key)| verify(world, side, key, &params, &signature, &data));
        note(alike(faults, &format!("{what}: verified"), &results));
        let mut bad = signature.clone();
        bad[40] ^= 1;
        let results = sides.map(|(side, key)| verify(world, side, key, &params, &bad, &data));
        note(alike(faults, &format!("{what}: a damaged signature"), &results));
        if params != pss("SHA256", "digest") {
            let recover = |(side, key)| operate(world, side, key, Operation::Recover, &params, &signature);
            let results = sides.map(recover);
            note(alike(faults, &format!("{what}: recovered"), &results));
            faults.identical(&format!("{what}: recovered"), &results[0], &results[1]);
        }
    }
    let none = Params::new();
    let signature =
        stream::sign(world, Side::Reference, whole, Some("SHA256"), &none, b"text").expect("signed");
    let check = |(side, key)| stream::verify(world, side, key, Some("SHA256"), &none, &signature, b"text");
    note(alike(faults, &format!("{what}: a message"), &sides.map(check)));
    for mode in ["pkcs1", "oaep", "none"] {
        let data = if mode == "none" { &number[..] } else { b"text" };
        let encrypt = |(side, key)| operate(world, side, key, Operation::Encrypt, &padding(mode), data);
        note(alike(faults, &format!("{what}: encrypted by {mode}"), &sides.map(encrypt)));
    }
    (done, refused)
}

#[test]
fn long_exponents_are_refused_as_openssl_refuses_them() {
    let (world, mut faults) = (World::new(), Faults::new());
    for n in MODULI {
        for e in EXPONENTS {
            let theirs = new(&world, Params::new().size("bits", n).number("e", &exponent(e)));
            let ours = theirs.on(&world, Side::Subject);
            let what = format!("n of {n} bits, e of {e}");
            let before = world.counters();
            let pair = public_operations(&mut faults, &world, &what, [&ours, &theirs], &theirs);
            let public = [ours.public(&world, Side::Subject), theirs.public(&world, Side::Reference)];
            let [our_public, their_public] = &public;
            let half = public_operations(&mut faults, &world, &what, [our_public, their_public], &theirs);
            let (operations, refused) = (pair.0 + half.0, pair.1 + half.1);
            // Check that OpenSSL's limits are the ones assumed here.
            let expected = if n > 3072 && e > 64 { operations } else { 0 };
            assert_eq!(refused, expected, "{what}: refused by the default provider");
            if is_zariz() {
                let done = world.counters().since(before);
                let (own, left) = (done.public as usize, done.fallbacks as usize);
                assert_eq!((own, left), (operations - refused, refused), "{what}: {done:?}");
            }
            private_operations(&mut faults, &world, &what, [&ours, &theirs]);
        }
    }
    faults.none(150);
}

/// Public keys exactly at the limits, with arbitrary moduli.
#[test]
fn the_limits_are_exactly_openssls() {
    let (world, mut faults) = (World::new(), Faults::new());
    for n in [3071_usize, 3072, 3073, 16_383, 16_384] {
        let size = n.div_ceil(8);
        let mut modulus = message(size);
        modulus[0] = 1 << ((n - 1) % 8);
        modulus[size - 1] |= 1;
        for e in [2, 17, 63, 64, 65, 66, 255, 256] {
            let what = format!("n of {n} bits, e of {e}");
            let numbers = Params::new().number("n", &modulus).number("e", &exponent(e));
            let make = |side| Key::from_data(&world, side, ffi::PUBLIC_KEY, &numbers).expect("a public key");
            let keys = Side::BOTH.map(|side| (side, make(side)));
            let number = [&[0][..], &message(size - 1)].concat();
            for operation in [Operation::Encrypt, Operation::Recover] {
                let results = keys
                    .each_ref()
                    .map(|(side, key)| operate(&world, *side, key, operation, &padding("none"), &number));
                let [ours, theirs] = &results;
                faults.identical(&format!("{what}: {operation:?}"), ours, theirs);
                let refused = alike(&mut faults, &format!("{what}: {operation:?}"), &results);
                assert_eq!(refused, n > 3072 && e > 64, "{what}: refused by the default provider");
            }
        }
    }
    faults.none(100);
}

/// Private operations: zariz does them for all of these keys.
fn private_operations(faults: &mut Faults, world: &World, what: &str, keys: [&Key; 2]) {
    let number = [&[0][..], &message(keys[0].size() - 1)].concat();
    let before = world.counters();
    let cases = [
        (Operation::Sign, digest("SHA256"), &number[..32]),
        (Operation::Sign, padding("none"), &number),
        (Operation::Decrypt, padding("none"), &number),
    ];
    let count = cases.len() as u64;
    for (operation, params, data) in cases {
        let [ours, theirs] = [0, 1].map(|i| operate(world, Side::BOTH[i], keys[i], operation, &params, data));
        faults.done(&format!("{what}: {operation:?}"), &theirs);
        faults.identical(&format!("{what}: {operation:?}, {params:?}"), &ours, &theirs);
    }
    if is_zariz() {
        let done = world.counters().since(before);
        assert_eq!((done.private, done.fallbacks, done.check_failures), (count, 0, 0), "{what}: {done:?}");
    }
}
