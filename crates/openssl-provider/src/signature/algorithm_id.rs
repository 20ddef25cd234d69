//! The DER algorithm identifier of a signature, for certificates and requests.

use const_oid::ObjectIdentifier;

use super::scheme::{Lengths, Scheme};
use crate::digest::Digest;
use crate::failure::{Failure, Outcome, Reason};
use crate::padding::Padding;

const SEQUENCE: u8 = 0x30;
const OID: u8 = 0x06;
const INTEGER: u8 = 0x02;
const NULL: &[u8] = &[0x05, 0x00];

const PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
const MGF1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.8");

/// For each digest, by OpenSSL's main name: its own identifier, and that of its PKCS#1 v1.5 signatures (RFC
/// 8017 appendix C; NIST's for SHA-3).
const DIGESTS: &[(&str, ObjectIdentifier, ObjectIdentifier)] = &[
    entry("MD5", "1.2.840.113549.2.5", "1.2.840.113549.1.1.4"),
    entry("SHA1", "1.3.14.3.2.26", "1.2.840.113549.1.1.5"),
    entry("SHA2-224", "2.16.840.1.101.3.4.2.4", "1.2.840.113549.1.1.14"),
    entry("SHA2-256", "2.16.840.1.101.3.4.2.1", "1.2.840.113549.1.1.11"),
    entry("SHA2-384", "2.16.840.1.101.3.4.2.2", "1.2.840.113549.1.1.12"),
    entry("SHA2-512", "2.16.840.1.101.3.4.2.3", "1.2.840.113549.1.1.13"),
    entry("SHA2-512/224", "2.16.840.1.101.3.4.2.5", "1.2.840.113549.1.1.15"),
    entry("SHA2-512/256", "2.16.840.1.101.3.4.2.6", "1.2.840.113549.1.1.16"),
    entry("SHA3-224", "2.16.840.1.101.3.4.2.7", "2.16.840.1.101.3.4.3.13"),
    entry("SHA3-256", "2.16.840.1.101.3.4.2.8", "2.16.840.1.101.3.4.3.14"),
    entry("SHA3-384", "2.16.840.1.101.3.4.2.9", "2.16.840.1.101.3.4.3.15"),
    entry("SHA3-512", "2.16.840.1.101.3.4.2.10", "2.16.840.1.101.3.4.3.16"),
    entry("RIPEMD-160", "1.3.36.3.2.1", "1.3.36.3.3.1.2"),
    entry("MD4", "1.2.840.113549.2.4", "1.2.840.113549.1.1.3"),
    entry("MDC2", "1.3.14.3.2.19", "1.3.14.3.2.14"),
];

const fn entry(
    name: &'static str,
    digest: &str,
    signature: &str,
) -> (&'static str, ObjectIdentifier, ObjectIdentifier) {
    (name, ObjectIdentifier::new_unwrap(digest), ObjectIdentifier::new_unwrap(signature))
}

/// The identifier.
pub fn encode(scheme: &Scheme, key: Lengths) -> Outcome<Vec<u8>> {
    let unsupported =
        || Failure::new(Reason::Digest, "there is no algorithm identifier for this digest and padding");
    let digest = scheme.digest.as_ref().ok_or_else(unsupported)?;
    let find = |digest: &Digest| DIGESTS.iter().find(|known| known.0.eq_ignore_ascii_case(digest.md.name()));
    let &(_, hash, signature) = find(digest).ok_or_else(unsupported)?;
    match scheme.padding {
        Padding::Pkcs1 => Ok(sequence(&[oid(signature), NULL.to_vec()])),
        Padding::Pss => {
            let mgf1 = find(scheme.mgf1().unwrap_or(digest)).ok_or_else(unsupported)?.1;
            let salt = scheme.salt.to_sign(digest.hash().ok_or_else(unsupported)?, key.bits)?;
            Ok(sequence(&[oid(PSS), pss(hash, mgf1, salt)]))
        }
        _ => Err(unsupported()),
    }
}

/// The parameters of PSS (RFC 8017 appendix A.2.3), without those with default values.
fn pss(hash: ObjectIdentifier, mgf1: ObjectIdentifier, salt: usize) -> Vec<u8> {
    const DEFAULT_SALT: usize = 20;
    const SHA1: ObjectIdentifier = DIGESTS[1].1;
    let algorithm = |hash| sequence(&[oid(hash), NULL.to_vec()]);
    let mut parts = Vec::new();
    if hash != SHA1 {
        parts.push(tagged(0xa0, &[algorithm(hash)]));
    }
    if mgf1 != SHA1 {
        parts.push(tagged(0xa1, &[sequence(&[oid(MGF1), algorithm(mgf1)])]));
    }
    if salt != DEFAULT_SALT {
        // The minimal encoding: as few bytes as possible, the first below 128.
        let bytes = salt.to_be_bytes();
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count().min(bytes.len() - 1);
        let sign = if bytes[zeros] >= 0x80 { &[0][..] } else { &[] };
        parts.push(tagged(0xa2, &[tagged(INTEGER, &[sign.to_vec(), bytes[zeros..].to_vec()])]));
    }
    sequence(&parts)
}

fn oid(identifier: ObjectIdentifier) -> Vec<u8> {
    tagged(OID, &[identifier.as_bytes().to_vec()])
}

fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    tagged(SEQUENCE, parts)
}

/// A tag, a length below 128, and the contents.
fn tagged(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    let contents = parts.concat();
    debug_assert!(contents.len() < 0x80, "identifiers are short");
    [vec![tag, contents.len() as u8], contents].concat()
}
