//! Keys from PEM text and DER: PKCS#1, PKCS#8 and SPKI, by the RustCrypto crates.

use der::referenced::OwnedToRef;
use der::{Decode, Encode};
use pkcs1::{RsaPrivateKeyRef, RsaPublicKeyRef};
use pkcs8::PrivateKeyInfoRef;
#[cfg(feature = "encryption")]
use pkcs8::{
    EncryptedPrivateKeyInfoRef,
    pkcs5::{EncryptionScheme, pbes2::Parameters},
};
use spki::SubjectPublicKeyInfoRef;
use zeroize::Zeroizing;

use zariz_kernels::limbs;

use super::components::Components;
use super::error::KeyError;
use super::usage::{HashNull, Usage};
use crate::revealed;

/// The shape of PKCS#8's EncryptedPrivateKeyInfo: an algorithm identifier and a string of octets.
type EncryptedPrivateKeyInfo<'a> = spki::SubjectPublicKeyInfo<der::asn1::AnyRef<'a>, &'a der::asn1::OctetStringRef>;

/// A secret big-endian number.
pub(super) type SecretBytes = Zeroizing<Vec<u8>>;

/// The numbers of a public key.
pub(super) struct Public {
    pub n: Vec<u8>,
    pub e: Vec<u8>,
    pub usage: Usage,
}

/// The numbers of a private key, and what it may be used for.
pub(super) struct Private {
    pub components: Components,
    pub usage: Usage,
}

/// A public key, from PEM or DER.
pub(super) fn public(bytes: &[u8]) -> Result<Public, KeyError> {
    match unwrap_pem(bytes, &["PUBLIC KEY", "RSA PUBLIC KEY"])? {
        Some((label, der)) if label == "PUBLIC KEY" => from_spki(&der),
        Some((_, der)) => from_pkcs1_public(&der, Usage::Any),
        None => from_spki(bytes).or_else(|error| match error {
            KeyError::NotRsa(_) | KeyError::Parameters(_) => Err(error),
            _ => from_pkcs1_public(bytes, Usage::Any),
        }),
    }
}

/// A private key, from PEM or DER. If it is encrypted, the password decrypts it; without one, it is
/// [`KeyError::Encrypted`].
///
/// Of several private keys in a PEM file the first is read, encrypted or not.
pub(super) fn private(bytes: &[u8], password: Option<&[u8]>) -> Result<Private, KeyError> {
    match unwrap_pem(bytes, &["ENCRYPTED PRIVATE KEY", "PRIVATE KEY", "RSA PRIVATE KEY"]) {
        Err(KeyError::Encrypted) if password.is_some() => {
            Err(KeyError::Encryption("it is that of old PEM files (Proc-Type: 4,ENCRYPTED)".into()))
        }
        Err(error) => Err(error),
        Ok(Some((label, der))) => match label.as_str() {
            "ENCRYPTED PRIVATE KEY" => decrypt(&der, password),
            "PRIVATE KEY" => from_pkcs8(&der),
            _ => from_pkcs1_private(&der, Usage::Any),
        },
        Ok(None) if EncryptedPrivateKeyInfo::from_der(bytes).is_ok() => decrypt(bytes, password),
        Ok(None) => from_pkcs8(bytes).or_else(|error| match error {
            KeyError::NotRsa(_) | KeyError::Parameters(_) | KeyError::MultiPrime => Err(error),
            _ => from_pkcs1_private(bytes, Usage::Any),
        }),
    }
    .map_err(|error| match error {
        KeyError::Label(label) if label.ends_with("PUBLIC KEY") => KeyError::PublicOnly,
        KeyError::Der(_) if public(bytes).is_ok() => KeyError::PublicOnly,
        error => error,
    })
}

#[cfg(not(feature = "encryption"))]
fn decrypt(_: &[u8], _: Option<&[u8]>) -> Result<Private, KeyError> {
    Err(KeyError::Encrypted)
}

/// A private key from PKCS#8's EncryptedPrivateKeyInfo, in DER.
#[cfg(feature = "encryption")]
fn decrypt(der: &[u8], password: Option<&[u8]>) -> Result<Private, KeyError> {
    let password = password.ok_or(KeyError::Encrypted)?;
    let info = EncryptedPrivateKeyInfo::from_der(der).map_err(der_error)?;
    let scheme = info.algorithm.to_der().and_then(|der| EncryptionScheme::from_der(&der));
    let scheme = scheme.map_err(|_| KeyError::Encryption(format!("algorithm {}", info.algorithm.oid)))?;
    affordable(&scheme)?;
    let mut der = Zeroizing::new(info.subject_public_key.as_bytes().to_vec());
    let der = scheme.decrypt_in_place(password, &mut der).map_err(|error| match error {
        pkcs8::pkcs5::Error::DecryptFailed => KeyError::Password,
        error => KeyError::Encryption(error.to_string()),
    })?;
    // One wrong password in 256 yields bytes that are padded well, and mean nothing.
    from_pkcs8(der).map_err(|error| if let KeyError::Der(_) = error { KeyError::Password } else { error })
}

/// A private key as PKCS#8's EncryptedPrivateKeyInfo in DER: PBES2 with AES-256 in CBC, and PBKDF2 with
/// HMAC-SHA-256.
#[cfg(feature = "encryption")]
pub(super) fn to_encrypted(key: &Private, password: &[u8]) -> Result<Vec<u8>, KeyError> {
    let (mut salt, mut iv) = ([0; 16], [0; 16]);
    getrandom::fill(&mut salt).and_then(|()| getrandom::fill(&mut iv)).map_err(|_| KeyError::Random)?;
    let failed = |error: pkcs8::pkcs5::Error| KeyError::Encryption(error.to_string());
    let parameters = Parameters::generate_pbkdf2_sha256_aes256cbc(600_000, &salt, iv).map_err(failed)?;
    let scheme = EncryptionScheme::from(parameters);
    let plain = to_pkcs8(key)?;
    let octets = scheme.encrypt(password, &plain).map_err(failed)?;
    let encrypted_data = der::asn1::OctetStringRef::new(&octets).map_err(der_error)?;
    EncryptedPrivateKeyInfoRef { encryption_algorithm: scheme, encrypted_data }.to_der().map_err(der_error)
}

/// Refuses what would take more than some seconds or 256 MiB: the file says how much work its password is.
#[cfg(feature = "encryption")]
fn affordable(scheme: &EncryptionScheme) -> Result<(), KeyError> {
    const ITERATIONS: u32 = 10_000_000;
    const BYTES: u64 = 256 << 20;
    const BYTES_WRITTEN: u64 = 4 << 30;
    let Some(kdf) = scheme.pbes2().map(|parameters| &parameters.kdf) else { return Ok(()) };
    let refused = |what: String| Err(KeyError::Encryption(what));
    if let Some(pbkdf2) = kdf.pbkdf2()
        && !(1..=ITERATIONS).contains(&pbkdf2.iteration_count)
    {
        return refused(format!("PBKDF2 with {} iterations; 1 to {ITERATIONS} are supported", pbkdf2.iteration_count));
    }
    if let Some(scrypt) = kdf.scrypt() {
        let (n, r, p) = (scrypt.cost_parameter, u64::from(scrypt.block_size), u64::from(scrypt.parallelization));
        let written = n.saturating_mul(128 * r);
        let held = written.saturating_add(128 * r * (p + 1));
        let is_valid = n.is_power_of_two() && n > 1 && r > 0 && p > 0;
        if !is_valid || held > BYTES || written.saturating_mul(p) > BYTES_WRITTEN {
            return refused(format!("scrypt with N = {n}, r = {r}, p = {p}; at most 256 MiB are supported"));
        }
    }
    Ok(())
}

/// The first PEM block with one of the labels, or `None` where the bytes are not PEM text.
///
/// A file may hold other blocks (certificates, parameters) and text between them. If it has none of the
/// labels, the error says what it has.
fn unwrap_pem(bytes: &[u8], labels: &[&str]) -> Result<Option<(String, SecretBytes)>, KeyError> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const END: &[u8] = b"-----END ";
    // Only at the start of a line: other text may mention such lines.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes); // a byte-order mark
    let find = |from: usize, what: &[u8]| {
        let starts = |at: &usize| begins(&bytes[*at..], what) && (*at == 0 || bytes[*at - 1] == b'\n');
        (from..bytes.len()).find(starts)
    };
    let mut other = None;
    let mut from = 0;
    while let Some(begin) = find(from, BEGIN) {
        let end = find(begin, END).ok_or_else(|| KeyError::Pem("a block has no end line".into()))?;
        // The end line runs to its line break.
        let end = bytes[end..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| end + at);
        let block = &bytes[begin..end];
        from = end;
        let label = der::pem::decode_label(block).map_err(|error| KeyError::Pem(error.to_string()))?;
        if !labels.contains(&label) {
            other.get_or_insert_with(|| label.to_owned());
            continue;
        }
        if block.windows(11).any(|window| begins(window, b"4,ENCRYPTED")) {
            return Err(KeyError::Encrypted);
        }
        let der = decode_block(block).map_err(|error| KeyError::Pem(error.to_string()))?;
        return Ok(Some((label.to_owned(), der)));
    }
    other.map_or(Ok(None), |label| Err(KeyError::Label(label)))
}

/// Whether bytes, which may be those of a private number, begin with a marker; no other difference shows.
fn begins(bytes: &[u8], marker: &[u8]) -> bool {
    let difference = bytes.iter().zip(marker).fold(0, |difference, (a, b)| difference | (a ^ b));
    revealed::is_marker((bytes.len() >= marker.len()) & (difference == 0))
}

fn decode_block(block: &[u8]) -> der::pem::Result<SecretBytes> {
    let mut decoder = der::pem::Decoder::new_detect_wrap(block)?;
    let mut der = Zeroizing::new(Vec::with_capacity(block.len()));
    decoder.decode_to_end(&mut der)?;
    Ok(der)
}

fn der_error(error: der::Error) -> KeyError {
    KeyError::Der(error.to_string())
}

fn from_spki(der: &[u8]) -> Result<Public, KeyError> {
    let spki = SubjectPublicKeyInfoRef::from_der(der).map_err(der_error)?;
    let usage = Usage::read(spki.algorithm)?;
    let key = spki.subject_public_key.as_bytes().ok_or_else(|| KeyError::Der("unused bits in the key".into()))?;
    from_pkcs1_public(key, usage)
}

fn from_pkcs1_public(der: &[u8], usage: Usage) -> Result<Public, KeyError> {
    let key = RsaPublicKeyRef::from_der(der).map_err(der_error)?;
    Ok(Public { n: key.modulus.as_bytes().to_vec(), e: key.public_exponent.as_bytes().to_vec(), usage })
}

fn from_pkcs8(der: &[u8]) -> Result<Private, KeyError> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(der_error)?;
    let usage = Usage::read(info.algorithm)?;
    from_pkcs1_private(info.private_key.as_bytes(), usage)
}

fn from_pkcs1_private(der: &[u8], usage: Usage) -> Result<Private, KeyError> {
    let key = RsaPrivateKeyRef::from_der(der).map_err(der_error)?;
    if key.other_prime_infos.is_some() {
        return Err(KeyError::MultiPrime);
    }
    let secret = |number: der::asn1::UintRef| Zeroizing::new(number.as_bytes().to_vec());
    let components = Components {
        n: key.modulus.as_bytes().to_vec(),
        e: key.public_exponent.as_bytes().to_vec(),
        d: secret(key.private_exponent),
        p: secret(key.prime1),
        q: secret(key.prime2),
        dp: secret(key.exponent1),
        dq: secret(key.exponent2),
        qinv: secret(key.coefficient),
    };
    Ok(Private { components, usage })
}

fn uint(bytes: &[u8]) -> Result<der::asn1::UintRef<'_>, KeyError> {
    der::asn1::UintRef::new(bytes).map_err(der_error)
}

/// A public key as SPKI DER, where the parameters of PSS say NULL for those of hashes or leave them out.
pub(super) fn to_spki(key: &Public, null: HashNull) -> Result<Vec<u8>, KeyError> {
    let pkcs1 = RsaPublicKeyRef { modulus: uint(&key.n)?, public_exponent: uint(&key.e)? };
    let pkcs1 = pkcs1.to_der().map_err(der_error)?;
    let subject_public_key = der::asn1::BitStringRef::from_bytes(&pkcs1).map_err(der_error)?;
    let algorithm = key.usage.identifier(null).map_err(der_error)?;
    SubjectPublicKeyInfoRef { algorithm: algorithm.owned_to_ref(), subject_public_key }.to_der().map_err(der_error)
}

/// A private key as PKCS#8 DER.
pub(super) fn to_pkcs8(key: &Private) -> Result<SecretBytes, KeyError> {
    let Components { n, e, d, p, q, dp, dq, qinv } = &key.components;
    let pkcs1 = RsaPrivateKeyRef {
        modulus: uint(n)?,
        public_exponent: uint(e)?,
        private_exponent: uint(d)?,
        prime1: uint(p)?,
        prime2: uint(q)?,
        exponent1: uint(dp)?,
        exponent2: uint(dq)?,
        coefficient: uint(qinv)?,
        other_prime_infos: None,
    };
    let pkcs1 = Zeroizing::new(pkcs1.to_der().map_err(der_error)?);
    let octets = der::asn1::OctetStringRef::new(&pkcs1).map_err(der_error)?;
    let algorithm = key.usage.identifier(HashNull::Written).map_err(der_error)?;
    let der = PrivateKeyInfoRef::new(algorithm.owned_to_ref(), octets).to_der().map_err(der_error)?;
    Ok(Zeroizing::new(der))
}

/// A secret number as big-endian bytes without leading zeros.
pub(super) fn bytes(number: &[u64]) -> SecretBytes {
    let mut out = Zeroizing::new(vec![0; revealed::written_bits(limbs::bits(number)).div_ceil(8).max(1)]);
    limbs::to_be_bytes(number, &mut out);
    out[0] = revealed::first_byte(out[0]);
    out
}
