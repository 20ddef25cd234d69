//! A provider whose RSA private keys are zariz's.

use std::sync::Arc;

use rustls::Error;
use rustls::crypto::{self, CryptoProvider};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign;
use zariz::batcher::Batcher;
use zariz::rsa::{KeyError, PrivateKey};
use zeroize::Zeroizing;

use crate::key::SigningKey;

/// A copy of a provider in which zariz signs with RSA keys.
///
/// rustls requires the loader of keys to live as long as the program, so each call leaks a few bytes: make
/// one provider, and clone it.
#[must_use]
pub fn with(provider: CryptoProvider) -> CryptoProvider {
    let keys = KeyProvider::new(provider.key_provider);
    with_keys(provider, keys)
}

/// Like [`with`], but all keys sign through a batcher, so threads that sign at the same time share batches
/// ([`SigningKey::with_batcher`]). For servers with a thread for each connection: batches form only if
/// several threads sign at once. The batcher lives as long as the program.
#[must_use]
pub fn with_batcher(provider: CryptoProvider, batcher: Batcher) -> CryptoProvider {
    let keys = KeyProvider::new(provider.key_provider).with_batcher(batcher);
    with_keys(provider, keys)
}

/// The provider with that loader, which is leaked.
fn with_keys(provider: CryptoProvider, keys: KeyProvider) -> CryptoProvider {
    CryptoProvider { key_provider: Box::leak(Box::new(keys)), ..provider }
}

/// zariz over the provider of aws-lc-rs.
#[cfg(feature = "aws-lc-rs")]
#[must_use]
pub fn default_provider() -> CryptoProvider {
    with(crypto::aws_lc_rs::default_provider())
}

/// Loads RSA keys for zariz, and all other keys with another loader. For programs that build their own
/// [`CryptoProvider`]; others use [`with`].
#[derive(Debug)]
pub struct KeyProvider {
    others: &'static dyn crypto::KeyProvider,
    batcher: Option<Batcher>,
}

impl KeyProvider {
    /// A loader that passes keys that are not RSA to `others`.
    pub fn new(others: &'static dyn crypto::KeyProvider) -> Self {
        Self { others, batcher: None }
    }

    /// Makes RSA keys sign through a batcher ([`SigningKey::with_batcher`]).
    #[must_use]
    pub fn with_batcher(self, batcher: Batcher) -> Self {
        Self { batcher: Some(batcher), ..self }
    }
}

impl crypto::KeyProvider for KeyProvider {
    /// Loads a key from the DER of PKCS#1, PKCS#8 or SEC1.
    ///
    /// # Errors
    /// [`Error::General`] says what is wrong with an RSA key; for other keys, the errors of their loader.
    fn load_private_key(&self, key: PrivateKeyDer<'static>) -> Result<Arc<dyn sign::SigningKey>, Error> {
        // This copy is wiped here; the other loader wipes its own.
        let key = Zeroizing::new(key);
        let parsed = match &*key {
            PrivateKeyDer::Pkcs1(der) => PrivateKey::parse(der.secret_pkcs1_der()),
            PrivateKeyDer::Pkcs8(der) => PrivateKey::parse(der.secret_pkcs8_der()),
            _ => return self.others.load_private_key(key.clone_key()),
        };
        match parsed {
            Ok(key) => {
                let key = SigningKey::new(key)?;
                Ok(Arc::new(match &self.batcher {
                    Some(batcher) => key.with_batcher(batcher.clone()),
                    None => key,
                }))
            }
            Err(KeyError::NotRsa(_)) => self.others.load_private_key(key.clone_key()),
            Err(error) => Err(Error::General(format!("the RSA private key cannot be used: {error}"))),
        }
    }
}
