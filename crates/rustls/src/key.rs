//! A private key that signs for rustls.

use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::sign::{self, Signer};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};
use zariz::batcher::{self, Batcher};
use zariz::rsa::{Algorithm, PrivateKey, Usage};

/// The shortest key, in bits, for signing and verifying: the same as in rustls's own providers.
const MIN_BITS: usize = 2048;

/// The signature schemes in order of preference, which is that of rustls's own providers.
const SCHEMES: [(SignatureScheme, Algorithm); 6] = [
    (SignatureScheme::RSA_PSS_SHA512, Algorithm::PS512),
    (SignatureScheme::RSA_PSS_SHA384, Algorithm::PS384),
    (SignatureScheme::RSA_PSS_SHA256, Algorithm::PS256),
    (SignatureScheme::RSA_PKCS1_SHA512, Algorithm::RS512),
    (SignatureScheme::RSA_PKCS1_SHA384, Algorithm::RS384),
    (SignatureScheme::RSA_PKCS1_SHA256, Algorithm::RS256),
];

/// An RSA private key for rustls, for programs that choose certificates themselves
/// ([`CertifiedKey`](rustls::sign::CertifiedKey)); others load keys through a provider
/// ([`with`](crate::with)).
#[derive(Clone, Debug)]
pub struct SigningKey {
    key: PrivateKey,
    spki: Vec<u8>,
    batcher: Option<Batcher>,
}

impl SigningKey {
    /// A key of at least 2048 bits.
    ///
    /// # Errors
    /// [`Error::General`] for a shorter key, or one for PSS only (id-RSASSA-PSS): TLS has other names for
    /// signatures of such keys, which rustls does not support.
    pub fn new(key: PrivateKey) -> Result<Self, Error> {
        if key.bits() < MIN_BITS {
            let bits = key.bits();
            return Err(Error::General(format!(
                "the RSA key has {bits} bits; TLS needs at least {MIN_BITS}"
            )));
        }
        if key.public_key().usage() != Usage::Any {
            let what = "the RSA key is for PSS only (id-RSASSA-PSS); rustls needs one with rsaEncryption";
            return Err(Error::General(what.into()));
        }
        let spki = key.public_key().to_der().map_err(|error| Error::General(error.to_string()))?;
        Ok(Self { key, spki, batcher: None })
    }

    /// Makes the key sign through a batcher: threads that wait at the same time share batches, also with
    /// other keys of the batcher. A thread that finds the batcher idle yields once to other ready threads,
    /// and signs.
    #[must_use]
    pub fn with_batcher(self, batcher: Batcher) -> Self {
        Self { batcher: Some(batcher), ..self }
    }
}

impl sign::SigningKey for SigningKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let (scheme, algorithm) = SCHEMES.into_iter().find(|(scheme, _)| offered.contains(scheme))?;
        Some(Box::new(RsaSigner { key: self.key.clone(), scheme, algorithm, batcher: self.batcher.clone() }))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(SubjectPublicKeyInfoDer::from(&self.spki[..]))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::RSA
    }
}

/// A key and its chosen scheme.
#[derive(Debug)]
struct RsaSigner {
    key: PrivateKey,
    scheme: SignatureScheme,
    algorithm: Algorithm,
    batcher: Option<Batcher>,
}

impl Signer for RsaSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let signature = match &self.batcher {
            Some(batcher) => batcher.sign(&self.key, self.algorithm, message),
            None => self.key.sign(self.algorithm, message).map_err(batcher::Error::Rsa),
        };
        signature.map_err(|error| Error::General(format!("zariz could not sign: {error}")))
    }

    fn scheme(&self) -> SignatureScheme {
        self.scheme
    }
}
