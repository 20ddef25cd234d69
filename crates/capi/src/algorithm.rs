//! Codes for hashes, signature algorithms and encryption paddings.

use zariz::rsa::hazmat::pss;
use zariz::rsa::{Algorithm, Hash, Mgf, Padding};

use crate::failure::{Failure, ZARIZ_UNSUPPORTED};

/// SHA-1. Only for protocols that need it.
pub const ZARIZ_SHA1: u32 = 1;
/// SHA-224.
pub const ZARIZ_SHA224: u32 = 2;
/// SHA-256.
pub const ZARIZ_SHA256: u32 = 3;
/// SHA-384.
pub const ZARIZ_SHA384: u32 = 4;
/// SHA-512.
pub const ZARIZ_SHA512: u32 = 5;
/// SHA-512/224.
pub const ZARIZ_SHA512_224: u32 = 6;
/// SHA-512/256.
pub const ZARIZ_SHA512_256: u32 = 7;
/// SHA3-224.
pub const ZARIZ_SHA3_224: u32 = 8;
/// SHA3-256.
pub const ZARIZ_SHA3_256: u32 = 9;
/// SHA3-384.
pub const ZARIZ_SHA3_384: u32 = 10;
/// SHA3-512.
pub const ZARIZ_SHA3_512: u32 = 11;

/// By their codes, from 1. Programs were compiled with these.
const HASHES: &[Hash] = Hash::ALL.split_at(11).0;

/// PKCS #1 v1.5 with SHA-256: RS256 in JWS.
pub const ZARIZ_RS256: u32 = 0x1003_0000;
/// PKCS #1 v1.5 with SHA-384.
pub const ZARIZ_RS384: u32 = 0x1004_0000;
/// PKCS #1 v1.5 with SHA-512.
pub const ZARIZ_RS512: u32 = 0x1005_0000;
/// PSS with SHA-256, and a salt as long as the digest.
pub const ZARIZ_PS256: u32 = 0x2303_0020;
/// PSS with SHA-384, and a salt as long as the digest.
pub const ZARIZ_PS384: u32 = 0x2404_0030;
/// PSS with SHA-512, and a salt as long as the digest.
pub const ZARIZ_PS512: u32 = 0x2505_0040;
/// OR this to a signature algorithm if the input is the digest of the message, not the message.
pub const ZARIZ_DIGEST: u32 = 0x8000_0000;
/// A salt length for zariz_pss. Signing uses the longest salt that fits; verification accepts any length. If
/// a public key itself names the parameters of PSS (RSASSA-PSS), verification needs the length instead.
pub const ZARIZ_SALT_AUTO: u32 = 0xffff;

/// Encryption with PKCS #1 v1.5. If the padding of a ciphertext is wrong, decryption gives other bytes, which
/// look random, instead of an error (implicit rejection): no attacker learns that it was wrong.
pub const ZARIZ_PKCS1V15: u32 = 0x3000_0000;
/// Encryption with OAEP and SHA-1, the default of many libraries.
pub const ZARIZ_OAEP_SHA1: u32 = 0x4101_0000;
/// Encryption with OAEP and SHA-256.
pub const ZARIZ_OAEP_SHA256: u32 = 0x4303_0000;

// A code: the digest's bit, 3 bits of scheme, 4 of the hash of the mask, 8 of the hash, 16 of salt.
const SIGN_PKCS1V15: u32 = 1;
const SIGN_PSS: u32 = 2;
const ENCRYPT_PKCS1V15: u32 = 3;
const ENCRYPT_OAEP: u32 = 4;
/// No code.
const INVALID: u32 = 0;

fn code(scheme: u32, mask_hash: u32, hash: u32, salt: u32) -> u32 {
    let known = |hash: u32| (1..=HASHES.len() as u32).contains(&hash);
    let mask_is_right = if scheme == SIGN_PKCS1V15 { mask_hash == 0 } else { known(mask_hash) };
    if known(hash) && mask_is_right && salt <= ZARIZ_SALT_AUTO {
        scheme << 28 | mask_hash << 24 | hash << 16 | salt
    } else {
        INVALID
    }
}

/// Returns the signature algorithm PKCS #1 v1.5 with a hash. If there is no such hash, returns 0, which is no
/// algorithm.
#[unsafe(no_mangle)]
pub extern "C" fn zariz_pkcs1v15(hash: u32) -> u32 {
    code(SIGN_PKCS1V15, 0, hash, 0)
}

/// Returns the signature algorithm PSS with a hash, the hash of its mask (MGF1), and a salt of this many
/// bytes, or ZARIZ_SALT_AUTO. If there is no such hash, or the salt is longer than 65535 bytes, returns 0,
/// which is no algorithm.
#[unsafe(no_mangle)]
pub extern "C" fn zariz_pss(hash: u32, mgf1_hash: u32, salt_len: u32) -> u32 {
    code(SIGN_PSS, mgf1_hash, hash, salt_len)
}

/// Returns the encryption padding OAEP with a hash, and the hash of its mask (MGF1). If there is no such
/// hash, returns 0, which is no padding.
#[unsafe(no_mangle)]
pub extern "C" fn zariz_oaep(hash: u32, mgf1_hash: u32) -> u32 {
    code(ENCRYPT_OAEP, mgf1_hash, hash, 0)
}

fn hash(code: u32) -> Option<Hash> {
    HASHES.get((code as usize).checked_sub(1)?).copied()
}

/// A signature algorithm, and whether its input is a digest.
#[derive(Clone, Copy)]
pub(crate) struct SignatureAlgorithm {
    pub(crate) algorithm: Algorithm,
    pub(crate) is_digest: bool,
    /// For PSS: the salt's length is to be chosen, or found.
    pub(crate) auto_salt: bool,
}

impl SignatureAlgorithm {
    pub(crate) fn read(code: u32) -> Result<Self, Failure> {
        let (scheme, mask, salt) = (code >> 28 & 7, code >> 24 & 15, code & 0xffff);
        let algorithm = match (scheme, hash(code >> 16 & 255), hash(mask)) {
            (SIGN_PKCS1V15, Some(hash), None) if mask == 0 && salt == 0 => Some(Algorithm::Pkcs1v15(hash)),
            (SIGN_PSS, Some(hash), Some(mask)) => {
                Some(Algorithm::Pss { hash, mgf: Mgf::Mgf1(mask), salt_len: salt as usize })
            }
            _ => None,
        };
        let algorithm = algorithm
            .ok_or_else(|| Failure::argument(format_args!("{code:#x} is not a signature algorithm")))?;
        let auto_salt = scheme == SIGN_PSS && salt == ZARIZ_SALT_AUTO;
        Ok(Self { algorithm, is_digest: code & ZARIZ_DIGEST != 0, auto_salt })
    }

    /// The algorithm for signing with a key of so many bits.
    pub(crate) fn to_sign(self, bits: usize) -> Result<Algorithm, Failure> {
        match self.algorithm {
            Algorithm::Pss { hash, mgf, .. } if self.auto_salt => {
                let salt_len = pss::longest_salt(hash, bits).ok_or_else(|| {
                    Failure::new(ZARIZ_UNSUPPORTED, "the key is too short for PSS with this hash")
                })?;
                Ok(Algorithm::Pss { hash, mgf, salt_len })
            }
            algorithm => Ok(algorithm),
        }
    }
}

/// An encryption padding.
pub(crate) fn padding(code: u32, label: &[u8]) -> Result<Padding, Failure> {
    let (scheme, mask, salt) = (code >> 28, hash(code >> 24 & 15), code & 0xffff);
    match (scheme, hash(code >> 16 & 255), mask) {
        (ENCRYPT_PKCS1V15, None, None) if code == ZARIZ_PKCS1V15 => {
            if !label.is_empty() {
                return Err(Failure::argument("PKCS #1 v1.5 has no label"));
            }
            Ok(Padding::Pkcs1v15)
        }
        (ENCRYPT_OAEP, Some(hash), Some(mask)) if salt == 0 => {
            Ok(Padding::Oaep { hash, mgf: Mgf::Mgf1(mask), label: label.to_vec() })
        }
        _ => Err(Failure::argument(format_args!("{code:#x} is not an encryption padding"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The constants are what the functions make, and each code is read as what it was made of.
    #[test]
    fn codes() {
        assert_eq!([ZARIZ_RS256, ZARIZ_RS384, ZARIZ_RS512], [3, 4, 5].map(|hash| zariz_pkcs1v15(hash)));
        for (constant, hash) in [(ZARIZ_PS256, 3), (ZARIZ_PS384, 4), (ZARIZ_PS512, 5)] {
            let size = HASHES[hash as usize - 1].size() as u32;
            assert_eq!(constant, zariz_pss(hash, hash, size));
        }
        assert_eq!([ZARIZ_OAEP_SHA1, ZARIZ_OAEP_SHA256], [1, 3].map(|hash| zariz_oaep(hash, hash)));
        let names = [
            (ZARIZ_SHA1, Hash::Sha1),
            (ZARIZ_SHA224, Hash::Sha224),
            (ZARIZ_SHA256, Hash::Sha256),
            (ZARIZ_SHA384, Hash::Sha384),
            (ZARIZ_SHA512, Hash::Sha512),
            (ZARIZ_SHA512_224, Hash::Sha512_224),
            (ZARIZ_SHA512_256, Hash::Sha512_256),
            (ZARIZ_SHA3_224, Hash::Sha3_224),
            (ZARIZ_SHA3_256, Hash::Sha3_256),
            (ZARIZ_SHA3_384, Hash::Sha3_384),
            (ZARIZ_SHA3_512, Hash::Sha3_512),
        ];
        assert!(names.iter().all(|&(code, expected)| hash(code) == Some(expected)));
        assert_eq!(names.len(), HASHES.len());
        for (i, &hash) in HASHES.iter().enumerate() {
            let i = i as u32 + 1;
            let read = SignatureAlgorithm::read(zariz_pkcs1v15(i) | ZARIZ_DIGEST).expect("a code");
            assert!(read.algorithm == Algorithm::Pkcs1v15(hash) && read.is_digest);
            let read = SignatureAlgorithm::read(zariz_pss(i, 4, 7)).expect("a code");
            let mgf = Mgf::Mgf1(Hash::Sha384);
            assert_eq!(read.algorithm, Algorithm::Pss { hash, mgf, salt_len: 7 });
            assert!(!read.is_digest && !read.auto_salt);
            let oaep = Padding::Oaep { hash, mgf, label: b"l".to_vec() };
            assert_eq!(padding(zariz_oaep(i, 4), b"l").expect("a code"), oaep);
        }
        for wrong in [0, 12, 255, 256, u32::MAX] {
            assert_eq!([zariz_pkcs1v15(wrong), zariz_pss(wrong, 3, 0), zariz_oaep(3, wrong)], [0; 3]);
        }
        assert_eq!(zariz_pss(3, 3, 0x1_0000), 0);
    }

    /// Every other number is an error.
    #[test]
    fn other_numbers() {
        let sign = [0, ZARIZ_PKCS1V15, ZARIZ_OAEP_SHA1, ZARIZ_RS256 | 1, ZARIZ_RS256 | 1 << 24, 0x1000_0000];
        assert!(sign.iter().all(|&code| SignatureAlgorithm::read(code).is_err()));
        let encrypt = [0, ZARIZ_RS256, ZARIZ_PS256, ZARIZ_PKCS1V15 | 1, ZARIZ_OAEP_SHA1 | 1, !0];
        assert!(encrypt.iter().all(|&code| padding(code, b"").is_err()));
    }
}
