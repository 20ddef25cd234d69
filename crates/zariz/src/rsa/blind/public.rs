//! The public key of a server that signs blindly, and the verification of its signatures.

use super::error::Error;
use super::variant::Variant;
use crate::dispatch::Dispatch;
use crate::engine::EngineError;
use crate::rsa::usage::HashNull;
use crate::rsa::{self, KeyError, Message, Usage, parse};

/// The public key of a server that signs blindly, for one [`Variant`]. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    pub(super) key: rsa::PublicKey,
    variant: Variant,
}

/// A prepared message and its signature, to verify: [`PublicKey::verify_batch`].
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// The prepared message ([`Variant::prepare`]).
    pub prepared: &'a [u8],
    /// The signature, as long as the key's modulus.
    pub signature: &'a [u8],
}

impl PublicKey {
    /// Marks a key as one for this variant.
    ///
    /// # Errors
    /// [`KeyError::Parameters`] if the key is restricted to PSS with other parameters.
    pub fn new(variant: Variant, key: &rsa::PublicKey) -> Result<Self, KeyError> {
        variant.takes(key.usage())?;
        Ok(Self { key: key.with_usage(Usage::PssWith(variant.parameters())), variant })
    }

    /// Reads a key from PEM text or DER: SPKI (`PUBLIC KEY`) with the algorithm id-RSASSA-PSS, the only one
    /// that the RFC allows in certificates (section 6.2).
    ///
    /// # Errors
    /// [`KeyError::Parameters`] for a key that is not restricted to PSS, or to PSS with other parameters than
    /// the variant's; else those of [`rsa::PublicKey::parse`].
    pub fn parse(variant: Variant, pem_or_der: &[u8]) -> Result<Self, KeyError> {
        let key = rsa::PublicKey::parse(pem_or_der)?;
        Variant::is_marked(key.usage())?;
        Self::new(variant, &key)
    }

    /// A copy of the key for another [`Engine`](crate::Engine) or [`Dispatch`].
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] where this processor cannot run the engine.
    pub fn with_engine(&self, engine: impl Into<Dispatch>) -> Result<Self, EngineError> {
        Ok(Self { key: self.key.with_engine(engine)?, variant: self.variant })
    }

    /// The key as SPKI DER, with the algorithm id-RSASSA-PSS and the variant's parameters. Byte for byte the
    /// form of Privacy Pass (RFC 9578 section 6.5): the SHA-256 of it is a token's `token_key_id`.
    ///
    /// # Errors
    /// A [`KeyError`] if the encoder fails, which never happens for a key that was loaded or generated.
    pub fn to_der(&self) -> Result<Vec<u8>, KeyError> {
        let (n, e) = (self.key.n(), self.key.e());
        parse::to_spki(&parse::Public { n, e, usage: self.key.usage() }, HashNull::Absent)
    }

    /// The key as an SPKI PEM block (`PUBLIC KEY`): see [`to_der`](Self::to_der).
    ///
    /// # Errors
    /// A [`KeyError`] if the encoder fails, which never happens for a key that was loaded or generated.
    pub fn to_pem(&self) -> Result<String, KeyError> {
        der::pem::encode_string("PUBLIC KEY", der::pem::LineEnding::LF, &self.to_der()?)
            .map_err(|error| KeyError::Pem(error.to_string()))
    }

    /// What the key is for.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The length of the modulus in bits.
    pub fn bits(&self) -> usize {
        self.key.bits()
    }

    /// The length of a blinded message, a blind signature or a signature in bytes: `⌈bits/8⌉`.
    pub fn size(&self) -> usize {
        self.key.size()
    }

    /// The modulus, big-endian, without leading zeros.
    pub fn n(&self) -> Vec<u8> {
        self.key.n()
    }

    /// The public exponent, big-endian, without leading zeros.
    pub fn e(&self) -> Vec<u8> {
        self.key.e()
    }

    /// Verifies the signature of a prepared message (RFC 9474 section 4.5, RSASSA-PSS-VERIFY). What the
    /// application may trust afterwards is [`Variant::message`] of it.
    ///
    /// # Errors
    /// [`Error::InvalidSignature`].
    pub fn verify(&self, prepared: &[u8], signature: &[u8]) -> Result<(), Error> {
        self.verify_batch(&[Signed { prepared, signature }]).swap_remove(0)
    }

    /// [`verify`](Self::verify) for many messages and their signatures, in order, in batches.
    #[must_use]
    pub fn verify_batch(&self, signed: &[Signed]) -> Vec<Result<(), Error>> {
        let pair = |&Signed { prepared, signature }: &_| rsa::Signed {
            message: Message::Bytes(prepared),
            signature,
        };
        let pairs: Vec<_> = signed.iter().map(pair).collect();
        let results = self.key.verify_batch(self.variant.algorithm(), &pairs);
        results.into_iter().map(|result| result.map_err(|_| Error::InvalidSignature)).collect()
    }
}
