//! Blinding: the private operation never sees the caller's number.
//!
//! A pair `(mask, unmask)` with `mask·unmask^e ≡ 1 (mod n)` hides `x` as `x·mask`; the result times `unmask`
//! is the result for `x`. `unmask` is random, `mask = unmask^{−e}` costs one private exponentiation, with
//! exponents `−e`; after each use both are squared, which makes the next pair, and after [`USES`] the pair is
//! dropped.

use std::sync::{Mutex, MutexGuard, PoisonError};

use zariz_kernels::limbs::{self, Limbs};
use zariz_machines::memcheck;
use zariz_process::PerProcess;

use super::crt::{Half, Request, crt, product};
use super::error::Error;
use super::private::PrivateKey;
use crate::dispatch::Route;
use crate::jobs;
use crate::prepared::Prepared;
use crate::revealed;

/// How often a pair is used before a fresh one replaces it: that many operations share the cost of a fresh
/// one.
const USES: u32 = 64;
/// The most pairs that a key keeps: for 32 threads that sign eight at a time. Further ones are made anew each
/// time.
const KEPT: usize = 256;

/// One blinding.
pub(super) struct Blind {
    pub mask: Limbs,
    pub unmask: Limbs,
    uses: u32,
}

/// The pairs of a key that no operation is using. A child of `fork` begins with none: a mask that two
/// processes use hides less, and a lock that a parent's thread held may never be released.
#[derive(Default)]
pub(super) struct Pool(PerProcess<Mutex<Vec<Blind>>>);

impl Pool {
    fn pairs(&self) -> MutexGuard<'_, Vec<Blind>> {
        let of_process = self.0.get_or_init(|inherited| {
            // The parent's pairs are wiped, unless one of its threads was changing the list.
            if let Some(Ok(mut pairs)) = inherited.map(Mutex::try_lock) {
                pairs.clear();
            }
            Mutex::default()
        });
        of_process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(all(test, feature = "keygen"))]
    pub(super) fn clear(&self) {
        self.pairs().clear();
    }

    fn push(&self, pair: Blind) {
        let mut pairs = self.pairs();
        if pairs.len() < KEPT {
            pairs.push(pair);
        }
    }
}

impl Drop for Pool {
    /// Wipes the pairs of this process, and those that it began with.
    fn drop(&mut self) {
        self.pairs().clear();
    }
}

/// A pair for each request: first the kept ones, then fresh ones.
pub(super) fn take(keys: &[&PrivateKey]) -> Result<Vec<Blind>, Error> {
    let kept: Vec<Option<Blind>> = keys.iter().map(|key| key.secret.blinding.pairs().pop()).collect();
    let missing: Vec<_> = keys.iter().zip(&kept).filter(|(_, pair)| pair.is_none()).map(|(&key, _)| key).collect();
    let mut made = fresh(&missing)?.into_iter();
    kept.into_iter().map(|pair| pair.or_else(|| made.next()).ok_or(Error::Fault)).collect()
}

/// A new pair for each request, made in one batch.
pub(super) fn fresh(keys: &[&PrivateKey]) -> Result<Vec<Blind>, Error> {
    let unmasks = keys.iter().map(|key| random_below(key.public.modulus())).collect::<Result<Vec<_>, _>>()?;
    let requests: Vec<Request> = keys.iter().zip(&unmasks).map(|(&key, x)| (key, &x[..])).collect();
    let masks = crt(&requests, Half::MinusE);
    Ok(masks.into_iter().zip(unmasks).map(|(mask, unmask)| Blind { mask, unmask, uses: 0 }).collect())
}

/// Keeps the squares of used pairs for the next requests of their keys. Pairs that led to a wrong result must not
/// be given back.
pub(super) fn give_back(route: Route, used: Vec<(&PrivateKey, Blind)>) {
    let kept: Vec<_> = used.into_iter().filter(|(_, pair)| pair.uses + 1 < USES).collect();
    let products: Vec<_> =
        kept.iter().flat_map(|(key, pair)| [&pair.mask, &pair.unmask].map(|x| product(key, x, x))).collect();
    let mut squares = jobs::mul(route, &products).into_iter();
    for (key, pair) in kept {
        if let (Some(mask), Some(unmask)) = (squares.next(), squares.next()) {
            keep(key, &pair, [mask, unmask]);
        }
    }
}

/// Keeps the squares of a used pair for the next request of its key.
pub(super) fn keep(key: &PrivateKey, used: &Blind, [mask, unmask]: [Limbs; 2]) {
    let uses = used.uses + 1;
    if uses < USES {
        key.secret.blinding.push(Blind { mask, unmask, uses });
    }
}

/// A random number below a key's modulus, and not zero. (Only multiples of a prime factor have no inverse;
/// drawing one is as unlikely as guessing the factor.)
pub(super) fn random_below(modulus: &Prepared) -> Result<Limbs, Error> {
    let mut bytes = zeroize::Zeroizing::new(vec![0; modulus.bits().div_ceil(8)]);
    loop {
        getrandom::fill(&mut bytes).map_err(|_| Error::Random)?;
        memcheck::secret(&mut bytes);
        bytes[0] &= 0xff >> (8 * bytes.len() - modulus.bits());
        let number = limbs::from_be_bytes(&bytes);
        // The draws that are thrown away say nothing about the one that is kept.
        let is_below = revealed::is_usable_mask(limbs::less(&number, modulus.limbs()));
        if is_below && revealed::is_usable_mask(!limbs::equal(&number, &[])) {
            return Ok(number);
        }
    }
}

#[cfg(all(test, feature = "keygen"))]
mod tests {
    use super::*;
    use crate::rsa::Algorithm;

    fn unmasks(key: &PrivateKey) -> Vec<Limbs> {
        key.secret.blinding.pairs().iter().map(|pair| pair.unmask.clone()).collect()
    }

    #[test]
    fn a_child_has_pairs_of_its_own() {
        let key = PrivateKey::generate(1024).expect("a key");
        let sign = || key.sign_batch(Algorithm::RS256, &[b"one", b"two"]);
        assert!(sign().iter().all(Result::is_ok));
        let parent = unmasks(&key);
        assert_eq!(parent.len(), 2, "pairs are kept");
        // What a fork does.
        zariz_process::note_fork();
        assert!(unmasks(&key).is_empty(), "a child has none");
        assert!(sign().iter().all(Result::is_ok));
        let child = unmasks(&key);
        assert!(child.len() == 2 && child.iter().all(|unmask| !parent.contains(unmask)), "they are fresh");
        // A thread of the parent holds the lock, which is never released, as the child sees it.
        let held = key.secret.blinding.pairs();
        zariz_process::note_fork();
        assert!(sign().iter().all(Result::is_ok));
        assert_eq!(unmasks(&key).len(), 2, "pairs are kept again");
        drop(held);
    }
}
