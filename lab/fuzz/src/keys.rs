//! Keys of every format: any bytes, and good keys with a few changes.
//!
//! What loads is written and loads again as the same key, and signs what it verifies.

use std::sync::OnceLock;

use arbitrary::{Result, Unstructured};
use data_encoding::BASE64;
use pkcs8::EncryptedPrivateKeyInfoRef;
use pkcs8::der::Decode;
use pkcs8::pkcs5::EncryptionScheme;
use zariz::rsa::{Algorithm, Hash, PrivateKey, PssParameters, PublicKey, Usage};

use crate::script::Script;
use crate::structure::{self, edit, one_of};

const PASSWORD: &[u8] = b"zariz";

/// The target.
pub fn run(data: &[u8]) {
    // Bytes too few for a structure have none to test.
    let _ = structured(&mut Unstructured::new(data));
}

fn structured(u: &mut Unstructured) -> Result<()> {
    let key = if u.ratio(1, 4)? {
        u.bytes(u.len())?.to_vec()
    } else {
        let (label, good) = &good()[u.choose_index(good().len())?];
        let in_pem = u.ratio(1, 3)?;
        let mut key = good.clone();
        edit(u, &mut key)?;
        if in_pem && !is_dear(&key) {
            let label = if u.ratio(7, 8)? { label } else { one_of(u, &LABELS)? };
            key = pem(label, &key).into_bytes();
            edit(u, &mut key)?;
        }
        key
    };
    load(&key);
    Ok(())
}

/// Every format in DER and in PEM: as it is, and by its place among the good ones.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut out = vec![Script::default().ratio(4, true).raw(structure::PEMS[0].as_bytes()).0];
    for (i, (label, der)) in good().iter().enumerate() {
        out.push(Script::default().ratio(4, true).raw(der).0);
        out.push(Script::default().ratio(4, true).raw(pem(label, der).as_bytes()).0);
        let script = Script::default().ratio(4, false).at(i, good().len());
        out.push(script.clone().ratio(3, false).unedited().0);
        out.push(script.ratio(3, true).unedited().ratio(8, true).unedited().0);
    }
    out
}

/// Loads a key in every way, and tries what was loaded.
fn load(key: &[u8]) {
    if let Ok(key) = PublicKey::parse(key) {
        public(&key);
    }
    if let Ok(key) = PrivateKey::parse(key) {
        private(&key);
    }
    // In PEM the cost cannot be seen, so such a key is only tried where it was checked before.
    if !is_dear(key)
        && let Ok(key) = PrivateKey::parse_encrypted(key, PASSWORD)
    {
        private(&key);
    }
}

fn public(key: &PublicKey) {
    let der = key.to_der().expect("what was read can be written");
    assert_eq!(PublicKey::parse(&der).as_ref(), Ok(key));
    let pem = key.to_pem().expect("what was read can be written");
    assert_eq!(PublicKey::parse(pem.as_bytes()).as_ref(), Ok(key));
    if key.bits() <= 2048 {
        for algorithm in [Algorithm::RS256, Algorithm::PS256] {
            assert!(key.verify(algorithm, b"message", &vec![1; key.size()]).is_err());
        }
    }
}

fn private(key: &PrivateKey) {
    public(key.public_key());
    let der = key.to_der().expect("what was read can be written");
    let again = PrivateKey::parse(&der).expect("what was written can be read");
    assert!(again.components() == key.components(), "other numbers");
    assert_eq!(again.public_key(), key.public_key());
    let pem = key.to_pem().expect("what was read can be written");
    let again = PrivateKey::parse(pem.as_bytes()).expect("what was written can be read");
    assert!(again.components() == key.components(), "other numbers");
    if key.bits() <= 2048 {
        for algorithm in [Algorithm::RS256, Algorithm::PS256] {
            // A key with composite primes, or for PSS alone, may fail, but must not give a wrong signature.
            if let Ok(signature) = key.sign(algorithm, b"message") {
                assert_eq!(key.public_key().verify(algorithm, b"message", &signature), Ok(()));
            }
        }
    }
}

/// Whether the key says that its password costs more than a fuzzer has time for.
fn is_dear(key: &[u8]) -> bool {
    let text = String::from_utf8_lossy(key);
    if text.contains("-----BEGIN ") {
        // What is in a block decides, not its label.
        let body: String =
            text.lines().filter(|line| !line.contains("-----")).flat_map(str::split_whitespace).collect();
        return BASE64.decode(body.as_bytes()).map_or(true, |der| is_dear(&der));
    }
    let Ok(info) = EncryptedPrivateKeyInfoRef::from_der(key) else { return false };
    let EncryptionScheme::Pbes2(parameters) = &info.encryption_algorithm else { return false };
    parameters.kdf.pbkdf2().is_some_and(|kdf| kdf.iteration_count > 1000)
        || parameters.kdf.scrypt().is_some_and(|kdf| {
            let (r, p) = (u64::from(kdf.block_size), u64::from(kdf.parallelization));
            kdf.cost_parameter.saturating_mul(r).saturating_mul(p) > 1024
        })
}

const LABELS: [&str; 7] = [
    "PUBLIC KEY",
    "RSA PUBLIC KEY",
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "CERTIFICATE",
    "RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED",
];

fn pem(label: &str, der: &[u8]) -> String {
    let text = BASE64.encode(der);
    let lines: Vec<&str> =
        (0..text.len().div_ceil(64)).map(|i| &text[64 * i..text.len().min(64 * i + 64)]).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// A good key of each format, with its label in PEM.
fn good() -> &'static [(&'static str, Vec<u8>)] {
    static GOOD: OnceLock<Vec<(&str, Vec<u8>)>> = OnceLock::new();
    GOOD.get_or_init(|| {
        let key = &structure::keys()[0];
        let only = PssParameters { hash: Hash::Sha256, mgf1_hash: Hash::Sha1, min_salt_len: 20 };
        let mut out = Vec::new();
        for usage in [Usage::Any, Usage::Pss, Usage::PssWith(only)] {
            let key = key.with_usage(usage);
            out.push(("PUBLIC KEY", key.public_key().to_der().expect("a good key")));
            out.push(("PRIVATE KEY", key.to_der().expect("a good key").to_vec()));
        }
        let openssl =
            openssl::rsa::Rsa::private_key_from_pem(structure::PEMS[0].as_bytes()).expect("a good key");
        out.push(("RSA PRIVATE KEY", openssl.private_key_to_der().expect("a good key")));
        out.push(("RSA PUBLIC KEY", openssl.public_key_to_der_pkcs1().expect("a good key")));
        out.extend(encrypted(&out[1].1).into_iter().map(|key| ("ENCRYPTED PRIVATE KEY", key)));
        out
    })
}

/// A key encrypted in the ways that are read, at little cost.
fn encrypted(pkcs8: &[u8]) -> Vec<Vec<u8>> {
    use pkcs8::EncryptedPrivateKeyInfoRef;
    use pkcs8::der::{Encode, asn1::OctetStringRef};
    use pkcs8::pkcs5::pbes2::{EncryptionScheme as Cipher, Kdf, Parameters, Pbkdf2Params, Pbkdf2Prf};
    use pkcs8::pkcs5::scrypt::Params;

    let (salt, iv) = ([7; 16], [9; 16]);
    let cheap = Params::new(1, 1, 1).expect("good parameters");
    let pbkdf2 = |prf, encryption| {
        let parameters =
            Pbkdf2Params { prf, ..Pbkdf2Params::hmac_sha256(2, &salt).expect("good parameters") };
        Parameters { kdf: Kdf::Pbkdf2(parameters), encryption }
    };
    let parameters = [
        pbkdf2(Pbkdf2Prf::HmacWithSha1, Cipher::DesEde3Cbc { iv: [9; 8] }),
        pbkdf2(Pbkdf2Prf::HmacWithSha224, Cipher::Aes128Cbc { iv }),
        pbkdf2(Pbkdf2Prf::HmacWithSha256, Cipher::Aes256Cbc { iv }),
        pbkdf2(Pbkdf2Prf::HmacWithSha384, Cipher::Aes192Cbc { iv }),
        pbkdf2(Pbkdf2Prf::HmacWithSha512, Cipher::Aes256Cbc { iv }),
        Parameters::generate_scrypt_aes256cbc(cheap, &salt, iv).expect("good parameters"),
    ];
    let encrypt = |parameters: Parameters| {
        let scheme = EncryptionScheme::from(parameters);
        let octets = scheme.encrypt(PASSWORD, pkcs8).expect("a good key");
        let encrypted_data = OctetStringRef::new(&octets).expect("a short key");
        EncryptedPrivateKeyInfoRef { encryption_algorithm: scheme, encrypted_data }
            .to_der()
            .expect("a short key")
    };
    parameters.into_iter().map(encrypt).collect()
}
