//! Checks that the numbers of a private key fit together.

use zariz_kernels::limbs::{self, Limbs};

use super::error::KeyError;
use super::secrets::{Secrets, minus_one};
use crate::backend::{Power, Product};
use crate::dispatch::Route;
use crate::jobs;
use crate::prepared::Prepared;

/// The shortest prime, in bits.
const MIN_PRIME_BITS: usize = 128;
/// Random bases for each prime: a composite passes each with probability at most 1/4. The bases of both
/// primes fill the lanes of two batches.
const WITNESSES: usize = 8;
/// The time does not show how many factors of two `p − 1` has, up to this many.
const TWOS: u64 = 16;

/// Checks the inputs from which the other values of the Chinese remainder theorem are computed: `p` and `q`
/// are odd, of usable length, with product `n`, and `d` is below `n`.
pub(super) fn factors(n: &[u64], d: &[u64], p: &[u64], q: &[u64]) -> Result<(), KeyError> {
    let wrong = |what| Err(KeyError::Inconsistent(what));
    for (prime, missing, short, even) in [
        (p, "the prime p is missing", "the prime p is too short", "p is even"),
        (q, "the prime q is missing", "the prime q is too short", "q is even"),
    ] {
        match limbs::bits_vartime(prime) {
            0 => return wrong(missing),
            bits if bits < MIN_PRIME_BITS => return wrong(short),
            _ if prime[0] & 1 == 0 => return wrong(even),
            _ => {}
        }
    }
    if limbs::equal(p, q) {
        return wrong("the two primes are equal");
    }
    // Lengths first: multiplying very long invalid numbers would take long.
    let [n_bits, p_bits, q_bits] = [n, p, q].map(limbs::bits_vartime);
    if p_bits + q_bits < n_bits || p_bits + q_bits > n_bits + 1 || !limbs::equal(&limbs::mul(p, q), n) {
        return wrong("n is not p times q");
    }
    if limbs::equal(d, &[]) {
        return wrong("the private exponent d is missing");
    }
    if !limbs::less(d, n) {
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
        if limbs::equal(number, &[]) {
            return wrong(missing);
        }
    }
    for (prime, exponent, not_d, not_inverse) in [
        (&k.p, &k.dp, "dP is not d mod (p - 1)", "d is not the inverse of e modulo p - 1"),
        (&k.q, &k.dq, "dQ is not d mod (q - 1)", "d is not the inverse of e modulo q - 1"),
    ] {
        let order = minus_one(prime);
        if !limbs::equal(&limbs::rem(&k.d, &order), exponent) {
            return wrong(not_d);
        }
        if !limbs::equal(&limbs::rem(&limbs::mul(exponent, e), &order), &[1]) {
            return wrong(not_inverse);
        }
    }
    if !limbs::less(&k.qinv, &k.p) || !limbs::equal(&limbs::rem(&limbs::mul(&k.q, &k.qinv), &k.p), &[1]) {
        return wrong("qInv is not the inverse of q modulo p");
    }
    Ok(())
}

/// Checks that `p` and `q` are strong probable primes (Miller-Rabin) to random bases.
///
/// With `p − 1 = 2^s·t`, `t` odd: `a^t ≡ 1`, or one of `a^t, a^{2t}, …, a^{2^{s−1}t}` is `−1`. The number of
/// squarings is at least [`TWOS`], so that the time does not show a smaller `s`. Finds damaged keys; does not
/// prove that the numbers of an unknown key are prime.
///
/// The constants of the primes are computed afresh: the key's own copies may be damaged.
pub(super) fn primes(route: Route, p: &[u64], q: &[u64]) -> Result<(), KeyError> {
    let size = limbs::bits_vartime(p).max(limbs::bits_vartime(q));
    let prepared = [p, q].map(|prime| Prepared::new(prime, size));
    let primes = prepared.each_ref().map(PrimeTest::new);
    let of = |i: usize| &primes[i % 2];
    let mut bases = Vec::with_capacity(2 * WITNESSES);
    for i in 0..2 * WITNESSES {
        let mut bytes = vec![0; of(i).prime.bits().div_ceil(8)];
        getrandom::fill(&mut bytes).map_err(|_| KeyError::Random)?;
        bases.push(limbs::from_be_bytes(&bytes));
    }
    let powers: Vec<Power> = bases
        .iter()
        .enumerate()
        .map(|(i, base)| {
            let PrimeTest { prime, odd, .. } = of(i);
            let base_bits = 64 * base.len();
            Power { modulus: prime, base, base_bits, exponent: odd, exponent_bits: prime.bits() }
        })
        .collect();
    let mut roots = jobs::pow(route, &powers);
    let mut good: Vec<bool> = roots.iter().map(|x| limbs::equal(x, &[1])).collect();
    let squarings = primes.iter().map(|test| test.twos).max().unwrap_or(0).max(TWOS);
    for round in 0..squarings {
        for (i, x) in roots.iter().enumerate() {
            good[i] |= limbs::equal(x, &of(i).minus_one) & (round < of(i).twos);
        }
        let squares: Vec<Product> = (0..)
            .zip(&roots)
            .map(|(i, x)| Product { modulus: of(i).prime, a: x, a_bits: of(i).prime.bits(), b: x })
            .collect();
        roots = jobs::mul(route, &squares);
    }
    match good.iter().position(|good| !good) {
        None => Ok(()),
        Some(i) => Err(KeyError::Inconsistent(["p is not prime", "q is not prime"][i % 2])),
    }
}

/// A prime to be tested, with `p − 1 = 2^twos·odd`.
struct PrimeTest<'a> {
    prime: &'a Prepared,
    minus_one: Limbs,
    odd: Limbs,
    twos: u64,
}

impl<'a> PrimeTest<'a> {
    fn new(prime: &'a Prepared) -> Self {
        let minus_one = minus_one(prime.limbs());
        let (mut odd, mut twos) = (minus_one.clone(), 0);
        for _ in 0..TWOS {
            twos += limbs::halve_if_even(&mut odd);
        }
        // One prime in 2^TWOS reveals that the loop goes on.
        while twos >= TWOS && odd[0] & 1 == 0 {
            twos += limbs::halve_if_even(&mut odd);
        }
        Self { prime, minus_one, odd, twos }
    }
}
