//! Keys damaged byte by byte, and garbage: never a panic, and what loads all the same is the key itself.
#![cfg(feature = "rsa")]

mod common;

use common::Random;
use common::der::{integer, pem, sequence, tlv};
use common::keys::{KEY_1024, KEY_2048, Numbers, same_public};
use common::numbers::big;
use zariz::rsa::{Algorithm, PrivateKey, PublicKey};

/// A damaged encoding is refused, or what loads is the key itself: it signs, and the right public key accepts
/// it.
fn refused_or_right(what: &str, bytes: &[u8], public: &PublicKey) -> bool {
    let Ok(key) = PrivateKey::parse(bytes) else { return false };
    assert!(same_public(key.public_key(), public), "{what}: loaded as another key");
    let signature = key.sign(Algorithm::PS256, b"message").unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(public.verify(Algorithm::PS256, b"message", &signature), Ok(()), "{what}: signed wrongly");
    true
}

fn encodings(numbers: &Numbers) -> [(&'static str, Vec<u8>); 2] {
    [("PKCS#1", numbers.pkcs1_der()), ("PKCS#8", numbers.pkcs8_der())]
}

#[test]
fn der_cut_at_every_byte() {
    let pkcs1 = KEY_2048.pkcs1_der();
    for (name, der) in encodings(&KEY_2048) {
        for len in 0..der.len() {
            assert!(PrivateKey::parse(&der[..len]).is_err(), "{name} cut to {len} bytes");
            // PKCS#8 ends in the whole of PKCS#1.
            let tail = &der[len + 1..];
            assert!(
                tail == pkcs1 || PrivateKey::parse(tail).is_err(),
                "{name} without its first {} bytes",
                len + 1
            );
        }
    }
    let spki = KEY_2048.spki_der();
    for len in 0..spki.len() {
        assert!(PublicKey::parse(&spki[..len]).is_err(), "SPKI cut to {len} bytes");
    }
}

#[test]
fn pem_cut_at_every_byte() {
    for (label, der) in [("RSA PRIVATE KEY", KEY_1024.pkcs1_der()), ("PRIVATE KEY", KEY_1024.pkcs8_der())] {
        let text = pem(label, &der);
        for len in 0..text.trim_end().len() {
            assert!(PrivateKey::parse(&text.as_bytes()[..len]).is_err(), "{label} cut to {len} bytes");
        }
    }
}

#[test]
fn every_byte_and_bit_flipped() {
    let public = PublicKey::parse(&KEY_2048.spki_der()).expect("the public key");
    let mut random = Random::new(25);
    let mut loaded = Vec::new();
    for (name, der) in encodings(&KEY_2048) {
        assert!(refused_or_right(name, &der, &public), "undamaged, it loads");
        for at in 0..der.len() {
            // Headers in every way, the rest bit by bit, wholly and at random.
            let masks: Vec<u8> = match at {
                0..64 => (1..=255).collect(),
                _ => (0..8).map(|bit| 1 << bit).chain([0xff, random.next() as u8 | 1]).collect(),
            };
            for mask in masks {
                let mut damaged = der.clone();
                damaged[at] ^= mask;
                if refused_or_right(&format!("{name}, byte {at} ^ {mask:#x}"), &damaged, &public) {
                    loaded.push((name, at));
                }
            }
        }
    }
    // Every byte counts but two: the last of PKCS#8's algorithm, which may turn into that of PSS, and the tag
    // of the parameters behind it, which say nothing for RSA and are not looked at.
    loaded.dedup();
    assert!(
        loaded.iter().all(|place| [("PKCS#8", 19), ("PKCS#8", 20)].contains(place)),
        "{loaded:?} load when damaged"
    );
}

#[test]
fn public_keys_with_every_bit_flipped() {
    let right = &*KEY_2048;
    let signature = right.rs256(b"message");
    for (name, der) in [("SPKI", right.spki_der()), ("PKCS#1", right.public_pkcs1_der())] {
        for at in 0..der.len() {
            for bit in 0..8 {
                let mut damaged = der.clone();
                damaged[at] ^= 1 << bit;
                let Ok(key) = PublicKey::parse(&damaged) else { continue };
                let same = key.n() == right.n.to_bytes_be() && key.e() == right.e.to_bytes_be();
                let verdict = key.verify(Algorithm::RS256, b"message", &signature);
                assert!(
                    same || verdict.is_err(),
                    "{name}, byte {at}, bit {bit}: another key accepts the signature"
                );
            }
        }
    }
}

#[test]
fn random_damage() {
    let public = PublicKey::parse(&KEY_1024.spki_der()).expect("the public key");
    let mut random = Random::new(26);
    let block = pem("PRIVATE KEY", &KEY_1024.pkcs8_der()).into_bytes();
    let originals = [KEY_1024.pkcs1_der(), KEY_1024.pkcs8_der(), block, KEY_1024.spki_der()];
    for round in 0..6000 {
        let mut bytes = originals[round % 4].clone();
        for _ in 0..1 + random.below(4) {
            let (at, to) = (random.below(bytes.len()), random.below(bytes.len()));
            match random.below(5) {
                0 => bytes[at] = random.next() as u8,
                1 => bytes.insert(at, random.next() as u8),
                2 => drop(bytes.remove(at)),
                3 => bytes.swap(at, to),
                _ => {
                    let piece = bytes[at..bytes.len().min(at + random.below(30))].to_vec();
                    bytes.splice(to..to, piece);
                }
            }
        }
        refused_or_right("random damage", &bytes, &public);
        let _ = PublicKey::parse(&bytes);
    }
}

#[test]
fn garbage() {
    let mut random = Random::new(27);
    let million = 1 << 20;
    let repeated = |what: &[u8]| what.iter().copied().cycle().take(million).collect::<Vec<u8>>();
    let mut inputs = vec![
        Vec::new(),
        random.bytes(million),
        repeated(&[0]),
        repeated(&[0x30]),
        repeated(&[0x30, 0x80]),
        repeated(&[0x30, 0x82, 0xff, 0xff]),
        repeated(b"-----BEGIN "),
        repeated(b"-----BEGIN RSA PRIVATE KEY-----\n"),
        repeated(b"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"),
        repeated(b"-----END RSA PRIVATE KEY-----\n"),
        repeated(b"-----BEGIN A-----\n-----END A-----\n"),
        repeated(b"-----BEGIN -----END "),
        pem("PRIVATE KEY", &random.bytes(million)).into_bytes(),
        pem("PRIVATE KEY", &repeated(&[0x30])).into_bytes(),
        vec![0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
        vec![0x30, 0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        sequence(&[]),
        sequence(&[&integer(&big(0))]),
        b"-----BEGIN RSA PRIVATE KEY-----".to_vec(),
        b"-----END RSA PRIVATE KEY----------BEGIN RSA PRIVATE KEY-----".to_vec(),
        "-----BEGIN ключ-----\n-----END ключ-----\n".into(),
    ];
    // Numbers of a million bytes where a key has its own.
    inputs.push(sequence(&[&integer(&big(0)), &tlv(0x02, &vec![1; million]).repeat(8)]));
    inputs.extend((0..3000).map(|_| {
        let len = random.below(300);
        random.bytes(len)
    }));
    for (i, bytes) in inputs.iter().enumerate() {
        assert!(PrivateKey::parse(bytes).is_err(), "input {i} loads as a private key");
        assert!(PublicKey::parse(bytes).is_err(), "input {i} loads as a public key");
    }
}
