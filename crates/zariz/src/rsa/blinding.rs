//! Blinding: the private operation never sees the number it is asked about.
//!
//! A pair `(mask, unmask)` with `mask·unmask^e ≡ 1 (mod n)` hides `x` as `x·mask`; the result times `unmask` is the
//! result for `x`. `unmask` is random, `mask = unmask^{−e}` costs one private exponentiation, with exponents `−e`; after
//! each use both are squared, which makes the next pair, and after [`USES`] the pair is dropped.

use std::sync::{Mutex, PoisonError};

use zariz_kernels::limbs::{self, Limbs};

use super::error::Error;
use super::private::PrivateKey;
use super::private_op::{Half, crt};

/// How often a pair is used before a fresh one replaces it: the fresh one's cost is shared by so many operations.
const USES: u32 = 64;
/// Pairs that a key keeps at most; more threads than this at once make their own.
const KEPT: usize = 64;

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

    /// Takes back a pair that has been used and squared.
    pub(super) fn put(&self, pair: &Pair, mask: Limbs, unmask: Limbs) {
        let uses = pair.uses + 1;
        let mut pairs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if uses < USES && pairs.len() < KEPT {
            pairs.push(Pair { mask, unmask, uses });
        }
    }
}

/// A pair for each request: kept ones as far as they reach, the others made in one batch.
pub(super) fn take(keys: &[&PrivateKey]) -> Result<Vec<Pair>, Error> {
    let mut pairs: Vec<Option<Pair>> = keys.iter().map(|key| key.0.blinding.pop()).collect();
    let missing: Vec<&PrivateKey> = keys.iter().zip(&pairs).filter(|(_, p)| p.is_none()).map(|(&k, _)| k).collect();
    let unmasks = missing.iter().map(|key| random_below(key)).collect::<Result<Vec<_>, _>>()?;
    let requests: Vec<(&PrivateKey, &[u64])> = missing.iter().zip(&unmasks).map(|(&k, x)| (k, &x[..])).collect();
    let mut fresh = crt(&requests, Half::MinusE).into_iter().zip(unmasks);
    for pair in pairs.iter_mut().filter(|pair| pair.is_none()) {
        *pair = fresh.next().map(|(mask, unmask)| Pair { mask, unmask, uses: 0 });
    }
    pairs.into_iter().collect::<Option<_>>().ok_or(Error::Fault)
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
