//! The private operation `x^d mod n` for a batch of requests, of one key or several: blinded, by the Chinese
//! remainder theorem, checked.

mod lanes;

use std::ptr;

use zariz_kernels::limbs::{self, Limbs};

use super::blinding::{self, Blind};
use super::crt::{Request, crt, product};
use super::error::Error;
use super::fault::{self, Place};
use crate::backend::Power;
use crate::dispatch::{self, Route};
use crate::jobs;
use crate::revealed;

/// `x^d mod n` for every request, in order. Each request succeeds or fails on its own.
pub(super) fn private_op(requests: &[Request]) -> Vec<Result<Limbs, Error>> {
    let mut out: Vec<_> = requests.iter().map(|_| Err(Error::Fault)).collect();
    // A number that a fault changes on its way would be signed without an error: it is compared with both.
    let copies = fault::pass(Place::Copy, requests.iter().map(|(_, x)| Limbs::new(x.to_vec())).collect());
    let sizes: Vec<_> = requests.iter().map(|(key, _)| fault::size(key.size())).collect();
    for (dispatch, mut mine) in dispatch::groups(requests.len(), |i| requests[i].0.route().dispatch) {
        // Finding a key invalid takes long, and other requests wait meanwhile: once is enough.
        mine.retain(|&i| {
            let invalid = requests[i].0.is_known_invalid();
            if invalid {
                out[i] = Err(Error::InvalidKey);
            }
            !invalid
        });
        // Keys of similar size next to each other, so that they share batches in any order of requests.
        mine.sort_by_key(|&i| requests[i].0.size_class());
        let mut kept = None;
        // As many requests as lanes: their p and q halves fill two batches, their operations modulo n one.
        for chunk in mine.chunks(dispatch.main().lanes()) {
            let selected: Vec<_> = chunk.iter().map(|&i| requests[i]).collect();
            let copied: Vec<_> = chunk.iter().map(|&i| &copies[i][..]).collect();
            match blinded(&selected, &copied, &mut kept) {
                Ok(results) => {
                    for ((&i, result), copy) in chunk.iter().zip(results).zip(copied) {
                        // With a damaged place, it would be the result of another request; with a damaged length of
                        // the key, the caller would cut it or pad it.
                        let is_mine = ptr::eq(copy, &copies[i][..]) && requests[i].0.size() == sizes[i];
                        out[i] = if is_mine { result } else { Err(Error::Fault) };
                    }
                }
                Err(error) => chunk.iter().for_each(|&i| out[i] = Err(error)),
            }
        }
    }
    out
}

/// A chunk of requests for one dispatch, by the Chinese remainder theorem. A wrong result (from a fault in
/// the processor or its memory, perhaps a provoked one) would reveal the key, so it is computed again with a
/// fresh mask and without the theorem. `copies` has the numbers once more.
fn blinded<'a>(
    requests: &[Request<'a>],
    copies: &[&[u64]],
    kept: &mut lanes::Kept<'a>,
) -> Result<Vec<Result<Limbs, Error>>, Error> {
    let Some((first, _)) = requests.first() else { return Ok(Vec::new()) };
    let route = first.route();
    let keys: Vec<_> = requests.iter().map(|&(key, _)| key).collect();
    let pairs = blinding::take(&keys)?;
    let (results, good) = match lanes::attempt(requests, copies, &pairs, kept) {
        Some((results, good, squares)) => {
            let used = keys.iter().zip(&pairs).zip(squares).zip(&good).filter(|(_, good)| **good);
            blinding::keep(used.map(|(((key, pair), squares), _)| (*key, pair, squares)));
            (results, good)
        }
        None => {
            let (results, good) = attempt(route, requests, copies, &pairs, crt);
            let used = keys.into_iter().zip(pairs).zip(&good).filter(|(_, good)| **good).map(|(used, _)| used);
            blinding::give_back(route, used.collect());
            (results, good)
        }
    };

    let mut out: Vec<_> = results.into_iter().map(Ok).collect();
    let bad: Vec<usize> = (0..requests.len()).filter(|&i| !good[i]).collect();
    if !bad.is_empty() {
        fault::note(bad.len());
        let requests: Vec<_> = bad.iter().map(|&i| requests[i]).collect();
        let copies: Vec<_> = bad.iter().map(|&i| copies[i]).collect();
        let keys: Vec<_> = requests.iter().map(|&(key, _)| key).collect();
        let pairs = blinding::fresh(&keys)?;
        let (results, good) = attempt(route, &requests, &copies, &pairs, |hidden| without_crt(route, hidden));
        for (((&i, key), result), good) in bad.iter().zip(keys).zip(results).zip(good) {
            // Of some composite primes, results are right without the theorem: they would be computed twice for ever.
            out[i] = match (key.is_found_invalid(), good) {
                (true, _) => Err(Error::InvalidKey),
                (false, true) => Ok(result),
                (false, false) => Err(Error::Fault),
            };
        }
    }
    Ok(out)
}

/// Masks every request, raises it to `d`, takes the mask off, and checks the results: `y^e ≡ x (mod n)`, with
/// the caller's `x` and its copy. So everything between the two is checked, masks included. A copy of `y` is
/// raised to `e`: if `y` changes meanwhile, they differ.
fn attempt(
    route: Route,
    requests: &[Request],
    copies: &[&[u64]],
    pairs: &[Blind],
    raise: impl Fn(&[Request]) -> Vec<Limbs>,
) -> (Vec<Limbs>, Vec<bool>) {
    let lanes = || requests.iter().zip(pairs);
    let masked: Vec<_> = lanes().map(|((key, x), pair)| product(key, x, &pair.mask)).collect();
    let masked = jobs::mul(route, &masked);
    let hidden: Vec<Request> = requests.iter().zip(&masked).map(|(&(key, _), x)| (key, &x[..])).collect();
    let raised = raise(&hidden);
    let unmasked: Vec<_> = lanes().zip(&raised).map(|(((key, _), pair), y)| product(key, y, &pair.unmask)).collect();
    let results = fault::pass(Place::Unmasked, jobs::mul(route, &unmasked));

    let checked = results.clone();
    let results = fault::pass(Place::Checked, results);
    let powers: Vec<_> = requests.iter().zip(&checked).map(|((key, _), y)| key.public.power(y)).collect();
    let good = are_right(requests, copies, &results, &checked, &jobs::pow_reduced_vartime(route, &powers));
    (results, good)
}

/// Whether each result is right: `opened` has the copies of the results, raised to the public exponents.
fn are_right(
    requests: &[Request],
    copies: &[&[u64]],
    results: &[Limbs],
    checked: &[Limbs],
    opened: &[Limbs],
) -> Vec<bool> {
    let is_right = |i: usize| {
        let (_, x) = requests[i];
        let equal = limbs::equal(&opened[i], x) & limbs::equal(&opened[i], copies[i]);
        revealed::result_is_right(equal & limbs::equal(&results[i], &checked[i]))
    };
    (0..requests.len()).map(is_right).collect()
}

/// `x^d mod n` for every request, without the Chinese remainder theorem.
fn without_crt(route: Route, requests: &[Request]) -> Vec<Limbs> {
    let powers: Vec<_> = requests
        .iter()
        .map(|(key, x)| {
            let modulus = key.public.modulus();
            let bits = modulus.bits();
            Power { modulus, base: x, base_bits: bits, exponent: &key.secret.d, exponent_bits: bits }
        })
        .collect();
    fault::pass(Place::Recomputed, jobs::pow(route, &powers))
}

#[cfg(all(test, feature = "keygen"))]
mod tests {
    use super::*;
    use crate::rsa::Algorithm;
    use crate::rsa::PrivateKey;
    use crate::{Dispatch, Engine};

    #[test]
    fn a_flipped_bit_never_leaves() {
        let engines = Engine::ALL.iter().copied().filter(|engine| engine.is_available()).map(Dispatch::Only);
        let generated = PrivateKey::generate(1024).expect("a key");
        for dispatch in engines.chain([Dispatch::Auto]) {
            let key = generated.with_engine(dispatch).expect("available");
            let messages: [&[u8]; 8] = [b"one", b"two", b"three", b"four", b"five", b"six", b"seven", b"eight"];
            // Some lanes are filled, and all: then numbers stay in them.
            for messages in [&messages[..3], &messages] {
                flip_bits(&key, messages);
            }
        }
    }

    #[test]
    fn operations_of_the_same_keys_are_kept_until_a_fault() {
        let generated = [(); 2].map(|()| PrivateKey::generate(1024).expect("a key"));
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available() && engine.lanes() > 1) {
            let dispatch = Dispatch::Only(engine);
            let [key, other] = &generated.each_ref().map(|key| key.with_engine(dispatch).expect("available"));
            let x: Vec<_> = (0..engine.lanes() as u64).map(|i| [i + 2; 16]).collect();
            let copies: Vec<_> = x.iter().map(|x| &x[..]).collect();
            // One key in all lanes; two keys in turn.
            let [same, mixed] = [[key, key], [other, key]]
                .map(|keys| -> Vec<Request> { copies.iter().enumerate().map(|(i, x)| (keys[i % 2], *x)).collect() });
            let mut kept = None;
            let mut run = |are_mixed: bool, fault: Option<(Place, usize, usize)>| {
                fault::FAULT.set(fault);
                fault::RECOMPUTED.set(0);
                let requests = if are_mixed { &mixed } else { &same };
                let results = blinded(requests, &copies, &mut kept).expect("results");
                let results: Vec<_> = results.into_iter().map(|result| result.expect("a result")).collect();
                let recomputed = fault::RECOMPUTED.get();
                assert_eq!(results, without_crt(key.route(), requests), "{engine}");
                (recomputed, kept.is_some())
            };
            // An engine whose numbers do not stay in lanes keeps nothing.
            let (_, keeps) = run(false, None);
            for _ in 0..2 {
                assert_eq!(run(false, None), (0, keeps), "{engine}: the same keys");
                assert_eq!(run(true, None), (0, keeps), "{engine}: other keys in some lanes");
                let fault = Some((Place::Half, 1, 17));
                assert_eq!(run(true, fault), (1, false), "{engine}: a fault in what was kept");
            }
        }
    }

    /// Every request of a queue has a clone of its key.
    #[test]
    fn operations_are_kept_for_clones_of_their_keys() {
        let generated = PrivateKey::generate(1024).expect("a key");
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available() && engine.lanes() > 1) {
            let key = generated.with_engine(Dispatch::Only(engine)).expect("available");
            let clones = vec![key.clone(); engine.lanes()];
            let x = [2; 16];
            let requests: Vec<Request> = clones.iter().map(|key| (key, &x[..])).collect();
            let mut kept = None;
            blinded(&requests, &vec![&x[..]; engine.lanes()], &mut kept).expect("results");
            // An engine whose numbers do not stay in lanes keeps nothing.
            let keeps = kept.is_some();
            let others = vec![&key; engine.lanes()];
            assert_eq!(lanes::take(&mut kept, &others).is_some(), keeps, "{engine}");
        }
    }

    fn flip_bits(key: &PrivateKey, messages: &[&[u8]]) {
        let dispatch = key.dispatch();
        let expected = key.sign_batch(Algorithm::RS256, messages);
        // The spoiled numbers are in the first chunk: one request where the engine has one lane.
        let requests = dispatch.main().lanes().min(messages.len());
        for (place, count) in [
            (Place::Mask, requests),
            (Place::Half, 2 * requests),
            (Place::Unmasked, requests),
            (Place::Checked, requests),
        ] {
            for i in 0..count {
                for bit in [0, 1, 63, 64, 300, 510] {
                    if place == Place::Mask {
                        key.secret.blinding.clear(); // so that new masks are made
                    }
                    fault::FAULT.set(Some((place, i, bit)));
                    fault::RECOMPUTED.set(0);
                    assert_eq!(key.sign_batch(Algorithm::RS256, messages), expected, "{dispatch}, number {i}");
                    assert_eq!(fault::RECOMPUTED.get(), 1, "{dispatch}: the fault was not seen");
                }
            }
        }
        // Whether the number or its copy was changed, nobody knows.
        fault::FAULT.set(Some((Place::Copy, 0, 300)));
        let results = key.sign_batch(Algorithm::RS256, messages);
        assert_eq!(results[0], Err(Error::Fault));
        assert_eq!(results[1..], expected[1..]);
        fault::SIZE.set(1);
        assert_eq!(key.sign(Algorithm::RS256, b"one"), Err(Error::Fault));
        fault::SIZE.set(0);
        let (x, copy) = ([5; 16], [4; 16]);
        assert_eq!(blinded(&[(key, &x)], &[&x[..]], &mut None).map(|out| out[0].is_ok()), Ok(true));
        assert_eq!(blinded(&[(key, &x)], &[&copy[..]], &mut None), Ok(vec![Err(Error::Fault)]));
        // Wrong twice: an error for that message, the others untouched.
        fault::FAULT.set(Some((Place::Half, 1, 17)));
        fault::RECOMPUTATION.set(true);
        let results = key.sign_batch(Algorithm::RS256, messages);
        fault::RECOMPUTATION.set(false);
        assert_eq!(results[0], Err(Error::Fault));
        assert_eq!(results[1..], expected[1..]);
    }
}
