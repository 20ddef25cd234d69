//! zariz itself, once per engine: a batch is handed over whole.

use anyhow::Result;
use zariz::Dispatch;
use zariz::rsa::{self, Algorithm, PrivateKey, PublicKey};

use super::{Library, Signed, Signer, Verifier};
use crate::keys::Key;

/// zariz forced onto one engine, or left to itself.
pub struct Zariz {
    /// The engine.
    pub engine: Dispatch,
}

impl Library for Zariz {
    fn name(&self) -> &'static str {
        "zariz"
    }

    fn version(&self) -> String {
        env!("ZARIZ_COMMIT").into()
    }

    fn engine(&self) -> Option<Dispatch> {
        Some(self.engine)
    }

    fn batches(&self, named: &[usize]) -> Result<Vec<usize>> {
        Ok(named.to_vec())
    }

    fn lanes(&self) -> usize {
        self.engine.main().lanes()
    }

    fn signer(&self, key: &Key) -> Result<Box<dyn Signer>> {
        Ok(Box::new(PrivateKey::parse(&key.pkcs8)?.with_engine(self.engine)?))
    }

    fn verifier(&self, key: &Key) -> Result<Box<dyn Verifier>> {
        Ok(Box::new(PublicKey::parse(&key.spki)?.with_engine(self.engine)?))
    }
}

impl Signer for PrivateKey {
    fn sign(&mut self, messages: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        // One message is what a caller without a batch has: the call for one.
        if let [message] = messages {
            return Ok(vec![PrivateKey::sign(self, Algorithm::RS256, message)?]);
        }
        let signatures = self.sign_batch(Algorithm::RS256, messages);
        Ok(signatures.into_iter().collect::<Result<_, _>>()?)
    }
}

impl Verifier for PublicKey {
    fn verify(&mut self, signed: &[Signed<'_>]) -> Result<()> {
        if let [Signed { message, signature }] = signed {
            return Ok(PublicKey::verify(self, Algorithm::RS256, message, signature)?);
        }
        let signed = signed
            .iter()
            .map(|signed| rsa::Signed { message: signed.message.into(), signature: signed.signature });
        let verdicts = self.verify_batch(Algorithm::RS256, &signed.collect::<Vec<_>>());
        Ok(verdicts.into_iter().collect::<Result<_, _>>()?)
    }
}
