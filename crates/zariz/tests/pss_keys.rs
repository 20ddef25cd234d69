//! Keys that their algorithm identifier restricts to PSS, with parameters or without (RFC 4055).
#![cfg(feature = "rsa")]

mod common;

use common::der::{pem, sequence, tlv};
use common::engines;
use common::keys::USUAL;
use common::numbers::big;
use common::openssl::OpenSsl;
use zariz::rsa::{
    Algorithm, Error, Hash, KeyError, Message, Mgf, Padding, PrivateKey, PssParameters, PublicKey, Usage,
};
use zariz_needs::needs;

const RSA_ENCRYPTION: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const RSASSA_PSS: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a];
const MGF1: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x08];
const MD5: &[u8] = &[0x06, 0x08, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x05];
const SHA1: &[u8] = &[0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a];
const SHA256: &[u8] = &[0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01];
const SHA512: &[u8] = &[0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03];
const NULL: &[u8] = &[0x05, 0x00];

/// A field with an explicit tag.
fn field(number: u8, value: &[u8]) -> Vec<u8> {
    tlv(0xa0 | number, value)
}

fn hash(oid: &[u8], parameters: &[u8]) -> Vec<u8> {
    field(0, &sequence(&[oid, parameters]))
}

fn mgf1(oid: &[u8], parameters: &[u8]) -> Vec<u8> {
    field(1, &sequence(&[MGF1, &sequence(&[oid, parameters])]))
}

fn salt(content: &[u8]) -> Vec<u8> {
    field(2, &tlv(0x02, content))
}

/// The DER of both keys with that algorithm identifier.
fn keys(algorithm: &[u8], parameters: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (numbers, algorithm) = (&USUAL[2], sequence(&[algorithm, parameters]));
    let private = sequence(&[&tlv(0x02, &[0]), &algorithm, &tlv(0x04, &numbers.pkcs1_der())]);
    let public = sequence(&[&algorithm, &tlv(0x03, &[&[0], &numbers.public_pkcs1_der()[..]].concat())]);
    (private, public)
}

fn load(algorithm: &[u8], parameters: &[u8]) -> [Result<Usage, KeyError>; 2] {
    let (private, public) = keys(algorithm, parameters);
    let private = PrivateKey::parse(&private).map(|key| key.public_key().usage());
    [private, PublicKey::parse(&public).map(|key| key.usage())]
}

fn restriction(hash: Hash, mgf1_hash: Hash, min_salt_len: u16) -> PssParameters {
    PssParameters { hash, mgf1_hash, min_salt_len }
}

#[test]
fn parameters_are_read_and_written() {
    use Hash::{Sha1, Sha256, Sha512};
    let all = |parts: &[Vec<u8>]| sequence(&[&parts.concat()]);
    // As OpenSSL writes them: these are written again as they were.
    let canonical = [
        (all(&[]), restriction(Sha1, Sha1, 20)),
        (all(&[hash(SHA256, NULL)]), restriction(Sha256, Sha1, 20)),
        (all(&[mgf1(SHA256, NULL)]), restriction(Sha1, Sha256, 20)),
        (all(&[salt(&[0])]), restriction(Sha1, Sha1, 0)),
        (all(&[hash(SHA512, NULL), mgf1(SHA512, NULL), salt(&[64])]), restriction(Sha512, Sha512, 64)),
        (all(&[hash(SHA256, NULL), mgf1(SHA512, NULL), salt(&[0, 255])]), restriction(Sha256, Sha512, 255)),
        (all(&[hash(SHA256, NULL), mgf1(SHA256, NULL), salt(&[1, 0])]), restriction(Sha256, Sha256, 256)),
        (all(&[hash(SHA256, NULL), mgf1(SHA256, NULL), salt(&[1, 222])]), restriction(Sha256, Sha256, 478)),
        (all(&[salt(&[0, 255, 255])]), restriction(Sha1, Sha1, 65_535)),
    ];
    for (parameters, expected) in canonical {
        let (private, public) = keys(RSASSA_PSS, &parameters);
        let key = PrivateKey::parse(&private).expect("a private key");
        assert_eq!(key.public_key().usage(), Usage::PssWith(expected));
        assert_eq!(*key.to_der().expect("DER"), private, "{expected:?}");
        let key = PublicKey::parse(&public).expect("a public key");
        assert_eq!(key.usage(), Usage::PssWith(expected));
        assert_eq!(key.to_der().expect("DER"), public, "{expected:?}");
        let pem = pem("PUBLIC KEY", &public);
        assert_eq!(PublicKey::parse(pem.as_bytes()), Ok(key));
    }
    // Allowed, and not what we write.
    let others = [
        (all(&[hash(SHA256, &[]), mgf1(SHA256, &[])]), restriction(Sha256, Sha256, 20)),
        (all(&[hash(SHA1, NULL), mgf1(SHA1, NULL), salt(&[20])]), restriction(Sha1, Sha1, 20)),
        (all(&[field(3, &tlv(0x02, &[1]))]), restriction(Sha1, Sha1, 20)),
    ];
    for (parameters, expected) in others {
        let usage = Ok(Usage::PssWith(expected));
        assert_eq!(load(RSASSA_PSS, &parameters), [usage.clone(), usage]);
    }
    assert_eq!(load(RSASSA_PSS, &[]), [Ok(Usage::Pss), Ok(Usage::Pss)]);
    assert_eq!(load(RSA_ENCRYPTION, NULL), [Ok(Usage::Any), Ok(Usage::Any)]);
    assert_eq!(load(RSA_ENCRYPTION, &[]), [Ok(Usage::Any), Ok(Usage::Any)]);
}

#[test]
fn a_restriction_can_be_made_and_is_written() {
    let private = PrivateKey::parse(&keys(RSA_ENCRYPTION, NULL).0).expect("a key");
    let with = Usage::PssWith(restriction(Hash::Sha256, Hash::Sha256, 32));
    for usage in [Usage::Any, Usage::Pss, with] {
        let key = private.with_usage(usage);
        let public = private.public_key().with_usage(usage);
        assert_eq!((key.public_key(), public.usage()), (&public, usage));
        let written = PrivateKey::parse(&key.to_der().expect("DER")).expect("a key");
        assert_eq!(written.public_key(), &public);
        assert_eq!(PublicKey::parse(&public.to_der().expect("DER")).as_ref(), Ok(&public));
        let again = PrivateKey::from_components(&key.components()).expect("a key");
        assert_eq!(again.public_key().usage(), Usage::Any, "components do not include it");
        assert_eq!(again.with_usage(usage).public_key(), &public);

        let restricted = if usage == Usage::Any { Ok(()) } else { Err(Error::PssOnly) };
        assert_eq!(usage.allows_encryption(), restricted);
        assert_eq!(key.sign(Algorithm::RS256, b"message").map(drop), restricted);
        assert_eq!(public.encrypt(&Padding::Pkcs1v15, b"message").map(drop), restricted);
        let signature = key.sign(Algorithm::PS256, b"message").expect("a signature");
        assert_eq!(public.verify(Algorithm::PS256, b"message", &signature), Ok(()));
        assert_eq!(private.public_key().usage(), Usage::Any, "the original is as it was");
    }
    let unwritten = Usage::PssWith(restriction(Hash::Shake128, Hash::Shake128, 32));
    assert!(private.with_usage(unwritten).to_der().is_err());
    assert!(private.public_key().with_usage(unwritten).to_der().is_err());
}

#[test]
fn other_parameters_are_refused() {
    let all = |parts: &[Vec<u8>]| sequence(&[&parts.concat()]);
    let good = [hash(SHA256, NULL), mgf1(SHA256, NULL), salt(&[32])];
    let [h, m, s] = good.clone();
    assert!(load(RSASSA_PSS, &all(&good)).iter().all(Result::is_ok));
    let sequence_of_good = all(&good);
    let wrong: Vec<(&str, &[u8], Vec<u8>)> = vec![
        ("PSS with NULL", RSASSA_PSS, NULL.to_vec()),
        ("PSS with an integer", RSASSA_PSS, tlv(0x02, &[1])),
        ("an unknown hash", RSASSA_PSS, all(&[hash(MD5, NULL), m.clone(), s.clone()])),
        ("an unknown hash in MGF1", RSASSA_PSS, all(&[h.clone(), mgf1(MD5, NULL), s.clone()])),
        ("a hash with parameters", RSASSA_PSS, all(&[hash(SHA256, &tlv(0x02, &[1])), m.clone(), s.clone()])),
        ("MGF1 without a hash", RSASSA_PSS, all(&[h.clone(), field(1, &sequence(&[MGF1])), s.clone()])),
        (
            "another mask-generation function",
            RSASSA_PSS,
            all(&[h.clone(), field(1, &sequence(&[SHA256, &sequence(&[SHA256, NULL])])), s.clone()]),
        ),
        ("a negative salt", RSASSA_PSS, all(&[h.clone(), m.clone(), salt(&[0xff])])),
        ("a salt of 65,536 bytes", RSASSA_PSS, all(&[h.clone(), m.clone(), salt(&[1, 0, 0])])),
        ("the usual salt in two bytes", RSASSA_PSS, all(&[h.clone(), m.clone(), salt(&[0, 32])])),
        ("trailer 2", RSASSA_PSS, all(&[h.clone(), m.clone(), s.clone(), field(3, &tlv(0x02, &[2]))])),
        ("out of order", RSASSA_PSS, all(&[m.clone(), h.clone(), s.clone()])),
        ("twice the hash", RSASSA_PSS, all(&[h.clone(), h.clone(), m.clone(), s.clone()])),
        ("something behind", RSASSA_PSS, all(&[h, m, s, NULL.to_vec()])),
        ("rsaEncryption with parameters of PSS", RSA_ENCRYPTION, sequence_of_good),
        ("rsaEncryption with an empty sequence", RSA_ENCRYPTION, sequence(&[])),
        ("rsaEncryption with an integer", RSA_ENCRYPTION, common::der::integer(&big(5))),
    ];
    for (what, algorithm, parameters) in wrong {
        for result in load(algorithm, &parameters) {
            assert!(matches!(result, Err(KeyError::Parameters(_))), "{what}: {result:?}");
        }
    }
}

#[test]
fn what_the_parameters_do_not_allow_is_refused() {
    let only = restriction(Hash::Sha512, Hash::Sha512, 64);
    let (private, public) =
        keys(RSASSA_PSS, &sequence(&[&hash(SHA512, NULL), &mgf1(SHA512, NULL), &salt(&[64])]));
    let pss = |hash, mgf, salt_len| Algorithm::Pss { hash, mgf, salt_len };
    let allowed = [Algorithm::PS512, pss(Hash::Sha512, Mgf::Mgf1(Hash::Sha512), 65)];
    let refused = [
        Algorithm::PS256,
        Algorithm::PS384,
        pss(Hash::Sha512, Mgf::Mgf1(Hash::Sha512), 63),
        pss(Hash::Sha512, Mgf::Mgf1(Hash::Sha256), 64),
        pss(Hash::Sha512, Mgf::Shake256, 64),
        pss(Hash::Sha3_512, Mgf::Mgf1(Hash::Sha512), 64),
    ];
    let message: &[u8] = b"message";
    for engine in engines() {
        let unrestricted =
            PrivateKey::parse(&USUAL[2].pkcs1_der()).expect("a key").with_engine(engine).expect("available");
        let key = PrivateKey::parse(&private).expect("a private key").with_engine(engine).expect("available");
        let publics = [
            key.public_key().clone(),
            PublicKey::parse(&public).expect("a public key").with_engine(engine).expect("available"),
        ];
        for algorithm in allowed {
            let signature = key.sign(algorithm, message).expect("a signature");
            assert!(publics.iter().all(|key| key.verify(algorithm, message, &signature) == Ok(())));
        }
        for algorithm in refused {
            let error = Err(Error::PssParameters(only));
            let digest = algorithm.hash().digest(&[message]);
            assert_eq!(key.sign(algorithm, message), error.map(|()| Vec::new()), "{algorithm:?}");
            assert_eq!(key.sign(algorithm, Message::Digest(&digest)).err(), Some(Error::PssParameters(only)));
            let signature = unrestricted.sign(algorithm, message).expect("a signature");
            for key in &publics {
                assert_eq!(key.verify(algorithm, message, &signature), error, "{algorithm:?}");
                assert_eq!(
                    key.verify(algorithm, Message::Digest(&digest), &signature),
                    error,
                    "{algorithm:?}"
                );
            }
        }
        let signature = unrestricted.sign(Algorithm::RS512, message).expect("a signature");
        assert_eq!(key.sign(Algorithm::RS512, message).err(), Some(Error::PssOnly));
        for padding in [Padding::Pkcs1v15, Padding::oaep(Hash::Sha512)] {
            assert_eq!(key.decrypt(&padding, &signature).err(), Some(Error::PssOnly));
            assert!(publics.iter().all(|key| key.encrypt(&padding, message) == Err(Error::PssOnly)));
        }
        assert_eq!(publics[0].verify(Algorithm::RS512, message, &signature), Err(Error::PssOnly));
        // What it may do is part of a key.
        assert_ne!(publics[0], *unrestricted.public_key());
    }
    let text = Error::PssParameters(only).to_string();
    assert!(text.contains("SHA-512, MGF1 with SHA-512 and a salt of at least 64 bytes"), "{text}");
}

/// Keys that the program `openssl` makes: read, used and written as it does.
#[needs("openssl")]
#[test]
fn restricted_keys_of_openssl() {
    let openssl = OpenSsl::new();
    let cases = [
        ("", None, Algorithm::PS256),
        // The longest salt that fits this size; 4096 bits have room for 478 bytes.
        (
            "sha256 sha256 158",
            Some(restriction(Hash::Sha256, Hash::Sha256, 158)),
            Algorithm::pss(Hash::Sha256, 158),
        ),
        ("sha1 sha1 20", Some(restriction(Hash::Sha1, Hash::Sha1, 20)), Algorithm::pss(Hash::Sha1, 20)),
        ("sha256 sha256 32", Some(restriction(Hash::Sha256, Hash::Sha256, 32)), Algorithm::PS256),
        ("sha512 sha512 64", Some(restriction(Hash::Sha512, Hash::Sha512, 64)), Algorithm::PS512),
        (
            "sha384 sha256 11",
            Some(restriction(Hash::Sha384, Hash::Sha256, 11)),
            Algorithm::Pss { hash: Hash::Sha384, mgf: Mgf::Mgf1(Hash::Sha256), salt_len: 12 },
        ),
        (
            "sha224 sha224 0",
            Some(restriction(Hash::Sha224, Hash::Sha224, 0)),
            Algorithm::pss(Hash::Sha224, 0),
        ),
    ];
    for (settings, expected, algorithm) in cases {
        let words: Vec<&str> = settings.split_whitespace().collect();
        let options = match words[..] {
            [md, mgf1, salt] => format!(
                "-pkeyopt rsa_pss_keygen_md:{md} -pkeyopt rsa_pss_keygen_mgf1_md:{mgf1} -pkeyopt rsa_pss_keygen_saltlen:{salt}"
            ),
            _ => String::new(),
        };
        openssl.run(
            &format!("genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:1536 {options} -out key.pem"),
            b"",
        );
        openssl.run("pkey -in key.pem -pubout -out public.pem", b"");
        let (private, public) = (openssl.read("key.pem"), openssl.read("public.pem"));
        let key = PrivateKey::parse(&private).unwrap_or_else(|error| panic!("{settings}: {error}"));
        assert_eq!(key.public_key().usage(), expected.map_or(Usage::Pss, Usage::PssWith), "{settings}");
        assert_eq!(*key.to_pem().expect("PEM").as_bytes(), private, "{settings}");
        assert_eq!(key.public_key().to_pem().expect("PEM").as_bytes(), public, "{settings}");
        assert_eq!(PublicKey::parse(&public).as_ref(), Ok(key.public_key()), "{settings}");

        let (Algorithm::Pss { hash, mgf: Mgf::Mgf1(mgf1), salt_len }, message) = (algorithm, b"message")
        else {
            panic!("PSS with MGF1")
        };
        let name = |hash: Hash| hash.name().replace("SHA-", "sha").replace('/', "-");
        let dgst = format!(
            "dgst -{} -sigopt rsa_padding_mode:pss -sigopt rsa_mgf1_md:{} -sigopt rsa_pss_saltlen:{salt_len}",
            name(hash),
            name(mgf1)
        );
        let theirs = openssl.attempt(&format!("{dgst} -sign key.pem"), message);
        let ours = key.sign(algorithm, message);
        assert_eq!(theirs.is_ok(), ours.is_ok(), "{settings}: {theirs:?}, {ours:?}");
        if let (Ok(theirs), Ok(ours)) = (theirs, ours) {
            assert_eq!(key.public_key().verify(algorithm, message, &theirs), Ok(()), "{settings}");
            openssl.write("signature", ours);
            openssl.run(&format!("{dgst} -verify public.pem -signature signature"), message);
        }
        // A salt below the shortest, and another hash: both refuse.
        if let Some(only) = expected {
            for (hash, salt_len) in
                [(only.hash, usize::from(only.min_salt_len).saturating_sub(1)), (Hash::Sha224, 64)]
            {
                let algorithm = Algorithm::Pss { hash, mgf: Mgf::Mgf1(only.mgf1_hash), salt_len };
                let dgst = format!(
                    "dgst -{} -sigopt rsa_padding_mode:pss -sigopt rsa_mgf1_md:{} -sigopt rsa_pss_saltlen:{salt_len}",
                    name(hash),
                    name(only.mgf1_hash)
                );
                let theirs = openssl.attempt(&format!("{dgst} -sign key.pem"), message);
                let ours = key.sign(algorithm, message);
                assert_eq!(theirs.is_ok(), ours.is_ok(), "{settings}, {algorithm:?}: {theirs:?}, {ours:?}");
            }
        }
    }
}

/// The longest salt that OpenSSL makes for 4096 bits: the key is read, and does what it says.
#[needs("openssl")]
#[test]
fn a_salt_of_478_bytes() {
    let openssl = OpenSsl::new();
    let parameters =
        ["md:sha256", "mgf1_md:sha256", "saltlen:478"].map(|name| format!("-pkeyopt rsa_pss_keygen_{name}"));
    let options = format!("-pkeyopt rsa_keygen_bits:4096 {}", parameters.join(" "));
    openssl.run(&format!("genpkey -algorithm RSA-PSS {options} -out key.pem"), b"");
    openssl.run("pkey -in key.pem -pubout -out public.pem", b"");
    let (private, public) = (openssl.read("key.pem"), openssl.read("public.pem"));
    let key = PrivateKey::parse(&private).expect("a private key");
    let public = PublicKey::parse(&public).expect("a public key");
    assert_eq!(public.usage(), Usage::PssWith(restriction(Hash::Sha256, Hash::Sha256, 478)));
    let (longest, message) = (Algorithm::pss(Hash::Sha256, 478), b"message");
    let theirs = openssl.run("dgst -sha256 -sign key.pem", message);
    assert_eq!(public.verify(longest, message, &theirs), Ok(()));
    openssl.write("signature", key.sign(longest, message).expect("a signature"));
    openssl.run("dgst -sha256 -verify public.pem -signature signature", message);
    for error in
        [key.sign(Algorithm::PS256, message).err(), public.verify(Algorithm::PS256, message, &theirs).err()]
    {
        let text = error.expect("a salt of 32 bytes").to_string();
        assert!(text.contains("a salt of at least 478 bytes"), "{text}");
    }
}

/// OpenSSL 3.0 signs with the longest salt unless told otherwise, which PS256 does not allow: the error says
/// so.
#[needs("openssl")]
#[test]
fn another_salt_is_named() {
    let openssl = OpenSsl::new();
    openssl.write("key.der", USUAL[2].pkcs1_der());
    let public = PublicKey::parse(&USUAL[2].spki_der()).expect("a public key");
    let longest = public.size() - 32 - 2;
    for (word, actual) in [("max", longest), ("20", 20), ("0", 0)] {
        let options = format!("-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:{word}");
        let signature =
            openssl.run(&format!("dgst -sha256 {options} -keyform DER -sign key.der"), b"message");
        let error = public.verify(Algorithm::PS256, b"message", &signature).expect_err("another salt");
        assert_eq!(error, Error::SaltLength { expected: 32, actual });
        let text = error.to_string();
        assert!(text.contains(&format!("{actual} bytes")) && text.contains("32"), "{text}");
        assert!(text.contains("-sigopt rsa_pss_saltlen:32"), "{text}");
    }
}
