//! Keys from PEM text and DER: PKCS#1, PKCS#8 and SPKI, by the RustCrypto crates.
//!
//! `pem` finds the blocks of a text, `content` says what is in a block or in bytes without one, and what is
//! read is decided by that alone: a label may be wrong.

mod content;
#[cfg(feature = "encryption")]
mod encrypted;
mod pem;

use der::referenced::OwnedToRef;
use der::{Decode, Encode};
use pkcs1::{RsaPrivateKeyRef, RsaPublicKeyRef};
use pkcs8::PrivateKeyInfoRef;
use spki::SubjectPublicKeyInfoRef;
use zeroize::Zeroizing;

use self::content::Content;
#[cfg(feature = "encryption")]
pub(super) use self::encrypted::to_encrypted;
use super::components::Components;
use super::error::KeyError;
use super::other_format::OtherFormat;
use super::usage::{HashNull, Usage};

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
    read(bytes, Half::Public, |content, der| match content {
        Content::Spki => from_spki(der),
        _ => from_pkcs1_public(der, Usage::Any),
    })
}

/// A private key, from PEM or DER. If it is encrypted, the password decrypts it; without one, it is
/// [`KeyError::Encrypted`].
///
/// Of several private keys in a PEM file the first is read, encrypted or not.
pub(super) fn private(bytes: &[u8], password: Option<&[u8]>) -> Result<Private, KeyError> {
    read(bytes, Half::Private, |content, der| match content {
        Content::EncryptedPkcs8 => decrypt(der, password),
        Content::Pkcs8 => from_pkcs8(der),
        _ => from_pkcs1_private(der, Usage::Any),
    })
}

#[cfg(feature = "encryption")]
use self::encrypted::decrypt;

#[cfg(not(feature = "encryption"))]
fn decrypt(_: &[u8], _: Option<&[u8]>) -> Result<Private, KeyError> {
    Err(KeyError::Encrypted)
}

/// The half of a key that is wanted.
#[derive(Clone, Copy, PartialEq)]
enum Half {
    Private,
    Public,
}

/// Reads the first key of a kind in a file, which may hold other blocks (certificates, parameters) and text
/// between them. If it has no such key, the error says what it has.
fn read<T>(
    bytes: &[u8],
    half: Half,
    key: impl Fn(Content, &[u8]) -> Result<T, KeyError>,
) -> Result<T, KeyError> {
    let mut instead = None;
    for block in pem::blocks(bytes) {
        let block = block?;
        let label = block.label;
        // Other blocks may be very long. Their labels say enough.
        let decoded = if label.ends_with("KEY") { Some(block.decode()) } else { None };
        let decoded = decoded.map(|der| der.and_then(|der| Ok((Content::of(&der)?, der))));
        let error = match decoded {
            Some(Ok((content, der))) if half.has(content) => {
                return key(content, &der)
                    .map_err(|error| within(label, &format!(" holds {}", content.name()), error));
            }
            Some(Ok((content, _))) => match half.refuse(content) {
                error if half.is_label(label) && error != KeyError::PrivateOnly => {
                    KeyError::Mislabelled { label: label.into(), holds: error.to_string() }
                }
                error => error,
            },
            Some(Err(error)) if half.is_label(label) => return Err(within(label, "", error)),
            _ => half.refuse_label(label),
        };
        if instead.as_ref().is_none_or(|other| weight(other) < weight(&error)) {
            instead = Some(error);
        }
    }
    if let Some(error) = instead {
        return Err(error);
    }
    let der = content::without_blanks(bytes);
    match Content::of(der) {
        Ok(content) if half.has(content) => key(content, der),
        Ok(content) => Err(half.refuse(content)),
        Err(error) => Err(content::of_text(bytes).unwrap_or(error)),
    }
}

/// How much the error for a block says of the file as a whole: most, that it has the other half of a key.
fn weight(error: &KeyError) -> u8 {
    match error {
        KeyError::Label(_) => 0,
        KeyError::Format(_) => 1,
        KeyError::PublicOnly | KeyError::PrivateOnly => 3,
        _ => 2,
    }
}

/// An error about DER with the block that it is in, and what the block holds.
fn within(label: &str, holds: &str, error: KeyError) -> KeyError {
    match error {
        KeyError::Der(what) => KeyError::Der(format!("the block labelled {label:?}{holds}: {what}")),
        error => error,
    }
}

impl Half {
    fn has(self, content: Content) -> bool {
        match self {
            Self::Private => content.is_private(),
            Self::Public => content.is_public(),
        }
    }

    /// Whether a block with this label should hold an RSA key, and this half of it.
    fn is_label(self, label: &str) -> bool {
        match self {
            Self::Private => ["PRIVATE KEY", "RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY"].contains(&label),
            Self::Public => ["PUBLIC KEY", "RSA PUBLIC KEY"].contains(&label),
        }
    }

    /// The error for a file with something else than this half.
    fn refuse(self, content: Content) -> KeyError {
        match content {
            Content::Foreign(name) => KeyError::NotRsa(name.into()),
            Content::Other(format) => KeyError::Format(format),
            _ if self == Self::Private => KeyError::PublicOnly,
            _ => KeyError::PrivateOnly,
        }
    }

    /// The error for a block with the label of something else than this half.
    fn refuse_label(self, label: &str) -> KeyError {
        match label {
            "CERTIFICATE" | "X509 CERTIFICATE" | "TRUSTED CERTIFICATE" => {
                KeyError::Format(OtherFormat::Certificate)
            }
            "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => {
                KeyError::Format(OtherFormat::CertificateRequest)
            }
            "OPENSSH PRIVATE KEY" => KeyError::Format(OtherFormat::OpenSshPrivate),
            "EC PRIVATE KEY" => KeyError::NotRsa("EC".into()),
            "DSA PRIVATE KEY" => KeyError::NotRsa("DSA".into()),
            _ if self == Self::Private && label.ends_with("PUBLIC KEY") => KeyError::PublicOnly,
            _ if self == Self::Public && Self::Private.is_label(label) => KeyError::PrivateOnly,
            _ => KeyError::Label(label.into()),
        }
    }
}

fn der_error(error: der::Error) -> KeyError {
    KeyError::Der(error.to_string())
}

fn from_spki(der: &[u8]) -> Result<Public, KeyError> {
    from_public_info(SubjectPublicKeyInfoRef::from_der(der).map_err(der_error)?)
}

/// A public key from SPKI.
pub(super) fn from_public_info(spki: SubjectPublicKeyInfoRef) -> Result<Public, KeyError> {
    let usage = Usage::read(spki.algorithm)?;
    let key =
        spki.subject_public_key.as_bytes().ok_or_else(|| KeyError::Der("unused bits in the key".into()))?;
    from_pkcs1_public(key, usage)
}

fn from_pkcs1_public(der: &[u8], usage: Usage) -> Result<Public, KeyError> {
    let key = RsaPublicKeyRef::from_der(der).map_err(der_error)?;
    Ok(Public { n: key.modulus.as_bytes().to_vec(), e: key.public_exponent.as_bytes().to_vec(), usage })
}

fn from_pkcs8(der: &[u8]) -> Result<Private, KeyError> {
    from_private_info(PrivateKeyInfoRef::from_der(der).map_err(der_error)?)
}

/// A private key from PKCS#8.
pub(super) fn from_private_info(info: PrivateKeyInfoRef) -> Result<Private, KeyError> {
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
    SubjectPublicKeyInfoRef { algorithm: algorithm.owned_to_ref(), subject_public_key }
        .to_der()
        .map_err(der_error)
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
