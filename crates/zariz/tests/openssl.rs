//! Signatures and encryption both ways with the system's `openssl`, on every engine.
#![cfg(feature = "rsa")]

mod common;

use common::der::pem;
use common::engines;
use common::keys::{Numbers, USUAL, fits, load};
use common::openssl::OpenSsl;
use zariz::rsa::{Algorithm, Error, Hash, Mgf, Padding};
use zariz_needs::needs;

fn openssl_with(numbers: &Numbers) -> OpenSsl {
    let openssl = OpenSsl::new();
    openssl.write("key.pem", pem("RSA PRIVATE KEY", &numbers.pkcs1_der()));
    openssl.write("public.pem", pem("PUBLIC KEY", &numbers.spki_der()));
    openssl
}

/// The options of `openssl dgst` for one of the named algorithms.
fn dgst(algorithm: Algorithm) -> String {
    let name = algorithm.name().expect("a named algorithm");
    let (kind, bits) = name.split_at(2);
    let salt_len = algorithm.hash().size();
    match kind {
        "RS" => format!("dgst -sha{bits}"),
        _ => format!("dgst -sha{bits} -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:{salt_len}"),
    }
}

#[needs("openssl")]
#[test]
fn signatures_go_both_ways() {
    for numbers in &*USUAL {
        let openssl = openssl_with(numbers);
        let keys: Vec<_> = engines().into_iter().map(|engine| load(numbers, engine)).collect();
        let message = format!("a message of {} bits", numbers.n.bits()).into_bytes();
        for algorithm in Algorithm::NAMED.iter().copied() {
            let (name, options) = (algorithm.name().expect("a name"), dgst(algorithm));
            let theirs = openssl.attempt(&format!("{options} -sign key.pem"), &message);
            if !fits(algorithm, numbers.size()) {
                assert!(theirs.is_err());
                assert!(keys.iter().all(|key| key.sign(algorithm, &message) == Err(Error::KeyTooShort)));
                continue;
            }
            let theirs = theirs.expect("a signature");
            for key in &keys {
                let what = format!("{name}, {} bits, {}", key.bits(), key.engine());
                assert_eq!(key.public_key().verify(algorithm, &message, &theirs), Ok(()), "{what}");
                let other = key.public_key().verify(algorithm, b"another message", &theirs);
                assert_eq!(other, Err(Error::Verification), "{what}");
                let ours = key.sign(algorithm, &message).unwrap_or_else(|error| panic!("{what}: {error}"));
                if let Algorithm::Pkcs1v15(_) = algorithm {
                    assert_eq!(ours, theirs, "{what}: one right signature");
                }
                openssl.write("signature", &ours);
                openssl.run(&format!("{options} -verify public.pem -signature signature"), &message);
                // The program does refuse what is wrong.
                let verdict =
                    openssl.attempt(&format!("{options} -verify public.pem -signature signature"), b"other");
                assert!(verdict.is_err(), "{what}");
            }
        }
    }
}

#[needs("openssl")]
#[test]
fn other_hashes_as_openssl_signs_them() {
    let numbers = &USUAL[2];
    let openssl = openssl_with(numbers);
    let hashes = [
        ("sha1", Hash::Sha1),
        ("sha224", Hash::Sha224),
        ("sha512-224", Hash::Sha512_224),
        ("sha512-256", Hash::Sha512_256),
        ("sha3-224", Hash::Sha3_224),
        ("sha3-256", Hash::Sha3_256),
        ("sha3-384", Hash::Sha3_384),
        ("sha3-512", Hash::Sha3_512),
    ];
    for engine in engines() {
        let key = load(numbers, engine);
        for (name, hash) in hashes {
            let ours = key.sign(Algorithm::Pkcs1v15(hash), b"message").expect("a signature");
            assert_eq!(ours, openssl.run(&format!("dgst -{name} -sign key.pem"), b"message"), "{name}");
            let algorithm = Algorithm::Pss { hash, mgf: Mgf::Mgf1(Hash::Sha256), salt_len: 17 };
            let ours = key.sign(algorithm, b"message").expect("a signature");
            openssl.write("signature", &ours);
            let options =
                "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:17 -sigopt rsa_mgf1_md:sha256";
            openssl
                .run(&format!("dgst -{name} {options} -verify public.pem -signature signature"), b"message");
        }
    }
}

#[needs("openssl")]
#[test]
fn encryption_goes_both_ways() {
    let label = b"a label".to_vec();
    let oaep = "-pkeyopt rsa_padding_mode:oaep";
    let cases = [
        (Padding::Pkcs1v15, "-pkeyopt rsa_padding_mode:pkcs1".to_owned()),
        (Padding::oaep(Hash::Sha1), oaep.to_owned()),
        (Padding::oaep(Hash::Sha256), format!("{oaep} -pkeyopt rsa_oaep_md:sha256")),
        (
            Padding::Oaep { hash: Hash::Sha256, mgf: Mgf::Mgf1(Hash::Sha1), label: Vec::new() },
            format!("{oaep} -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha1"),
        ),
        (
            Padding::Oaep { hash: Hash::Sha256, mgf: Mgf::Mgf1(Hash::Sha256), label },
            format!("{oaep} -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_oaep_label:61206c6162656c"),
        ),
    ];
    for numbers in &*USUAL {
        let openssl = openssl_with(numbers);
        let keys: Vec<_> = engines().into_iter().map(|engine| load(numbers, engine)).collect();
        for (padding, options) in &cases {
            let messages: [&[u8]; 3] = [b"x", b"attack at dawn", &[0; 50]];
            let theirs = messages.map(|message| {
                openssl.run(&format!("pkeyutl -encrypt -pubin -inkey public.pem {options}"), message)
            });
            for key in &keys {
                let what = format!("{padding:?}, {} bits, {}", key.bits(), key.engine());
                let opened = key.decrypt_batch(padding, &theirs.each_ref().map(|ciphertext| &ciphertext[..]));
                for (message, opened) in messages.iter().zip(opened) {
                    assert_eq!(
                        opened.unwrap_or_else(|error| panic!("{what}: {error}"))[..],
                        **message,
                        "{what}"
                    );
                    let ours = key.public_key().encrypt(padding, message).expect("a ciphertext");
                    let opened = openssl.run(&format!("pkeyutl -decrypt -inkey key.pem {options}"), &ours);
                    assert_eq!(opened, *message, "{what}");
                }
            }
        }
    }
}

#[cfg(feature = "keygen")]
#[needs("openssl")]
#[test]
fn generated_keys_satisfy_openssl() {
    let mut seen = Vec::new();
    for (bits, engine) in [1024, 1025, 1031, 1536, 2048].into_iter().zip(engines().into_iter().cycle()) {
        let key =
            zariz::rsa::PrivateKey::generate(bits).expect("a key").with_engine(engine).expect("available");
        assert_eq!((key.bits(), key.size(), key.engine()), (bits, bits.div_ceil(8), engine));
        assert_eq!(key.public_key().e(), [1, 0, 1]);
        let signature = key.sign(Algorithm::RS256, b"message").expect("a signature");
        assert_eq!(key.public_key().verify(Algorithm::RS256, b"message", &signature), Ok(()));
        seen.push(key.public_key().n());
        let openssl = OpenSsl::new();
        openssl.write("key.pem", key.to_pem().expect("a PEM block").as_bytes());
        let verdict = openssl.run("rsa -in key.pem -check -noout", b"");
        assert!(String::from_utf8_lossy(&verdict).contains("RSA key ok"));
        assert_eq!(openssl.run("dgst -sha256 -sign key.pem", b"message"), signature);
    }
    seen.push(zariz::rsa::PrivateKey::generate(1024).expect("a key").public_key().n());
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 6, "no modulus twice");
}
