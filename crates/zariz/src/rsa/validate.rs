//! Whether the numbers of a private key fit together.

use zariz_kernels::Constants;
use zariz_kernels::limbs::{self, Limbs};
use zariz_kernels::pow::Power;

use super::error::KeyError;
use crate::backend::Backend;
use crate::jobs;

/// The shortest prime, in bits.
const MIN_PRIME_BITS: usize = 128;
/// Random bases for each prime: a composite passes one with probability at most 1/2, so the two of a key fill the
/// lanes of one batch.
const WITNESSES: usize = 4;

/// The private numbers of a key, and `e`.
pub(super) struct Numbers<'a> {
    pub n: &'a [u64],
    pub e: &'a [u64],
    pub d: &'a [u64],
    pub p: &'a [u64],
    pub q: &'a [u64],
    pub dp: &'a [u64],
    pub dq: &'a [u64],
    pub qinv: &'a [u64],
}

/// Checks sizes, parities and every relation that does not need the primes to be prime.
pub(super) fn relations(k: &Numbers) -> Result<(), KeyError> {
    let wrong = |what| Err(KeyError::Inconsistent(what));
    for (prime, missing, short, even) in [
        (k.p, "the prime p is missing", "the prime p is too short", "p is even"),
        (k.q, "the prime q is missing", "the prime q is too short", "q is even"),
    ] {
        match limbs::bits_vartime(prime) {
            0 => return wrong(missing),
            bits if bits < MIN_PRIME_BITS => return wrong(short),
            _ if prime[0] & 1 == 0 => return wrong(even),
            _ => {}
        }
    }
    for (number, missing) in [
        (k.d, "the private exponent d is missing"),
        (k.dp, "the CRT exponent dP is missing"),
        (k.dq, "the CRT exponent dQ is missing"),
        (k.qinv, "the CRT coefficient qInv is missing"),
    ] {
        if limbs::equal(number, &[]) {
            return wrong(missing);
        }
    }
    if limbs::equal(k.p, k.q) {
        return wrong("the two primes are equal");
    }
    if !limbs::equal(&limbs::mul(k.p, k.q), k.n) {
        return wrong("n is not p times q");
    }
    if !limbs::less(k.d, k.n) {
        return wrong("the private exponent d is not below n");
    }
    for (prime, exponent, not_d, not_inverse) in [
        (k.p, k.dp, "dP is not d mod (p - 1)", "d is not the inverse of e modulo p - 1"),
        (k.q, k.dq, "dQ is not d mod (q - 1)", "d is not the inverse of e modulo q - 1"),
    ] {
        let order = minus_one(prime);
        if !limbs::equal(&limbs::rem(k.d, &order), exponent) {
            return wrong(not_d);
        }
        if !limbs::equal(&limbs::rem(&limbs::mul(exponent, k.e), &order), &[1]) {
            return wrong(not_inverse);
        }
    }
    if !limbs::less(k.qinv, k.p) || !limbs::equal(&limbs::rem(&limbs::mul(k.q, k.qinv), k.p), &[1]) {
        return wrong("qInv is not the inverse of q modulo p");
    }
    Ok(())
}

/// Whether `p` and `q` behave as primes under Euler's criterion, `a^((p−1)/2) ≡ ±1`, for random `a`.
///
/// For `p ≡ 3 (mod 4)` this is the Miller-Rabin test. Unlike that, it does the same work whatever power of two divides
/// `p − 1`. It finds damaged keys; it does not prove a stranger's key prime.
pub(super) fn primes(backend: &dyn Backend, p: &Constants, q: &Constants) -> Result<(), KeyError> {
    let halves = [p, q].map(|prime| half(&minus_one(prime.limbs())));
    let mut bases = Vec::with_capacity(2 * WITNESSES);
    for i in 0..2 * WITNESSES {
        let mut bytes = vec![0; [p, q][i % 2].bits().div_ceil(8)];
        getrandom::fill(&mut bytes).map_err(|_| KeyError::Random)?;
        bases.push(limbs::from_be_bytes(&bytes));
    }
    let powers: Vec<Power> = bases
        .iter()
        .enumerate()
        .map(|(i, base)| {
            let modulus = [p, q][i % 2];
            let exponent = &halves[i % 2];
            Power { modulus, base, base_bits: 64 * base.len(), exponent, exponent_bits: modulus.bits() }
        })
        .collect();
    for (i, result) in jobs::pow(backend, &powers).iter().enumerate() {
        let prime = [p, q][i % 2].limbs();
        if !(limbs::equal(result, &[1]) | limbs::equal(result, &minus_one(prime))) {
            return Err(KeyError::Inconsistent(["p is not prime", "q is not prime"][i % 2]));
        }
    }
    Ok(())
}

/// `x − 1` for an odd `x`.
pub(super) fn minus_one(x: &[u64]) -> Limbs {
    let mut out = Limbs::new(x.to_vec());
    out[0] &= !1;
    out
}

/// `x / 2` for an even `x`.
fn half(x: &[u64]) -> Limbs {
    let mut out = limbs::zero(x.len());
    for (i, out) in out.iter_mut().enumerate() {
        *out = x[i] >> 1 | x.get(i + 1).map_or(0, |above| above << 63);
    }
    out
}
