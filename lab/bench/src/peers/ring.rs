//! ring. It signs with keys of 2048 to 4096 bits, and verifies with 1024 to 8192.
//!
//! It has no parsed public key: each verification parses the key and prepares its modulus again, as it does
//! for every user of ring.

use anyhow::{Result, anyhow};
use ring::rand::SystemRandom;
use ring::signature::{
    RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey,
};

use super::{Library, Signed, Signer, Verifier};
use crate::keys::Key;

/// ring.
pub struct Ring;

impl Library for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn version(&self) -> String {
        env!("VERSION_OF_RING").into()
    }

    fn signer(&self, key: &Key) -> Result<Box<dyn Signer>> {
        let pair =
            RsaKeyPair::from_pkcs8(&key.pkcs8).map_err(|why| anyhow!("ring rejects the key: {why}"))?;
        Ok(Box::new(Signing { pair, random: SystemRandom::new() }))
    }

    fn verifier(&self, key: &Key) -> Result<Box<dyn Verifier>> {
        let parameters = &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY;
        Ok(Box::new(UnparsedPublicKey::new(parameters, key.pkcs1_public.clone())))
    }
}

/// A parsed private key.
struct Signing {
    pair: RsaKeyPair,
    random: SystemRandom,
}

impl Signer for Signing {
    fn sign(&mut self, messages: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        let one = |message: &&[u8]| {
            let mut signature = vec![0; self.pair.public().modulus_len()];
            self.pair
                .sign(&RSA_PKCS1_SHA256, &self.random, message, &mut signature)
                .map_err(|_| anyhow!("ring does not sign"))?;
            Ok(signature)
        };
        messages.iter().map(one).collect()
    }
}

impl Verifier for UnparsedPublicKey<Vec<u8>> {
    fn verify(&mut self, signed: &[Signed<'_>]) -> Result<()> {
        for Signed { message, signature } in signed {
            UnparsedPublicKey::verify(self, message, signature)
                .map_err(|_| anyhow!("ring rejects a signature"))?;
        }
        Ok(())
    }
}
