//! Public keys.

use std::fmt;
use std::sync::Arc;

use zariz_kernels::limbs::{self, Limbs};

use super::error::{Error, KeyError};
use super::parse;
use super::usage::{HashNull, Usage};
use crate::backend::Power;
use crate::dispatch::{Dispatch, Route};
use crate::engine::{Engine, EngineError};
use crate::prepared::Prepared;

/// The longest public exponent, in bits (FIPS 186-5 section 5.1 allows up to 256).
const MAX_EXPONENT_BITS: usize = 256;

/// An RSA public key. Cheap to clone.
#[derive(Clone)]
pub struct PublicKey {
    route: Route,
    usage: Usage,
    inner: Arc<Inner>,
}

struct Inner {
    n: Prepared,
    e: Limbs,
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("PublicKey")
            .field("bits", &self.bits())
            .field("engine", &self.engine())
            .finish_non_exhaustive()
    }
}

impl PartialEq for PublicKey {
    /// Compares the numbers and what the keys may be used for. The engines may differ.
    fn eq(&self, other: &Self) -> bool {
        limbs::equal(self.modulus().limbs(), other.modulus().limbs())
            && limbs::equal(self.exponent(), other.exponent())
            && self.usage() == other.usage()
    }
}

impl Eq for PublicKey {}

impl PublicKey {
    /// The length of the shortest modulus, in bits.
    pub const MIN_BITS: usize = 1024;
    /// The length of the longest modulus, in bits.
    pub const MAX_BITS: usize = crate::Modulus::MAX_BITS;

    /// Reads a key from PEM text or DER: SPKI (`PUBLIC KEY`) or PKCS#1 (`RSA PUBLIC KEY`), laid out as for
    /// [`PrivateKey::parse`](super::PrivateKey::parse).
    ///
    /// A key with the algorithm id-RSASSA-PSS is for PSS signatures alone, with its parameters, if it has any
    /// ([`usage`](Self::usage)).
    ///
    /// # Errors
    /// A [`KeyError`] says why the input is not an RSA public key.
    pub fn parse(pem_or_der: &[u8]) -> Result<Self, KeyError> {
        Self::from_parts(&parse::public(pem_or_der)?)
    }

    pub(super) fn from_parts(parse::Public { n, e, usage }: &parse::Public) -> Result<Self, KeyError> {
        Self::new(n, e, *usage)
    }

    /// Makes a key from modulus and exponent, big-endian.
    ///
    /// # Errors
    /// [`KeyError::Size`], [`KeyError::Exponent`], or [`KeyError::Inconsistent`] for an even modulus.
    pub fn from_components(n: &[u8], e: &[u8]) -> Result<Self, KeyError> {
        Self::new(n, e, Usage::Any)
    }

    pub(super) fn new(n: &[u8], e: &[u8], usage: Usage) -> Result<Self, KeyError> {
        let (n, mut e) = (limbs::from_be_bytes(n), limbs::from_be_bytes(e));
        let bits = limbs::bits_vartime(&n);
        if !(Self::MIN_BITS..=Self::MAX_BITS).contains(&bits) {
            return Err(KeyError::Size { bits });
        }
        if n[0] & 1 == 0 {
            return Err(KeyError::Inconsistent("the modulus is even"));
        }
        let e_bits = limbs::bits_vartime(&e);
        match e_bits {
            0..=1 => return Err(KeyError::Exponent("is below 3")),
            _ if e[0] & 1 == 0 => return Err(KeyError::Exponent("is even")),
            bits if bits > MAX_EXPONENT_BITS => return Err(KeyError::Exponent("is longer than 256 bits")),
            _ => e.truncate(e_bits.div_ceil(64)),
        }
        let n = Prepared::new(&n, bits);
        Ok(Self { route: Route::default(), usage, inner: Arc::new(Inner { n, e }) })
    }

    /// A copy of the key for another [`Engine`] or [`Dispatch`]. Nothing is computed: the copy shares what is
    /// already prepared.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] where this processor cannot run the engine.
    pub fn with_engine(&self, engine: impl Into<Dispatch>) -> Result<Self, EngineError> {
        Ok(Self { route: Route::new(engine.into())?, ..self.clone() })
    }

    #[cfg(feature = "keygen")]
    pub(super) fn with_route(&self, route: Route) -> Self {
        Self { route, ..self.clone() }
    }

    /// A copy of the key for other uses. It is written with them ([`to_der`](Self::to_der)). That
    /// fails for PSS parameters with [`Hash::Shake128`](super::Hash::Shake128) or
    /// [`Hash::Shake256`](super::Hash::Shake256), which have no such form.
    #[must_use]
    pub fn with_usage(&self, usage: Usage) -> Self {
        Self { usage, ..self.clone() }
    }

    /// The length of the modulus in bits.
    pub fn bits(&self) -> usize {
        self.inner.n.bits()
    }

    /// The length of a signature or ciphertext in bytes: `⌈bits/8⌉`.
    pub fn size(&self) -> usize {
        self.bits().div_ceil(8)
    }

    /// What the key may be used for.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// How work is shared out between engines: what [`with_engine`](Self::with_engine) took, else
    /// [`Dispatch::Auto`].
    pub fn dispatch(&self) -> Dispatch {
        self.route.dispatch
    }

    /// The engine that computes when there is enough work for all of its lanes.
    pub fn engine(&self) -> Engine {
        self.route.engine()
    }

    /// The modulus, big-endian, without leading zeros.
    pub fn n(&self) -> Vec<u8> {
        let mut out = vec![0; self.size()];
        limbs::to_be_bytes(self.inner.n.limbs(), &mut out);
        out
    }

    /// The public exponent, big-endian, without leading zeros.
    pub fn e(&self) -> Vec<u8> {
        let mut out = vec![0; limbs::bits_vartime(&self.inner.e).div_ceil(8)];
        limbs::to_be_bytes(&self.inner.e, &mut out);
        out
    }

    /// The key as an SPKI PEM block (`PUBLIC KEY`).
    ///
    /// # Errors
    /// A [`KeyError`] if the encoder fails, which never happens for a key that was loaded or generated.
    pub fn to_pem(&self) -> Result<String, KeyError> {
        der::pem::encode_string("PUBLIC KEY", der::pem::LineEnding::LF, &self.to_der()?)
            .map_err(|error| KeyError::Pem(error.to_string()))
    }

    /// The key as SPKI DER.
    ///
    /// # Errors
    /// A [`KeyError`] if the encoder fails, which never happens for a key that was loaded or generated.
    pub fn to_der(&self) -> Result<Vec<u8>, KeyError> {
        parse::to_spki(&parse::Public { n: self.n(), e: self.e(), usage: self.usage() }, HashNull::Written)
    }

    /// Checks that a signature or ciphertext has the key's length, and that its number is below the modulus.
    pub(super) fn check_number(&self, bytes: &[u8]) -> Result<(), Error> {
        if bytes.len() != self.size() {
            return Err(Error::Length { expected: self.size(), actual: bytes.len() });
        }
        if limbs::be_bytes_less(bytes, self.inner.n.limbs()) { Ok(()) } else { Err(Error::OutOfRange) }
    }

    /// The job `base^e mod n`, for a base below `n`.
    pub(super) fn power<'a>(&'a self, base: &'a [u64]) -> Power<'a> {
        let (modulus, exponent) = (&self.inner.n, &self.inner.e);
        Power { modulus, base, base_bits: self.bits(), exponent, exponent_bits: self.exponent_bits() }
    }

    /// The length of the public exponent in bits.
    pub(super) fn exponent_bits(&self) -> usize {
        limbs::bits_vartime(&self.inner.e)
    }

    pub(super) fn route(&self) -> Route {
        self.route
    }

    pub(super) fn modulus(&self) -> &Prepared {
        &self.inner.n
    }

    pub(super) fn exponent(&self) -> &[u64] {
        &self.inner.e
    }
}
