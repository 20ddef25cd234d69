//! Signatures: in batches of every size and mixture, on several threads, through the traits, on every engine.
#![cfg(feature = "rsa")]

mod common;

use common::keys::{Numbers, USUAL, fits, load, loaded, with_bad_ones};
use common::numbers::big;
use common::{Random, engines, fastest, slow};
use signature::{Keypair, SignatureEncoding, Signer, Verifier};
use std::thread;
use zariz::rsa::{
    Algorithm, Error, Hash, Message, Mgf, Padding, SignJob, Signature, Signed, SigningKey, VerifyJob,
    VerifyingKey, sign_many, verify_many,
};
use zariz::{Engine, Method};

// Where the processor lacks AVX-IFMA or AVX512-IFMA, these engines run all the same.
zariz_emulator::install_before_main!();

#[test]
fn batches_of_every_size_with_one_key() {
    for (key, numbers) in loaded() {
        let messages: Vec<Vec<u8>> = (0..65u8).map(|i| vec![i; usize::from(i)]).collect();
        let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
        // The longer keys do fewer.
        let many = key.bits() == 1024 && !slow(key.engine());
        let sizes = if many { &[0, 1, 2, 3, 4, 5, 7, 8, 9, 17, 65][..] } else { &[0, 1, 3, 8, 9] };
        let most = sizes.iter().max().copied().unwrap_or(0);
        let expected: Vec<_> = messages[..most].iter().map(|message| Ok(numbers.rs256(message))).collect();
        for &size in sizes {
            let what = format!("{size} of {} bits on {}", key.bits(), key.engine());
            let signatures = key.sign_batch(Algorithm::RS256, &messages[..size]);
            assert_eq!(signatures, expected[..size], "{what}");
            let digests: Vec<_> =
                messages[..size].iter().map(|message| Hash::Sha256.digest(&[message])).collect();
            let digests: Vec<_> = digests.iter().map(|digest| Message::Digest(digest)).collect();
            assert_eq!(key.sign_batch(Algorithm::RS256, &digests), expected[..size], "{what}");
            let signatures: Vec<_> =
                signatures.into_iter().map(|signature| signature.expect("checked")).collect();
            let items: Vec<_> = messages
                .iter()
                .zip(&signatures)
                .map(|(message, signature)| signed(message, signature))
                .collect();
            assert_eq!(key.public_key().verify_batch(Algorithm::RS256, &items), vec![Ok(()); size], "{what}");
            // Each signature with the next message.
            let wrong: Vec<_> = items
                .iter()
                .enumerate()
                .map(|(i, item)| signed(messages[(i + 1) % 65], item.signature))
                .collect();
            let verdicts = key.public_key().verify_batch(Algorithm::RS256, &wrong);
            assert_eq!(verdicts, vec![Err(Error::Verification); size], "{what}");
        }
    }
}

#[test]
fn keys_sizes_engines_and_algorithms_mixed_in_one_call() {
    let mut random = Random::new(31);
    let mut keys = loaded();
    keys.push((load(&USUAL[4], fastest()), &USUAL[4]));
    for (p_bits, q_bits) in [(400, 624), (624, 400), (513, 512)] {
        let numbers: &'static Numbers =
            Box::leak(Box::new(Numbers::generate(p_bits as u64, p_bits, q_bits, &big(3))));
        keys.extend(engines().into_iter().map(|engine| (load(numbers, engine), numbers)));
    }
    for size in [0, 1, 2, 3, 7, 8, 9, 17, 65] {
        let chosen: Vec<_> = (0..size)
            .map(|_| (random.below(keys.len()), Algorithm::NAMED[random.below(6)], random.bytes(20)))
            .collect();
        let jobs: Vec<_> = chosen
            .iter()
            .map(|(key, algorithm, message)| SignJob::new(&keys[*key].0, *algorithm, message))
            .collect();
        let results = sign_many(&jobs);
        assert_eq!(results.len(), size);
        for (result, (key, algorithm, message)) in results.iter().zip(&chosen) {
            let (key, numbers) = &keys[*key];
            let what = format!("{algorithm:?}, {} bits, {}, of {size}", key.bits(), key.engine());
            if !fits(*algorithm, key.size()) {
                assert_eq!(*result, Err(Error::KeyTooShort), "{what}");
                continue;
            }
            let signature = result.as_ref().unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(key.public_key().verify(*algorithm, message, signature), Ok(()), "{what}");
            if *algorithm == Algorithm::RS256 {
                assert_eq!(*signature, numbers.rs256(message), "{what}");
            }
        }
        // The same mixture verified in one call, every third signature damaged.
        let mut made: Vec<_> =
            jobs.iter().zip(results).filter_map(|(job, result)| Some((job, result.ok()?))).collect();
        made.iter_mut().step_by(3).for_each(|(_, signature)| signature[50] ^= 1);
        let claims: Vec<_> = made.iter().map(|(job, signature)| verify_job(job, signature)).collect();
        let verdicts = verify_many(&claims);
        let expected = |i: usize| if i.is_multiple_of(3) { Err(Error::Verification) } else { Ok(()) };
        assert_eq!(verdicts, (0..made.len()).map(expected).collect::<Vec<_>>(), "{size}");
    }
}

fn verify_job<'a>(job: &SignJob<'a>, signature: &'a [u8]) -> VerifyJob<'a> {
    let SignJob { key, algorithm, message } = *job;
    VerifyJob::new(key.public_key(), algorithm, Signed { message, signature })
}

fn signed<'a>(message: &'a [u8], signature: &'a [u8]) -> Signed<'a> {
    Signed { message: message.into(), signature }
}

/// Requests are put in another order, to share batches with keys of like size: each result must come back to
/// its own.
#[test]
fn interleaved_sizes_come_back_in_order() {
    for engine in engines() {
        let keys = [0, 2, 1].map(|i| (load(&USUAL[i], engine), &USUAL[i]));
        let messages: Vec<[u8; 1]> = (0..if slow(engine) { 12 } else { 50 }).map(|i| [i]).collect();
        let turns = || messages.iter().zip(keys.iter().cycle());
        let jobs: Vec<_> =
            turns().map(|(message, (key, _))| SignJob::new(key, Algorithm::RS256, message)).collect();
        let expected: Vec<_> = turns().map(|(message, (_, numbers))| Ok(numbers.rs256(message))).collect();
        assert_eq!(sign_many(&jobs), expected, "{engine}");
    }
}

#[test]
fn a_bad_signing_job_fails_alone_and_in_place() {
    let shake = Algorithm::Pkcs1v15(Hash::Shake128);
    for engine in engines() {
        let (short, long) = (load(&USUAL[0], engine), load(&USUAL[1], engine));
        let lengths = if slow(engine) { &[1, 2, 9][..] } else { &[1, 2, 7, 8, 9, 17] };
        for &len in lengths {
            for bad in [0, len / 2, len - 1] {
                let job = |i: usize| match (i == bad, i % 2) {
                    (true, 0) => (SignJob::new(&short, Algorithm::PS512, b"m"), Err(Error::KeyTooShort)),
                    (true, _) => (SignJob::new(&long, shake, b"m"), Err(Error::Unsupported)),
                    (false, 0) => {
                        (SignJob::new(&short, Algorithm::RS256, b"even"), Ok(USUAL[0].rs256(b"even")))
                    }
                    (false, _) => (SignJob::new(&long, Algorithm::RS256, b"odd"), Ok(USUAL[1].rs256(b"odd"))),
                };
                let (jobs, expected): (Vec<_>, Vec<_>) = (0..len).map(job).unzip();
                assert_eq!(sign_many(&jobs), expected, "{bad} of {len} on {engine}");
            }
        }
        // Digests of the wrong length.
        let good = Hash::Sha256.digest(&[b"message"]);
        let digests: Vec<Vec<u8>> = vec![
            vec![],
            good.clone(),
            vec![1; 31],
            vec![1; 33],
            good.clone(),
            vec![0; 64],
            good.clone(),
            vec![0; 20],
        ];
        let messages: Vec<_> = digests.iter().map(|digest| Message::Digest(digest)).collect();
        let results = short.sign_batch(Algorithm::RS256, &messages);
        assert_eq!(results.len(), digests.len());
        for (digest, result) in digests.iter().zip(results) {
            let wrong = Error::Digest { expected: 32, actual: digest.len() };
            assert_eq!(result, if *digest == good { Ok(USUAL[0].rs256(b"message")) } else { Err(wrong) });
        }
    }
}

#[test]
fn a_bad_signature_fails_alone_and_in_place() {
    let messages: [&[u8]; 3] = [b"one", b"", b"a third message"];
    for (key, numbers) in loaded() {
        for algorithm in [Algorithm::RS256, Algorithm::PS256] {
            let what = format!("{algorithm:?}, {} bits, {}", key.bits(), key.engine());
            let good: Vec<_> = key
                .sign_batch(algorithm, &messages)
                .into_iter()
                .map(|result| result.expect("a signature"))
                .collect();
            let items = with_bad_ones(numbers, &good);
            let pairs: Vec<_> = items
                .iter()
                .map(|(signature, which)| signed(messages[which.unwrap_or(0)], signature))
                .collect();
            let results = key.public_key().verify_batch(algorithm, &pairs);
            assert_eq!(results.len(), items.len());
            for ((bytes, which), result) in items.iter().zip(results) {
                let wrong = match bytes.len() {
                    actual if actual == key.size() => Error::OutOfRange,
                    actual => Error::Length { expected: key.size(), actual },
                };
                assert_eq!(result, if which.is_some() { Ok(()) } else { Err(wrong) }, "{what}");
            }
            // Every bit of a signature counts.
            let damaged: Vec<Vec<u8>> = (0..8 * key.size())
                .step_by(5)
                .map(|bit| {
                    let mut signature = good[0].clone();
                    signature[bit / 8] ^= 1 << (bit % 8);
                    signature
                })
                .collect();
            let pairs: Vec<_> = damaged.iter().map(|signature| signed(messages[0], signature)).collect();
            assert!(key.public_key().verify_batch(algorithm, &pairs).iter().all(Result::is_err), "{what}");
        }
    }
}

#[test]
fn pss_salts() {
    for (key, _) in loaded() {
        let what = format!("{} bits, {}", key.bits(), key.engine());
        let public = key.public_key();
        // Random salts: one message, many signatures, all right.
        let results = key.sign_batch(Algorithm::PS256, &[&b"message"[..]; 9]);
        let mut signatures: Vec<_> = results.into_iter().map(|result| result.expect("a signature")).collect();
        assert!(
            signatures
                .iter()
                .all(|signature| public.verify(Algorithm::PS256, b"message", signature) == Ok(()))
        );
        signatures.push(key.sign(Algorithm::PS256, b"message").expect("a signature"));
        signatures.sort();
        signatures.dedup();
        assert_eq!(signatures.len(), 10, "{what}: no signature twice");

        // The longest salt that fits, and one byte more. (The lengths here are whole bytes: em has `size` of
        // them.)
        let with_salt =
            |salt_len| Algorithm::Pss { hash: Hash::Sha256, mgf: Mgf::Mgf1(Hash::Sha256), salt_len };
        let most = key.size() - 32 - 2;
        for salt_len in [0, 1, most - 1, most] {
            let signature = key.sign(with_salt(salt_len), b"message").expect("a signature");
            assert_eq!(
                public.verify(with_salt(salt_len), b"message", &signature),
                Ok(()),
                "{what}, salt {salt_len}"
            );
            let other = if salt_len == 0 { 1 } else { salt_len - 1 };
            let error = Err(Error::SaltLength { expected: other, actual: salt_len });
            assert_eq!(public.verify(with_salt(other), b"message", &signature), error, "{what}");
            // Where more is wrong than the salt, its length is of no use.
            assert_eq!(
                public.verify(with_salt(other), b"massage", &signature),
                Err(Error::Verification),
                "{what}"
            );
        }
        let any = vec![0; key.size()];
        for salt_len in [most + 1, most + 2, 10 * most] {
            assert_eq!(
                key.sign(with_salt(salt_len), b"message"),
                Err(Error::KeyTooShort),
                "{what}, salt {salt_len}"
            );
            assert_eq!(
                public.verify(with_salt(salt_len), b"message", &any),
                Err(Error::KeyTooShort),
                "{what}"
            );
        }
    }
    // Without a salt there is one signature, the same on every engine.
    let unsalted = Algorithm::Pss { hash: Hash::Sha384, mgf: Mgf::Mgf1(Hash::Sha1), salt_len: 0 };
    let signatures: Vec<_> =
        engines().into_iter().map(|engine| load(&USUAL[1], engine).sign(unsalted, b"message")).collect();
    assert!(signatures[0].is_ok() && signatures.windows(2).all(|pair| pair[0] == pair[1]));
}

/// A salt length that no key has room for is an error, however long: not a panic, not an attempt to allocate
/// it.
#[test]
fn pss_salts_of_absurd_length_when_signing() {
    let key = load(&USUAL[0], fastest());
    for salt_len in [usize::MAX, usize::MAX - 34, isize::MAX as usize, 1 << 60] {
        let algorithm = Algorithm::Pss { hash: Hash::Sha256, mgf: Mgf::Mgf1(Hash::Sha256), salt_len };
        assert_eq!(key.sign(algorithm, b"message"), Err(Error::KeyTooShort), "salt {salt_len}");
    }
}

#[test]
fn pss_salts_of_absurd_length_when_verifying() {
    let key = load(&USUAL[0], fastest());
    for salt_len in [usize::MAX, usize::MAX - 34, usize::MAX - 33, isize::MAX as usize, 1 << 60] {
        let algorithm = Algorithm::Pss { hash: Hash::Sha256, mgf: Mgf::Mgf1(Hash::Sha256), salt_len };
        let verdict = key.public_key().verify(algorithm, b"message", &[0; 128]);
        assert_eq!(verdict, Err(Error::KeyTooShort), "salt {salt_len}");
    }
}

fn sign_and_verify<S, K>(signer: &K, message: &[u8]) -> Vec<u8>
where
    S: SignatureEncoding,
    K: Signer<S> + Keypair,
    K::VerifyingKey: Verifier<S>,
{
    let signature = signer.try_sign(message).expect("a signature");
    let bytes = signature.to_bytes().as_ref().to_vec();
    let Ok(again) = S::try_from(&bytes[..]) else { panic!("a signature from its own bytes") };
    let verifier = signer.verifying_key();
    verifier.verify(message, &again).expect("the signature verifies");
    verifier.verify(b"another message", &again).expect_err("of another message");
    bytes
}

#[test]
fn traits_of_the_signature_crate() {
    for engine in engines() {
        let key = load(&USUAL[0], engine);
        for algorithm in Algorithm::NAMED.iter().copied().filter(|&algorithm| fits(algorithm, key.size())) {
            let signer = SigningKey { key: key.clone(), algorithm };
            let bytes = sign_and_verify::<Signature, _>(&signer, b"message");
            assert_eq!(key.public_key().verify(algorithm, b"message", &bytes), Ok(()));
        }
        let signer = SigningKey { key: key.clone(), algorithm: Algorithm::PS512 };
        let error = signer.try_sign(b"message").expect_err("the key is too short");
        let source = std::error::Error::source(&error).expect("the error has a source");
        assert_eq!(source.downcast_ref(), Some(&Error::KeyTooShort));
        let verifier = VerifyingKey { key: key.public_key().clone(), algorithm: Algorithm::RS256 };
        let mut bytes = USUAL[0].rs256(b"message");
        let signature = |bytes: &[u8]| Signature::try_from(bytes).expect("any bytes");
        assert_eq!(signature(&bytes).as_ref(), bytes);
        assert!(verifier.verify(b"message", &signature(&bytes)).is_ok());
        assert!(verifier.verify(b"message", &signature(&bytes[1..])).is_err());
        bytes[77] ^= 4;
        assert!(verifier.verify(b"message", &signature(&bytes)).is_err());
    }
}

#[test]
fn a_signature_fills_a_buffer_of_its_length() {
    let (key, expected) = (load(&USUAL[0], fastest()), USUAL[0].rs256(b"message"));
    let mut out = vec![0; key.size() + 1];
    assert_eq!(key.sign_into(Algorithm::RS256, b"message", &mut out[1..]), Ok(()));
    assert_eq!(out, [&[0], &expected[..]].concat());
    let error = Error::Length { expected: key.size(), actual: key.size() + 1 };
    assert_eq!(key.sign_into(Algorithm::RS256, b"message", &mut out), Err(error));
    assert_eq!(out[1..], expected);
}

#[test]
fn one_key_on_eight_threads() {
    for engine in engines() {
        let key = load(&USUAL[0], engine);
        let last = if slow(engine) { 11 } else { 49u8 };
        thread::scope(|scope| {
            for t in 0..8u8 {
                let key = &key;
                // No two threads have a message in common.
                let expected: Vec<_> = (0..=last).map(|i| USUAL[0].rs256(&[i, t])).collect();
                let encrypt =
                    |i| key.public_key().encrypt(&Padding::Pkcs1v15, &[i, t]).expect("a ciphertext");
                let ciphertexts: Vec<_> = (0..=last).map(encrypt).collect();
                scope.spawn(move || {
                    for i in 0..expected.len() {
                        // Neighbours do different things at the same time.
                        let i = (i + 7 * usize::from(t)) % expected.len();
                        if i % 5 == usize::from(t) % 5 {
                            let messages = [[i as u8, t], [0, t], [last, t]];
                            let results =
                                key.sign_batch(Algorithm::RS256, &messages.each_ref().map(|m| &m[..]));
                            let signatures = results.into_iter().map(|result| result.expect("a signature"));
                            assert!(signatures.eq(
                                [&expected[i], &expected[0], &expected[usize::from(last)]].map(Clone::clone)
                            ));
                        } else if i % 11 == 0 {
                            let message =
                                key.decrypt(&Padding::Pkcs1v15, &ciphertexts[i]).expect("the message");
                            assert_eq!(message[..], [i as u8, t]);
                        } else {
                            assert_eq!(key.sign(Algorithm::RS256, &[i as u8, t]).as_ref(), Ok(&expected[i]));
                        }
                    }
                });
            }
        });
    }
}

/// A blinding serves 64 times and is squared in between: more signatures than that, alone and in batches, on
/// one key.
#[test]
fn blinding_is_renewed() {
    for engine in engines() {
        let key = load(&USUAL[0], engine);
        let expected: Vec<_> = (0..10u8).map(|i| Ok(USUAL[0].rs256(&[i]))).collect();
        let (alone, together, rounds) = if slow(engine) { (10, 80, 1) } else { (150, 200u8, 3) };
        for i in 0..alone {
            assert_eq!(
                key.sign(Algorithm::RS256, &[i % 10]),
                expected[usize::from(i % 10)],
                "{i} on {engine}"
            );
        }
        let messages: Vec<[u8; 1]> = (0..together).map(|i| [i % 10]).collect();
        let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
        for round in 0..rounds {
            for (i, result) in key.sign_batch(Algorithm::RS256, &messages).into_iter().enumerate() {
                assert_eq!(result, expected[i % 10], "round {round}, {i} on {engine}");
            }
        }
    }
}

#[test]
fn signatures_are_the_same_by_every_method() {
    for engine in engines() {
        let key = load(&USUAL[0], engine);
        let messages: Vec<&[u8]> = vec![b"one", b"two", b"three"];
        let expected = key.sign_batch(Algorithm::RS256, &messages);
        for &method in Method::ALL {
            assert_eq!(
                key.with_method(method).sign_batch(Algorithm::RS256, &messages),
                expected,
                "{method} on {engine}"
            );
        }
    }
}

/// The engines do not differ in a single bit, for any key length.
#[test]
fn all_engines_sign_alike() {
    for numbers in &*USUAL {
        let mut before = None;
        for engine in engines() {
            if slow(engine) && numbers.n.bits() > 1536 {
                continue;
            }
            let key = load(numbers, engine);
            let results: Vec<_> = [Algorithm::RS256, Algorithm::RS384, Algorithm::RS512]
                .into_iter()
                .flat_map(|algorithm| key.sign_batch(algorithm, &["a", "bb", "ccc"]))
                .collect();
            assert!(results.iter().all(Result::is_ok));
            assert_eq!(results[1], Ok(numbers.rs256(b"bb")), "{} bits on {engine}", key.bits());
            assert_eq!(
                *before.get_or_insert_with(|| results.clone()),
                results,
                "{} bits on {engine}",
                key.bits()
            );
            // A public key of another engine agrees.
            let other = key.public_key().with_engine(Engine::Portable).expect("available");
            let verdict = other.verify(Algorithm::RS384, b"a", results[3].as_ref().expect("a signature"));
            assert_eq!(verdict, Ok(()));
        }
    }
}
