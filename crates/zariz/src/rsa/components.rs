//! The numbers of a private key, for other programs' formats.

use std::fmt;

use zeroize::{ZeroizeOnDrop, Zeroizing};

/// The numbers of a private key with two primes, big-endian (RFC 8017 section 3.2). The secret ones are
/// zeroised when dropped. All are without leading zeros.
#[derive(Clone, PartialEq, Eq)]
pub struct Components {
    /// The modulus.
    pub n: Vec<u8>,
    /// The public exponent.
    pub e: Vec<u8>,
    /// The private exponent.
    pub d: Zeroizing<Vec<u8>>,
    /// The first prime.
    pub p: Zeroizing<Vec<u8>>,
    /// The second prime.
    pub q: Zeroizing<Vec<u8>>,
    /// `d mod (p − 1)`.
    pub dp: Zeroizing<Vec<u8>>,
    /// `d mod (q − 1)`.
    pub dq: Zeroizing<Vec<u8>>,
    /// `q^{−1} mod p`.
    pub qinv: Zeroizing<Vec<u8>>,
}

/// The numbers of a private key without those that follow from its primes, big-endian, for
/// [`PrivateKey::from_primes`](super::PrivateKey::from_primes).
#[derive(Clone, Copy)]
pub struct PrimeComponents<'a> {
    /// The modulus.
    pub n: &'a [u8],
    /// The public exponent.
    pub e: &'a [u8],
    /// The private exponent.
    pub d: &'a [u8],
    /// The first prime.
    pub p: &'a [u8],
    /// The second prime.
    pub q: &'a [u8],
}

/// The private numbers of a key that the Chinese remainder theorem needs, big-endian, for
/// [`PrivateKey::from_crt`](super::PrivateKey::from_crt).
#[derive(Clone, Copy)]
pub struct CrtComponents<'a> {
    /// The first prime.
    pub p: &'a [u8],
    /// The second prime.
    pub q: &'a [u8],
    /// `d mod (p − 1)`.
    pub dp: &'a [u8],
    /// `d mod (q − 1)`.
    pub dq: &'a [u8],
    /// `q^{−1} mod p`.
    pub qinv: &'a [u8],
}

impl fmt::Debug for CrtComponents<'_> {
    /// Shows the lengths of the primes, not the numbers: all are secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("CrtComponents").field("p_bytes", &self.p.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for PrimeComponents<'_> {
    /// Shows the modulus's length, not the numbers: most are secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("PrimeComponents").field("n_bytes", &self.n.len()).finish_non_exhaustive()
    }
}

impl ZeroizeOnDrop for Components {}

impl fmt::Debug for Components {
    /// Shows the modulus's length, not the numbers: most are secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Components").field("n_bytes", &self.n.len()).finish_non_exhaustive()
    }
}
