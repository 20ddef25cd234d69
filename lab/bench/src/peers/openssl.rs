//! OpenSSL, built from source by the `openssl` crate.
//!
//! One `EVP_PKEY_CTX` per key, initialised once, as `openssl speed` does it: the fastest way through its
//! interface.

use anyhow::{Result, ensure};
use openssl::md::Md;
use openssl::pkey::{PKey, Private, Public};
use openssl::pkey_ctx::PkeyCtx;
use openssl::rsa::Padding;
use openssl::sha::sha256;

use super::{Library, REFERENCE, Signed, Signer, Verifier};
use crate::keys::Key;

/// OpenSSL.
pub struct OpenSsl;

impl Library for OpenSsl {
    fn name(&self) -> &'static str {
        REFERENCE
    }

    fn version(&self) -> String {
        let text = openssl::version::version();
        // "OpenSSL 3.6.3 9 Jun 2026": the second word.
        let version = text.split(' ').nth(1).unwrap_or(text);
        format!("{version} (openssl {})", env!("VERSION_OF_OPENSSL"))
    }

    fn signer(&self, key: &Key) -> Result<Box<dyn Signer>> {
        let private = PKey::private_key_from_pkcs8(&key.pkcs8)?;
        let mut context = PkeyCtx::new(&private)?;
        context.sign_init()?;
        context.set_rsa_padding(Padding::PKCS1)?;
        context.set_signature_md(Md::sha256())?;
        Ok(Box::new(Signing { context, size: key.size }))
    }

    fn verifier(&self, key: &Key) -> Result<Box<dyn Verifier>> {
        let public = PKey::public_key_from_der(&key.spki)?;
        let mut context = PkeyCtx::new(&public)?;
        context.verify_init()?;
        context.set_rsa_padding(Padding::PKCS1)?;
        context.set_signature_md(Md::sha256())?;
        Ok(Box::new(Verifying { context }))
    }
}

/// A context initialised for signing.
struct Signing {
    context: PkeyCtx<Private>,
    size: usize,
}

impl Signer for Signing {
    fn sign(&mut self, messages: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        let mut one = |message: &&[u8]| {
            let mut signature = vec![0; self.size];
            let length = self.context.sign(&sha256(message), Some(&mut signature))?;
            signature.truncate(length);
            Ok(signature)
        };
        messages.iter().map(&mut one).collect()
    }
}

/// A context initialised for verifying.
struct Verifying {
    context: PkeyCtx<Public>,
}

impl Verifier for Verifying {
    fn verify(&mut self, signed: &[Signed<'_>]) -> Result<()> {
        for Signed { message, signature } in signed {
            ensure!(self.context.verify(&sha256(message), signature)?, "OpenSSL rejects a signature");
        }
        Ok(())
    }
}
