//! The traits of the `signature` crate. Its errors have one of ours, [`Error`](super::Error), as their
//! source.

use signature::hazmat::{PrehashSigner, PrehashVerifier};
use signature::{Error as SignatureError, SignatureEncoding, Signer, Verifier};
use zeroize::ZeroizeOnDrop;

use super::algorithm::Algorithm;
use super::message::Message;
use super::private::PrivateKey;
use super::public::PublicKey;

/// A signature as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature(Box<[u8]>);

impl TryFrom<&[u8]> for Signature {
    type Error = SignatureError;
    fn try_from(bytes: &[u8]) -> Result<Self, SignatureError> {
        Ok(Self(bytes.into()))
    }
}

impl AsRef<[u8]> for Signature {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Signature> for Box<[u8]> {
    fn from(signature: Signature) -> Self {
        signature.0
    }
}

impl SignatureEncoding for Signature {
    type Repr = Box<[u8]>;
}

/// A private key and the algorithm to sign with, for code that is generic over [`signature::Signer`].
#[derive(Clone, Debug)]
pub struct SigningKey {
    /// The private key that signs.
    pub key: PrivateKey,
    /// The padding and hash.
    pub algorithm: Algorithm,
}

/// A public key and the algorithm to verify with, for code that is generic over [`signature::Verifier`].
#[derive(Clone, Debug)]
pub struct VerifyingKey {
    /// The public key of the signer.
    pub key: PublicKey,
    /// The padding and hash.
    pub algorithm: Algorithm,
}

impl SigningKey {
    /// A private key and the algorithm to sign with.
    pub fn new(key: PrivateKey, algorithm: Algorithm) -> Self {
        Self { key, algorithm }
    }
}

impl VerifyingKey {
    /// A public key and the algorithm to verify with.
    pub fn new(key: PublicKey, algorithm: Algorithm) -> Self {
        Self { key, algorithm }
    }
}

impl ZeroizeOnDrop for SigningKey {}

impl Signer<Signature> for SigningKey {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, SignatureError> {
        let signature = self.key.sign(self.algorithm, message).map_err(SignatureError::from_source)?;
        Ok(Signature(signature.into()))
    }
}

impl Verifier<Signature> for VerifyingKey {
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        self.key.verify(self.algorithm, message, &signature.0).map_err(SignatureError::from_source)
    }
}

impl PrehashSigner<Signature> for SigningKey {
    /// Signs a message given by its digest under the algorithm's hash.
    fn sign_prehash(&self, digest: &[u8]) -> Result<Signature, SignatureError> {
        let signature =
            self.key.sign(self.algorithm, Message::Digest(digest)).map_err(SignatureError::from_source)?;
        Ok(Signature(signature.into()))
    }
}

impl PrehashVerifier<Signature> for VerifyingKey {
    /// Verifies the signature of a message given by its digest under the algorithm's hash.
    fn verify_prehash(&self, digest: &[u8], signature: &Signature) -> Result<(), SignatureError> {
        self.key
            .verify(self.algorithm, Message::Digest(digest), &signature.0)
            .map_err(SignatureError::from_source)
    }
}

impl signature::Keypair for SigningKey {
    type VerifyingKey = VerifyingKey;
    fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey { key: self.key.public_key().clone(), algorithm: self.algorithm }
    }
}
