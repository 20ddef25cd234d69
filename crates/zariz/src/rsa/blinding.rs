//! Blinding: the private operation never sees the caller's number.
//!
//! A pair `(mask, unmask)` with `mask·unmask^e ≡ 1 (mod n)` hides `x` as `x·mask`; the result times `unmask`
//! is the result for `x`. `unmask` is random; `mask = (unmask^{−1})^e` costs an inversion and a public
//! operation. After each use both are squared, which makes the next pair, and after [`USES`](pool::USES) the
//! pair is dropped. Between uses, it is in its key's [`Pool`](pool::Pool).

pub(super) mod pool;

use zariz_kernels::limbs::{self, Limbs};
use zariz_machines::memcheck;

use self::pool::Blind;
use super::error::Error;
use super::private::PrivateKey;
use crate::declassify;
use crate::inverse::invert;
use crate::jobs;
use crate::prepared::Prepared;

/// Groups of neighbours with the same key.
fn same_keys<'k, 'a>(keys: &'k [&'a PrivateKey]) -> impl Iterator<Item = &'k [&'a PrivateKey]> {
    keys.chunk_by(|a, b| a.is_same(b))
}

/// A pair for each request: first the kept ones, then fresh ones. Neighbours with the same key share a lock.
pub(super) fn take(keys: &[&PrivateKey]) -> Result<Vec<Blind>, Error> {
    let kept = |same: &[&PrivateKey]| -> Vec<Blind> {
        let mut pairs = same[0].secret.blinding.pairs();
        let left = pairs.len().saturating_sub(same.len());
        pairs.drain(left..).collect()
    };
    let kept: Vec<_> = same_keys(keys).map(kept).collect();
    let missing: Vec<_> =
        same_keys(keys).zip(&kept).flat_map(|(same, kept)| &same[kept.len()..]).copied().collect();
    let mut made = fresh(&missing)?.into_iter();
    let mut out = Vec::with_capacity(keys.len());
    for (same, kept) in same_keys(keys).zip(kept) {
        let missing = same.len() - kept.len();
        out.extend(kept);
        out.extend(made.by_ref().take(missing));
    }
    Ok(out)
}

/// A new pair for each request. Neighbours with the same key share an inversion.
pub(super) fn fresh(keys: &[&PrivateKey]) -> Result<Vec<Blind>, Error> {
    let Some(route) = keys.first().map(|key| key.route()) else { return Ok(Vec::new()) };
    let unmasks = keys.iter().map(|key| random_below(key.public.modulus())).collect::<Result<Vec<_>, _>>()?;
    let mut numbers = unmasks.iter().map(|unmask| &unmask[..]);
    let mut inverses = Vec::with_capacity(keys.len());
    for same in same_keys(keys) {
        let modulus = same[0].public.modulus();
        let mine: Vec<_> = numbers.by_ref().take(same.len()).collect();
        // Without an inverse, the mask is 0: the result is wrong, and the check finds it.
        let or_zero = |inverse: Option<Limbs>| inverse.unwrap_or_else(|| limbs::zero(modulus.limbs().len()));
        inverses.extend(invert(route, modulus, &mine, modulus.bits()).into_iter().map(or_zero));
    }
    let powers: Vec<_> = keys.iter().zip(&inverses).map(|(key, inverse)| key.public.power(inverse)).collect();
    let masks = jobs::pow_reduced_vartime(route, &powers);
    let pair = |(mask, unmask): (&[u64], _)| Blind { mask: Limbs::new(mask.to_vec()), unmask, uses: 0 };
    Ok(masks.iter().zip(unmasks).map(pair).collect())
}

/// Keeps used pairs, which have been squared, for the next requests of their keys. The caller leaves out
/// pairs that led to a wrong result.
pub(super) fn keep<'a>(squared: impl Iterator<Item = (&'a PrivateKey, Blind)>) {
    let next = squared.filter(|(_, pair)| pair.has_more_uses());
    let mut next = next.map(|(key, pair)| (key, Blind { uses: pair.uses + 1, ..pair })).peekable();
    while let Some((key, first)) = next.next() {
        let others = std::iter::from_fn(|| Some(next.next_if(|(other, _)| other.is_same(key))?.1));
        key.secret.blinding.keep(std::iter::once(first).chain(others));
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
        let is_below = declassify::is_usable_mask(limbs::less(&number, modulus.limbs()));
        if is_below && declassify::is_usable_mask(!limbs::equal(&number, &[])) {
            return Ok(number);
        }
    }
}

#[cfg(all(test, feature = "keygen"))]
mod tests {
    use super::pool::USES;
    use super::*;
    use crate::backend::Product;
    use crate::forks;
    use crate::rsa::Algorithm;

    fn unmasks(key: &PrivateKey) -> Vec<Limbs> {
        key.secret.blinding.pairs().iter().map(|pair| pair.unmask.clone()).collect()
    }

    /// Fresh pairs and kept ones, for keys that are neighbours or not.
    #[test]
    fn masks_undo_what_unmasks_become() {
        let _alone = forks::alone();
        let keys = [1024, 1024, 1536].map(|bits| PrivateKey::generate(bits).expect("a key"));
        let [a, b, c] = keys.each_ref();
        let mixed = vec![a, b, a, c, c];
        for list in
            [vec![], vec![a], vec![a; 3], vec![a; 8], vec![b; 9], mixed, [vec![a; 17], vec![c; 7]].concat()]
        {
            // Those that are kept are those of the list before.
            for pairs in [fresh(&list), take(&list)] {
                let pairs = pairs.expect("pairs");
                assert_eq!(pairs.len(), list.len());
                for (key, pair) in list.iter().zip(&pairs) {
                    let powers = jobs::pow_reduced_vartime(key.route(), &[key.public.power(&pair.unmask)]);
                    let modulus = key.public.modulus();
                    let product = Product { modulus, a: &pair.mask, a_bits: modulus.bits(), b: &powers[0] };
                    assert!(limbs::equal(&jobs::mul(key.route(), &[product])[0], &[1]));
                }
                keep(list.iter().copied().zip(pairs));
            }
        }
    }

    #[test]
    fn neighbours_with_clones_of_a_key_share_locks_and_inversions() {
        let [a, b] = [(); 2].map(|()| PrivateKey::generate(1024).expect("a key"));
        let clones = [a.clone(), a.clone(), b.clone(), b.clone(), a.clone()];
        let keys: Vec<_> = clones.iter().collect();
        assert_eq!(same_keys(&keys).map(<[_]>::len).collect::<Vec<_>>(), [2, 2, 1]);
    }

    #[test]
    fn a_pair_serves_so_many_requests_and_no_more() {
        let _alone = forks::alone();
        // One request alone, and as many as the widest engine has lanes: then numbers stay in them.
        for count in [1, crate::Engine::best().lanes()] {
            let key = PrivateKey::generate(1024).expect("a key");
            // What made the key has used a pair.
            key.secret.blinding.pairs().clear();
            let messages = vec![&b"message"[..]; count];
            let mut seen = Vec::new();
            for uses in 1..=USES {
                assert!(key.sign_batch(Algorithm::RS256, &messages).iter().all(Result::is_ok));
                let kept = unmasks(&key);
                assert_eq!(kept.len(), if uses < USES { count } else { 0 }, "after {uses} uses");
                assert!(kept.iter().all(|unmask| !seen.contains(unmask)), "none is used twice");
                seen.extend(kept);
            }
        }
    }

    #[test]
    fn a_child_has_pairs_of_its_own() {
        let _alone = forks::alone();
        let key = PrivateKey::generate(1024).expect("a key");
        let sign = || key.sign_batch(Algorithm::RS256, &[b"one", b"two"]);
        assert!(sign().iter().all(Result::is_ok));
        let parent = unmasks(&key);
        // Without lanes, one request after the other uses the same pair.
        let count = crate::Engine::best().lanes().min(2);
        assert_eq!(parent.len(), count, "pairs are kept");
        // What a fork does.
        zariz_process::note_fork();
        assert!(unmasks(&key).is_empty(), "a child has none");
        assert!(sign().iter().all(Result::is_ok));
        let child = unmasks(&key);
        assert!(
            child.len() == count && child.iter().all(|unmask| !parent.contains(unmask)),
            "they are fresh"
        );
        // A thread of the parent holds the lock, which is never released, as the child sees it.
        let held = key.secret.blinding.pairs();
        zariz_process::note_fork();
        assert!(sign().iter().all(Result::is_ok));
        assert_eq!(unmasks(&key).len(), count, "pairs are kept again");
        drop(held);
    }
}
