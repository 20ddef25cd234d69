//! The private operation `x^d mod n` for a batch of requests, of one key or several: blinded, by the Chinese remainder
//! theorem, checked.

use zariz_kernels::limbs::{self, Limbs};
use zariz_kernels::mul::Product;
use zariz_kernels::pow::Power;

use super::blinding;
use super::error::Error;
use super::private::{Prime, PrivateKey};
use crate::backend::Backend;
use crate::engine;
use crate::jobs;

/// A key and a number below its modulus.
pub(super) type Request<'a> = (&'a PrivateKey, &'a [u64]);

/// `x^d mod n` for every request, in order. Requests are independent: one may fail alone.
pub(super) fn private_op(requests: &[Request]) -> Vec<Result<Limbs, Error>> {
    let mut out: Vec<_> = requests.iter().map(|_| Err(Error::Fault)).collect();
    for (engine, mine) in engine::groups(requests.len(), |i| requests[i].0.engine()) {
        // As many requests as lanes: their p and q halves fill two batches, their operations modulo n one.
        for chunk in mine.chunks(engine.lanes()) {
            let selected: Vec<_> = chunk.iter().map(|&i| requests[i]).collect();
            match blinded(&selected) {
                Ok(results) => chunk.iter().zip(results).for_each(|(&i, result)| out[i] = result),
                Err(error) => chunk.iter().for_each(|&i| out[i] = Err(error)),
            }
        }
    }
    out
}

/// A chunk of requests for one engine.
fn blinded(requests: &[Request]) -> Result<Vec<Result<Limbs, Error>>, Error> {
    let Some((first, _)) = requests.first() else { return Ok(Vec::new()) };
    let backend = first.0.public.backend();
    let keys: Vec<_> = requests.iter().map(|&(key, _)| key).collect();
    let pairs = blinding::take(&keys)?;

    let masked: Vec<_> =
        requests.iter().zip(&pairs).map(|((key, x), pair)| product(key, x, &pair.mask)).collect();
    let masked = jobs::mul(backend, &masked);
    let hidden: Vec<Request> = keys.iter().zip(&masked).map(|(&key, x)| (key, &x[..])).collect();
    let results = checked(backend, &hidden);

    // Take the masks off, and square the pairs, in one go.
    let mut products = Vec::with_capacity(3 * requests.len());
    for ((key, pair), result) in keys.iter().zip(&pairs).zip(&results) {
        let y = result.as_ref().map_or(&[][..], |y| &y[..]);
        products.extend([
            product(key, y, &pair.unmask),
            product(key, &pair.mask, &pair.mask),
            product(key, &pair.unmask, &pair.unmask),
        ]);
    }
    let mut products = jobs::mul(backend, &products).into_iter();
    let mut out = Vec::with_capacity(requests.len());
    for ((key, pair), result) in keys.iter().zip(&pairs).zip(&results) {
        let [Some(y), Some(mask), Some(unmask)] = [products.next(), products.next(), products.next()] else {
            return Err(Error::Fault);
        };
        key.0.blinding.put(pair, mask, unmask);
        out.push(result.as_ref().map(|_| y).map_err(|&error| error));
    }
    Ok(out)
}

fn product<'a>(key: &'a PrivateKey, a: &'a [u64], b: &'a [u64]) -> Product<'a> {
    let modulus = key.0.public.modulus();
    Product { modulus, a, a_bits: modulus.bits(), b }
}

/// By the Chinese remainder theorem, then checked with the public exponent. A result that is wrong (a fault in the
/// processor or its memory, perhaps a provoked one: it would reveal the key) is computed again without the theorem, and
/// checked again.
fn checked(backend: &dyn Backend, requests: &[Request]) -> Vec<Result<Limbs, Error>> {
    let good = |results: &[Limbs], requests: &[Request]| -> Vec<bool> {
        let powers: Vec<_> = requests.iter().zip(results).map(|((key, _), y)| key.0.public.power(y)).collect();
        let opened = jobs::pow_vartime(backend, &powers);
        opened.iter().zip(requests).map(|(opened, (_, x))| limbs::equal(opened, x)).collect()
    };
    let results = crt(requests, Half::Private);
    let verdicts = good(&results, requests);
    let again: Vec<Request> = requests.iter().zip(&verdicts).filter(|(_, good)| !**good).map(|(&r, _)| r).collect();
    if again.is_empty() {
        return results.into_iter().map(Ok).collect();
    }
    let powers: Vec<Power> = again
        .iter()
        .map(|(key, x)| {
            let modulus = key.0.public.modulus();
            let bits = modulus.bits();
            Power { modulus, base: x, base_bits: bits, exponent: &key.0.d, exponent_bits: bits }
        })
        .collect();
    let mut recomputed = jobs::pow(backend, &powers);
    #[cfg(test)]
    fault::spoil_recomputation(&mut recomputed);
    let verdicts_again = good(&recomputed, &again);
    let mut recomputed = recomputed.drain(..).zip(verdicts_again);
    results
        .into_iter()
        .zip(verdicts)
        .map(|(result, good)| match good {
            true => Ok(result),
            false => match recomputed.next() {
                Some((result, true)) => Ok(result),
                _ => Err(Error::Fault),
            },
        })
        .collect()
}

/// Which exponents the halves are raised to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Half {
    /// `d`.
    Private,
    /// `−e`, for blinding.
    MinusE,
}

/// `x^k mod n`, each prime's half in a lane of its own, put together by Garner's formula
/// `y = y_q + q·(q^{−1}·(y_p − y_q) mod p)`. Unchecked. All requests are for one engine.
pub(super) fn crt(requests: &[Request], half: Half) -> Vec<Limbs> {
    let Some((first, _)) = requests.first() else { return Vec::new() };
    let backend = first.0.public.backend();
    let mut powers = Vec::with_capacity(2 * requests.len());
    for (key, x) in requests {
        let base_bits = key.bits();
        powers.extend([&key.0.p, &key.0.q].map(|prime: &Prime| Power {
            modulus: &prime.constants,
            base: x,
            base_bits,
            exponent: match half {
                Half::Private => &prime.exponent,
                Half::MinusE => &prime.minus_e,
            },
            exponent_bits: prime.constants.bits(),
        }));
    }
    let halves = jobs::pow(backend, &powers);
    #[cfg(test)]
    let halves = fault::spoil_halves(halves, half);

    // q^{−1}·y_p and q^{−1}·y_q modulo p: multiplying also reduces y_q, whichever prime is the longer.
    let mut products = Vec::with_capacity(halves.len());
    for ((key, _), halves) in requests.iter().zip(halves.chunks_exact(2)) {
        let (p, q) = (&key.0.p.constants, &key.0.q.constants);
        let by_inverse = |a, a_bits| Product { modulus: p, a, a_bits, b: &key.0.qinv };
        products.extend([by_inverse(&halves[0], p.bits()), by_inverse(&halves[1], q.bits())]);
    }
    let mut quotients = jobs::mul(backend, &products);
    let pairs = halves.chunks_exact(2).zip(quotients.chunks_exact_mut(2));
    requests
        .iter()
        .zip(pairs)
        .map(|((key, _), (halves, quotients))| {
            let (h, of_q) = quotients.split_at_mut(1);
            limbs::sub_mod(&mut h[0], &of_q[0], key.0.p.constants.limbs());
            let mut y = limbs::mul(&h[0], key.0.q.constants.limbs());
            limbs::add_assign(&mut y, &halves[1]);
            // y < n: what stands above n's limbs is zero.
            y.truncate(key.0.public.modulus().limbs().len());
            y
        })
        .collect()
}

/// Faults for tests: bits flipped in results before they are checked.
#[cfg(test)]
pub(super) mod fault {
    use super::{Half, Limbs};
    use std::cell::Cell;

    thread_local! {
        /// The half to spoil in the next private operation: its index among all halves of the batch, and the bit.
        pub static HALF: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
        /// Whether recomputation without the theorem goes wrong too.
        pub static RECOMPUTATION: Cell<bool> = const { Cell::new(false) };
        /// How often recomputation was needed.
        pub static RECOMPUTED: Cell<usize> = const { Cell::new(0) };
    }

    pub fn spoil_halves(mut halves: Vec<Limbs>, half: Half) -> Vec<Limbs> {
        if half == Half::Private
            && let Some((i, bit)) = HALF.take()
        {
            halves[i][bit / 64] ^= 1 << (bit % 64);
        }
        halves
    }

    pub fn spoil_recomputation(results: &mut [Limbs]) {
        RECOMPUTED.set(RECOMPUTED.get() + results.len());
        if RECOMPUTATION.get() {
            results.iter_mut().for_each(|result| result[0] ^= 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;
    use crate::rsa::Algorithm;

    #[test]
    fn a_flipped_bit_in_either_half_never_leaves() {
        for engine in Engine::ALL.into_iter().filter(|engine| engine.is_available()) {
            let key = PrivateKey::generate_with(1024, engine).expect("a key");
            let messages: [&[u8]; 3] = [b"one", b"two", b"three"];
            let expected = key.sign_batch(Algorithm::RS256, &messages);
            // The halves spoiled belong to the first chunk: one request where the engine has one lane.
            let halves = 2 * engine.lanes().min(messages.len());
            for half in 0..halves {
                for bit in [0, 1, 63, 64, 300, 510] {
                    fault::HALF.set(Some((half, bit)));
                    fault::RECOMPUTED.set(0);
                    assert_eq!(key.sign_batch(Algorithm::RS256, &messages), expected, "{engine}, half {half}");
                    assert_eq!(fault::RECOMPUTED.get(), 1, "the fault was not seen");
                }
            }
            // Wrong twice: an error for that message, the others untouched.
            fault::HALF.set(Some((1, 17)));
            fault::RECOMPUTATION.set(true);
            let results = key.sign_batch(Algorithm::RS256, &messages);
            fault::RECOMPUTATION.set(false);
            assert_eq!(results[0], Err(Error::Fault));
            assert_eq!(results[1..], expected[1..]);
        }
    }
}
