//! The private operation `x^d mod n` for a batch of requests, of one key or several: blinded, by the Chinese
//! remainder theorem, checked.

mod lanes;
mod leaving;

use std::hint::black_box;
use std::mem;

use zariz_kernels::limbs::{self, Numbers};
use zeroize::Zeroizing;

use self::leaving::Leaving;
use super::blinding::{self, Blind};
use super::crt::{Request, crt, product};
use super::error::Error;
use super::fault::{self, Place};
use super::missing;
use super::private::PrivateKey;
use crate::backend::Power;
use crate::dispatch::{self, Route};
use crate::jobs;
use crate::revealed;

/// A key, and a number for its private operation, big-endian, as long as the key and below its modulus; or the error
/// that the caller gets instead.
pub(super) type Job<'a> = (&'a PrivateKey, Result<Zeroizing<Vec<u8>>, Error>);

/// What functions around the private operation return: a pointer and a length, in registers. A `Vec` is returned
/// through memory, whose address is on the stack meanwhile. If a fault changed it, the caller would find an older list
/// where it expects this one. So functions that do the work return this, and are never inlined; public ones make a `Vec`
/// of it, where the caller has it, and always are.
pub(crate) type Results<T, E = Error> = Box<[Result<T, E>]>;

/// Raises each number to the `d` of its key, modulo its `n`; results are in order. A result is written over its number.
/// Each number succeeds or fails on its own; errors stay.
pub(super) fn private_op(jobs: Vec<Job>) -> Results<Zeroizing<Vec<u8>>> {
    let count = jobs.len();
    raised(jobs).leave(count)
}

/// Everything but the last look at the results.
fn raised(jobs: Vec<Job>) -> Leaving {
    let (keys, mut padded): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
    let numbers = missing::numbers(padded.iter());
    // A number that a fault changes on its way would be signed without an error: it is compared with both.
    let copies = fault::pass(Place::Copy, missing::numbers(padded.iter()));
    let mut leaving = Leaving::new(&keys, &padded, &numbers);
    for (dispatch, mut mine) in dispatch::groups(keys.len(), |i| keys[i].route().dispatch) {
        mine.retain(|&i| {
            // Finding a key invalid takes long, and other requests wait meanwhile: once is enough.
            let (is_there, is_invalid) = (padded[i].is_ok(), keys[i].is_known_invalid());
            if is_there && is_invalid {
                leaving.refuse(i, Error::InvalidKey);
            }
            is_there && !is_invalid
        });
        // Keys of similar size next to each other, so that they share batches in any order of requests; and the
        // requests of each key, so that they share what is prepared of it.
        mine.sort_by_key(|&i| (keys[i].size_class(), keys[i].identity()));
        let mut kept = None;
        // As many requests as lanes: their p and q halves fill two batches, their operations modulo n one.
        for chunk in mine.chunks(dispatch.main().lanes()) {
            let requests: Vec<Request> = chunk.iter().map(|&i| (keys[i], &numbers[i])).collect();
            let copied: Vec<_> = chunk.iter().map(|&i| &copies[i]).collect();
            let blinded = blinded(&requests, &copied, &mut kept, &mut |place, request, result| {
                let i = chunk[place];
                let number = mem::replace(&mut padded[i], Err(Error::Fault));
                match (result, number) {
                    (Ok(result), Ok(number)) => leaving.put(i, request, result, number, keys[i]),
                    (Err(error), _) => leaving.refuse(i, error),
                    _ => leaving.withhold(i),
                }
            });
            if let Err(error) = blinded {
                // Those that have no result yet.
                chunk.iter().filter(|&&i| padded[i].is_ok()).for_each(|&i| leaving.refuse(i, error));
            }
        }
    }
    leaving
}

/// What takes the result of a place in a chunk and a copy of it, both of which were checked. With it goes the request,
/// read before the result: a fault that changes the place gives a pair that does not fit.
type Done<'d> = &'d mut dyn FnMut(usize, Request, Result<[&[u64]; 2], Error>);

/// The results of a chunk, each twice, and whether they are right. In a box: its address is returned in a register,
/// like [`Results`].
struct Checked {
    results: [Numbers; 2],
    good: Vec<bool>,
}

impl Checked {
    fn result(&self, i: usize) -> [&[u64]; 2] {
        self.results.each_ref().map(|numbers| &numbers[i])
    }
}

/// A chunk of requests for one dispatch, by the Chinese remainder theorem. A wrong result (from a fault in
/// the processor or its memory, perhaps a provoked one) would reveal the key, so it is computed again with a
/// fresh mask and without the theorem. `copies` has the numbers once more. `done` gets each result, with its place.
///
/// A function of its own, so that a debugger's interface sees where it begins: `zariz-attacks` injects faults.
#[inline(never)]
fn blinded<'a>(
    requests: &[Request<'a>],
    copies: &[&[u64]],
    kept: &mut lanes::Kept<'a>,
    done: Done,
) -> Result<(), Error> {
    let Some((first, _)) = requests.first() else { return Ok(()) };
    let route = first.route();
    let keys = || requests.iter().map(|&(key, _)| key);
    let mut pairs = blinding::take(&keys().collect::<Vec<_>>())?;
    let in_lanes = lanes::attempt(requests, copies, &mut pairs, kept);
    let are_squared = in_lanes.is_some();
    let checked = in_lanes.unwrap_or_else(|| attempt(route, requests, copies, &pairs, crt));
    let places = 0..requests.len();
    for place in places.clone().filter(|&place| checked.good[place]) {
        let request = black_box(requests[place]);
        done(place, request, Ok(checked.result(place)));
    }
    let used = keys().zip(pairs).zip(&checked.good).filter(|(_, good)| **good).map(|(used, _)| used);
    if are_squared {
        blinding::keep(used);
    } else {
        blinding::give_back(route, used.collect());
    }

    let bad: Vec<usize> = places.filter(|&place| !checked.good[place]).collect();
    if bad.is_empty() { Ok(()) } else { recomputed(route, &bad, requests, copies, done) }
}

/// The requests at `bad` places of a chunk, with fresh masks and without the Chinese remainder theorem. A function of
/// its own: what is not needed for good results takes none of their stack.
#[inline(never)]
fn recomputed(route: Route, bad: &[usize], requests: &[Request], copies: &[&[u64]], done: Done) -> Result<(), Error> {
    fault::note(bad.len());
    let requests: Vec<_> = bad.iter().map(|&i| requests[i]).collect();
    let copies: Vec<_> = bad.iter().map(|&i| copies[i]).collect();
    let keys: Vec<_> = requests.iter().map(|&(key, _)| key).collect();
    let pairs = blinding::fresh(&keys)?;
    let checked = attempt(route, &requests, &copies, &pairs, |hidden| without_crt(route, hidden));
    for (i, (&place, key)) in bad.iter().zip(keys).enumerate() {
        let request = black_box(requests[i]);
        // Of some composite primes, results are right without the theorem: they would be computed twice for ever.
        let result = match (key.is_found_invalid(), checked.good[i]) {
            (true, _) => Err(Error::InvalidKey),
            (false, true) => Ok(checked.result(i)),
            (false, false) => Err(Error::Fault),
        };
        done(place, request, result);
    }
    Ok(())
}

/// Masks every request, raises it to `d`, takes the mask off, and checks the results: `y^e ≡ x (mod n)`, with
/// the caller's `x` and its copy. So everything between the two is checked, masks included. A copy of `y` is
/// raised to `e`: if `y` changes meanwhile, they differ.
fn attempt(
    route: Route,
    requests: &[Request],
    copies: &[&[u64]],
    pairs: &[Blind],
    raise: impl Fn(&[Request]) -> Numbers,
) -> Box<Checked> {
    let lanes = || requests.iter().zip(pairs);
    let masked: Vec<_> = lanes().map(|((key, x), pair)| product(key, x, &pair.mask)).collect();
    let masked = jobs::mul(route, &masked);
    let hidden: Vec<Request> = requests.iter().zip(masked.iter()).map(|(&(key, _), x)| (key, x)).collect();
    let raised = raise(&hidden);
    let unmasked: Vec<_> =
        lanes().zip(raised.iter()).map(|(((key, _), pair), y)| product(key, y, &pair.unmask)).collect();
    let results = fault::pass(Place::Unmasked, jobs::mul(route, &unmasked));

    let checked = results.clone();
    let results = fault::pass(Place::Checked, results);
    let powers: Vec<_> = requests.iter().zip(checked.iter()).map(|((key, _), y)| key.public.power(y)).collect();
    let opened = jobs::pow_reduced_vartime(route, &powers);
    are_right(requests, copies, [results, checked], &opened)
}

/// Whether each result is right: `opened` has the copies of the results, raised to the public exponents.
fn are_right(requests: &[Request], copies: &[&[u64]], results: [Numbers; 2], opened: &Numbers) -> Box<Checked> {
    let is_right = |i: usize| {
        let ((_, x), [result, checked]) = (requests[i], results.each_ref().map(|numbers| &numbers[i]));
        // `equal` takes limbs that are missing for zeros.
        let alike = [result, checked, &opened[i]].iter().all(|number| number.len() == copies[i].len());
        let equal = limbs::equal(&opened[i], x) & limbs::equal(&opened[i], copies[i]);
        revealed::result_is_right(alike & equal & limbs::equal(result, checked))
    };
    let good = (0..requests.len()).map(is_right).collect();
    Box::new(Checked { results, good })
}

/// `x^d mod n` for every request, without the Chinese remainder theorem.
fn without_crt(route: Route, requests: &[Request]) -> Numbers {
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
    use std::ptr;

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
                let results = all(requests, &copies, &mut kept).expect("results");
                let recomputed = fault::RECOMPUTED.get();
                for (result, expected) in results.iter().zip(without_crt(key.route(), requests).iter()) {
                    assert_eq!(result.as_deref(), Ok(expected), "{engine}");
                }
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
            all(&requests, &vec![&x[..]; engine.lanes()], &mut kept).expect("results");
            // An engine whose numbers do not stay in lanes keeps nothing.
            let keeps = kept.is_some();
            let others = vec![&key; engine.lanes()];
            assert_eq!(lanes::take(&mut kept, &others).is_some(), keeps, "{engine}");
        }
    }

    /// Errors, an invalid key and two engines among requests that fill lanes.
    #[test]
    fn each_number_succeeds_or_fails_on_its_own() {
        let generated = PrivateKey::generate(1024).expect("a key");
        let portable = generated.with_engine(Engine::Portable).expect("available");
        let number = |i: u8| {
            let mut number = Zeroizing::new(vec![i; 128]);
            number[0] = 0;
            number
        };
        let jobs = (0..40).map(|i| {
            let key = if i % 5 == 0 { &portable } else { &generated };
            (key, if i % 7 == 0 { Err(Error::Random) } else { Ok(number(i)) })
        });
        for (i, result) in (0..).zip(private_op(jobs.collect())) {
            let expected = private_op(vec![(&generated, Ok(number(i)))])[0].clone();
            assert_eq!(result, if i % 7 == 0 { Err(Error::Random) } else { expected }, "{i}");
        }
    }

    /// The results of a chunk, each of which comes once.
    fn all<'a>(
        requests: &[Request<'a>],
        copies: &[&[u64]],
        kept: &mut lanes::Kept<'a>,
    ) -> Result<Vec<Result<Vec<u64>, Error>>, Error> {
        let mut out = vec![None; requests.len()];
        blinded(requests, copies, kept, &mut |place, request, result| {
            assert!(ptr::eq(request.1, requests[place].1));
            let result = result.inspect(|[result, copy]| assert_eq!(result, copy)).map(|[result, _]| result.to_vec());
            assert_eq!(out[place].replace(result), None, "the result of {place}");
        })?;
        Ok(out.into_iter().map(|result| result.expect("a result")).collect())
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
        // Whether a result or its copy was changed after the check, neither.
        fault::FAULT.set(Some((Place::Leaving, 0, 300)));
        let failures = fault::check_failures();
        let results = key.sign_batch(Algorithm::RS256, messages);
        assert_eq!(results[0], Err(Error::Fault));
        assert_eq!(results[1..], expected[1..]);
        assert!(fault::check_failures() > failures);
        fault::SIZE.set(1);
        assert_eq!(key.sign(Algorithm::RS256, b"one"), Err(Error::Fault));
        fault::SIZE.set(0);
        let (x, copy) = ([5; 16], [4; 16]);
        assert_eq!(all(&[(key, &x)], &[&x[..]], &mut None).map(|out| out[0].is_ok()), Ok(true));
        assert_eq!(all(&[(key, &x)], &[&copy[..]], &mut None), Ok(vec![Err(Error::Fault)]));
        // Wrong twice: an error for that message, the others untouched.
        fault::FAULT.set(Some((Place::Half, 1, 17)));
        fault::RECOMPUTATION.set(true);
        let results = key.sign_batch(Algorithm::RS256, messages);
        fault::RECOMPUTATION.set(false);
        assert_eq!(results[0], Err(Error::Fault));
        assert_eq!(results[1..], expected[1..]);
    }
}
