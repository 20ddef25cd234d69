//! Private keys.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::components::{Components, PrimeComponents};
use super::error::KeyError;
use super::parse::{self, Private};
use super::public::PublicKey;
use super::secrets::{Secret, Secrets, bytes, trimmed, within};
use super::usage::Usage;
use super::validate;
use crate::dispatch::{Dispatch, Route, Shape};
use crate::engine::{Engine, EngineError};
use crate::method::Method;
use crate::prepared::Prepared;
use crate::zeroize_stack::zeroize_stack;

/// An RSA private key with two primes. Cheap to clone; secrets are zeroised when the last clone is dropped.
#[derive(Clone)]
pub struct PrivateKey {
    pub(super) public: PublicKey,
    pub(super) secret: Arc<Secret>,
}

/// When the last clone is dropped.
impl ZeroizeOnDrop for PrivateKey {}

impl fmt::Debug for PrivateKey {
    /// Shows nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("PrivateKey")
            .field("bits", &self.bits())
            .field("engine", &self.engine())
            .finish_non_exhaustive()
    }
}

impl PrivateKey {
    /// Reads a key from PEM text or DER: PKCS#1 (`RSA PRIVATE KEY`) or PKCS#8 (`PRIVATE KEY`).
    ///
    /// Blanks and empty lines in PEM, lines of any length, text and blocks around the key, and blanks behind
    /// DER do not matter. Where label and content of a block disagree, the content decides.
    ///
    /// Checks every relation between its numbers: a damaged key is a [`KeyError`] here, not at the first
    /// signature. Only [`validate`](Self::validate) checks that the primes are prime.
    ///
    /// # Errors
    /// A [`KeyError`] says why the input is not an RSA private key, or how it is damaged.
    pub fn parse(pem_or_der: &[u8]) -> Result<Self, KeyError> {
        zeroize_stack(|| Self::from_parts(&parse::private(pem_or_der, None)?))
    }

    /// Reads a key that is encrypted with a password: PKCS#8 (`ENCRYPTED PRIVATE KEY`), PEM or DER. A key
    /// that is not encrypted is read as by [`parse`](Self::parse), and the password is ignored.
    ///
    /// Supported is PBES2: AES or 3DES in CBC, AES in GCM, with PBKDF2 or scrypt, as OpenSSL 1.1 and later
    /// make it. `openssl pkcs8 -topk8` converts older files. Parameters that would take more than 10 million
    /// iterations of PBKDF2, 256 MiB for scrypt, or many seconds are refused.
    ///
    /// # Errors
    /// [`KeyError::Password`] for a wrong password or a damaged key; [`KeyError::Encryption`] for an
    /// encryption that is not supported; else the errors of [`parse`](Self::parse).
    #[cfg(feature = "encryption")]
    pub fn parse_encrypted(pem_or_der: &[u8], password: &[u8]) -> Result<Self, KeyError> {
        zeroize_stack(|| Self::from_parts(&parse::private(pem_or_der, Some(password))?))
    }

    /// Makes a key from its modulus, exponents and primes. The other numbers are computed, at the cost of a
    /// power modulo a prime; [`from_components`](Self::from_components) takes them from the caller. The
    /// checks are those of [`parse`](Self::parse).
    ///
    /// # Errors
    /// A [`KeyError`] says how the numbers are wrong, or do not fit together.
    pub fn from_primes(numbers: &PrimeComponents) -> Result<Self, KeyError> {
        let PrimeComponents { n, e, d, p, q } = *numbers;
        let public = PublicKey::from_components(n, e)?;
        zeroize_stack(|| {
            let (d, [p, q]) = (within(d, public.modulus().limbs().len()), [p, q].map(trimmed));
            validate::factors(public.modulus().limbs(), &d, &p, &q)?;
            let secrets = Secrets::complete(d, p, q)?;
            Self::new(public, secrets)
        })
    }

    /// Makes a key from all of its numbers: the inverse of [`components`](Self::components). The checks are
    /// those of [`parse`](Self::parse).
    ///
    /// # Errors
    /// A [`KeyError`] says how the numbers are wrong, or do not fit together.
    pub fn from_components(components: &Components) -> Result<Self, KeyError> {
        let public = PublicKey::from_components(&components.n, &components.e)?;
        zeroize_stack(|| {
            let secrets = Secrets::read(components, public.modulus().limbs().len());
            Self::new(public, secrets)
        })
    }

    pub(super) fn from_parts(Private { components, usage }: &Private) -> Result<Self, KeyError> {
        Ok(Self::from_components(components)?.with_usage(*usage))
    }

    pub(super) fn new(public: PublicKey, secrets: Secrets) -> Result<Self, KeyError> {
        validate::relations(public.modulus().limbs(), public.exponent(), &secrets)?;
        let secret = Arc::new(Secret::new(public.modulus(), secrets));
        Ok(Self { public, secret })
    }

    /// The key's numbers, to export them. They do not include the key's
    /// [`PublicKey::usage`](super::PublicKey::usage): a key made from them may be used for everything, unless
    /// [`with_usage`](Self::with_usage) restricts it again.
    pub fn components(&self) -> Components {
        let (public, Secret { p, q, qinv, d, .. }) = (&self.public, &*self.secret);
        Components {
            n: public.n(),
            e: public.e(),
            d: bytes(d),
            p: bytes(p.modulus.limbs()),
            q: bytes(q.modulus.limbs()),
            dp: bytes(&p.exponent),
            dq: bytes(&q.exponent),
            qinv: bytes(qinv),
        }
    }

    /// A copy of the key for another [`Engine`] or [`Dispatch`]. Nothing is computed: the copy shares what is
    /// already prepared.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] where this processor cannot run the engine.
    pub fn with_engine(&self, engine: impl Into<Dispatch>) -> Result<Self, EngineError> {
        Ok(Self { public: self.public.with_engine(engine)?, secret: Arc::clone(&self.secret) })
    }

    #[cfg(feature = "keygen")]
    pub(super) fn with_route(&self, route: Route) -> Self {
        Self { public: self.public.with_route(route), secret: Arc::clone(&self.secret) }
    }

    /// Whether both have the same secret in memory, as clones have: then they share its pairs for blinding
    /// too.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    /// A copy of the key for other uses. It is written with them ([`to_der`](Self::to_der)). That
    /// fails for PSS parameters with [`Hash::Shake128`](super::Hash::Shake128) or
    /// [`Hash::Shake256`](super::Hash::Shake256), which have no such form.
    #[must_use]
    pub fn with_usage(&self, usage: Usage) -> Self {
        Self { public: self.public.with_usage(usage), secret: Arc::clone(&self.secret) }
    }

    /// A copy of the key with another method for powers modulo the primes; `None` is the default, the fastest
    /// method known. With a method of the caller's choice, the main engine computes these powers, for any
    /// number of them.
    #[doc(hidden)]
    #[must_use]
    pub fn with_method(&self, method: impl Into<Option<Method>>) -> Self {
        let method = method.into().map(|method| method.0);
        if method == self.secret.p.modulus.method() {
            return self.clone();
        }
        let secret = zeroize_stack(|| Arc::new(self.secret.with_method(method)));
        Self { public: self.public.clone(), secret }
    }

    /// The method for powers modulo the primes.
    #[doc(hidden)]
    pub fn method(&self) -> Method {
        Method(self.route().method(&self.secret.p.modulus))
    }

    /// The key as a PKCS#8 PEM block (`PRIVATE KEY`).
    ///
    /// # Errors
    /// A [`KeyError`] if the encoder fails, which never happens for a key that was loaded or generated.
    pub fn to_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        zeroize_stack(|| {
            let pem = der::pem::encode_string("PRIVATE KEY", der::pem::LineEnding::LF, &self.to_der()?);
            pem.map(Zeroizing::new).map_err(|error| KeyError::Pem(error.to_string()))
        })
    }

    /// The key, encrypted with a password, as a PKCS#8 PEM block (`ENCRYPTED PRIVATE KEY`): PBES2 with
    /// AES-256 in CBC, and PBKDF2 with 600,000 iterations of HMAC-SHA-256, which take about a tenth of a
    /// second.
    ///
    /// # Errors
    /// [`KeyError::Random`], or another [`KeyError`] if the encoder fails.
    #[cfg(feature = "encryption")]
    pub fn to_encrypted_pem(&self, password: &[u8]) -> Result<String, KeyError> {
        let der = zeroize_stack(|| parse::to_encrypted(&self.parts(), password))?;
        let pem = der::pem::encode_string("ENCRYPTED PRIVATE KEY", der::pem::LineEnding::LF, &der);
        pem.map_err(|error| KeyError::Pem(error.to_string()))
    }

    /// The key as PKCS#8 DER.
    ///
    /// # Errors
    /// A [`KeyError`] if the encoder fails, which never happens for a key that was loaded or generated.
    pub fn to_der(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        zeroize_stack(|| parse::to_pkcs8(&self.parts()))
    }

    /// Checks that the primes are probably prime: Miller-Rabin with eight random bases for each. It costs as
    /// much as several signatures.
    ///
    /// Loading checks everything else. Composite primes with otherwise consistent numbers are made on
    /// purpose. With such a key, each wrong result becomes [`Error::InvalidKey`](super::Error::InvalidKey),
    /// because results are checked. The test is not a proof: a composite passes each base with probability at
    /// most 1/4.
    ///
    /// # Errors
    /// [`KeyError::Inconsistent`] for a composite, [`KeyError::Random`].
    pub fn validate(&self) -> Result<(), KeyError> {
        let Secret { d, p, q, .. } = &*self.secret;
        zeroize_stack(|| {
            validate::factors(self.public.modulus().limbs(), d, p.modulus.limbs(), q.modulus.limbs())?;
            validate::primes(self.route(), p.modulus.limbs(), q.modulus.limbs())
        })
    }

    /// Whether a prime was found composite.
    pub(super) fn is_known_invalid(&self) -> bool {
        self.secret.invalid.load(Ordering::Relaxed)
    }

    /// Whether a prime is composite, by an earlier test or by one made now. For keys that gave a wrong
    /// result: if their primes pass, or cannot be tested, the machine is at fault.
    pub(super) fn is_found_invalid(&self) -> bool {
        if !self.is_known_invalid() {
            // Only a test that finds something says so: another thread's may have ended before.
            if matches!(self.validate(), Err(KeyError::Inconsistent(_))) {
                self.secret.invalid.store(true, Ordering::Relaxed);
            }
        }
        self.is_known_invalid()
    }

    /// The address of the key's secret. Keys that are [the same](Self::is_same), as clones are, have the same
    /// one.
    pub(super) fn identity(&self) -> usize {
        Arc::as_ptr(&self.secret).addr()
    }

    /// What keys have in common that share batches: the digits of primes and of modulus, and the methods.
    pub(super) fn class(&self) -> [(Shape, Option<Method>); 2] {
        let class = |modulus: &Prepared| (self.route().shape(modulus), modulus.method().map(Method));
        [class(&self.secret.p.modulus), class(self.public.modulus())]
    }

    pub(super) fn route(&self) -> Route {
        self.public.route()
    }

    fn parts(&self) -> Private {
        Private { components: self.components(), usage: self.public.usage() }
    }

    /// The public half.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// The length of the modulus in bits.
    pub fn bits(&self) -> usize {
        self.public.bits()
    }

    /// The length of a signature or ciphertext in bytes: `⌈bits/8⌉`.
    pub fn size(&self) -> usize {
        self.public.size()
    }

    /// How work is shared out between engines: what [`with_engine`](Self::with_engine) took, else
    /// [`Dispatch::Auto`].
    pub fn dispatch(&self) -> Dispatch {
        self.public.dispatch()
    }

    /// The engine that computes when there is enough work for all of its lanes.
    pub fn engine(&self) -> Engine {
        self.public.engine()
    }
}

#[cfg(all(test, feature = "keygen"))]
mod tests {
    use super::*;
    use crate::counts::{self, Counts};
    use crate::rsa::{Algorithm, SignJob, sign_many};

    /// Clones share what is computed for them, whichever engine or uses they are for. Nothing else does: not
    /// the same key, loaded once more, nor a copy with another method, whose prepared primes are others.
    #[test]
    fn clones_alone_are_the_same_key() {
        let key = PrivateKey::generate(1024).expect("a key");
        let portable = key.with_engine(Engine::Portable).expect("it is always there");
        let tiled = key.with_method(Method::TILED);
        for clone in [&key.clone(), &portable, &key.with_usage(key.parts().usage), &key.with_method(None)] {
            assert!(key.is_same(clone) && clone.is_same(&key), "{clone:?}");
        }
        assert!(tiled.is_same(&tiled.with_method(Method::TILED)));
        let again = PrivateKey::parse(&key.to_der().expect("DER")).expect("a key");
        let numbers = PrivateKey::from_components(&key.components()).expect("a key");
        for other in
            [&again, &numbers, &tiled, &tiled.with_method(None), &PrivateKey::generate(1024).expect("a key")]
        {
            assert!(!key.is_same(other) && !other.is_same(&key), "{other:?}");
        }
    }

    /// Clones for two engines in one call: each engine computes for its own.
    #[test]
    fn clones_are_computed_by_their_own_engines() {
        let key = PrivateKey::generate(1024).expect("a key");
        let signature = key.sign(Algorithm::RS256, b"message");
        let on = |engine| key.with_engine(engine).expect("available");
        let portable = on(Engine::Portable);
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available() && engine.lanes() > 1)
        {
            let fast = on(engine);
            let count = |keys: &[&PrivateKey]| {
                let job = |&key| SignJob::new(key, Algorithm::RS256, b"message");
                let (signatures, counts) =
                    counts::of(|| sign_many(&keys.iter().map(job).collect::<Vec<_>>()));
                assert!(signatures.iter().all(|it| *it == signature), "{engine}");
                counts
            };
            let [of_fast, of_portable] = [&fast, &portable].map(|key| count(&vec![key; engine.lanes()]));
            let mixed = count(&[&fast, &portable].repeat(engine.lanes()));
            let sum = Counts {
                powers: of_fast.powers + of_portable.powers,
                products: of_fast.products + of_portable.products,
            };
            assert_eq!(mixed, sum, "{engine}");
        }
    }

    /// Counts operations, not time: powers would be a test of primes, products a measurement of engines.
    #[test]
    fn loading_and_first_use_do_nothing_besides() {
        for bits in [1024, 1192, 2048] {
            let generated = PrivateKey::generate(bits).expect("a key");
            let (pem, components) = (generated.to_pem().expect("a PEM block"), generated.components());
            let (key, loading) = counts::of(|| PrivateKey::parse(pem.as_bytes()).expect("a key"));
            assert_eq!(loading, Counts::default(), "loading");
            let (_, loading) = counts::of(|| PrivateKey::from_components(&components).expect("a key"));
            assert_eq!(loading, Counts::default(), "loading from all numbers");
            // A fresh mask takes an inversion and a public power, which are not counted: the first signature
            // costs what later ones do.
            for _ in 0..2 {
                let (_, signing) =
                    counts::of(|| key.sign(Algorithm::RS256, b"message").expect("a signature"));
                assert_eq!(signing, Counts { powers: 2, products: 0 }, "the halves of a signature");
            }
            let (valid, validation) = counts::of(|| key.validate());
            assert_eq!((valid, validation.powers), (Ok(()), 16), "eight bases for each prime");
        }
    }
}
