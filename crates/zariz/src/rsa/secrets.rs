//! The private numbers of a key: some are given, the others are computed from them, and all are prepared.

use std::sync::atomic::AtomicBool;

use zariz_kernels::batch::Method;
use zariz_kernels::limbs::{self, Limbs};
use zeroize::Zeroizing;

use super::blinding::pool::Pool;
use super::components::Components;
use super::error::KeyError;
use super::hazmat::pkcs1v15;
use crate::backend::Power;
use crate::declassify;
use crate::dispatch::Route;
use crate::jobs;
use crate::miller_rabin::minus_one;
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

impl Secrets {
    /// The private numbers of a key with a modulus of `len` limbs.
    pub fn read(key: &Components, len: usize) -> Self {
        let [p, q] = [&key.p, &key.q].map(|bytes| trimmed(bytes));
        let [dp, qinv] = [&key.dp, &key.qinv].map(|bytes| within(bytes, p.len()));
        Self { d: within(&key.d, len), dq: within(&key.dq, q.len()), p, q, dp, qinv }
    }

    /// Computes the other numbers from `d`, `p`, `q`. Precondition: [`factors`](super::validate::factors)
    /// accepts them.
    pub fn complete(d: Limbs, p: Limbs, q: Limbs) -> Result<Self, KeyError> {
        Ok(Self::complete_many(Route::default(), vec![[d, p, q]])?.swap_remove(0))
    }

    /// Like [`complete`](Self::complete), for many keys, whose powers share batches.
    pub fn complete_many(route: Route, keys: Vec<[Limbs; 3]>) -> Result<Vec<Self>, KeyError> {
        let bits = |prime: &Limbs| declassify::modulus_bits(limbs::bits(prime));
        let moduli: Vec<Prepared> = keys.iter().map(|[_, p, _]| Prepared::new(p, bits(p))).collect();
        // q^{p − 2} = q^{−1} mod p, by Fermat.
        let exponents: Vec<Limbs> = keys.iter().map(|[_, p, _]| minus_two(p)).collect();
        let power = |i: usize| {
            let (modulus, base): (&Prepared, &[u64]) = (&moduli[i], &keys[i][2]);
            let base_bits = bits(&keys[i][2]);
            Power { modulus, base, base_bits, exponent: &exponents[i], exponent_bits: modulus.bits() }
        };
        let inverses = jobs::pow(route, &(0..keys.len()).map(power).collect::<Vec<_>>());
        let complete = |([d, p, q], qinv): ([Limbs; 3], &[u64])| {
            let qinv = Limbs::new(qinv.to_vec());
            if !declassify::fits(limbs::equal(&limbs::rem(&limbs::mul(&q, &qinv), &p), &[1])) {
                return Err(KeyError::Inconsistent("p is not prime"));
            }
            let [dp, dq] = [&p, &q].map(|prime| limbs::rem(&d, &minus_one(prime)));
            Ok(Self { d, p, q, dp, dq, qinv })
        };
        keys.into_iter().zip(inverses.iter()).map(complete).collect()
    }
}

/// What is secret of a key: its private numbers, prepared, and what goes with them.
pub(super) struct Secret {
    pub p: Prime,
    pub q: Prime,
    /// `q^{−1} mod p`, of the length of `p`.
    pub qinv: Limbs,
    /// Of the modulus's length.
    pub d: Limbs,
    /// The hash of `d`, for [`implicit_rejection`](super::PrivateKey::implicit_rejection), whose stack is not
    /// wiped.
    pub key_hash: Zeroizing<Vec<u8>>,
    pub blinding: Pool,
    /// Set when a result was wrong and a prime was then found composite.
    pub invalid: AtomicBool,
}

/// One prime with its exponent, of the prime's length.
pub(super) struct Prime {
    pub modulus: Prepared,
    /// 1 modulo this prime and 0 modulo the other; below `n`, and of its length.
    pub unit: Limbs,
    /// `d mod (p − 1)`.
    pub exponent: Limbs,
}

impl Secret {
    /// Prepares the private numbers of a key with that modulus. Precondition:
    /// [`relations`](super::validate::relations) accepts them.
    pub fn new(modulus: &Prepared, Secrets { d, p, q, dp, dq, qinv }: Secrets) -> Self {
        // Primes of unequal length share the longer one's digit count, so that they share batches.
        let [p_bits, q_bits] = [&p, &q].map(|prime| declassify::modulus_bits(limbs::bits(prime)));
        let n = modulus.limbs();
        // q·(q^{−1} mod p), and n + 1 less that.
        let of_p = in_limbs(&limbs::mul(&q, &qinv), n.len());
        let mut of_q = in_limbs(n, n.len());
        limbs::sub_assign(&mut of_q, &of_p);
        limbs::add_assign(&mut of_q, &[1]);
        let prime = |prime: &[u64], unit: Limbs, exponent: &[u64]| {
            let modulus = Prepared::new(prime, p_bits.max(q_bits));
            let len = modulus.limbs().len();
            Prime { modulus, unit, exponent: in_limbs(exponent, len) }
        };
        let (p, q) = (prime(&p, of_p, &dp), prime(&q, of_q, &dq));
        let qinv = in_limbs(&qinv, p.modulus.limbs().len());
        let d = in_limbs(&d, n.len());
        let mut bytes = Zeroizing::new(vec![0; modulus.bits().div_ceil(8)]);
        limbs::to_be_bytes(&d, &mut bytes);
        let key_hash = pkcs1v15::key_hash(&bytes);
        Self { p, q, qinv, d, key_hash, blinding: Pool::default(), invalid: AtomicBool::new(false) }
    }

    /// A copy with another method for powers modulo the primes.
    pub fn with_method(&self, method: Option<Method>) -> Self {
        let prime = |Prime { modulus, unit, exponent }: &Prime| Prime {
            modulus: modulus.with_method(method),
            unit: unit.clone(),
            exponent: exponent.clone(),
        };
        Self {
            p: prime(&self.p),
            q: prime(&self.q),
            qinv: self.qinv.clone(),
            d: self.d.clone(),
            key_hash: self.key_hash.clone(),
            blinding: Pool::default(),
            invalid: AtomicBool::new(false),
        }
    }
}

/// `e^{−1} mod m`, for an odd `e < m` that has no factor in common with `m`. `m` may be even: the inverse is
/// `(1 + k·m)/e` with `k = −m^{−1} mod e`. Precondition: the highest limb of `e` is not zero, and `e > 1`.
pub(super) fn inverse_of_odd(e: &[u64], m: &[u64]) -> Limbs {
    let (_one, inverse) = limbs::gcd_inverse(&limbs::rem(m, e), e);
    let mut k = Limbs::new(e.to_vec());
    limbs::sub_assign(&mut k, &inverse);
    let mut product = limbs::mul(&k, m);
    limbs::add_assign(&mut product, &[1]);
    let mut out = limbs::div_exact(&product, e);
    out.truncate(m.len());
    out
}

/// `x − 2` for an `x` above 2.
fn minus_two(x: &[u64]) -> Limbs {
    let mut out = Limbs::new(x.to_vec());
    limbs::sub_assign(&mut out, &[2]);
    out
}

/// The number in exactly `len` limbs. Precondition: it is below `2^{64·len}`.
pub(super) fn in_limbs(number: &[u64], len: usize) -> Limbs {
    debug_assert!(limbs::bits(number) <= 64 * len);
    let mut out = limbs::zero(len);
    out.iter_mut().zip(number).for_each(|(out, limb)| *out = *limb);
    out
}

/// A prime without leading zeros: there may be many, and they would only cost time.
pub(super) fn trimmed(bytes: &[u8]) -> Limbs {
    let mut number = limbs::from_be_bytes(bytes);
    let bits = declassify::modulus_bits(limbs::bits(&number));
    number.truncate(bits.div_ceil(64));
    number
}

/// A number in `len` limbs, or in more where it does not fit: no such key passes the checks.
pub(super) fn within(bytes: &[u8], len: usize) -> Limbs {
    let number = limbs::from_be_bytes(bytes);
    let is_too_long = number.len() > len && declassify::is_too_long(!limbs::equal(&number[len..], &[]));
    if is_too_long { number } else { in_limbs(&number[..number.len().min(len)], len) }
}

/// A secret number as big-endian bytes without leading zeros.
pub(super) fn bytes(number: &[u64]) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(vec![0; declassify::written_bits(limbs::bits(number)).div_ceil(8).max(1)]);
    limbs::to_be_bytes(number, &mut out);
    out[0] = declassify::first_byte(out[0]);
    out
}
