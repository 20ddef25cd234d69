//! graviola. It takes keys of 2048 to 8192 bits.

use anyhow::{Result, anyhow, ensure};
use graviola::signing::rsa::{SigningKey, VerifyingKey};
use graviola::util::is_cpu_supported;

use super::{Library, Signed, Signer, Verifier};
use crate::keys::Key;

/// graviola.
pub struct Graviola;

impl Library for Graviola {
    fn name(&self) -> &'static str {
        "graviola"
    }

    fn version(&self) -> String {
        env!("VERSION_OF_GRAVIOLA").into()
    }

    fn signer(&self, key: &Key) -> Result<Box<dyn Signer>> {
        check_processor()?;
        let key = SigningKey::from_pkcs8_der(&key.pkcs8)
            .map_err(|why| anyhow!("graviola rejects the key: {why:?}"))?;
        Ok(Box::new(key))
    }

    fn verifier(&self, key: &Key) -> Result<Box<dyn Verifier>> {
        check_processor()?;
        let key = VerifyingKey::from_pkcs1_der(&key.pkcs1_public)
            .map_err(|why| anyhow!("graviola rejects the public key: {why:?}"))?;
        Ok(Box::new(key))
    }
}

/// graviola panics on a processor without ADX, BMI2 and the like.
fn check_processor() -> Result<()> {
    ensure!(is_cpu_supported(), "graviola does not support this processor");
    Ok(())
}

impl Signer for SigningKey {
    fn sign(&mut self, messages: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        let one = |message: &&[u8]| {
            let mut signature = vec![0; self.modulus_len_bytes()];
            self.sign_pkcs1_sha256(&mut signature, message)
                .map_err(|why| anyhow!("graviola does not sign: {why:?}"))?;
            Ok(signature)
        };
        messages.iter().map(one).collect()
    }
}

impl Verifier for VerifyingKey {
    fn verify(&mut self, signed: &[Signed<'_>]) -> Result<()> {
        for Signed { message, signature } in signed {
            self.verify_pkcs1_sha256(signature, message)
                .map_err(|why| anyhow!("graviola rejects a signature: {why:?}"))?;
        }
        Ok(())
    }
}
