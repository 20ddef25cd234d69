//! What bytes are: by their own shape, whatever a label says.

use der::asn1::AnyRef;
use der::{Decode, Tag, Tagged};

use super::der_error;
use super::pem::{contains, starts_with, without_mark};
use crate::rsa::error::KeyError;
use crate::rsa::other_format::OtherFormat;

/// The structures that keys come in, and others that look alike.
#[derive(Clone, Copy, PartialEq)]
pub enum Content {
    Pkcs1Private,
    Pkcs8,
    EncryptedPkcs8,
    Pkcs1Public,
    Spki,
    /// A key for another algorithm, by its name, in a structure of its own.
    Foreign(&'static str),
    Other(OtherFormat),
}

impl Content {
    /// The structure of DER, by the tags of its parts. Numbers are not looked at.
    ///
    /// # Errors
    /// [`KeyError::Der`] if the bytes are no DER, or have another structure.
    pub fn of(der: &[u8]) -> Result<Self, KeyError> {
        // PKCS#12 may have parts without a length, which DER forbids.
        if starts_with(der, &[0x30, 0x80, 0x02, 0x01, 0x03]) {
            return Ok(Self::Other(OtherFormat::Pkcs12));
        }
        if starts_with(der, b"openssh-key-v1\0") {
            return Ok(Self::Other(OtherFormat::OpenSshPrivate));
        }
        use Tag::{BitString, Integer, OctetString, Sequence};
        let parts = Vec::<AnyRef>::from_der(der).map_err(der_error)?;
        let tags: Vec<Tag> = parts.iter().map(Tagged::tag).collect();
        Ok(match tags[..] {
            [Integer, Integer] => Self::Pkcs1Public,
            [Integer, Integer, Integer, Integer, Integer, Integer] => Self::Foreign("DSA"),
            [Integer, Integer, Integer, Integer, Integer, Integer, Integer, Integer, Integer, ..] => {
                Self::Pkcs1Private
            }
            [Integer, OctetString, ..] => Self::Foreign("EC"),
            [Integer, Sequence, OctetString, ..] => Self::Pkcs8,
            [Integer, Sequence, ..] if parts[0].value() == [3] => Self::Other(OtherFormat::Pkcs12),
            [Sequence, OctetString] => Self::EncryptedPkcs8,
            [Sequence, BitString] => Self::Spki,
            [Sequence, Sequence, BitString] => Self::Other(signed(parts[0])),
            _ => return Err(KeyError::Der("these are not the parts of a key".into())),
        })
    }

    pub fn is_private(self) -> bool {
        matches!(self, Self::Pkcs1Private | Self::Pkcs8 | Self::EncryptedPkcs8)
    }

    pub fn is_public(self) -> bool {
        matches!(self, Self::Pkcs1Public | Self::Spki)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Pkcs1Private | Self::Pkcs1Public => "PKCS#1",
            Self::Pkcs8 => "PKCS#8",
            Self::EncryptedPkcs8 => "encrypted PKCS#8",
            Self::Spki => "SPKI",
            Self::Foreign(name) => name,
            Self::Other(_) => "another format",
        }
    }
}

/// A certificate, or a request for one: that has a version, a name, a key and perhaps attributes.
fn signed(part: AnyRef) -> OtherFormat {
    let tags: Vec<Tag> =
        part.decode_as::<Vec<AnyRef>>().unwrap_or_default().iter().map(Tagged::tag).collect();
    let is_request = tags.first() == Some(&Tag::Integer) && tags.len() <= 4;
    if is_request { OtherFormat::CertificateRequest } else { OtherFormat::Certificate }
}

/// What a text is that has no PEM blocks and is no DER of a key.
pub fn of_text(text: &[u8]) -> Option<KeyError> {
    let is_utf16 =
        [&b"\xff\xfe"[..], b"\xfe\xff", b"-\0", b"\0-"].iter().any(|start| starts_with(text, start));
    let text = without_mark(text).trim_ascii();
    let has = |what: &[u8]| contains(text, what);
    let starts = |all: &[&str]| all.iter().any(|start| starts_with(text, start.as_bytes()));
    let is_base64 =
        |byte: &u8| byte.is_ascii_alphanumeric() | b"+/=".contains(byte) | byte.is_ascii_whitespace();
    Some(KeyError::Format(if text.is_empty() {
        OtherFormat::Empty
    } else if is_utf16 {
        OtherFormat::Utf16
    } else if starts(&["PuTTY-User-Key-File-"]) {
        OtherFormat::Putty
    } else if starts(&["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"]) {
        OtherFormat::OpenSshPublic
    } else if starts(&["---- BEGIN SSH2 PUBLIC KEY"]) {
        OtherFormat::Ssh2Public
    } else if starts(&["{", "["]) && has(b"-----BEGIN ") {
        OtherFormat::JsonWithPem
    } else if starts(&["{", "["]) && has(b"\"kty\"") {
        OtherFormat::Jwk
    } else if has(b"-----BEGIN ") && has(b"\\n") {
        OtherFormat::EscapedPem
    } else if has(b"-----BEGIN ") {
        let what = "nothing but blanks may stand before and behind a BEGIN line, from -----BEGIN to -----";
        return Some(KeyError::Pem(what.into()));
    } else if starts(&["MI"]) && text.iter().all(is_base64) {
        OtherFormat::Base64
    } else {
        return None;
    }))
}

/// DER without the blanks behind it, such as the line break that an editor adds.
pub fn without_blanks(bytes: &[u8]) -> &[u8] {
    match AnyRef::from_der_partial(bytes) {
        Ok((_, rest)) if rest.trim_ascii().is_empty() => &bytes[..bytes.len() - rest.len()],
        _ => bytes,
    }
}
