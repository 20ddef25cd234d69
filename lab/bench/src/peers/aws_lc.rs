//! AWS-LC through `aws-lc-rs`.

use anyhow::{Result, anyhow};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::{
    ParsedPublicKey, RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, RSA_PKCS1_SHA256,
};

use super::{Library, Signed, Signer, Verifier};
use crate::keys::Key;

/// AWS-LC.
pub struct AwsLc;

impl Library for AwsLc {
    fn name(&self) -> &'static str {
        "aws-lc"
    }

    fn version(&self) -> String {
        format!("{} (aws-lc-rs {})", aws_lc_rs::awslc_version(), env!("VERSION_OF_AWS_LC_RS"))
    }

    fn signer(&self, key: &Key) -> Result<Box<dyn Signer>> {
        let pair =
            KeyPair::from_pkcs8(&key.pkcs8).map_err(|why| anyhow!("aws-lc-rs rejects the key: {why}"))?;
        Ok(Box::new(Signing { pair, random: SystemRandom::new() }))
    }

    fn verifier(&self, key: &Key) -> Result<Box<dyn Verifier>> {
        // The one set of parameters that allows every size; above 1024 bits the code is the same as for the
        // others.
        let parameters = &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY;
        let parsed = ParsedPublicKey::new(parameters, &key.spki)
            .map_err(|why| anyhow!("aws-lc-rs rejects the public key: {why}"))?;
        Ok(Box::new(parsed))
    }
}

/// A parsed private key.
struct Signing {
    pair: KeyPair,
    random: SystemRandom,
}

impl Signer for Signing {
    fn sign(&mut self, messages: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        let one = |message: &&[u8]| {
            let mut signature = vec![0; self.pair.public_modulus_len()];
            self.pair
                .sign(&RSA_PKCS1_SHA256, &self.random, message, &mut signature)
                .map_err(|_| anyhow!("AWS-LC does not sign"))?;
            Ok(signature)
        };
        messages.iter().map(one).collect()
    }
}

impl Verifier for ParsedPublicKey {
    fn verify(&mut self, signed: &[Signed<'_>]) -> Result<()> {
        for Signed { message, signature } in signed {
            self.verify_sig(message, signature).map_err(|_| anyhow!("AWS-LC rejects a signature"))?;
        }
        Ok(())
    }
}
