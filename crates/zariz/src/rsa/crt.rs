//! Powers by the Chinese remainder theorem, unmasked and unchecked.

use zariz_kernels::limbs::{self, Limbs};

use super::fault::{self, Place};
use super::private::{Prime, PrivateKey};
use crate::backend::{Power, Product};
use crate::jobs;

/// A key and a number below its modulus.
pub(super) type Request<'a> = (&'a PrivateKey, &'a [u64]);

/// `a·b mod n`.
pub(super) fn product<'a>(key: &'a PrivateKey, a: &'a [u64], b: &'a [u64]) -> Product<'a> {
    let modulus = key.public.modulus();
    Product { modulus, a, a_bits: modulus.bits(), b }
}

/// `x^d mod n`, each prime's half in its own lane, combined by Garner's formula `y = y_q + q·(q^{−1}·(y_p −
/// y_q) mod p)`. Unchecked. All requests are for one dispatch.
pub(super) fn crt(requests: &[Request]) -> Vec<Limbs> {
    let Some((first, _)) = requests.first() else { return Vec::new() };
    let route = first.route();
    let mut powers = Vec::with_capacity(2 * requests.len());
    for (key, x) in requests {
        let base_bits = key.bits();
        powers.extend([&key.secret.p, &key.secret.q].map(|prime: &Prime| Power {
            modulus: &prime.modulus,
            base: x,
            base_bits,
            exponent: &prime.exponent,
            exponent_bits: prime.modulus.bits(),
        }));
    }
    let halves = fault::pass(Place::Half, jobs::pow(route, &powers));

    // q^{−1}·y_p and q^{−1}·y_q modulo p: multiplying also reduces y_q, even where q is the longer prime.
    let mut products = Vec::with_capacity(halves.len());
    for ((key, _), halves) in requests.iter().zip(halves.chunks_exact(2)) {
        let (p, q) = (&key.secret.p.modulus, &key.secret.q.modulus);
        let by_inverse = |a, a_bits| Product { modulus: p, a, a_bits, b: &key.secret.qinv };
        products.extend([by_inverse(&halves[0], p.bits()), by_inverse(&halves[1], q.bits())]);
    }
    let mut quotients = jobs::mul(route, &products);
    let pairs = halves.chunks_exact(2).zip(quotients.chunks_exact_mut(2));
    requests
        .iter()
        .zip(pairs)
        .map(|((key, _), (halves, quotients))| {
            let (h, of_q) = quotients.split_at_mut(1);
            limbs::sub_mod(&mut h[0], &of_q[0], key.secret.p.modulus.limbs());
            let mut y = limbs::mul(&h[0], key.secret.q.modulus.limbs());
            limbs::add_assign(&mut y, &halves[1]);
            // y < n: everything above n's limbs is zero.
            y.truncate(key.public.modulus().limbs().len());
            y
        })
        .collect()
}
