//! RSA keys: those for zariz, and those that are left to OpenSSL.

mod generate;
pub mod management;
mod numbers;

use std::ffi::c_int;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use zariz::rsa::{KeyError, PrimeComponents, PrivateKey, PublicKey};

use crate::failure::{Failure, Outcome, Reason};
use crate::ffi::params::Built;
use crate::openssl::{Operation, Pkey};
use crate::provider::Provider;
use crate::queue::Primitive;
use crate::settings::Settings;
use numbers::{Numbers, select};

/// A key.
pub struct Key {
    numbers: Numbers,
    arithmetic: Arithmetic,
    /// This key as an OpenSSL key, made when first needed.
    foreign: OnceLock<Pkey>,
}

/// How operations with a key are computed.
pub enum Arithmetic {
    /// By zariz, both halves.
    Private(PrivateKey),
    /// By zariz, the public half only.
    Public(PublicKey),
    /// By OpenSSL. The key is too short or long, does not have exactly two primes, lacks some of its numbers,
    /// or these do not fit together.
    Foreign,
    /// No private operations: a factor is not prime, and the setting validate-keys is on. OpenSSL does public
    /// operations. The text says what is wrong. (Refusing the import would be worse: OpenSSL would take
    /// another provider, whose wrong signatures reveal a factor.)
    Refused(String),
}

impl Key {
    fn new(provider: &Provider, numbers: Numbers) -> Outcome<Self> {
        let settings = &provider.settings;
        let (arithmetic, fits) = if numbers.d.is_some() {
            provider.with_stack(|| private(&numbers, settings))??
        } else {
            match PublicKey::from_components(&numbers.n, &numbers.e) {
                Ok(key) => (Arithmetic::Public(key.with_engine(settings.dispatch)?), true),
                Err(_) => (Arithmetic::Foreign, false),
            }
        };
        let mut key = Self::with(numbers, arithmetic);
        if !fits {
            // OpenSSL decides which keys with missing or wrong numbers can be imported: this differs between
            // its versions.
            key.foreign(provider)?;
            key.numbers.settle();
        }
        Ok(key)
    }

    fn with(numbers: Numbers, arithmetic: Arithmetic) -> Self {
        Self { numbers, arithmetic, foreign: OnceLock::new() }
    }

    /// The length of the modulus in bits.
    pub fn bits(&self) -> usize {
        self.numbers.bits()
    }

    /// The length of signatures and ciphertexts in bytes.
    pub fn size(&self) -> usize {
        self.bits().div_ceil(8)
    }

    /// The security in bits: NIST's figures for the usual lengths (SP 800-56B rev. 2, appendix D), OpenSSL's
    /// formula for others.
    pub fn security(&self, provider: &Provider) -> Outcome<usize> {
        let quoted = match self.bits() {
            2048 => Some(112),
            3072 => Some(128),
            4096 => Some(152),
            8192 => Some(200),
            _ => None,
        };
        match (&self.arithmetic, quoted) {
            (Arithmetic::Private(_) | Arithmetic::Public(_), Some(bits)) => Ok(bits),
            _ => self.foreign(provider)?.security(),
        }
    }

    /// zariz's key for private operations; `None` if OpenSSL does them.
    pub fn private(&self) -> Outcome<Option<&PrivateKey>> {
        match &self.arithmetic {
            Arithmetic::Private(key) => Ok(Some(key)),
            Arithmetic::Public(_) => {
                Err(Failure::new(Reason::Key, "this is a public key; the private key is needed"))
            }
            Arithmetic::Foreign => Ok(None),
            Arithmetic::Refused(why) => Err(Failure::new(Reason::Key, why.clone())),
        }
    }

    /// zariz's key for public operations; `None` if OpenSSL does them, or refuses them with its own error.
    pub fn public(&self) -> Option<&PublicKey> {
        match &self.arithmetic {
            _ if self.numbers.is_refused() => None,
            Arithmetic::Private(key) => Some(key.public_key()),
            Arithmetic::Public(key) => Some(key),
            Arithmetic::Foreign | Arithmetic::Refused(_) => None,
        }
    }

    /// `x^e mod n` of a number that may be shorter than the key. `key` is zariz's form of this key.
    pub fn open(&self, provider: &Provider, key: &PublicKey, number: &[u8]) -> Outcome<Vec<u8>> {
        let number = self.padded(number)?;
        Ok(provider.compute(Primitive::Public(key.clone(), number.into()))?.to_vec())
    }

    /// Pads a number with leading zeros to the key's length.
    pub fn padded(&self, number: &[u8]) -> Outcome<Vec<u8>> {
        let zeros = self.size().checked_sub(number.len());
        let zeros = zeros.ok_or_else(|| {
            Failure::new(
                Reason::Length,
                format!("{} bytes given; the key takes {}", number.len(), self.size()),
            )
        })?;
        let mut out = vec![0; zeros];
        out.extend_from_slice(number);
        Ok(out)
    }

    /// This key as an OpenSSL key.
    fn foreign(&self, provider: &Provider) -> Outcome<&Pkey> {
        if let Some(key) = self.foreign.get() {
            return Ok(key);
        }
        let selection = if self.numbers.d.is_some() { select::KEYPAIR } else { select::PUBLIC };
        let mut params = Built::default();
        self.numbers.write(selection, &mut params);
        let key = Pkey::from_numbers(&provider.openssl, selection, &mut params)?;
        Ok(self.foreign.get_or_init(|| key))
    }

    /// Leaves an operation that returns bytes to OpenSSL; see [`Pkey::transform`].
    pub fn transform_foreign(
        &self,
        provider: &Provider,
        operation: Operation,
        parameters: &mut Built,
        input: &[u8],
        out: &mut [u8],
    ) -> Outcome<usize> {
        provider.note_fallback();
        self.foreign(provider)?.transform(operation, parameters, input, out)
    }

    /// Checks with OpenSSL that the key can sign digests of that name.
    pub fn check_digest_foreign(&self, provider: &Provider, name: &str) -> Outcome {
        let mut parameters = Built::default();
        parameters.text(c"digest", name);
        self.foreign(provider)?.begin_verify(&mut parameters).map(drop)
    }

    /// Leaves verifying a signature to OpenSSL.
    pub fn verify_foreign(
        &self,
        provider: &Provider,
        parameters: &mut Built,
        signature: &[u8],
        digest: &[u8],
    ) -> Outcome {
        provider.note_fallback();
        self.foreign(provider)?.verify(parameters, signature, digest)
    }
}

/// A key that OpenSSL holds (`keydata` in its documents): empty at first.
pub struct KeyData {
    key: Mutex<Option<Arc<Key>>>,
    /// Dropped last: the key may belong to its library context.
    provider: Arc<Provider>,
}

impl KeyData {
    fn new(provider: Arc<Provider>, key: Option<Arc<Key>>) -> Self {
        Self { provider, key: Mutex::new(key) }
    }

    /// The key.
    pub fn key(&self) -> Outcome<Arc<Key>> {
        let key = self.key.lock().unwrap_or_else(PoisonError::into_inner).clone();
        key.ok_or_else(|| Failure::new(Reason::Key, "the key has no numbers"))
    }

    fn set(&self, key: Key) {
        *self.key.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(key));
    }
}

/// How a private key with these numbers is computed with, and whether all of them are given and fit together.
/// OpenSSL accepts keys without dp, dq and qInv, and with wrong ones, so zariz recomputes them.
fn private(numbers: &Numbers, settings: &Settings) -> Outcome<(Arithmetic, bool)> {
    let all = numbers.components().and_then(|all| PrivateKey::from_components(&all).ok());
    let fits = all.is_some();
    let key = all.or_else(|| {
        let (Some(d), [p, q]) = (&numbers.d, &numbers.factors[..]) else { return None };
        PrivateKey::from_primes(&PrimeComponents { n: &numbers.n, e: &numbers.e, d, p, q }).ok()
    });
    let Some(key) = key else { return Ok((Arithmetic::Foreign, fits)) };
    match if settings.validate_keys { key.validate() } else { Ok(()) } {
        Ok(()) => Ok((Arithmetic::Private(with_settings(&key, settings)?), fits)),
        Err(KeyError::Inconsistent(what)) => {
            let why = format!("{what}: the setting validate-keys refuses keys whose primes are not prime");
            Ok((Arithmetic::Refused(why), fits))
        }
        Err(error) => Err(error.into()),
    }
}

/// The key with the engine of the settings, and with their method if they name one.
fn with_settings(key: &PrivateKey, settings: &Settings) -> Outcome<PrivateKey> {
    Ok(key.with_engine(settings.dispatch)?.with_method(settings.method))
}

/// Whether all of `wanted` is selected.
fn selects(selection: c_int, wanted: c_int) -> bool {
    selection & wanted == wanted
}
