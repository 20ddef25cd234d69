//! The traits of the `pkcs8` and `spki` crates. They read strict PEM and DER, and their errors say little;
//! [`PrivateKey::parse`] and [`PublicKey::parse`] read more, and say why a key is refused.

use std::mem;

use der::oid::ObjectIdentifier;
use der::{Document, SecretDocument};
use pkcs8::{EncodePrivateKey, PrivateKeyInfoRef};
use spki::{EncodePublicKey, SubjectPublicKeyInfoRef};

use super::error::KeyError;
use super::parse;
use super::private::PrivateKey;
use super::public::PublicKey;
use crate::zeroize_stack::zeroize_stack;

impl TryFrom<PrivateKeyInfoRef<'_>> for PrivateKey {
    type Error = pkcs8::Error;

    fn try_from(info: PrivateKeyInfoRef) -> pkcs8::Result<Self> {
        let oid = info.algorithm.oid;
        zeroize_stack(|| Self::from_parts(&parse::from_private_info(info)?))
            .map_err(|error| of_key(error, oid))
    }
}

impl EncodePrivateKey for PrivateKey {
    fn to_pkcs8_der(&self) -> pkcs8::Result<SecretDocument> {
        let mut der = self.to_der().map_err(|_| pkcs8::KeyError::Invalid)?;
        Ok(mem::take(&mut *der).try_into()?)
    }
}

impl TryFrom<SubjectPublicKeyInfoRef<'_>> for PublicKey {
    type Error = spki::Error;

    fn try_from(info: SubjectPublicKeyInfoRef) -> spki::Result<Self> {
        let oid = info.algorithm.oid;
        parse::from_public_info(info)
            .and_then(|parts| Self::from_parts(&parts))
            .map_err(|error| of_key(error, oid).into())
    }
}

impl EncodePublicKey for PublicKey {
    fn to_public_key_der(&self) -> spki::Result<Document> {
        Ok(self.to_der().map_err(|_| spki::Error::KeyMalformed)?.try_into()?)
    }
}

fn of_key(error: KeyError, oid: ObjectIdentifier) -> pkcs8::Error {
    match error {
        KeyError::NotRsa(_) => spki::Error::OidUnknown { oid }.into(),
        KeyError::Parameters(_) => pkcs8::Error::ParametersMalformed,
        KeyError::Size { bits } if bits < PublicKey::MIN_BITS => pkcs8::KeyError::TooShort.into(),
        KeyError::Size { .. } => pkcs8::KeyError::TooLong.into(),
        _ => pkcs8::KeyError::Invalid.into(),
    }
}
