//! RustCrypto's `rsa`, signing with a random generator: without one it does not blind.

use anyhow::{Result, anyhow};
use getrandom::SysRng;
use rsa::pkcs1v15::{Signature, SigningKey, VerifyingKey};
use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey};
use rsa::signature::{RandomizedSigner, SignatureEncoding};
use rsa::{RsaPrivateKey, RsaPublicKey};
use sha2::Sha256;

use super::{Library, Signed, Signer, Verifier};
use crate::keys::Key;

/// RustCrypto `rsa`.
pub struct RustCrypto;

impl Library for RustCrypto {
    fn name(&self) -> &'static str {
        "rustcrypto"
    }

    fn version(&self) -> String {
        env!("VERSION_OF_RSA").into()
    }

    fn signer(&self, key: &Key) -> Result<Box<dyn Signer>> {
        let key =
            RsaPrivateKey::from_pkcs8_der(&key.pkcs8).map_err(|why| anyhow!("rsa rejects the key: {why}"))?;
        Ok(Box::new(SigningKey::<Sha256>::new(key)))
    }

    fn verifier(&self, key: &Key) -> Result<Box<dyn Verifier>> {
        let key = RsaPublicKey::from_public_key_der(&key.spki)
            .map_err(|why| anyhow!("rsa rejects the public key: {why}"))?;
        Ok(Box::new(VerifyingKey::<Sha256>::new(key)))
    }
}

impl Signer for SigningKey<Sha256> {
    fn sign(&mut self, messages: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        messages.iter().map(|message| Ok(self.try_sign_with_rng(&mut SysRng, message)?.to_vec())).collect()
    }
}

impl Verifier for VerifyingKey<Sha256> {
    fn verify(&mut self, signed: &[Signed<'_>]) -> Result<()> {
        for Signed { message, signature } in signed {
            rsa::signature::Verifier::verify(self, message, &Signature::try_from(*signature)?)?;
        }
        Ok(())
    }
}
