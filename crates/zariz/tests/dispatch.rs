//! Requests by any number at once, left to the library's choice of engines: the same answers as on any one
//! engine.
#![cfg(feature = "rsa")]

mod common;

use common::{Random, engines};
use zariz::rsa::{
    Algorithm, DecryptJob, Padding, PrivateKey, PublicKey, SignJob, Signed, VerifyJob, decrypt_many,
    sign_many, verify_many,
};
use zariz::{Dispatch, Engine, Modulus, PowJob, pow_many, pow_many_vartime};

use common::keys::{Numbers, load};
use common::numbers::{big, fixed, modulus, number};

/// More than three times the lanes of the widest engine.
const MOST: usize = 27;

#[test]
fn powers_in_any_number() {
    let mut random = Random::new(1);
    // Lengths on both sides of what fills limbs, digits of 51 and 52 bits, and blocks of eight limbs.
    for bits in [64, 65, 510, 512, 1000, 1024, 1025, 2048, 3000] {
        let mut cases = Vec::new();
        for _ in 0..MOST {
            cases.push((modulus(&mut random, bits), number(&mut random, 2 * bits), number(&mut random, 40)));
        }
        let numbers: Vec<_> =
            cases.iter().map(|(_, base, exponent)| (base.to_bytes_be(), exponent.to_bytes_be())).collect();
        let moduli: Vec<Modulus> =
            cases.iter().map(|(m, ..)| Modulus::new(&m.to_bytes_be()).expect("a good modulus")).collect();
        assert_eq!(moduli[0].engine(), Engine::best());
        let jobs: Vec<PowJob> = moduli
            .iter()
            .zip(&numbers)
            .map(|(modulus, (base, exponent))| PowJob { modulus, base, exponent })
            .collect();
        for count in 0..=MOST {
            for results in [pow_many(&jobs[..count]), pow_many_vartime(&jobs[..count])] {
                assert_eq!(results.len(), count);
                for (result, (modulus, base, exponent)) in results.iter().zip(&cases) {
                    assert_eq!(
                        *result,
                        fixed(&base.modpow(exponent, modulus), bits.div_ceil(8)),
                        "{bits} bits, {count} at once"
                    );
                }
            }
        }
    }
}

#[test]
fn signatures_and_decryptions_in_any_number() {
    for numbers in [Numbers::of_bits(1024), Numbers::of_bits(2048), Numbers::generate(3, 700, 500, &big(3))] {
        let key = load(&numbers, Dispatch::Auto);
        let messages: Vec<Vec<u8>> = (0..MOST as u8).map(|i| vec![i; 5 * usize::from(i)]).collect();
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let expected: Vec<Vec<u8>> = load(&numbers, Engine::Portable)
            .sign_batch(Algorithm::RS256, &messages)
            .into_iter()
            .map(|signature| signature.expect("a signature"))
            .collect();
        let public = key.public_key();
        for count in 1..=MOST {
            let signatures = key.sign_batch(Algorithm::RS256, &messages[..count]);
            let mut signed: Vec<(&[u8], Vec<u8>)> = Vec::new();
            for (i, signature) in signatures.into_iter().enumerate() {
                signed.push((messages[i], signature.expect("a signature")));
                assert_eq!(signed[i].1, expected[i], "{count} at once");
            }
            // A bad one among good ones.
            signed[count / 2].1[9] ^= 4;
            let items: Vec<_> = signed
                .iter()
                .map(|(message, signature)| Signed { message: message.into(), signature })
                .collect();
            for (i, verdict) in public.verify_batch(Algorithm::RS256, &items).into_iter().enumerate() {
                assert_eq!(verdict.is_ok(), i != count / 2, "{i} of {count}");
            }

            let padding = Padding::Pkcs1v15;
            let short: Vec<&[u8]> =
                messages[..count].iter().map(|message| &message[..message.len().min(9)]).collect();
            let ciphertexts: Vec<Vec<u8>> = short
                .iter()
                .map(|message| public.encrypt(&padding, message).expect("a ciphertext"))
                .collect();
            let ciphertexts: Vec<&[u8]> = ciphertexts.iter().map(Vec::as_slice).collect();
            for (plain, message) in key.decrypt_batch(&padding, &ciphertexts).iter().zip(&short) {
                assert_eq!(plain.as_ref().map(|plain| &plain[..]), Ok(*message), "{count} at once");
            }
        }
    }
}

/// Keys of several sizes, each left to the library or on an engine of its own, in one call.
#[test]
fn everything_mixed() {
    let numbers = [Numbers::of_bits(1024), Numbers::of_bits(1536), Numbers::of_bits(2048)];
    let dispatches: Vec<Dispatch> =
        engines().into_iter().map(Dispatch::Only).chain([Dispatch::Auto; 3]).collect();
    let mut random = Random::new(5);
    let keys: Vec<(usize, PrivateKey)> = (0..40)
        .map(|_| {
            let (size, dispatch) = (random.below(numbers.len()), dispatches[random.below(dispatches.len())]);
            (size, load(&numbers[size], dispatch))
        })
        .collect();
    let expected: Vec<Vec<u8>> = numbers
        .iter()
        .map(|numbers| {
            load(numbers, Engine::Portable).sign(Algorithm::RS256, b"message").expect("a signature")
        })
        .collect();
    let jobs: Vec<_> = keys.iter().map(|(_, key)| SignJob::new(key, Algorithm::RS256, b"message")).collect();
    let signatures = sign_many(&jobs);
    for ((size, key), signature) in keys.iter().zip(&signatures) {
        assert_eq!(signature.as_ref(), Ok(&expected[*size]), "{key:?}");
    }
    let verify: Vec<VerifyJob> = keys
        .iter()
        .map(|(size, key)| {
            let signed = Signed { message: b"message".into(), signature: &expected[*size] };
            VerifyJob::new(key.public_key(), Algorithm::RS256, signed)
        })
        .collect();
    assert!(verify_many(&verify).iter().all(Result::is_ok));

    let padding = Padding::Pkcs1v15;
    let ciphertexts: Vec<Vec<u8>> = keys
        .iter()
        .map(|(_, key)| PublicKey::encrypt(key.public_key(), &padding, b"secret").expect("a ciphertext"))
        .collect();
    let jobs: Vec<DecryptJob> = keys
        .iter()
        .zip(&ciphertexts)
        .map(|((_, key), ciphertext)| DecryptJob { key, padding: &padding, ciphertext })
        .collect();
    for plain in decrypt_many(&jobs) {
        assert_eq!(plain.as_ref().map(|plain| &plain[..]), Ok(&b"secret"[..]));
    }
}
