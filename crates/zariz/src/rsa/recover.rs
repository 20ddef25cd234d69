//! Keys of which some numbers are missing: without the modulus and its exponents, or without the primes.

use zariz_kernels::limbs::{self, Limbs, Numbers};

use super::blinding::random_below;
use super::components::CrtComponents;
use super::error::KeyError;
use super::private::PrivateKey;
use super::public::PublicKey;
use super::secrets::{Secrets, in_limbs, inverse_of_odd, trimmed, within};
use super::validate;
use crate::backend::{Power, Product};
use crate::declassify;
use crate::dispatch::Route;
use crate::jobs;
use crate::miller_rabin::{minus_one, odd_part};
use crate::zeroize_stack::zeroize_stack;

/// How many random numbers [`PrivateKey::from_exponents`] tries: each finds the primes with probability at
/// least 1/2.
const TRIES: usize = 64;

impl PrivateKey {
    /// Makes a key from the numbers of the Chinese remainder theorem. Modulus and exponents follow:
    /// `n = p·q`, `e` is the inverse of `dp` modulo `p − 1`, and `d` that of `e` modulo `(p − 1)·(q − 1)`.
    /// The checks are those of [`parse`](Self::parse).
    ///
    /// # Errors
    /// A [`KeyError`] says how the numbers are wrong, or do not fit together. [`KeyError::Exponent`] if the
    /// public exponent is longer than 256 bits.
    pub fn from_crt(numbers: &CrtComponents) -> Result<Self, KeyError> {
        zeroize_stack(|| {
            let CrtComponents { p, q, dp, dq, qinv } = *numbers;
            let [p, q] = [p, q].map(trimmed);
            // Multiplying very long numbers would take long.
            let bits = 64 * (p.len() + q.len());
            if bits > PublicKey::MAX_BITS + 128 {
                return Err(KeyError::Size { bits });
            }
            let n = limbs::mul(&p, &q);
            // A `d` that passes: the right one needs `e`.
            validate::factors(&n, &[1], &p, &q)?;
            let dp = trimmed(dp);
            let is_usable =
                dp.len() <= p.len() && dp.first().is_some_and(|low| low & 1 == 1) & !limbs::equal(&dp, &[1]);
            if !declassify::fits(is_usable) {
                return Err(KeyError::Inconsistent("dP is not the inverse of a public exponent"));
            }
            let e = inverse_of_odd(&dp, &minus_one(&p));
            let public = PublicKey::from_components(&published(&n), &published(&e))?;
            let order = limbs::mul(&minus_one(&p), &minus_one(&q));
            let d = inverse_of_odd(public.exponent(), &order);
            let [dq, qinv] = [(dq, &q), (qinv, &p)].map(|(number, prime)| within(number, prime.len()));
            Self::new(public, Secrets { d, dp, dq, qinv, p, q })
        })
    }

    /// Makes a key from its modulus and both exponents. The primes are recovered from them (NIST SP 800-56B
    /// revision 2, appendix C.1), at the cost of about two powers modulo `n`. The checks are those of
    /// [`parse`](Self::parse).
    ///
    /// # Errors
    /// A [`KeyError`] says how the numbers are wrong, or do not fit together. [`KeyError::Inconsistent`] if
    /// they reveal no primes, [`KeyError::Random`].
    pub fn from_exponents(n: &[u8], e: &[u8], d: &[u8]) -> Result<Self, KeyError> {
        let public = PublicKey::from_components(n, e)?;
        zeroize_stack(|| {
            let d = within(d, public.modulus().limbs().len());
            if declassify::is_missing(limbs::equal(&d, &[])) {
                return Err(KeyError::Inconsistent("the private exponent d is missing"));
            }
            if !declassify::is_in_range(limbs::less(&d, public.modulus().limbs())) {
                return Err(KeyError::Inconsistent("the private exponent d is not below n"));
            }
            let p = prime(&public, &d)?;
            let n = public.modulus().limbs();
            let q = limbs::div_exact(n, &p);
            let [p, q] = [p, q].map(|mut prime| {
                let bits = declassify::modulus_bits(limbs::bits(&prime));
                prime.truncate(bits.div_ceil(64));
                prime
            });
            validate::factors(n, &d, &p, &q)?;
            Self::new(public, Secrets::complete(d, p, q)?)
        })
    }
}

/// A number of a public key that was computed from private ones, big-endian.
fn published(number: &[u64]) -> Vec<u8> {
    let mut out = vec![0; 8 * number.len()];
    limbs::to_be_bytes(number, &mut out);
    out.iter_mut().for_each(|byte| *byte = declassify::public_byte(*byte));
    out
}

/// A prime of a key, from its exponents.
///
/// `e·d − 1` is a multiple of the order of every number modulo `n`. With `e·d − 1 = 2^t·r`, `r` odd, and a
/// random `g`, the sequence `g^r, g^{2r}, …, g^{2^t·r}` ends in 1. With probability at least 1/2, the number
/// before the first 1 is not `−1`: it is a root `y` of 1 other than `±1`, and `gcd(y − 1, n)` is a prime.
fn prime(public: &PublicKey, d: &[u64]) -> Result<Limbs, KeyError> {
    let (n, route) = (public.modulus(), Route::default());
    let mut multiple = limbs::mul(d, public.exponent());
    limbs::sub_assign(&mut multiple, &[1]);
    if declassify::is_missing(limbs::equal(&multiple, &[])) || !declassify::is_even(multiple[0] & 1 == 0) {
        return Err(KeyError::Inconsistent("d is not the inverse of e modulo p - 1"));
    }
    let (odd, _twos, most) = odd_part(&multiple);
    let (one, minus_one) = (in_limbs(&[1], n.limbs().len()), minus_one(n.limbs()));
    for _ in 0..TRIES {
        let g = random_below(n).map_err(|_| KeyError::Random)?;
        let base_bits = n.bits();
        let power = Power { modulus: n, base: &g, base_bits, exponent: &odd, exponent_bits: 64 * odd.len() };
        let mut y: Numbers = jobs::pow(route, &[power]);
        let mut root = limbs::zero(n.limbs().len());
        for _ in 0..most {
            let product = Product { modulus: n, a: &y[0], a_bits: base_bits, b: &y[0] };
            let square = jobs::mul(route, &[product]);
            let is_root = limbs::equal(&square[0], &one)
                & !limbs::equal(&y[0], &one)
                & !limbs::equal(&y[0], &minus_one);
            limbs::add_masked(&mut root, &y[0], std::hint::black_box(u64::from(is_root).wrapping_neg()));
            y = square;
        }
        if !declassify::fits(limbs::equal(&y[0], &one)) {
            return Err(KeyError::Inconsistent("d is not the inverse of e modulo p - 1"));
        }
        if !declassify::reveals_no_prime(limbs::equal(&root, &[])) {
            limbs::sub_assign(&mut root, &[1]);
            return Ok(limbs::gcd(&root, n.limbs()));
        }
    }
    Err(KeyError::Inconsistent("n is not the product of two primes"))
}
