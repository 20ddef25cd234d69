//! Keys encrypted with a password: OpenSSL's, those of the `pkcs8` crate, and files made to do harm.
#![cfg(feature = "encryption")]

mod common;

use common::der::{integer, pem, sequence, tlv};
use common::keys::{KEY_1024, KEY_2048};
use common::numbers::big;
use common::openssl::OpenSsl;
use num_bigint::BigUint;
use pkcs8::der::Encode;
use pkcs8::pkcs5::pbes2::{Kdf, Parameters, Pbkdf2Params};
use pkcs8::pkcs5::{EncryptionScheme, pbes2};
use zariz::rsa::{KeyError, PrivateKey};
use zariz_needs::needs;

const LABEL: &str = "ENCRYPTED PRIVATE KEY";
const PASSWORD: &[u8] = "a l\u{f6}ng password".as_bytes();
const PBKDF2: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0c];
const PBES2: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d];
const SCRYPT: &[u8] = &[0x06, 0x09, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x04, 0x0b];
const AES_256_CBC: &[u8] = &[0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2a];

fn key() -> PrivateKey {
    PrivateKey::parse(&KEY_1024.pkcs8_der()).expect("a key")
}

/// The error of `bytes`, read with a password.
fn error(bytes: &[u8], password: &[u8]) -> KeyError {
    PrivateKey::parse_encrypted(bytes, password).expect_err("not a key for this password")
}

fn is_unsupported(error: &KeyError) -> bool {
    matches!(error, KeyError::Encryption(_))
}

/// The key in PBES2 with AES-256, by the `pkcs8` crate.
fn encrypted(iterations: u32, encryption: pbes2::EncryptionScheme, password: &[u8]) -> Vec<u8> {
    let kdf = Kdf::Pbkdf2(Pbkdf2Params::hmac_sha256(iterations, b"eight by").expect("parameters"));
    let scheme = EncryptionScheme::from(Parameters { kdf, encryption });
    let data = scheme.encrypt(password, &KEY_1024.pkcs8_der()).expect("encrypted");
    pkcs8::EncryptedPrivateKeyInfoRef {
        encryption_algorithm: scheme,
        encrypted_data: pkcs8::der::asn1::OctetStringRef::new(&data).expect("octets"),
    }
    .to_der()
    .expect("DER")
}

const CBC: pbes2::EncryptionScheme = pbes2::EncryptionScheme::Aes256Cbc { iv: [7; 16] };

/// PBES2 with these parameters of a key derivation, and `data`.
fn made_up(kdf: &[u8], parameters: &[&[u8]], data: &[u8]) -> Vec<u8> {
    let kdf = sequence(&[kdf, &sequence(parameters)]);
    let cipher = sequence(&[AES_256_CBC, &tlv(0x04, &[7; 16])]);
    sequence(&[&sequence(&[PBES2, &sequence(&[&kdf, &cipher])]), &tlv(0x04, data)])
}

#[needs("openssl")]
#[test]
fn openssl_keys_load_with_their_password() {
    let openssl = OpenSsl::new();
    openssl.write("plain.der", KEY_1024.pkcs8_der());
    let mut ways: Vec<String> =
        ["aes-128-cbc", "aes-192-cbc", "aes-256-cbc", "des3"].map(|cipher| format!("-v2 {cipher}")).into();
    for hash in ["SHA1", "SHA224", "SHA256", "SHA384", "SHA512"] {
        ways.push(format!("-v2 aes-256-cbc -v2prf hmacWith{hash} -iter 1000"));
    }
    ways.push("-scrypt".into());
    for way in ways {
        for form in ["PEM", "DER"] {
            let command =
                format!("pkcs8 -topk8 -inform DER -in plain.der {way} -passout pass:secret -outform {form}");
            let file = openssl.run(&command, b"");
            assert_eq!(PrivateKey::parse(&file).err(), Some(KeyError::Encrypted), "{way} {form}");
            let loaded =
                PrivateKey::parse_encrypted(&file, b"secret").unwrap_or_else(|e| panic!("{way} {form}: {e}"));
            assert_eq!(*loaded.to_der().expect("DER"), *key().to_der().expect("DER"));
            for wrong in [&b""[..], b"Secret", b"secret\n", b"secre", b"secret\0"] {
                // HMAC takes a key as if it were followed by zeros: passwords that differ only so are one
                // password.
                let expected = (wrong != b"secret\0").then_some(KeyError::Password);
                assert_eq!(PrivateKey::parse_encrypted(&file, wrong).err(), expected, "{way} {form}");
            }
        }
    }
}

#[test]
fn encrypted_keys_are_read_back() {
    let file = key().to_encrypted_pem(PASSWORD).expect("PEM");
    assert_eq!(PrivateKey::parse(file.as_bytes()).err(), Some(KeyError::Encrypted));
    assert_eq!(error(file.as_bytes(), b"another"), KeyError::Password);
    let loaded = PrivateKey::parse_encrypted(file.as_bytes(), PASSWORD).expect("a key");
    assert_eq!(*loaded.to_der().expect("DER"), *key().to_der().expect("DER"));
    assert_ne!(file, key().to_encrypted_pem(PASSWORD).expect("PEM"), "a salt of its own for each");
}

#[needs("openssl")]
#[test]
fn openssl_reads_the_encrypted_keys_that_we_write() {
    let file = key().to_encrypted_pem(PASSWORD).expect("PEM");
    let openssl = OpenSsl::new();
    openssl.write("password", PASSWORD);
    let der = openssl.run("pkey -passin file:password -outform DER", file.as_bytes());
    let opened = PrivateKey::parse(&der).expect("a key");
    assert_eq!(*opened.to_der().expect("DER"), *key().to_der().expect("DER"));
}

#[needs("openssl")]
#[test]
fn what_is_not_supported_is_named() {
    let openssl = OpenSsl::new();
    openssl.write("plain.der", KEY_1024.pkcs8_der());
    let rsa = "rsa -inform DER -in plain.der -aes128 -traditional -passout pass:secret";
    let pkcs8 = "pkcs8 -topk8 -inform DER -in plain.der -passout pass:secret";
    for (command, name) in [
        (format!("{pkcs8} -v1 PBE-SHA1-3DES"), "PBE-SHA1-3DES"),
        (format!("{pkcs8} -v1 PBE-SHA1-2DES"), "PBE-SHA1-2DES"),
        (format!("{pkcs8} -v2 camellia-256-cbc"), "PBES2, 1.2.840.113549.1.5.13 with PBKDF2"),
        (format!("{pkcs8} -v2 camellia-256-cbc"), "CAMELLIA-256-CBC"),
        (rsa.to_owned(), "Proc-Type: 4,ENCRYPTED"),
    ] {
        let file = openssl.run(&command, b"");
        let found = error(&file, b"secret");
        assert!(is_unsupported(&found), "{command}: {found}");
        let text = found.to_string();
        assert!(text.contains(name) && text.contains("openssl pkcs8 -topk8"), "{text}");
        // At once: a password would be of no use.
        assert_eq!(PrivateKey::parse(&file).err(), Some(found), "{command}");
        // The command that the error gives.
        openssl.write("KEY", file);
        openssl.run("pkcs8 -topk8 -in KEY -out CONVERTED -passin pass:secret -passout pass:secret", b"");
        let converted = PrivateKey::parse_encrypted(&openssl.read("CONVERTED"), b"secret").expect("a key");
        assert_eq!(converted.public_key(), key().public_key());
    }
    let ec = openssl
        .run("genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes256 -pass pass:secret", b"");
    assert!(matches!(error(&ec, b"secret"), KeyError::NotRsa(_)));
}

#[test]
fn keys_without_encryption_need_no_password() {
    for file in
        [KEY_1024.pkcs8_der(), KEY_1024.pkcs1_der(), pem("PRIVATE KEY", &KEY_1024.pkcs8_der()).into_bytes()]
    {
        let loaded = PrivateKey::parse_encrypted(&file, PASSWORD).expect("a key");
        assert_eq!(loaded.public_key(), key().public_key());
    }
    for junk in [&b""[..], b"junk", pem("CERTIFICATE", b"junk").as_bytes(), &[0x30; 300]] {
        assert_eq!(Some(error(junk, PASSWORD)), PrivateKey::parse(junk).err());
    }
    let file = pem(LABEL, &[0x30; 300]);
    assert!(matches!(error(file.as_bytes(), PASSWORD), KeyError::Der(_)));
}

/// Whether a password is given does not decide which of several keys is read.
#[test]
fn the_first_key_of_a_file_is_read() {
    let another = PrivateKey::parse(&KEY_2048.pkcs8_der()).expect("a key");
    let plain = pem("PRIVATE KEY", &KEY_2048.pkcs8_der());
    let sealed = pem(LABEL, &encrypted(1, CBC, PASSWORD));
    let certificate = pem("CERTIFICATE", b"junk");
    for (file, first) in
        [(format!("{certificate}{sealed}{plain}"), key()), (format!("{plain}{sealed}"), another)]
    {
        let loaded = PrivateKey::parse_encrypted(file.as_bytes(), PASSWORD).expect("a key");
        assert_eq!(loaded.public_key(), first.public_key());
        let without = PrivateKey::parse(file.as_bytes());
        assert_eq!(without.err(), (first.bits() == 1024).then_some(KeyError::Encrypted));
    }
    assert_eq!(
        PrivateKey::parse(format!("{certificate}{sealed}").as_bytes()).err(),
        Some(KeyError::Encrypted)
    );
    let public = pem("PUBLIC KEY", b"junk");
    assert_eq!(PrivateKey::parse(format!("{public}{sealed}").as_bytes()).err(), Some(KeyError::Encrypted));
}

#[test]
fn every_wrong_password_is_said_to_be_one() {
    for encryption in [CBC, pbes2::EncryptionScheme::Aes256Gcm { nonce: [3; 12] }] {
        let der = encrypted(1, encryption, PASSWORD);
        let file = pem(LABEL, &der);
        for good in [&der[..], file.as_bytes()] {
            let loaded = PrivateKey::parse_encrypted(good, PASSWORD).expect("a key");
            assert_eq!(loaded.public_key(), key().public_key());
        }
        // Many: one in 256 yields bytes that look as if they were padded.
        for wrong in 0u32..3000 {
            assert_eq!(error(&der, &wrong.to_be_bytes()), KeyError::Password, "password {wrong}");
        }
    }
}

#[test]
fn costs_that_do_harm_are_refused() {
    let (salt, data) = (tlv(0x04, b"eight by"), [0; 64]);
    for iterations in [0, 10_000_001, u64::from(u32::MAX)] {
        let file = made_up(PBKDF2, &[&salt, &integer(&big(iterations))], &data);
        let found = error(&file, PASSWORD);
        assert!(is_unsupported(&found), "{iterations} iterations: {found}");
    }
    // Just above the limit. If it were allowed, it would take seconds; some of those below, hours.
    let scrypt = [1 << 14, 8, 257].map(|number| integer(&big(number)));
    let found = error(&made_up(SCRYPT, &[&salt, &scrypt[0], &scrypt[1], &scrypt[2]], &data), PASSWORD);
    assert!(is_unsupported(&found), "{found}");
    let numbers: [u64; 12] =
        [0, 1, 2, 3, 1 << 14, (1 << 14) + 1, 1 << 20, 1 << 31, 1 << 32, 1 << 40, 1 << 63, u64::MAX];
    for n in numbers {
        for (r, p) in [(0, 1), (1, 0), (8, 1), (8, 65_535), (65_535, 1), (65_535, 65_535), (1, 65_535)] {
            let bytes = n.checked_mul(128 * r).and_then(|bytes| bytes.checked_mul(p));
            if bytes.is_some_and(|bytes| (1 << 26..=1 << 32).contains(&bytes)) {
                continue; // allowed, and slow
            }
            let file =
                made_up(SCRYPT, &[&salt, &integer(&big(n)), &integer(&big(r)), &integer(&big(p))], &data);
            let found = error(&file, PASSWORD);
            let is_cheap =
                n.is_power_of_two() && n > 1 && bytes.is_some_and(|bytes| 0 < bytes && bytes <= 1 << 32);
            assert_eq!(found == KeyError::Password, is_cheap, "N = {n}, r = {r}, p = {p}: {found}");
            assert!(is_cheap || is_unsupported(&found), "N = {n}, r = {r}, p = {p}: {found}");
        }
    }
    // Numbers that do not even fit.
    let huge = integer(&(BigUint::from(1u8) << 70));
    assert!(is_unsupported(&error(&made_up(PBKDF2, &[&salt, &huge], &data), PASSWORD)));
    assert!(is_unsupported(&error(&made_up(SCRYPT, &[&salt, &huge, &huge, &huge], &data), PASSWORD)));
    assert!(is_unsupported(&error(&made_up(PBES2, &[&salt], &data), PASSWORD)));
}

#[test]
fn damage_anywhere_is_an_error() {
    let der = encrypted(1, CBC, PASSWORD);
    for length in 0..der.len() {
        error(&der[..length], PASSWORD);
    }
    for byte in 0..der.len() {
        for bit in 0..8 {
            let mut damaged = der.clone();
            damaged[byte] ^= 1 << bit;
            // Some bits mean nothing, such as those of the version of the key inside.
            if let Ok(loaded) = PrivateKey::parse_encrypted(&damaged, PASSWORD) {
                assert_eq!(loaded.public_key(), key().public_key(), "bit {bit} of byte {byte}");
            }
        }
    }
}
