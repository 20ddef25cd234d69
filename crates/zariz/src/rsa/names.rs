//! Names of algorithms that keys have, and that zariz does not use.

use der::asn1::ObjectIdentifier;

/// The name of an algorithm with its object identifier, or the identifier alone.
pub fn of(oid: ObjectIdentifier) -> String {
    let text = oid.to_string();
    match NAMES.iter().find(|(known, _)| *known == text) {
        Some((_, name)) => format!("{name}, {text}"),
        None => text,
    }
}

/// As `openssl` has them: of keys, of encryptions (its option `-v1`), and of parts of PBES2.
const NAMES: &[(&str, &str)] = &[
    ("1.2.840.10040.4.1", "DSA"),
    ("1.2.840.10045.2.1", "EC"),
    ("1.2.840.10046.2.1", "DHX"),
    ("1.2.840.113549.1.3.1", "DH"),
    ("1.2.840.113549.1.1.7", "RSAES-OAEP"),
    ("1.3.101.110", "X25519"),
    ("1.3.101.111", "X448"),
    ("1.3.101.112", "ED25519"),
    ("1.3.101.113", "ED448"),
    ("2.16.840.1.101.3.4.3.17", "ML-DSA-44"),
    ("2.16.840.1.101.3.4.3.18", "ML-DSA-65"),
    ("2.16.840.1.101.3.4.3.19", "ML-DSA-87"),
    ("1.2.840.113549.1.5.1", "PBE-MD2-DES"),
    ("1.2.840.113549.1.5.3", "PBE-MD5-DES"),
    ("1.2.840.113549.1.5.4", "PBE-MD2-RC2-64"),
    ("1.2.840.113549.1.5.6", "PBE-MD5-RC2-64"),
    ("1.2.840.113549.1.5.10", "PBE-SHA1-DES"),
    ("1.2.840.113549.1.5.11", "PBE-SHA1-RC2-64"),
    ("1.2.840.113549.1.12.1.1", "PBE-SHA1-RC4-128"),
    ("1.2.840.113549.1.12.1.2", "PBE-SHA1-RC4-40"),
    ("1.2.840.113549.1.12.1.3", "PBE-SHA1-3DES"),
    ("1.2.840.113549.1.12.1.4", "PBE-SHA1-2DES"),
    ("1.2.840.113549.1.12.1.5", "PBE-SHA1-RC2-128"),
    ("1.2.840.113549.1.12.1.6", "PBE-SHA1-RC2-40"),
    ("1.2.840.113549.1.5.12", "PBKDF2"),
    ("1.2.840.113549.1.5.13", "PBES2"),
    ("1.3.6.1.4.1.11591.4.11", "scrypt"),
    ("1.3.14.3.2.7", "DES-CBC"),
    ("1.2.840.113549.3.2", "RC2-CBC"),
    ("1.2.392.200011.61.1.1.1.2", "CAMELLIA-128-CBC"),
    ("1.2.392.200011.61.1.1.1.4", "CAMELLIA-256-CBC"),
];
