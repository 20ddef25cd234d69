//! What a key may be used for: everything that RSA does, or PSS alone, perhaps with parameters (RFC 4055).

use der::asn1::{Any, AnyRef, ContextSpecificRef};
use der::oid::ObjectIdentifier;
use der::{Decode, Encode, EncodeValue, Reader, Tag, TagMode, TagNumber, Tagged};
use pkcs1::TrailerField;
use spki::{AlgorithmIdentifier, AlgorithmIdentifierOwned, AlgorithmIdentifierRef};

use super::algorithm::Algorithm;
use super::error::{Error, KeyError};
use super::hash::{Hash, Mgf};
use super::names;
use super::pss_parameters::PssParameters;

/// id-RSASSA-PSS (RFC 4055 section 3.1).
const PSS_OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
/// id-mgf1 (RFC 4055 section 2.2).
const MGF1_OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.8");

/// What a key may be used for, according to its algorithm identifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Usage {
    /// Everything: the identifier is rsaEncryption, or there is none.
    #[default]
    Any,
    /// PSS signatures alone: id-RSASSA-PSS without parameters.
    Pss,
    /// PSS signatures with these parameters alone: id-RSASSA-PSS with them.
    PssWith(PssParameters),
}

/// How the parameters of a hash's identifier are written, of which it has none: both forms must be read (RFC
/// 4055 section 2.1).
#[derive(Clone, Copy, PartialEq)]
pub(super) enum HashNull {
    /// As NULL.
    Written,
    /// Not at all, as Privacy Pass has them (RFC 9578 section 6.5).
    Absent,
}

impl Usage {
    /// Checks that the key may sign and verify by that algorithm.
    ///
    /// # Errors
    /// [`Error::PssOnly`] or [`Error::PssParameters`] if it may not.
    pub fn allows(self, algorithm: Algorithm) -> Result<(), Error> {
        match (self, algorithm) {
            (Self::Any, _) | (Self::Pss, Algorithm::Pss { .. }) => Ok(()),
            (_, Algorithm::Pkcs1v15(_)) => Err(Error::PssOnly),
            (Self::PssWith(only), Algorithm::Pss { hash, mgf, salt_len }) => {
                let same = hash == only.hash && mgf == Mgf::Mgf1(only.mgf1_hash);
                let good = same && salt_len >= usize::from(only.min_salt_len);
                if good { Ok(()) } else { Err(Error::PssParameters(only)) }
            }
        }
    }

    /// Checks that the key may encrypt and decrypt.
    ///
    /// # Errors
    /// [`Error::PssOnly`] if it may not.
    pub fn allows_encryption(self) -> Result<(), Error> {
        if self == Self::Any { Ok(()) } else { Err(Error::PssOnly) }
    }

    /// Reads an algorithm identifier.
    pub(super) fn read(algorithm: AlgorithmIdentifierRef) -> Result<Self, KeyError> {
        match (algorithm.oid, algorithm.parameters) {
            (pkcs1::ALGORITHM_OID, parameters) => check_none(algorithm.oid, parameters).map(|()| Self::Any),
            (PSS_OID, None) => Ok(Self::Pss),
            (PSS_OID, Some(parameters)) => PssParameters::read(parameters).map(Self::PssWith),
            (other, _) => Err(KeyError::NotRsa(names::of(other))),
        }
    }

    /// The algorithm identifier that says so.
    pub(super) fn identifier(self, null: HashNull) -> der::Result<AlgorithmIdentifierOwned> {
        let (oid, parameters) = match self {
            Self::Any => (pkcs1::ALGORITHM_OID, Some(AnyRef::NULL.into())),
            Self::Pss => (PSS_OID, None),
            Self::PssWith(parameters) => (PSS_OID, Some(parameters.write(null)?)),
        };
        Ok(AlgorithmIdentifierOwned { oid, parameters })
    }
}

impl PssParameters {
    fn read(parameters: AnyRef) -> Result<Self, KeyError> {
        // The type that the crate `pkcs1` has for these parameters reads salts of at most 255 bytes.
        let (hash, mask_gen, min_salt_len, _) = parameters
            .sequence(|fields| {
                der::Result::Ok((
                    fields.context_specific(TagNumber(0), TagMode::Explicit)?.unwrap_or(SHA1),
                    fields.context_specific(TagNumber(1), TagMode::Explicit)?.unwrap_or(mgf1(SHA1)),
                    fields.context_specific(TagNumber(2), TagMode::Explicit)?.unwrap_or(SALT_LEN),
                    fields.context_specific::<TrailerField>(TagNumber(3), TagMode::Explicit)?,
                ))
            })
            .map_err(|error: der::Error| KeyError::Parameters(error.to_string()))?;
        let AlgorithmIdentifier { oid, parameters: mgf1_hash } = mask_gen;
        let mgf1_hash = mgf1_hash.filter(|_| oid == MGF1_OID).ok_or_else(|| {
            KeyError::Parameters(format!("the mask-generation function {oid} is not MGF1 with a hash"))
        })?;
        Ok(Self { hash: read_hash(hash)?, mgf1_hash: read_hash(mgf1_hash)?, min_salt_len })
    }

    fn write(self, null: HashNull) -> der::Result<Any> {
        let identifier = |hash: Hash| {
            let mut identifier = AlgorithmIdentifierRef::from_der(hash.identifier().unwrap_or_default())?;
            identifier.parameters = identifier.parameters.filter(|_| null == HashNull::Written);
            der::Result::Ok(identifier)
        };
        let fields = [
            field(0, &identifier(self.hash)?, &SHA1)?,
            field(1, &mgf1(identifier(self.mgf1_hash)?), &mgf1(SHA1))?,
            field(2, &self.min_salt_len, &SALT_LEN)?,
        ];
        Any::new(Tag::Sequence, fields.concat())
    }
}

/// What RSASSA-PSS-params have where they say nothing else (RFC 8017 appendix A.2.3).
const SHA1: AlgorithmIdentifierRef = AlgorithmIdentifier {
    oid: ObjectIdentifier::new_unwrap("1.3.14.3.2.26"),
    parameters: Some(AnyRef::NULL),
};
const SALT_LEN: u16 = 20;

fn mgf1(hash: AlgorithmIdentifierRef) -> AlgorithmIdentifier<AlgorithmIdentifierRef> {
    AlgorithmIdentifier { oid: MGF1_OID, parameters: Some(hash) }
}

/// A field with its tag, or nothing for its default, which DER leaves out.
fn field<T: EncodeValue + Tagged + PartialEq>(number: u32, value: &T, default: &T) -> der::Result<Vec<u8>> {
    let field = ContextSpecificRef { tag_number: TagNumber(number), tag_mode: TagMode::Explicit, value };
    if value == default { Ok(Vec::new()) } else { field.to_der() }
}

/// Checks that parameters are absent or NULL.
fn check_none(oid: ObjectIdentifier, parameters: Option<AnyRef>) -> Result<(), KeyError> {
    if parameters.is_none_or(|parameters| parameters == AnyRef::NULL) {
        Ok(())
    } else {
        Err(KeyError::Parameters(format!("{oid} takes none, but some are given")))
    }
}

/// The hash of an identifier, whose own parameters are NULL or absent (RFC 4055 section 2.1).
fn read_hash(algorithm: AlgorithmIdentifierRef) -> Result<Hash, KeyError> {
    let oid = algorithm.oid;
    check_none(oid, algorithm.parameters)?;
    let has_oid = |hash: &Hash| {
        let identifier = hash.identifier().and_then(|der| AlgorithmIdentifierRef::from_der(der).ok());
        identifier.is_some_and(|identifier| identifier.oid == oid)
    };
    let hash = Hash::ALL.iter().copied().find(has_oid);
    hash.ok_or_else(|| KeyError::Parameters(format!("the hash {oid} is not supported")))
}
