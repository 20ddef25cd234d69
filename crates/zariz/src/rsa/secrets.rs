//! The private numbers of a key: some are given, the others are computed from them.

use zariz_kernels::limbs::{self, Limbs};

use super::components::Components;
use super::error::KeyError;
use crate::backend::Power;
use crate::dispatch::Route;
use crate::jobs;
use crate::prepared::Prepared;

/// The private numbers of a key.
pub(super) struct Secrets {
    pub d: Limbs,
    pub p: Limbs,
    pub q: Limbs,
    /// `d mod (p − 1)`.
    pub dp: Limbs,
    /// `d mod (q − 1)`.
    pub dq: Limbs,
    /// `q^{−1} mod p`.
    pub qinv: Limbs,
}

impl From<&Components> for Secrets {
    fn from(key: &Components) -> Self {
        let [d, p, q, dp, dq, qinv] = [&key.d, &key.p, &key.q, &key.dp, &key.dq, &key.qinv].map(|bytes| trimmed(bytes));
        Self { d, p, q, dp, dq, qinv }
    }
}

impl Secrets {
    /// Computes the other numbers from `d`, `p`, `q`. Precondition: [`factors`](super::validate::factors)
    /// accepts them.
    pub fn complete(d: Limbs, p: Limbs, q: Limbs) -> Result<Self, KeyError> {
        let [dp, dq] = [&p, &q].map(|prime| limbs::rem(&d, &minus_one(prime)));
        let bits = limbs::bits_vartime(&p);
        let modulus = Prepared::new(&p, bits);
        // q^{p − 2} = q^{−1} mod p, by Fermat.
        let mut exponent = minus_one(&p);
        limbs::sub_assign(&mut exponent, &[1]);
        let base_bits = limbs::bits_vartime(&q);
        let power = Power { modulus: &modulus, base: &q, base_bits, exponent: &exponent, exponent_bits: bits };
        let qinv = jobs::pow(Route::default(), &[power]).swap_remove(0);
        if !limbs::equal(&limbs::rem(&limbs::mul(&q, &qinv), &p), &[1]) {
            return Err(KeyError::Inconsistent("p is not prime"));
        }
        Ok(Self { d, p, q, dp, dq, qinv })
    }
}

/// The number in exactly `len` limbs. Precondition: it is below `2^{64·len}`.
pub(super) fn in_limbs(number: &[u64], len: usize) -> Limbs {
    debug_assert!(limbs::bits_vartime(number) <= 64 * len);
    let mut out = limbs::zero(len);
    out.iter_mut().zip(number).for_each(|(out, limb)| *out = *limb);
    out
}

/// A number without leading zeros: there may be many, and they would only cost time.
pub(super) fn trimmed(bytes: &[u8]) -> Limbs {
    let mut number = limbs::from_be_bytes(bytes);
    let len = limbs::bits_vartime(&number).div_ceil(64);
    number.truncate(len);
    number
}

/// `x − 1` for an odd `x`.
pub(super) fn minus_one(x: &[u64]) -> Limbs {
    let mut out = Limbs::new(x.to_vec());
    out[0] &= !1;
    out
}
