//! New keys. Primes come from `crypto-primes`; the rest follows from them.

use crypto_bigint::BoxedUint;
use crypto_primes::hazmat::{SetBits, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime, sieve_and_find};
use rand_core::UnwrapErr;
use zariz_kernels::Constants;
use zariz_kernels::limbs::{self, Limbs};
use zariz_kernels::pow::Power;
use zeroize::Zeroizing;

use super::error::KeyError;
use super::parse::{Private, Public, bytes};
use super::public::{MAX_BITS, MIN_BITS};
use super::validate::minus_one;
use crate::engine::Engine;
use crate::jobs;

/// The public exponent, a prime.
const E: u32 = 65_537;

/// The numbers of a new key of exactly `bits` bits.
pub(super) fn key(bits: usize, engine: Engine) -> Result<Private, KeyError> {
    if !(MIN_BITS..=MAX_BITS).contains(&bits) {
        return Err(KeyError::Size { bits });
    }
    // With the two highest bits of each prime set, the product has all its bits.
    let p = prime(bits.div_ceil(2))?;
    let q = loop {
        let q = prime(bits / 2)?;
        if far_apart(&p, &q, bits) {
            break q;
        }
    };
    let (order_p, order_q) = (minus_one(&p), minus_one(&q));
    let backend = engine.backend()?;
    let digits = Constants::digits_for(bits.div_ceil(2), backend.digit_bits());
    let modulus = Constants::new(&p, backend.digit_bits(), digits);
    // q^{p − 2} mod p, by Fermat.
    let mut exponent = order_p.clone();
    limbs::sub_assign(&mut exponent, &[1]);
    let power = Power {
        modulus: &modulus,
        base: &q,
        base_bits: 64 * q.len(),
        exponent: &exponent,
        exponent_bits: bits.div_ceil(2),
    };
    let qinv = jobs::pow(backend, &[power]).swap_remove(0);
    Ok(Private {
        public: Public { n: bytes(&limbs::mul(&p, &q)).to_vec(), e: E.to_be_bytes()[1..].to_vec(), pss_only: false },
        d: bytes(&inverse_of_e(&limbs::mul(&order_p, &order_q))),
        dp: bytes(&inverse_of_e(&order_p)),
        dq: bytes(&inverse_of_e(&order_q)),
        p: bytes(&p),
        q: bytes(&q),
        qinv: bytes(&qinv),
    })
}

/// A random prime of exactly `bits` bits, its two highest set, with `p − 1` not a multiple of `E`.
fn prime(bits: usize) -> Result<Limbs, KeyError> {
    // Draw once, so that a failing generator is an error here and not a panic below.
    getrandom::fill(&mut [0; 8]).map_err(|_| KeyError::Random)?;
    let mut rng = UnwrapErr(getrandom::SysRng);
    let factory = SmallFactorsSieveFactory::<BoxedUint>::new(Flavor::Any, bits as u32, SetBits::TwoMsb);
    let factory = factory.map_err(|_| KeyError::Size { bits: 2 * bits })?;
    let found = sieve_and_find(&mut rng, factory, |_, candidate: &BoxedUint| {
        let mut number = to_limbs(candidate);
        limbs::div_const::<E>(&mut number) != 1 && is_prime(Flavor::Any, candidate)
    });
    let found = found.ok().flatten().ok_or(KeyError::Random)?;
    Ok(to_limbs(&Zeroizing::new(found)))
}

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
