//! Blinding: the private operation never sees the number it is asked about.
//!
//! A pair `(mask, unmask)` with `mask·unmask^e ≡ 1 (mod n)` hides `x` as `x·mask`; the result times `unmask` is the
//! result for `x`. `unmask` is random, `mask = unmask^{−e}` costs one private exponentiation, with exponents `−e`; after
//! each use both are squared, which makes the next pair, and after [`USES`] the pair is dropped.

use std::sync::{Mutex, PoisonError};

use zariz_kernels::limbs::{self, Limbs};

use super::error::Error;
use super::private::PrivateKey;
use super::private_op::{Half, Request, crt, product};
use crate::dispatch::Crew;
use crate::jobs;

/// How often a pair is used before a fresh one replaces it: the fresh one's cost is shared by so many operations.
const USES: u32 = 64;
/// Pairs that a key keeps at most: those of 32 threads that sign eight at a time. What is beyond is made anew each time.
const KEPT: usize = 256;

/// One blinding.
pub(super) struct Pair {
    pub mask: Limbs,
    pub unmask: Limbs,
    uses: u32,
}

/// The pairs of a key that nobody uses at the moment.
#[derive(Default)]
pub(super) struct Pool(Mutex<Vec<Pair>>);

impl Pool {
    fn pop(&self) -> Option<Pair> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    #[cfg(test)]
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn push(&self, pair: Pair) {
        let mut pairs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pairs.len() < KEPT {
            pairs.push(pair);
        }
    }
}

/// A pair for each request: kept ones as far as they reach, the others fresh.
pub(super) fn take(keys: &[&PrivateKey]) -> Result<Vec<Pair>, Error> {
    let kept: Vec<Option<Pair>> = keys.iter().map(|key| key.0.blinding.pop()).collect();
    let missing: Vec<_> = keys.iter().zip(&kept).filter(|(_, pair)| pair.is_none()).map(|(&key, _)| key).collect();
    let mut made = fresh(&missing)?.into_iter();
    kept.into_iter().map(|pair| pair.or_else(|| made.next()).ok_or(Error::Fault)).collect()
}

/// A new pair for each request, made in one batch.
pub(super) fn fresh(keys: &[&PrivateKey]) -> Result<Vec<Pair>, Error> {
    let unmasks = keys.iter().map(|key| random_below(key)).collect::<Result<Vec<_>, _>>()?;
    let requests: Vec<Request> = keys.iter().zip(&unmasks).map(|(&key, x)| (key, &x[..])).collect();
    let masks = crt(&requests, Half::MinusE);
    Ok(masks.into_iter().zip(unmasks).map(|(mask, unmask)| Pair { mask, unmask, uses: 0 }).collect())
}

/// Takes back pairs that have served: squared, for their keys' next requests. Pairs that led to a wrong result must not
/// come back.
pub(super) fn give_back(crew: Crew, used: Vec<(&PrivateKey, Pair)>) {
    let kept: Vec<_> = used.into_iter().filter(|(_, pair)| pair.uses + 1 < USES).collect();
    let products: Vec<_> =
        kept.iter().flat_map(|(key, pair)| [&pair.mask, &pair.unmask].map(|x| product(key, x, x))).collect();
    let mut squares = jobs::mul(crew, &products).into_iter();
    for (key, pair) in &kept {
        if let (Some(mask), Some(unmask)) = (squares.next(), squares.next()) {
            key.0.blinding.push(Pair { mask, unmask, uses: pair.uses + 1 });
        }
    }
}

/// A random number below the key's modulus, and not zero. (Nothing else can fail to be invertible but a multiple of a
/// prime factor, which nobody will ever draw.)
fn random_below(key: &PrivateKey) -> Result<Limbs, Error> {
    let modulus = key.0.public.modulus();
    let mut bytes = zeroize::Zeroizing::new(vec![0; modulus.bits().div_ceil(8)]);
    loop {
        getrandom::fill(&mut bytes).map_err(|_| Error::Random)?;
        bytes[0] &= 0xff >> (8 * bytes.len() - modulus.bits());
        let number = limbs::from_be_bytes(&bytes);
        // Which draws are thrown away says nothing about the one that is kept.
        if limbs::less(&number, modulus.limbs()) && !limbs::equal(&number, &[]) {
            return Ok(number);
        }
    }
}
