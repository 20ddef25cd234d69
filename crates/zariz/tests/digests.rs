//! Messages in pieces, and digests in place of messages, on every engine.
#![cfg(feature = "rsa")]

mod common;

use common::engines;
use common::keys::{USUAL, load, loaded};
use sha2::Digest;
use signature::hazmat::{PrehashSigner, PrehashVerifier};
use zariz::rsa::{
    Algorithm, Error, Hash, Message, SignJob, Signature, Signed, SigningKey, VerifyJob, VerifyingKey,
    sign_many, verify_many,
};

// Where the processor lacks AVX-IFMA or AVX512-IFMA, these engines run all the same.
zariz_emulator::install_before_main!();

#[test]
fn pieces_make_the_digest_of_the_whole() {
    let message: Vec<u8> = (0..1000).map(|i| (i * 7) as u8).collect();
    for &hash in Hash::ALL {
        let expected = hash.digest(&[&message]);
        assert_eq!(expected.len(), hash.size(), "{hash:?}");
        for size in [1, 3, 64, 136, 999, 1000] {
            let mut hasher = hash.hasher();
            for piece in message.chunks(size) {
                hasher.update(piece);
                hasher.update(b"");
            }
            // A copy goes its own way.
            let mut other = hasher.clone();
            other.update(b"more");
            assert_eq!(hasher.finish(), expected, "{hash:?} in pieces of {size}");
            assert_eq!(other.finish(), hash.digest(&[&message, b"more"]), "{hash:?}");
        }
        assert_eq!(hash.hasher().finish(), hash.digest(&[]), "{hash:?}");
    }
    assert_eq!(Hash::Sha256.digest(&[&message]), sha2::Sha256::digest(&message).to_vec());
}

#[test]
fn a_digest_stands_for_its_message() {
    for (key, _) in loaded() {
        for algorithm in [Algorithm::RS256, Algorithm::PS256, Algorithm::RS384] {
            let what = format!("{algorithm:?}, {} bits, {}", key.bits(), key.engine());
            let digest = algorithm.hash().digest(&[b"message"]);
            let signature = key.sign(algorithm, Message::Digest(&digest)).expect("a signature");
            let public = key.public_key();
            assert_eq!(public.verify(algorithm, b"message", &signature), Ok(()), "{what}");
            assert_eq!(public.verify(algorithm, Message::Digest(&digest), &signature), Ok(()), "{what}");
            let other = algorithm.hash().digest(&[b"another message"]);
            assert_eq!(
                public.verify(algorithm, Message::Digest(&other), &signature),
                Err(Error::Verification),
                "{what}"
            );
        }
    }
}

#[test]
fn a_digest_of_the_wrong_length_fails_alone() {
    for engine in engines() {
        let key = load(&USUAL[0], engine);
        let digest = Hash::Sha256.digest(&[b"message"]);
        let signature = USUAL[0].rs256(b"message");
        for algorithm in [Algorithm::RS256, Algorithm::PS256] {
            for wrong in [&digest[1..], &[&digest[..], &[0]].concat(), &[]] {
                let error = Error::Digest { expected: 32, actual: wrong.len() };
                let wrong = Message::Digest(wrong);
                assert_eq!(key.sign(algorithm, wrong), Err(error), "{engine}");
                assert_eq!(key.public_key().verify(algorithm, wrong, &signature), Err(error), "{engine}");
            }
        }
        let (digest, signature) = (&digest[..], &signature[..]);
        let items =
            [(digest, signature), (&digest[1..], signature), (digest, &signature[1..]), (digest, signature)]
                .map(|(digest, signature)| Signed { message: Message::Digest(digest), signature });
        let length = Error::Length { expected: 128, actual: 127 };
        let expected = [Ok(()), Err(Error::Digest { expected: 32, actual: 31 }), Err(length), Ok(())];
        assert_eq!(key.public_key().verify_batch(Algorithm::RS256, &items), expected, "{engine}");
        assert_eq!(key.public_key().verify_batch(Algorithm::RS256, &[]), [], "{engine}");
    }
}

#[test]
fn digests_with_a_key_each() {
    let keys = loaded();
    let algorithm = Algorithm::RS256;
    let digest = algorithm.hash().digest(&[b"message"]);
    // Every fourth is too short.
    let digest_of = |i: usize| Message::Digest(&digest[usize::from(i % 4 == 2)..]);
    let wrong = Error::Digest { expected: 32, actual: 31 };
    let jobs: Vec<_> =
        keys.iter().enumerate().map(|(i, (key, _))| SignJob::new(key, algorithm, digest_of(i))).collect();
    let signatures = sign_many(&jobs);
    assert_eq!(signatures.len(), keys.len());
    for (i, ((key, numbers), signature)) in keys.iter().zip(&signatures).enumerate() {
        let expected = if i % 4 == 2 { Err(wrong) } else { Ok(numbers.rs256(b"message")) };
        assert_eq!(*signature, expected, "{i}: {} bits, {}", key.bits(), key.engine());
    }
    let right: Vec<_> = keys.iter().map(|(_, numbers)| numbers.rs256(b"message")).collect();
    let jobs: Vec<_> = keys
        .iter()
        .zip(&right)
        .enumerate()
        .map(|(i, ((key, _), signature))| {
            // Every fourth is a byte short.
            let signature = &signature[usize::from(i % 4 == 1)..];
            VerifyJob::new(key.public_key(), algorithm, Signed { message: digest_of(i), signature })
        })
        .collect();
    for (i, (job, result)) in jobs.iter().zip(verify_many(&jobs)).enumerate() {
        let expected = match i % 4 {
            1 => Err(Error::Length { expected: job.key.size(), actual: job.key.size() - 1 }),
            2 => Err(wrong),
            _ => Ok(()),
        };
        assert_eq!(result, expected, "{i}");
    }
    assert!(sign_many(&[]).is_empty() && verify_many(&[]).is_empty());
}

#[test]
fn prehash_traits_of_the_signature_crate() {
    for engine in engines() {
        let (key, algorithm) = (load(&USUAL[0], engine), Algorithm::RS256);
        let verifier = VerifyingKey { key: key.public_key().clone(), algorithm };
        let signer = SigningKey { key, algorithm };
        let digest = Hash::Sha256.digest(&[b"message"]);
        let signature: Signature = signer.sign_prehash(&digest).expect("a signature");
        assert_eq!(*Box::<[u8]>::from(signature.clone()), *USUAL[0].rs256(b"message"), "{engine}");
        assert!(verifier.verify_prehash(&digest, &signature).is_ok());
        assert!(verifier.verify_prehash(&[0; 32], &signature).is_err());
        assert!(verifier.verify_prehash(&digest[1..], &signature).is_err());
        assert!(signer.sign_prehash(&digest[1..]).is_err());
    }
}
