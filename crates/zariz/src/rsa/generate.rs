//! New keys. Primes come from `crypto-primes`; the rest follows from them.

use std::convert::Infallible;

use crypto_bigint::BoxedUint;
use crypto_primes::hazmat::{SetBits, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime, sieve_and_find};
use rand_core::{TryCryptoRng, TryRng};
use zariz_kernels::limbs::{self, Limbs};
use zeroize::Zeroizing;

use super::error::KeyError;
use super::parse::bytes;
use super::public::PublicKey;
use super::secrets::{Secrets, minus_one};
use super::usage::Usage;

/// The public exponent, a prime.
const E: u32 = 65_537;

/// The numbers of a new key of exactly `bits` bits.
pub(super) fn key(bits: usize) -> Result<(PublicKey, Secrets), KeyError> {
    if !(PublicKey::MIN_BITS..=PublicKey::MAX_BITS).contains(&bits) {
        return Err(KeyError::Size { bits });
    }
    // With the two highest bits of each prime set, the product has all its bits.
    let p = prime(bits.div_ceil(2), getrandom::fill)?;
    let q = loop {
        let q = prime(bits / 2, getrandom::fill)?;
        if far_apart(&p, &q, bits) {
            break q;
        }
    };
    let public = PublicKey::new(&bytes(&limbs::mul(&p, &q)), &E.to_be_bytes(), Usage::Any)?;
    let d = inverse_of_e(&limbs::mul(&minus_one(&p), &minus_one(&q)));
    let secrets = Secrets::complete(d, p, q)?;
    Ok((public, secrets))
}

/// A random prime of exactly `bits` bits, its two highest set, with `p − 1` not a multiple of `E`.
fn prime(bits: usize, fill: impl FnMut(&mut [u8]) -> Result<(), getrandom::Error>) -> Result<Limbs, KeyError> {
    let mut rng = Remembering { fill, failed: false };
    let factory = SmallFactorsSieveFactory::<BoxedUint>::new(Flavor::Any, bits as u32, SetBits::TwoMsb);
    let factory = factory.map_err(|_| KeyError::Size { bits: 2 * bits })?;
    let found = sieve_and_find(&mut rng, factory, |rng, candidate: &BoxedUint| {
        let mut number = to_limbs(candidate);
        rng.failed || (limbs::div_const::<E>(&mut number) != 1 && is_prime(Flavor::Any, candidate))
    });
    let found = found.ok().flatten().map(Zeroizing::new).filter(|_| !rng.failed);
    found.map(|found| to_limbs(&found)).ok_or(KeyError::Random)
}

/// A generator for code that expects none to fail: the first failure ends the search for a prime, and its
/// result is thrown away.
struct Remembering<F> {
    fill: F,
    failed: bool,
}

impl<F: FnMut(&mut [u8]) -> Result<(), getrandom::Error>> Remembering<F> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Infallible> {
        let mut out = [0; N];
        self.try_fill_bytes(&mut out)?;
        Ok(out)
    }
}

impl<F: FnMut(&mut [u8]) -> Result<(), getrandom::Error>> TryRng for Remembering<F> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.array().map(u32::from_ne_bytes)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.array().map(u64::from_ne_bytes)
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.failed |= (self.fill)(out).is_err();
        Ok(())
    }
}

impl<F: FnMut(&mut [u8]) -> Result<(), getrandom::Error>> TryCryptoRng for Remembering<F> {}

fn to_limbs(number: &BoxedUint) -> Limbs {
    limbs::from_be_bytes(&Zeroizing::new(number.to_be_bytes().into_vec()))
}

/// Whether `|p − q| > 2^{bits/2 − 100}` (FIPS 186-5 section A.1.3).
fn far_apart(p: &[u64], q: &[u64], bits: usize) -> bool {
    let (high, low) = if limbs::less(p, q) { (q, p) } else { (p, q) };
    let mut difference = Limbs::new(high.to_vec());
    limbs::sub_assign(&mut difference, low);
    limbs::bits_vartime(&difference) > bits / 2 - 100
}

/// `E^{−1} mod m` for an `m` that is no multiple of the prime `E`: `(1 + k·m)/E` with `k = −m^{−1} mod E`.
fn inverse_of_e(m: &[u64]) -> Limbs {
    const MODULUS: u64 = E as u64;
    let m_mod_e = u64::from(limbs::div_const::<E>(&mut Limbs::new(m.to_vec())));
    // By Fermat, x^{E − 2} = x^{−1}; E − 2 is a public number.
    let inverse = (0..MODULUS - 2).fold(1, |acc, _| acc * m_mod_e % MODULUS);
    let mut out = limbs::mul(m, &[MODULUS - inverse]);
    limbs::add_assign(&mut out, &[1]);
    limbs::div_const::<E>(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generator_that_fails_is_an_error_whenever_it_does() {
        for good_draws in 0..3 {
            let mut left = good_draws;
            let fill = |out: &mut [u8]| match left {
                0 => Err(getrandom::Error::UNEXPECTED),
                _ => {
                    left -= 1;
                    getrandom::fill(out)
                }
            };
            // One call draws a whole candidate, or some of its limbs: a prime may be found before the
            // failure.
            match prime(512, fill) {
                Ok(prime) => assert!(good_draws > 0 && limbs::bits_vartime(&prime) == 512),
                Err(error) => assert_eq!(error, KeyError::Random),
            }
        }
    }
}
