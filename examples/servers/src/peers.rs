//! aws-lc-rs as the signer of the token issuer, on the connection's thread or on tokio's pool.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::error::KeyRejected;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::RSA_PKCS1_SHA256;
use tokio::task::spawn_blocking;

use crate::http::Refused;
use crate::token::Sign;

/// A key of aws-lc-rs.
#[derive(Clone)]
pub struct AwsLc {
    key: Arc<KeyPair>,
    pool: bool,
}

impl AwsLc {
    /// A key from PKCS#8. It signs on the calling thread, or on tokio's pool.
    ///
    /// # Errors
    /// Why the key is refused.
    pub fn new(pkcs8: &[u8], pool: bool) -> Result<Self, KeyRejected> {
        Ok(Self { key: Arc::new(KeyPair::from_pkcs8(pkcs8)?), pool })
    }

    fn sign_here(&self, message: &[u8]) -> Result<Vec<u8>, Refused> {
        let mut signature = vec![0; self.key.public_modulus_len()];
        match self.key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature) {
            Ok(()) => Ok(signature),
            Err(error) => Err(Refused::failed(&error)),
        }
    }
}

impl Sign for AwsLc {
    async fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Refused> {
        if !self.pool {
            return self.sign_here(message);
        }
        let (own, message) = (self.clone(), message.to_vec());
        spawn_blocking(move || own.sign_here(&message))
            .await
            .unwrap_or_else(|error| Err(Refused::failed(&error)))
    }
}

impl fmt::Debug for AwsLc {
    /// Does not show the key.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("AwsLc").field("pool", &self.pool).finish_non_exhaustive()
    }
}
