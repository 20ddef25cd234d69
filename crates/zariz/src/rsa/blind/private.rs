//! The server's side: its key, and BlindSign.

use std::fmt;

use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::error::Error;
use super::public::PublicKey;
use super::variant::Variant;
use crate::dispatch::Dispatch;
use crate::engine::EngineError;
use crate::rsa::hazmat::primitive::{PrivateJob, private_results};
use crate::rsa::{self, KeyError, Usage};

/// The private key of a server that signs blindly, for one [`Variant`]: it does nothing else. Cheap to clone;
/// secrets are zeroised when the last clone is dropped.
#[derive(Clone)]
pub struct PrivateKey {
    key: rsa::PrivateKey,
    public: PublicKey,
}

/// When the last clone is dropped.
impl ZeroizeOnDrop for PrivateKey {}

impl fmt::Debug for PrivateKey {
    /// Shows nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("PrivateKey").field("variant", &self.variant()).field("key", &self.key).finish()
    }
}

/// One blinded message to sign.
#[derive(Clone, Copy, Debug)]
pub struct BlindSignJob<'a> {
    /// The private key that signs.
    pub key: &'a PrivateKey,
    /// The blinded message, as long as the key's modulus.
    pub blinded_message: &'a [u8],
}

impl<'a> BlindSignJob<'a> {
    /// A blinded message to sign with a key.
    pub fn new(key: &'a PrivateKey, blinded_message: &'a [u8]) -> Self {
        Self { key, blinded_message }
    }
}

impl PrivateKey {
    /// Marks a key as one for this variant. The caller must use the key itself for nothing else, nor for
    /// another variant: its signatures would be forged by blind signing (RFC 9474 section 6.2).
    ///
    /// # Errors
    /// [`KeyError::Parameters`] if the key is restricted to PSS with other parameters.
    pub fn new(variant: Variant, key: &rsa::PrivateKey) -> Result<Self, KeyError> {
        let public = PublicKey::new(variant, key.public_key())?;
        Ok(Self { key: key.with_usage(Usage::PssWith(variant.parameters())), public })
    }

    /// Makes a new key of `bits` bits.
    ///
    /// # Errors
    /// [`KeyError::Size`] unless `bits` is from [`rsa::PublicKey::MIN_BITS`] to [`rsa::PublicKey::MAX_BITS`];
    /// [`KeyError::Random`].
    #[cfg(feature = "keygen")]
    pub fn generate(variant: Variant, bits: usize) -> Result<Self, KeyError> {
        Self::new(variant, &rsa::PrivateKey::generate(bits)?)
    }

    /// Reads a key from PEM text or DER: PKCS#8 with the algorithm id-RSASSA-PSS, as
    /// [`to_pem`](Self::to_pem) writes it. `openssl genpkey -algorithm RSA-PSS` also makes such keys.
    ///
    /// # Errors
    /// [`KeyError::Parameters`] for a key that is not restricted to PSS, or to PSS with other parameters than
    /// the variant's; else those of [`rsa::PrivateKey::parse`].
    pub fn parse(variant: Variant, pem_or_der: &[u8]) -> Result<Self, KeyError> {
        let key = rsa::PrivateKey::parse(pem_or_der)?;
        Variant::is_marked(key.public_key().usage())?;
        Self::new(variant, &key)
    }

    /// A copy of the key for another [`Engine`](crate::Engine) or [`Dispatch`].
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] where this processor cannot run the engine.
    pub fn with_engine(&self, engine: impl Into<Dispatch>) -> Result<Self, EngineError> {
        let engine = engine.into();
        Ok(Self { key: self.key.with_engine(engine)?, public: self.public.with_engine(engine)? })
    }

    /// The key as a PKCS#8 PEM block (`PRIVATE KEY`), with the algorithm id-RSASSA-PSS and the variant's
    /// parameters.
    ///
    /// # Errors
    /// A [`KeyError`] if the encoder fails, which never happens for a key that was loaded or generated.
    pub fn to_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        self.key.to_pem()
    }

    /// Checks that the primes are probably prime: [`rsa::PrivateKey::validate`].
    ///
    /// # Errors
    /// [`KeyError::Inconsistent`] for a composite, [`KeyError::Random`].
    pub fn validate(&self) -> Result<(), KeyError> {
        self.key.validate()
    }

    /// The public half, for clients.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// The key itself, to compute with.
    #[cfg(feature = "batcher")]
    pub(crate) fn rsa_key(&self) -> &rsa::PrivateKey {
        &self.key
    }

    /// What the key is for.
    pub fn variant(&self) -> Variant {
        self.public.variant()
    }

    /// The length of the modulus in bits.
    pub fn bits(&self) -> usize {
        self.key.bits()
    }

    /// The length of a blinded message, a blind signature or a signature in bytes: `⌈bits/8⌉`.
    pub fn size(&self) -> usize {
        self.key.size()
    }

    /// BlindSign (RFC 9474 section 4.3): the blind signature of a blinded message, `⌈bits/8⌉` bytes. Blinded
    /// once more and checked with the public exponent, like every private operation.
    ///
    /// # Errors
    /// [`Error::InputSize`], [`Error::OutOfRange`] or [`Error::SigningFailure`].
    pub fn blind_sign(&self, blinded_message: &[u8]) -> Result<Vec<u8>, Error> {
        self.blind_sign_batch(&[blinded_message]).swap_remove(0)
    }

    /// [`blind_sign`](Self::blind_sign) for many blinded messages, in order, in batches. Each result is a
    /// blind signature or its own error.
    #[must_use]
    pub fn blind_sign_batch(&self, blinded_messages: &[&[u8]]) -> Vec<Result<Vec<u8>, Error>> {
        of_messages(blinded_messages.iter().map(|&blinded_message| BlindSignJob::new(self, blinded_message)))
    }
}

/// Signs many blinded messages, each with its own key, in order. Keys of similar size share batches. Each
/// result is one that [`PrivateKey::blind_sign`] can return.
#[must_use]
pub fn blind_sign_many(jobs: &[BlindSignJob]) -> Vec<Result<Vec<u8>, Error>> {
    of_messages(jobs.iter().copied())
}

fn of_messages<'a>(jobs: impl Iterator<Item = BlindSignJob<'a>>) -> Vec<Result<Vec<u8>, Error>> {
    let jobs = jobs.map(|job| PrivateJob { key: &job.key.key, number: job.blinded_message });
    // The result goes to the client: it is no secret.
    private_results(jobs).into_iter().map(|result| Ok(std::mem::take(&mut *result?))).collect()
}
