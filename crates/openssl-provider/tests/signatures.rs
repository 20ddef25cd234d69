//! Signatures through OpenSSL's interface: each provider verifies the other's signatures, and deterministic
//! ones are identical.

mod common;

use common::keys::{self, kinds, rsa_2048};
use common::operation::{operate, verify};
use common::schemes::{DIGESTS, JUDGED, digest, message, pss};
use common::{Faults, Key, Operation, Params, Side, World};

/// Digests that zariz leaves to OpenSSL with PSS.
const LEFT_BY_PSS: [&str; 3] = ["MD5", "MD5-SHA1", "RIPEMD160"];

/// Salt lengths, or rules for them.
const SALTS: [&str; 6] = ["digest", "max", "auto", "0", "1", "17"];

/// Signs and verifies on both sides, in all four combinations. Signatures must be equal if `exact`.
fn cross(
    faults: &mut Faults,
    world: &World,
    what: &str,
    [subject, reference]: [&Key; 2],
    params: &Params,
    exact: bool,
    data: &[u8],
) {
    let sign = |side, key| operate(world, side, key, Operation::Sign, params, data);
    let (ours, theirs) = (sign(Side::Subject, subject), sign(Side::Reference, reference));
    if !faults.outcome(what, &ours, &theirs) {
        return;
    }
    let (ours, theirs) = (ours.expect("both succeeded"), theirs.expect("both succeeded"));
    if exact {
        faults.same(what, &ours, &theirs);
    }
    faults.same(&format!("{what}: length"), &ours.len(), &theirs.len());
    // The default provider refuses some of its own signatures, such as those of no bytes at all.
    let expected = verify(world, Side::Reference, reference, params, &theirs, data);
    for (who, signature) in [("zariz's", &ours), ("OpenSSL's", &theirs)] {
        for (side, key) in [(Side::Subject, subject), (Side::Reference, reference)] {
            let verified = verify(world, side, key, params, signature, data);
            let what = format!("{what}: {side:?} verifies {who} signature");
            if data.is_empty() {
                // OpenSSL refuses this; zariz may accept it.
                faults.check(verified.is_ok() || expected.is_err(), || format!("{what}: {verified:?}"));
            } else {
                faults.outcome(&what, &verified, &expected);
            }
        }
    }
    let mut bad = ours.clone();
    bad[ours.len() / 2] ^= 4;
    let check = |side, key| verify(world, side, key, params, &bad, data);
    let (by_us, by_them) = (check(Side::Subject, subject), check(Side::Reference, reference));
    faults.refused(&format!("{what}: a damaged signature"), &by_us);
    faults.outcome(&format!("{what}: a damaged signature"), &by_us, &by_them);
}

#[test]
fn pkcs1_with_every_digest() {
    let (world, mut faults) = (World::new(), Faults::new());
    let [subject, reference] = Side::BOTH.map(|side| rsa_2048(&world, side));
    world.counted(28, 80, || {
        for &(name, length) in DIGESTS {
            for pad in [None, Some("pkcs1")] {
                let params = pad.map_or(digest(name), |pad| digest(name).text("pad-mode", pad));
                let what = format!("PKCS#1 with {name}, {pad:?}");
                cross(&mut faults, &world, &what, [&subject, &reference], &params, true, &message(length));
            }
        }
    });
    faults.none(100);
}

#[test]
fn pss_with_every_salt_and_mask() {
    let (world, mut faults) = (World::new(), Faults::new());
    let [subject, reference] = Side::BOTH.map(|side| rsa_2048(&world, side));
    world.counted(40, 100, || {
        for &(name, length) in DIGESTS.iter().filter(|(name, _)| !LEFT_BY_PSS.contains(name)) {
            for salt in SALTS {
                let (what, params) = (format!("PSS with {name}, salt {salt}"), pss(name, salt));
                // Without salt, signatures are deterministic.
                let exact = salt == "0";
                cross(&mut faults, &world, &what, [&subject, &reference], &params, exact, &message(length));
            }
        }
        for (hash, length) in [("SHA256", 32), ("SHA512", 64)] {
            for mask in ["SHA1", "SHA384", "SHA3-256", "SHA512-224"] {
                let params = pss(hash, "digest").text("mgf1-digest", mask);
                let what = format!("PSS with {hash}, MGF1 with {mask}");
                cross(&mut faults, &world, &what, [&subject, &reference], &params, false, &message(length));
            }
        }
        // Lengths as numbers, including the numbers of rules; the longest possible is 256 - 32 - 2.
        for salt in [-3, -2, -1, 0, 5, 32, 222, 223, 100_000] {
            let params = digest("SHA256").int("pad-mode", 6).int("saltlen", salt);
            let what = format!("PSS with salt {salt}");
            cross(&mut faults, &world, &what, [&subject, &reference], &params, salt == 0, &message(32));
        }
    });
    faults.none(200);
}

#[test]
fn a_verifier_may_ask_for_one_salt_length() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| (side, rsa_2048(&world, side)));
    for signed in ["digest", "max", "0", "20"] {
        for (signer, key) in &keys {
            let (params, data) = (pss("SHA256", signed), message(32));
            let signature = operate(&world, *signer, key, Operation::Sign, &params, &data).expect("signed");
            for asked in ["digest", "max", "auto", "0", "20", "21"] {
                let [ours, theirs] = [0, 1]
                    .map(|i| verify(&world, keys[i].0, &keys[i].1, &pss("SHA256", asked), &signature, &data));
                faults.outcome(
                    &format!("signed by {signer:?} with salt {signed}, verified with {asked}"),
                    &ours,
                    &theirs,
                );
            }
        }
    }
    faults.none(10);
}

#[test]
fn every_key_signs_and_verifies() {
    let (world, mut faults) = (World::new(), Faults::new());
    for kind in kinds(&world) {
        let subject = kind.key.on(&world, Side::Subject);
        let before = world.counters();
        for (what, params, exact) in [
            ("PKCS#1", digest("SHA256"), true),
            ("PSS", pss("SHA256", "digest"), false),
            ("PSS, largest salt", pss("SHA256", "max"), false),
            ("PSS, no salt", pss("SHA1", "0"), true),
        ] {
            let (what, length) =
                (format!("{what}, {}", kind.name), if what == "PSS, no salt" { 20 } else { 32 });
            cross(&mut faults, &world, &what, [&subject, &kind.key], &params, exact, &message(length));
        }
        let done = world.counters().since(before);
        if common::is_zariz() && kind.accelerated {
            assert!(done.private >= 4 && done.public >= 12, "{}: {done:?}", kind.name);
        } else if common::is_zariz() {
            assert!(done.fallbacks >= 4, "{}: {done:?}", kind.name);
        }
        // The key may be in the other provider: OpenSSL exports it.
        let what = format!("{}, the other provider's key", kind.name);
        cross(&mut faults, &world, &what, [&kind.key, &subject], &digest("SHA256"), true, &message(32));
    }
    faults.none(100);
}

#[test]
fn raw_and_without_digest() {
    let (world, mut faults) = (World::new(), Faults::new());
    let [subject, reference] = Side::BOTH.map(|side| rsa_2048(&world, side));
    let number = [&[0_u8; 1][..], &message(255)].concat();
    let large = vec![0xff; 256];
    let none = Params::new().text("pad-mode", "none");
    let pkcs1 = Params::new().text("pad-mode", "pkcs1");
    world.counted(5, 10, || {
        let pair = [&subject, &reference];
        cross(&mut faults, &world, "none", pair, &none, true, &number);
        cross(&mut faults, &world, "none, by number", pair, &Params::new().int("pad-mode", 3), true, &number);
        cross(&mut faults, &world, "none, too short", pair, &none, true, &message(255));
        cross(&mut faults, &world, "none, too long", pair, &none, true, &message(257));
        cross(&mut faults, &world, "none, above n", pair, &none, true, &large);
        cross(&mut faults, &world, "none, nothing", pair, &none, true, b"");
        for length in [0, 1, 20, 32, 200, 245, 246, 300] {
            let what = format!("PKCS#1 of {length} bytes without digest");
            cross(&mut faults, &world, &what, pair, &pkcs1, true, &message(length));
            let what = format!("{length} bytes without anything");
            cross(&mut faults, &world, &what, pair, &Params::new(), true, &message(length));
        }
        let pss = Params::new().text("pad-mode", "pss");
        cross(&mut faults, &world, "PSS without digest", pair, &pss, false, &message(20));
        cross(&mut faults, &world, "PSS without digest", pair, &pss, false, &message(32));
        let none_with_digest = digest("SHA256").text("pad-mode", "none");
        cross(&mut faults, &world, "none with digest", pair, &none_with_digest, true, &number);
    });
    faults.none(20);
}

/// What zariz leaves to OpenSSL is counted as such: X9.31 padding (in the default provider up to 3.x),
/// digests that only some versions sign, and PSS with digests that are not used for masks.
#[test]
fn what_is_left_to_openssl() {
    let (world, mut faults) = (World::new(), Faults::new());
    let [subject, reference] = Side::BOTH.map(|side| rsa_2048(&world, side));
    let x931 = digest("SHA256").text("pad-mode", "x931");
    cross(&mut faults, &world, "X9.31", [&subject, &reference], &x931, true, &message(32));
    for &(name, length) in JUDGED {
        for (params, exact) in [(digest(name), true), (pss(name, "digest"), false), (pss(name, "0"), true)] {
            let what = format!("{name} with {params:?}");
            cross(&mut faults, &world, &what, [&subject, &reference], &params, exact, &message(length));
        }
    }
    for &(name, length) in DIGESTS.iter().filter(|(name, _)| LEFT_BY_PSS.contains(name)) {
        let before = world.counters();
        for salt in SALTS {
            let (what, params) = (format!("PSS with {name}, salt {salt}"), pss(name, salt));
            cross(&mut faults, &world, &what, [&subject, &reference], &params, salt == "0", &message(length));
        }
        // For each salt, one signature and three verifications.
        let left = world.counters().since(before).fallbacks;
        assert!(!common::is_zariz() || left == 4 * SALTS.len() as u64, "{name}: {left} are left to OpenSSL");
    }
    if common::is_zariz() {
        let done = world.counters();
        assert_eq!((done.private, done.public, done.check_failures), (0, 0, 0), "{done:?}");
    }
    faults.none(80);
}

#[test]
fn verify_recover() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| (side, rsa_2048(&world, side)));
    let none = Params::new().text("pad-mode", "none");
    let without = Params::new().text("pad-mode", "pkcs1");
    let mut cases: Vec<(String, Params, Vec<u8>)> =
        DIGESTS.iter().map(|&(name, length)| (name.to_owned(), digest(name), message(length))).collect();
    cases.push(("none".into(), none.clone(), [&[0][..], &message(255)].concat()));
    cases.push(("no digest".into(), without.clone(), message(77)));
    cases.push(("no bytes".into(), without.clone(), Vec::new()));
    cases.push(("PSS".into(), pss("SHA256", "digest"), message(32)));
    world.counted(10, 10, || {
        for (what, params, data) in &cases {
            for (signer, key) in &keys {
                let Ok(signature) = operate(&world, *signer, key, Operation::Sign, params, data) else {
                    continue;
                };
                for asked in [params, &none, &without, &digest("SHA384")] {
                    let recover = |(side, key): &(Side, Key)| {
                        operate(&world, *side, key, Operation::Recover, asked, &signature)
                    };
                    let (ours, theirs) = (recover(&keys[0]), recover(&keys[1]));
                    let what_asked = format!("{what} by {signer:?}, recovered with {asked:?}");
                    faults.identical(&what_asked, &ours, &theirs);
                    if asked == params && theirs.is_ok() {
                        faults.same(what, &ours.ok().as_ref(), &Some(data));
                    }
                }
            }
        }
    });
    faults.none(40);
}

/// Public keys verify, but do not sign.
#[test]
fn public_keys() {
    let (world, mut faults) = (World::new(), Faults::new());
    let private = rsa_2048(&world, Side::Reference);
    let keys = Side::BOTH.map(|side| (side, private.public(&world, side)));
    let (params, data) = (digest("SHA256"), message(32));
    let signature =
        operate(&world, Side::Reference, &private, Operation::Sign, &params, &data).expect("signed");
    let [ours, theirs] = [0, 1].map(|i| verify(&world, keys[i].0, &keys[i].1, &params, &signature, &data));
    faults.done("a public key verifies", &ours);
    faults.outcome("a public key verifies", &ours, &theirs);
    for params in [Params::new(), params, pss("SHA256", "digest"), Params::new().text("pad-mode", "none")] {
        let sign = |(side, key): &(Side, Key)| operate(&world, *side, key, Operation::Sign, &params, &data);
        let (ours, theirs) = (sign(&keys[0]), sign(&keys[1]));
        faults.refused("a public key signs", &ours);
        faults.outcome(&format!("a public key signs with {params:?}"), &ours, &theirs);
    }
    faults.none(2);
}

/// One signature with a long key: tests elsewhere do not cover its length.
#[test]
fn a_long_key() {
    let world = World::new();
    let [subject, reference] = Side::BOTH.map(|side| keys::native(&world, side, keys::PEM_8192));
    let mut faults = Faults::new();
    world.counted(1, 2, || {
        let (params, data) = (digest("SHA512"), message(64));
        cross(&mut faults, &world, "8192 bits", [&subject, &reference], &params, true, &data);
    });
    faults.none(5);
}

/// A salt at most as long as the digest, by its own name, which OpenSSL has since 3.1.
#[test]
fn salts_up_to_the_digest() {
    if !common::is_zariz() {
        return;
    }
    let world = World::new();
    let [subject, reference] = Side::BOTH.map(|side| rsa_2048(&world, side));
    let verifies = |signature: &[u8], salt: &str| {
        verify(&world, Side::Reference, &reference, &pss("SHA256", salt), signature, &message(32)).is_ok()
    };
    for params in [pss("SHA256", "auto-digestmax"), digest("SHA256").int("pad-mode", 6).int("saltlen", -4)] {
        let signature = operate(&world, Side::Subject, &subject, Operation::Sign, &params, &message(32));
        let signature = signature.expect("signed");
        assert!(verifies(&signature, "32") && !verifies(&signature, "max"));
    }
}

/// Each key file of the repository is one of the kinds: the list of kinds is complete.
#[test]
fn kinds_are_what_they_say() {
    let world = World::new();
    let bits: Vec<i32> = kinds(&world).iter().map(|kind| kind.key.properties()[1]).collect();
    assert_eq!(bits, [512, 1023, 1024, 1025, 2047, 2048, 2048, 3072, 4096, 2048, 2048]);
    assert_eq!(keys::new(&world, Params::new().size("bits", 1024)).provider(), "default");
}
