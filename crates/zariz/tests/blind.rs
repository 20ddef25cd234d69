//! Blind signatures as callers make them, and inputs that nobody should send.
#![cfg(feature = "rsa")]

mod common;

use common::keys::{KEY_1024, Numbers, USUAL, load};
use common::numbers::{big, fixed};
use common::openssl::OpenSsl;
use common::{engines, slow};
use num_bigint::BigUint;
use std::collections::HashSet;
use zariz::Dispatch;
use zariz::rsa::blind::{
    BlindSignJob, Error, FinalizeJob, Inverse, PrivateKey, PublicKey, Signed, Variant, blind_sign_many,
};
use zariz::rsa::{self, Algorithm, Hash, KeyError, PssParameters, Usage};
use zariz_needs::needs;

const MESSAGES: [&[u8]; 9] =
    [b"", b"a", b"token", &[0; 31], &[1; 32], &[2; 33], &[3; 1000], b"token", b"last"];

fn key(variant: Variant) -> PrivateKey {
    PrivateKey::new(variant, &load(&KEY_1024, Dispatch::Auto)).expect("a key")
}

#[test]
fn batches_of_every_variant_are_pss_signatures_on_every_engine() {
    for engine in engines() {
        let variants = if slow(engine) { &Variant::ALL[..1] } else { Variant::ALL };
        for &variant in variants {
            let server = key(variant).with_engine(engine).expect("available");
            let client = server.public_key();
            let prepared = MESSAGES.map(|message| variant.prepare(message).expect("prepared"));
            let blinded = client.blind_batch(&prepared.each_ref().map(|message| &message[..]));
            let blinded: Vec<_> = blinded.into_iter().map(|blinded| blinded.expect("blinded")).collect();
            let requests: Vec<&[u8]> = blinded.iter().map(|blinded| &blinded.message[..]).collect();
            assert_eq!(requests.iter().collect::<HashSet<_>>().len(), MESSAGES.len(), "each blind is new");
            let answers = server.blind_sign_batch(&requests);
            let answers: Vec<_> = answers.into_iter().map(|answer| answer.expect("an answer")).collect();
            let job = |i: usize| FinalizeJob {
                prepared: &prepared[i],
                blind_signature: &answers[i],
                inverse: &blinded[i].inverse,
            };
            let signatures = client.finalize_batch(&(0..MESSAGES.len()).map(job).collect::<Vec<_>>());
            // By a key that knows nothing of blind signatures.
            let plain = load(&KEY_1024, Dispatch::Auto);
            let numbers = plain.public_key();
            assert_eq!((client.n(), client.e(), client.bits()), (numbers.n(), numbers.e(), numbers.bits()));
            for (i, signature) in signatures.iter().enumerate() {
                let signature = signature.as_ref().expect("a signature");
                let algorithm = Algorithm::pss(Hash::Sha384, variant.salt_len());
                assert_eq!(
                    plain.public_key().verify(algorithm, &prepared[i], signature),
                    Ok(()),
                    "{variant}, {i}"
                );
                assert_eq!(variant.message(&prepared[i]), Some(MESSAGES[i]));
            }
            let one_signature = Variant::PssZeroDeterministic == variant;
            assert_eq!(
                signatures[2] == signatures[7],
                one_signature,
                "{variant}: one message, two signatures"
            );
        }
    }
}

#[needs("openssl")]
#[test]
fn openssl_makes_marked_keys_and_verifies() {
    let openssl = OpenSsl::new();
    for &variant in Variant::ALL {
        let salt = variant.salt_len();
        let options = format!(
            "-pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_pss_keygen_md:sha384 -pkeyopt rsa_pss_keygen_mgf1_md:sha384 \
             -pkeyopt rsa_pss_keygen_saltlen:{salt}"
        );
        let pem = openssl.run(&format!("genpkey -algorithm RSA-PSS {options}"), b"");
        let server = PrivateKey::parse(variant, &pem).expect("a marked key");
        let written = server.to_pem().expect("PEM");
        assert_eq!(
            PrivateKey::parse(variant, written.as_bytes()).expect("a key").public_key(),
            server.public_key()
        );
        let spki = server.public_key().to_pem().expect("PEM");
        let client = PublicKey::parse(variant, spki.as_bytes()).expect("a marked key");
        let prepared = variant.prepare(b"message").expect("prepared");
        let blinded = client.blind(&prepared).expect("blinded");
        let answer = server.blind_sign(&blinded.message).expect("an answer");
        let signature = client.finalize(&prepared, &answer, &blinded.inverse).expect("a signature");
        openssl.write("public.pem", &spki);
        openssl.write("signature", &signature);
        let options = format!("-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:{salt}");
        let said = openssl
            .run(&format!("dgst -sha384 -verify public.pem -signature signature {options}"), &prepared);
        assert_eq!(said, b"Verified OK\n", "{variant}");
    }
}

#[test]
fn the_server_signs_what_is_below_the_modulus_and_nothing_else() {
    let numbers = &*KEY_1024;
    let server = key(Variant::PssRandomized);
    let (size, n) = (server.size(), &numbers.n);
    let below = [big(0), big(1), n - big(1), n >> 1].map(|number| fixed(&number, size));
    let above = [n.clone(), n + big(1), (big(1) << (8 * size)) - big(1)].map(|number| fixed(&number, size));
    let other_lengths = [vec![], vec![1], vec![0; size - 1], vec![0; size + 1], vec![0; 100_000]];
    let all: Vec<&[u8]> = below.iter().chain(&above).chain(&other_lengths).map(|bytes| &bytes[..]).collect();
    let results = server.blind_sign_batch(&all);
    assert_eq!(results.len(), all.len());
    for (bytes, result) in all.iter().zip(results) {
        let number = BigUint::from_bytes_be(bytes);
        let expected = if bytes.len() != size {
            Err(Error::InputSize { expected: size, actual: bytes.len() })
        } else if number >= *n {
            Err(Error::OutOfRange)
        } else {
            Ok(fixed(&number.modpow(&numbers.d, n), size))
        };
        assert_eq!(result, expected, "{number:x}");
        assert_eq!(server.blind_sign(bytes), expected, "{number:x} alone");
    }
    assert!(server.blind_sign_batch(&[]).is_empty() && blind_sign_many(&[]).is_empty());
}

#[test]
fn requests_of_several_keys_share_a_call() {
    let variants = Variant::ALL.iter().copied().cycle();
    let keys: Vec<(&Numbers, PrivateKey)> = (USUAL[..3].iter().zip(variants))
        .map(|(numbers, variant)| {
            (numbers, PrivateKey::new(variant, &load(numbers, Dispatch::Auto)).expect("a key"))
        })
        .collect();
    let requests: Vec<_> = (0..12u64)
        .map(|i| {
            let (numbers, key) = &keys[i as usize % keys.len()];
            (numbers, key, fixed(&(&numbers.n - big(i + 2)), key.size()))
        })
        .collect();
    let jobs: Vec<_> =
        requests.iter().map(|(_, key, blinded_message)| BlindSignJob { key, blinded_message }).collect();
    for ((numbers, key, request), result) in requests.iter().zip(blind_sign_many(&jobs)) {
        let expected = BigUint::from_bytes_be(request).modpow(&numbers.d, &numbers.n);
        assert_eq!(result, Ok(fixed(&expected, key.size())));
    }
}

#[test]
fn the_client_refuses_false_answers_and_strange_inverses() {
    let variant = Variant::PssDeterministic;
    let server = key(variant);
    let client = server.public_key();
    let (size, n) = (server.size(), &KEY_1024.n);
    let prepared = b"something random".as_slice();
    let blinded = client.blind(prepared).expect("blinded");
    let answer = server.blind_sign(&blinded.message).expect("an answer");
    let signature = client.finalize(prepared, &answer, &blinded.inverse).expect("a signature");

    // An inverse that was stored is as good.
    let stored = Inverse::from_bytes(blinded.inverse.as_bytes());
    assert_eq!(client.finalize(prepared, &answer, &stored), Ok(signature.clone()));

    let other = client.blind(prepared).expect("blinded");
    let mut flipped = answer.clone();
    flipped[size / 2] ^= 1;
    let inverse = |number: &BigUint| Inverse::from_bytes(&fixed(number, size));
    let (zero, large) = (inverse(&big(0)), inverse(n));
    let [none, short, long] = [0, size - 1, size + 1].map(|length| Inverse::from_bytes(&vec![0; length]));
    let wrong = |actual| Err(Error::InputSize { expected: size, actual });
    let all_ones = vec![0xff; size];
    let cases: [(&[u8], &[u8], &Inverse, _); 14] = [
        (prepared, &answer, &blinded.inverse, Ok(signature.clone())),
        (b"another", &answer, &blinded.inverse, Err(Error::InvalidSignature)),
        (prepared, &answer, &other.inverse, Err(Error::InvalidSignature)),
        (prepared, &flipped, &blinded.inverse, Err(Error::InvalidSignature)),
        (prepared, &blinded.message, &blinded.inverse, Err(Error::InvalidSignature)),
        (prepared, &all_ones, &blinded.inverse, Err(Error::InvalidSignature)),
        (prepared, &answer[1..], &blinded.inverse, wrong(size - 1)),
        (prepared, &[], &blinded.inverse, wrong(0)),
        (prepared, &[0; 1000], &blinded.inverse, wrong(1000)),
        (prepared, &answer, &zero, Err(Error::InvalidSignature)),
        (prepared, &answer, &large, Err(Error::InvalidInput)),
        (prepared, &answer, &none, Err(Error::InvalidInput)),
        (prepared, &answer, &short, Err(Error::InvalidInput)),
        (prepared, &answer, &long, Err(Error::InvalidInput)),
    ];
    let jobs = cases.each_ref().map(|&(prepared, blind_signature, inverse, _)| FinalizeJob {
        prepared,
        blind_signature,
        inverse,
    });
    let results = client.finalize_batch(&jobs);
    assert_eq!(results.len(), cases.len());
    for (i, (result, (prepared, answer, inverse, expected))) in results.iter().zip(&cases).enumerate() {
        assert_eq!(result, expected, "case {i}");
        assert_eq!(client.finalize(prepared, answer, inverse), *expected, "case {i} alone");
    }

    let signed = [(prepared, &signature[..]), (b"another", &signature), (prepared, &answer), (prepared, b"")];
    let signed = signed.map(|(prepared, signature)| Signed { prepared, signature });
    let [good, rest @ ..] = &client.verify_batch(&signed)[..] else { panic!("a result for each") };
    assert_eq!(*good, Ok(()));
    assert!(rest.iter().all(|result| *result == Err(Error::InvalidSignature)));
    assert!(client.blind_batch(&[]).is_empty() && client.finalize_batch(&[]).is_empty());
}

/// RFC 9474 takes the answer as a number modulo n.
#[test]
fn an_answer_above_the_modulus_is_reduced() {
    let server = key(Variant::PssRandomized);
    let client = server.public_key();
    let prepared = client.variant().prepare(b"message").expect("prepared");
    loop {
        let blinded = client.blind(&prepared).expect("blinded");
        let answer = server.blind_sign(&blinded.message).expect("an answer");
        let above = BigUint::from_bytes_be(&answer) + &KEY_1024.n;
        if above.bits() <= 8 * server.size() as u64 {
            let above = fixed(&above, server.size());
            assert!(client.finalize(&prepared, &above, &blinded.inverse).is_ok());
            return;
        }
    }
}

#[test]
fn keys_are_marked_for_one_variant() {
    let plain = load(&KEY_1024, Dispatch::Auto);
    let pss = |min_salt_len| PssParameters { hash: Hash::Sha384, mgf1_hash: Hash::Sha384, min_salt_len };
    for &variant in Variant::ALL {
        let (mine, other) = if variant.salt_len() == 48 { (pss(48), pss(0)) } else { (pss(0), pss(48)) };
        assert_eq!(variant.to_string().parse(), Ok(variant));
        for (usage, may_be_marked, may_be_read) in [
            (Usage::Any, true, false),
            (Usage::Pss, true, true),
            (Usage::PssWith(mine), true, true),
            (Usage::PssWith(other), false, false),
            (Usage::PssWith(PssParameters { hash: Hash::Sha256, ..mine }), false, false),
        ] {
            let key = plain.with_usage(usage);
            let (pkcs8, spki) = (key.to_der().expect("DER"), key.public_key().to_der().expect("DER"));
            for (may, results) in [
                (
                    may_be_marked,
                    [
                        PrivateKey::new(variant, &key).map(|_| ()),
                        PublicKey::new(variant, key.public_key()).map(|_| ()),
                    ],
                ),
                (
                    may_be_read,
                    [
                        PrivateKey::parse(variant, &pkcs8).map(|_| ()),
                        PublicKey::parse(variant, &spki).map(|_| ()),
                    ],
                ),
            ] {
                for result in results {
                    let refused = matches!(result, Err(KeyError::Parameters(_)));
                    assert_eq!((result.is_ok(), refused), (may, !may), "{variant}, {usage:?}: {result:?}");
                }
            }
        }
        // A marked key's file is one for PSS with these parameters alone.
        let marked = key(variant);
        let read = rsa::PrivateKey::parse(marked.to_pem().expect("PEM").as_bytes()).expect("a key");
        assert_eq!(read.public_key().usage(), Usage::PssWith(mine));
        assert!(read.sign(Algorithm::RS256, b"").is_err());
        let shown = format!("{marked:?} {:?}", Inverse::from_bytes(&[0xab; 4]));
        assert!(!shown.contains("171") && !shown.to_lowercase().contains("abab"), "{shown}");
        assert!(shown.starts_with("PrivateKey") && shown.contains(&format!("{variant:?}")), "{shown}");
    }
    let unknown = "RSABSSA-SHA256".parse::<Variant>().expect_err("no variant").to_string();
    assert!(unknown.contains("RSABSSA-SHA256") && unknown.contains("PSSZERO-Randomized"), "{unknown}");
    assert!(PrivateKey::parse(Variant::RECOMMENDED, b"no key").is_err());
}

#[test]
fn errors_have_the_names_of_the_rfc() {
    let names = [
        (Error::Encoding, "encoding error"),
        (Error::Blinding, "blinding error"),
        (Error::InvalidInput, "invalid input"),
        (Error::OutOfRange, "message representative out of range"),
        (Error::SigningFailure(rsa::Error::Fault), "signing failure"),
        (Error::InputSize { expected: 1, actual: 2 }, "unexpected input size"),
        (Error::InvalidSignature, "invalid signature"),
    ];
    for (error, name) in names {
        assert!(error.to_string().starts_with(name), "{error}");
    }
}
