//! Powers by the Chinese remainder theorem, unmasked and unchecked.

use zariz_kernels::limbs::{self, Limbs, Numbers};

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
pub(super) fn crt(requests: &[Request]) -> Numbers {
    let Some((first, _)) = requests.first() else { return Numbers::default() };
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
    for (i, (key, _)) in requests.iter().enumerate() {
        let (p, q) = (&key.secret.p.modulus, &key.secret.q.modulus);
        let by_inverse = |a, a_bits| Product { modulus: p, a, a_bits, b: &key.secret.qinv };
        products.extend([by_inverse(&halves[2 * i], p.bits()), by_inverse(&halves[2 * i + 1], q.bits())]);
    }
    let quotients = jobs::mul(route, &products);
    let mut out = Numbers::default();
    for (i, (key, _)) in requests.iter().enumerate() {
        let mut h = Limbs::new(quotients[2 * i].to_vec());
        limbs::sub_mod(&mut h, &quotients[2 * i + 1], key.secret.p.modulus.limbs());
        let mut y = limbs::mul(&h, key.secret.q.modulus.limbs());
        limbs::add_assign(&mut y, &halves[2 * i + 1]);
        // y < n: everything above n's limbs is zero.
        out.push(&y[..key.public.modulus().limbs().len()]);
    }
    out
}
