//! Checks that the numbers of a private key fit together.

use zariz_kernels::limbs;

use super::error::KeyError;
use super::secrets::Secrets;
use crate::declassify;
use crate::dispatch::Route;
use crate::miller_rabin::{self, minus_one};
use crate::prepared::Prepared;

/// The shortest prime, in bits.
const MIN_PRIME_BITS: usize = 128;
/// Random bases for each prime: a composite passes each with probability at most 1/4. The bases of both
/// primes fill the lanes of two batches.
const WITNESSES: usize = 8;

/// Checks the inputs from which the other values of the Chinese remainder theorem are computed: `p` and `q`
/// are odd, of usable length, with product `n`, and `d` is below `n`.
pub(super) fn factors(n: &[u64], d: &[u64], p: &[u64], q: &[u64]) -> Result<(), KeyError> {
    let wrong = |what| Err(KeyError::Inconsistent(what));
    for (prime, missing, short, even) in [
        (p, "the prime p is missing", "the prime p is too short", "p is even"),
        (q, "the prime q is missing", "the prime q is too short", "q is even"),
    ] {
        match declassify::modulus_bits(limbs::bits(prime)) {
            0 => return wrong(missing),
            bits if bits < MIN_PRIME_BITS => return wrong(short),
            _ if declassify::is_even(prime[0] & 1 == 0) => return wrong(even),
            _ => {}
        }
    }
    if declassify::primes_are_equal(limbs::equal(p, q)) {
        return wrong("the two primes are equal");
    }
    // Lengths first: multiplying very long invalid numbers would take long.
    let [n_bits, p_bits, q_bits] = [n, p, q].map(|number| declassify::modulus_bits(limbs::bits(number)));
    let is_product = || declassify::fits(limbs::equal(&limbs::mul(p, q), n));
    if p_bits + q_bits < n_bits || p_bits + q_bits > n_bits + 1 || !is_product() {
        return wrong("n is not p times q");
    }
    if declassify::is_missing(limbs::equal(d, &[])) {
        return wrong("the private exponent d is missing");
    }
    if !declassify::is_in_range(limbs::less(d, n)) {
        return wrong("the private exponent d is not below n");
    }
    Ok(())
}

/// Checks sizes, parities and every relation that does not need the primes to be prime.
pub(super) fn relations(n: &[u64], e: &[u64], k: &Secrets) -> Result<(), KeyError> {
    let wrong = |what| Err(KeyError::Inconsistent(what));
    factors(n, &k.d, &k.p, &k.q)?;
    for (number, missing) in [
        (&k.dp, "the CRT exponent dP is missing"),
        (&k.dq, "the CRT exponent dQ is missing"),
        (&k.qinv, "the CRT coefficient qInv is missing"),
    ] {
        if declassify::is_missing(limbs::equal(number, &[])) {
            return wrong(missing);
        }
    }
    for (prime, exponent, not_d, not_inverse) in [
        (&k.p, &k.dp, "dP is not d mod (p - 1)", "d is not the inverse of e modulo p - 1"),
        (&k.q, &k.dq, "dQ is not d mod (q - 1)", "d is not the inverse of e modulo q - 1"),
    ] {
        let order = minus_one(prime);
        if !declassify::fits(limbs::equal(&limbs::rem(&k.d, &order), exponent)) {
            return wrong(not_d);
        }
        if !declassify::fits(limbs::equal(&limbs::rem(&limbs::mul(exponent, e), &order), &[1])) {
            return wrong(not_inverse);
        }
    }
    let is_inverse = || declassify::fits(limbs::equal(&limbs::rem(&limbs::mul(&k.q, &k.qinv), &k.p), &[1]));
    if !declassify::is_in_range(limbs::less(&k.qinv, &k.p)) || !is_inverse() {
        return wrong("qInv is not the inverse of q modulo p");
    }
    Ok(())
}

/// Checks that `p` and `q` are strong probable primes (Miller-Rabin) to random bases. Finds damaged keys;
/// does not prove that the numbers of an unknown key are prime.
///
/// The constants of the primes are computed afresh: the key's own copies may be damaged.
pub(super) fn primes(route: Route, p: &[u64], q: &[u64]) -> Result<(), KeyError> {
    let [p_bits, q_bits] = [p, q].map(|prime| declassify::modulus_bits(limbs::bits(prime)));
    let prepared = [p, q].map(|prime| Prepared::new(prime, p_bits.max(q_bits)));
    let mut bases = Vec::with_capacity(2 * WITNESSES);
    for i in 0..2 * WITNESSES {
        let mut bytes = vec![0; prepared[i / WITNESSES].bits().div_ceil(8)];
        getrandom::fill(&mut bytes).map_err(|_| KeyError::Random)?;
        bases.push(limbs::from_be_bytes(&bytes));
    }
    let good = miller_rabin::strong(route, &prepared.each_ref(), &bases, WITNESSES);
    match good.iter().position(|good| !good) {
        None => Ok(()),
        Some(i) => Err(KeyError::Inconsistent(["p is not prime", "q is not prime"][i])),
    }
}
