//! Private keys that are encrypted with a password: PKCS#8's EncryptedPrivateKeyInfo with PBES2.

use der::asn1::{AnyRef, ObjectIdentifier};
use der::{Decode, Encode};
use pkcs8::EncryptedPrivateKeyInfoRef;
use pkcs8::pkcs5::{EncryptionScheme, pbes2::Parameters};
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use super::{Private, der_error, from_pkcs8, to_pkcs8};
use crate::rsa::error::KeyError;
use crate::rsa::names;

/// The shape of EncryptedPrivateKeyInfo: an algorithm identifier and a string of octets.
type EncryptedPrivateKeyInfo<'a> = spki::SubjectPublicKeyInfo<AnyRef<'a>, &'a der::asn1::OctetStringRef>;

/// A private key from PKCS#8's EncryptedPrivateKeyInfo, in DER.
pub fn decrypt(der: &[u8], password: Option<&[u8]>) -> Result<Private, KeyError> {
    let info = EncryptedPrivateKeyInfo::from_der(der).map_err(der_error)?;
    // What no password opens is said before one is asked for.
    let scheme = info.algorithm.to_der().and_then(|der| EncryptionScheme::from_der(&der)).ok();
    let scheme = scheme.filter(|scheme| scheme.pbes2().is_some());
    let scheme = scheme.ok_or_else(|| KeyError::Encryption(described(info.algorithm)))?;
    affordable(&scheme)?;
    let password = password.ok_or(KeyError::Encrypted)?;
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
pub fn to_encrypted(key: &Private, password: &[u8]) -> Result<Vec<u8>, KeyError> {
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
fn affordable(scheme: &EncryptionScheme) -> Result<(), KeyError> {
    const ITERATIONS: u32 = 10_000_000;
    const BYTES: u64 = 256 << 20;
    const BYTES_WRITTEN: u64 = 4 << 30;
    let Some(kdf) = scheme.pbes2().map(|parameters| &parameters.kdf) else { return Ok(()) };
    let refused = |what: String| Err(KeyError::Encryption(what));
    if let Some(pbkdf2) = kdf.pbkdf2()
        && !(1..=ITERATIONS).contains(&pbkdf2.iteration_count)
    {
        return refused(format!(
            "PBKDF2 with {} iterations; 1 to {ITERATIONS} are supported",
            pbkdf2.iteration_count
        ));
    }
    if let Some(scrypt) = kdf.scrypt() {
        let (n, r, p) =
            (scrypt.cost_parameter, u64::from(scrypt.block_size), u64::from(scrypt.parallelization));
        let written = n.saturating_mul(128 * r);
        let held = written.saturating_add(128 * r * (p + 1));
        let is_valid = n.is_power_of_two() && n > 1 && r > 0 && p > 0;
        if !is_valid || held > BYTES || written.saturating_mul(p) > BYTES_WRITTEN {
            return refused(format!("scrypt with N = {n}, r = {r}, p = {p}; at most 256 MiB are supported"));
        }
    }
    Ok(())
}

/// The name of an encryption, and for PBES2 those of its parts.
fn described(algorithm: AlgorithmIdentifierRef) -> String {
    let parts =
        algorithm.parameters.and_then(|parts| parts.decode_as::<Vec<AnyRef>>().ok()).unwrap_or_default();
    let part =
        |part: &AnyRef| part.decode_as::<Vec<AnyRef>>().ok()?.first()?.decode_as::<ObjectIdentifier>().ok();
    let parts: Vec<String> = parts.iter().filter_map(part).map(names::of).collect();
    let name = names::of(algorithm.oid);
    if parts.is_empty() { name } else { format!("{name} with {}", parts.join(" and ")) }
}
