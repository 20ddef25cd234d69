//! The private operation `x^d mod n` for many requests, of one key or several: blinded, by the Chinese
//! remainder theorem, checked.
//!
//! `mask` and `unmask` are random, with `mask·unmask^e ≡ 1 (mod n)` ([`blinding`]). With `n = p·q`,
//! `U ≡ 1 (mod p)`, `U ≡ 0 (mod q)`, and `V` the other way round:
//!
//! 1. `x' = x·mask mod n`
//! 2. `y_p = x'^{d mod (p−1)} mod p`, `y_q = x'^{d mod (q−1)} mod q`: nearly all of the work
//! 3. `y' = y_p·U + y_q·V mod n`, which is `x'^d`
//! 4. `y = y'·unmask mod n`
//! 5. return `y` only if `y^e ≡ x (mod n)`
//!
//! A wrong result of step 3 would reveal a factor of `n` (Boneh, DeMillo and Lipton 1997). So a result that
//! fails step 5 is computed again without the theorem, with a fresh mask, or is withheld.
//!
//! # Factors of R
//!
//! A Montgomery product is `a·b/R`; `[a]` is `a·R`, Montgomery form. Step 1 is `x·[mask]/R = x·mask`, plain.
//! Step 3 multiplies plain numbers, so it gives `y'/R`. Step 4 gives `(y'/R)·[unmask]/R = y/R`; a product
//! with `R²` makes it `y`.
//!
//! As many requests as the engine has lanes are computed together, one in each lane. With fewer, the halves
//! of step 2 are moved together, so that they fill lanes.
//!
//! # Bounds
//!
//! Numbers are those of [`zariz_kernels::Montgomery`]. `y_p·U` and `y_q·V` are products of a number below `R`
//! and one below `n`, so below `3n`, and their sum is below `6n < R`. It is multiplied by `unmask`, below
//! `3n`: the product is below `18n²/R + 2n < 5n`, for `R ≥ 8n`. The last product, by a plain number below
//! `n`, is below `3n` then. `analysis` proves these, as it does the arithmetic's. In limbs there is no bound
//! but `R`: sums are reduced.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};

use zariz_kernels::limbs::{self, Numbers};
use zariz_kernels::place::{AlignedBuf, Pool};
use zariz_kernels::{Montgomery, pow};
use zeroize::Zeroizing;

use super::blinding::{self, Blind};
use super::error::Error;
use super::missing;
use super::private::{Prime, PrivateKey};
use crate::backend::{Backend, default_mxcsr};
use crate::cost::Operation;
use crate::counts;
use crate::declassify;
use crate::dispatch;
use crate::jobs;

/// A key, and a number for its private operation, big-endian, as long as the key and below its modulus; or
/// the error that the caller gets instead.
pub(super) type Job<'a> = (&'a PrivateKey, Result<Zeroizing<Vec<u8>>, Error>);

static CHECK_FAILURES: AtomicU64 = AtomicU64::new(0);

/// How many private results of this process failed the check with the public exponent. Each was computed
/// again, or withheld. If it is not 0, the machine's processor or memory is faulty or attacked, or a key's
/// primes are not prime ([`Error::InvalidKey`]).
pub fn check_failures() -> u64 {
    CHECK_FAILURES.load(Ordering::Relaxed)
}

/// Raises each number to the `d` of its key, modulo its `n`; results are in order. A result is written over
/// its number. Each number succeeds or fails on its own; errors stay.
pub(super) fn private_op(jobs: Vec<Job>) -> Vec<Result<Zeroizing<Vec<u8>>, Error>> {
    let (keys, mut given): (Vec<&PrivateKey>, Vec<_>) = jobs.into_iter().unzip();
    let (numbers, mut out) = (missing::numbers(given.iter()), missing::results(given.iter()));
    for (_, mut mine) in dispatch::groups(keys.len(), |i| keys[i].route().dispatch) {
        for &i in &mine {
            // The test of primes is slow. Do not repeat it for a key that failed.
            if given[i].is_ok() && keys[i].is_known_invalid() {
                out[i] = Err(Error::InvalidKey);
            }
        }
        mine.retain(|&i| given[i].is_ok() && out[i] != Err(Error::InvalidKey));
        // Requests that can share a batch are next to each other, and among these the requests of each key.
        mine.sort_by_key(|&i| (keys[i].class(), keys[i].identity()));
        for alike in mine.chunk_by(|&a, &b| keys[a].class() == keys[b].class()) {
            let first = keys[alike[0]];
            let lanes = first.route().machine(first.public.modulus()).lanes();
            let mut kept: Option<Batch> = None;
            for chunk in alike.chunks(lanes) {
                let requests: Vec<_> = chunk.iter().map(|&i| (keys[i], &numbers[i])).collect();
                match checked(&requests, &mut kept) {
                    Ok((y, outcomes)) => {
                        for ((&i, y), outcome) in chunk.iter().zip(y.iter()).zip(outcomes) {
                            let number = mem::replace(&mut given[i], Err(Error::Fault));
                            out[i] = outcome.and(number).map(|mut number| {
                                limbs::to_be_bytes(y, &mut number);
                                number
                            });
                        }
                    }
                    Err(error) => chunk.iter().for_each(|&i| out[i] = Err(error)),
                }
            }
        }
    }
    out
}

/// A key and a number below its modulus.
type Request<'a> = (&'a PrivateKey, &'a [u64]);

/// The results of requests that share a batch, and whether each is right. `kept` is the previous batch. It is
/// used again if the keys are the same.
fn checked<'a>(
    requests: &[Request<'a>],
    kept: &mut Option<Batch<'a>>,
) -> Result<(Numbers, Vec<Result<(), Error>>), Error> {
    let (keys, x): (Vec<_>, Vec<_>) = requests.iter().copied().unzip();
    let mut pairs = blinding::take(&keys)?;
    let mut batch = kept.take().filter(|it| it.is_of(&keys)).unwrap_or_else(|| Batch::new(keys.clone()));
    let (mut y, is_right) = batch.attempt(&x, &mut pairs, Batch::raise);
    // A wrong result may come from damaged memory: the batch is dropped, and so is that request's mask.
    *kept = is_right.iter().all(|&it| it).then_some(batch);
    blinding::keep(
        keys.into_iter().zip(pairs).zip(&is_right).filter(|(_, is_right)| **is_right).map(|(used, _)| used),
    );
    let outcome = |(i, &is_right): (usize, &bool)| {
        if !is_right {
            y[i].copy_from_slice(&computed_again(requests[i])?[0]);
        }
        Ok(())
    };
    let outcomes = is_right.iter().enumerate().map(outcome).collect();
    Ok((y, outcomes))
}

/// The result of a request whose first result was wrong: with a fresh mask, without the Chinese remainder
/// theorem.
fn computed_again((key, x): Request) -> Result<Numbers, Error> {
    CHECK_FAILURES.fetch_add(1, Ordering::Relaxed);
    // With some composite primes the second computation is right. The key is refused, or every request would
    // be computed twice.
    if key.is_found_invalid() {
        return Err(Error::InvalidKey);
    }
    let mut pairs = blinding::fresh(&[key])?;
    let (y, is_right) = Batch::new(vec![key]).attempt(&[x], &mut pairs, Batch::raise_without_crt);
    if is_right[0] { Ok(y) } else { Err(Error::Fault) }
}

/// Working space for a request of each of some keys, which are of one [class](PrivateKey::class).
struct Batch<'a> {
    keys: Vec<&'a PrivateKey>,
    backend: &'static dyn Backend,
    /// Modulo `n`.
    n: Box<dyn Montgomery + 'a>,
    /// `U` and `V`, plain.
    units: [AlignedBuf; 2],
    /// Modulo the primes `p` of all keys, then the primes `q`.
    halves: Vec<Halves<'a>>,
    /// Whether `n`, `halves[0]` (all `p`) and `halves[1]` (all `q`) have one lane for each key, and one
    /// layout: then no number changes its lane.
    stays: bool,
}

/// Some primes, whose powers are computed together.
struct Halves<'a> {
    primes: Vec<&'a Prime>,
    backend: &'static dyn Backend,
    montgomery: Box<dyn Montgomery + 'a>,
}

impl<'a> Batch<'a> {
    fn new(keys: Vec<&'a PrivateKey>) -> Self {
        let moduli: Vec<_> = keys.iter().map(|key| key.public.modulus()).collect();
        // The check is most of the work modulo n.
        let operation = Operation::PublicPower { exponent_bits: keys[0].public.exponent_bits() };
        let backend = match jobs::shares(keys[0].route(), &moduli, operation)[..] {
            [(backend, count)] if count <= backend.lanes() => backend,
            // All of n must be on one machine.
            _ => keys[0].route().machine(moduli[0]),
        };
        let _default = default_mxcsr(backend);
        let mut n = backend.montgomery(&moduli);
        let primes = || keys.iter().map(|key| &key.secret.p).chain(keys.iter().map(|key| &key.secret.q));
        let units: Vec<&[u64]> = primes().map(|prime| &prime.unit[..]).collect();
        let units = [0, keys.len()].map(|from| n.plain(&units[from..][..keys.len()]));

        let primes: Vec<_> = primes().collect();
        let moduli: Vec<_> = primes.iter().map(|prime| &prime.modulus).collect();
        let operation = Operation::Power { exponent_bits: moduli[0].size() };
        let (mut halves, mut rest) = (Vec::new(), &primes[..]);
        for (backend, count) in jobs::shares(keys[0].route(), &moduli, operation) {
            let (mine, later) = rest.split_at(count);
            rest = later;
            let _default = default_mxcsr(backend);
            for primes in mine.chunks(backend.lanes()) {
                let moduli: Vec<_> = primes.iter().map(|prime| &prime.modulus).collect();
                halves.push(Halves {
                    primes: primes.to_vec(),
                    backend,
                    montgomery: backend.montgomery(&moduli),
                });
            }
        }
        let place = |m: &dyn Montgomery| m.layout().map(|layout| (layout, m.count()));
        let of_n = place(&*n);
        let is_alike = |it: &Halves| {
            let is_long = it.montgomery.words() > n.words();
            it.primes.len() == keys.len() && place(&*it.montgomery) == of_n && !is_long
        };
        let stays = of_n.is_some() && halves.len() == 2 && halves.iter().all(is_alike);
        Self { keys, backend, n, units, halves, stays }
    }

    /// Whether it is for these keys, in this order.
    fn is_of(&self, keys: &[&PrivateKey]) -> bool {
        self.keys.len() == keys.len() && self.keys.iter().zip(keys).all(|(a, b)| a.is_same(b))
    }

    /// The length of the longest modulus in bits: keys of one class may differ in it.
    fn longest(&self) -> usize {
        self.keys.iter().map(|key| key.public.modulus().size()).max().unwrap_or(0)
    }

    /// Steps 1 to 5, with `raise` for steps 2 and 3: the results, and whether each is right. Each mask is
    /// replaced by its square, and so is what takes it off: these are the next pairs.
    fn attempt(
        &mut self,
        x: &[&[u64]],
        pairs: &mut [Blind],
        raise: impl Fn(&mut Self, &[u64]) -> AlignedBuf,
    ) -> (Numbers, Vec<bool>) {
        let _default = default_mxcsr(self.backend);
        let (masks, unmasks): (Vec<&[u64]>, Vec<&[u64]>) =
            pairs.iter().map(|pair| (&pair.mask[..], &pair.unmask[..])).unzip();
        let [plain_mask, plain_unmask] = [masks, unmasks].map(|numbers| self.n.plain(&numbers));

        // 1: x·mask.
        let mask = self.n.enter_plain(&plain_mask);
        let mut masked = self.n.plain(x);
        self.n.amm(&mut masked, &mask);
        // 2 and 3: y'/R.
        let mut y = raise(self, &masked);
        // 4: y'·unmask.
        let unmask = self.n.enter_plain(&plain_unmask);
        self.n.amm(&mut y, &unmask);
        self.n.enter_in_place(&mut y);
        let results = self.n.canonical(&y, x.len());
        self.n.recycle(masked);
        self.n.recycle(y);

        // [mask]·mask/R = mask²: plain.
        let [masks, unmasks] = [(mask, plain_mask), (unmask, plain_unmask)].map(|(mut number, plain)| {
            self.n.amm(&mut number, &plain);
            let squares = self.n.canonical(&number, x.len());
            self.n.recycle(number);
            self.n.recycle(plain);
            squares
        });
        for (pair, (mask, unmask)) in pairs.iter_mut().zip(masks.iter().zip(unmasks.iter())) {
            pair.mask.copy_from_slice(mask);
            pair.unmask.copy_from_slice(unmask);
        }

        // 5: y^e = x.
        let powers: Vec<_> =
            self.keys.iter().zip(results.iter()).map(|(key, y)| key.public.power(y)).collect();
        let opened = pow::pow_reduced_vartime(&mut *self.n, &powers);
        let is_right = |(opened, x): (&[u64], &&[u64])| declassify::result_is_right(limbs::equal(opened, x));
        let is_right = opened.iter().zip(x).map(is_right).collect();
        (results, is_right)
    }

    /// Steps 2 and 3 by the Chinese remainder theorem: `y'/R` of plain numbers.
    fn raise(&mut self, masked: &[u64]) -> AlignedBuf {
        counts::powers(2 * self.keys.len());
        let halves = if self.stays { self.halves_in_lanes(masked) } else { self.halves_moved(masked) };
        let mut y = self.n.zeros(self.n.words());
        for (mut half, unit) in halves.into_iter().zip(&self.units) {
            self.n.amm(&mut half, unit);
            self.n.add(&mut y, &half);
            self.n.recycle(half);
        }
        y
    }

    /// `y_p` and `y_q`, plain, where no number changes its lane.
    fn halves_in_lanes(&mut self, masked: &[u64]) -> [AlignedBuf; 2] {
        [0, 1].map(|i| {
            let halves = &mut self.halves[i];
            // They take their memory from the same pool.
            let mut pool = Pool::default();
            self.n.swap_pool(&mut pool);
            halves.montgomery.swap_pool(&mut pool);
            let base = halves.montgomery.enter_digits(masked);
            let half = halves.power(base);
            halves.montgomery.swap_pool(&mut pool);
            self.n.swap_pool(&mut pool);
            // As long as n.
            let mut number = self.n.zeros(self.n.words());
            number[..half.len()].copy_from_slice(&half);
            self.n.recycle(half);
            number
        })
    }

    /// `y_p` and `y_q`, plain, where numbers are moved to other lanes or machines.
    fn halves_moved(&mut self, masked: &[u64]) -> [AlignedBuf; 2] {
        let (count, bits) = (self.keys.len(), self.longest());
        let numbers = self.n.canonical(masked, count);
        let mut moved = Numbers::default();
        for halves in &mut self.halves {
            let _default = default_mxcsr(halves.backend);
            let bases: Vec<_> =
                (moved.len()..).take(halves.primes.len()).map(|place| &numbers[place % count]).collect();
            let base = halves.montgomery.enter(&bases, bits);
            let half = halves.power(base);
            moved.append(halves.montgomery.canonical(&half, halves.primes.len()));
        }
        let moved: Vec<&[u64]> = moved.iter().collect();
        let (p, q) = moved.split_at(count);
        [p, q].map(|numbers| self.n.plain(numbers))
    }

    /// Steps 2 and 3 without the theorem: `y'/R`.
    fn raise_without_crt(&mut self, masked: &[u64]) -> AlignedBuf {
        let (base, bits) = (self.n.enter_plain(masked), self.longest());
        let exponents: Vec<&[u64]> = self.keys.iter().map(|key| &key.secret.d[..]).collect();
        let mut y = pow::power(&mut *self.n, &base, bits, &exponents);
        // Out of Montgomery form: y'. Once more: y'/R.
        self.n.leave_in_place(&mut y);
        self.n.leave_in_place(&mut y);
        y
    }
}

impl Halves<'_> {
    /// Raises a number in Montgomery form to the exponents of the primes. The result is plain.
    fn power(&mut self, base: AlignedBuf) -> AlignedBuf {
        let bits = self.primes.iter().map(|prime| prime.modulus.bits()).max().unwrap_or(0);
        let exponents: Vec<&[u64]> = self.primes.iter().map(|prime| &prime.exponent[..]).collect();
        let mut half = pow::power(&mut *self.montgomery, &base, bits, &exponents);
        self.montgomery.recycle(base);
        self.montgomery.leave_in_place(&mut half);
        half
    }
}

#[cfg(all(test, feature = "keygen"))]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::rsa::private::Secret;
    use crate::rsa::{Algorithm, SignJob, sign_many};
    use crate::{Dispatch, Engine};

    fn available() -> impl Iterator<Item = Dispatch> {
        let engines = Engine::ALL.iter().copied().filter(|engine| engine.is_available()).map(Dispatch::Only);
        engines.chain([Dispatch::Auto])
    }

    fn on(key: &PrivateKey, dispatch: Dispatch) -> PrivateKey {
        key.with_engine(dispatch).expect("available")
    }

    /// `x^d` of numbers of 1024 bits, with the portable engine.
    fn expected(key: &PrivateKey, x: &[u64]) -> Vec<u64> {
        let portable = on(key, Dispatch::Only(Engine::Portable));
        let (y, outcomes) = checked(&[(&portable, x)], &mut None).expect("a mask");
        assert_eq!(outcomes, [Ok(())]);
        y[0].to_vec()
    }

    #[test]
    fn a_flipped_bit_is_found_in_every_lane() {
        let generated = PrivateKey::generate(1024).expect("a key");
        for dispatch in available() {
            let key = &on(&generated, dispatch);
            let lanes = dispatch.main().lanes();
            // Numbers that stay in lanes, and others.
            for count in [1, lanes.min(3), lanes] {
                let numbers: Vec<_> = (2..).take(count).map(|i| [i; 16]).collect();
                let x: Vec<&[u64]> = numbers.iter().map(|x| &x[..]).collect();
                let right: Vec<_> = x.iter().map(|x| expected(key, x)).collect();
                let mut found = vec![false; count];
                for word in 0..Batch::new(vec![key; count]).n.words() {
                    let mut pairs = blinding::take(&vec![key; count]).expect("pairs");
                    let flipped = |batch: &mut Batch, masked: &[u64]| {
                        let mut y = batch.raise(masked);
                        y[word] ^= 1 << (word % 51);
                        y
                    };
                    let (y, is_right) = Batch::new(vec![key; count]).attempt(&x, &mut pairs, flipped);
                    for (lane, (y, right)) in y.iter().zip(&right).enumerate() {
                        assert_eq!(is_right[lane], y == &right[..], "{dispatch}, word {word}");
                        found[lane] |= !is_right[lane];
                    }
                    // At most one lane is wrong; none if the word belongs to no request.
                    assert!(
                        is_right.iter().filter(|is_right| !**is_right).count() <= 1,
                        "{dispatch}, word {word}"
                    );
                }
                assert_eq!(found, vec![true; count], "{dispatch}");
            }
        }
    }

    /// A key with a damaged number.
    fn damaged(key: &PrivateKey, damage: impl Fn(&mut Secret)) -> PrivateKey {
        let mut key = PrivateKey::from_components(&key.components()).expect("a key");
        damage(Arc::get_mut(&mut key.secret).expect("the only owner"));
        key
    }

    #[test]
    fn wrong_results_are_computed_again_or_withheld() {
        let generated = PrivateKey::generate(1024).expect("a key");
        let expected = generated.sign(Algorithm::RS256, b"message");
        for dispatch in available() {
            // Damage to what the theorem needs.
            let damaged = [
                damaged(&generated, |secret| secret.p.exponent[3] ^= 1 << 17),
                damaged(&generated, |secret| secret.q.exponent[0] ^= 2),
                damaged(&generated, |secret| secret.p.unit[15] ^= 1),
                damaged(&generated, |secret| secret.q.unit[0] ^= 1 << 63),
                // Nothing is left that could give the result.
                damaged(&generated, |secret| {
                    secret.q.unit[0] ^= 1;
                    secret.d[5] ^= 1 << 40;
                }),
            ];
            // Bad keys among good ones, in all lanes and in some.
            let keys: Vec<_> = [&generated, &damaged[0], &damaged[1], &damaged[2], &damaged[3], &damaged[4]]
                .map(|key| on(key, dispatch))
                .into();
            for count in [1, 3, 8, 20] {
                let failures = check_failures();
                let job = |key| SignJob::new(key, Algorithm::RS256, b"message");
                let results = sign_many(&keys.iter().cycle().take(count).map(job).collect::<Vec<_>>());
                for (i, result) in results.into_iter().enumerate() {
                    let expected = if i % keys.len() == 5 { Err(Error::Fault) } else { expected.clone() };
                    assert_eq!(result, expected, "{dispatch}, {i} of {count}");
                }
                assert!(count == 1 || check_failures() > failures, "{dispatch}: failures are counted");
            }
        }
    }

    #[test]
    fn batches_of_the_same_keys_serve_again_until_a_fault() {
        let generated = [(); 2].map(|()| PrivateKey::generate(1024).expect("a key"));
        let damaged = damaged(&generated[0], |secret| secret.p.exponent[3] ^= 1 << 17);
        for dispatch in available() {
            let [key, other, damaged] =
                &[&generated[0], &generated[1], &damaged].map(|key| on(key, dispatch));
            let clone = key.clone();
            let lanes = dispatch.main().lanes();
            let x: Vec<_> = (2..).take(lanes).map(|i| [i; 16]).collect();
            let mut kept: Option<Batch> = None;
            for (keys, serves, is_kept) in [
                ([key, key], false, true),
                ([key, key], true, true),
                // Every request of a queue has a clone of its key.
                ([&clone, key], true, true),
                ([other, key], false, true),
                ([other, key], true, true),
                ([damaged, key], false, false),
                ([key, key], false, true),
            ] {
                let keys: Vec<&PrivateKey> = keys.into_iter().cycle().take(lanes).collect();
                assert_eq!(kept.as_ref().is_some_and(|kept| kept.is_of(&keys)), serves, "{dispatch}");
                let requests: Vec<Request> = keys.iter().zip(&x).map(|(&key, x)| (key, &x[..])).collect();
                let (y, outcomes) = checked(&requests, &mut kept).expect("masks");
                for ((y, outcome), (key, x)) in y.iter().zip(outcomes).zip(requests) {
                    let key = if std::ptr::eq(key, damaged) { &generated[0] } else { key };
                    assert_eq!((outcome, y), (Ok(()), &expected(key, x)[..]), "{dispatch}");
                }
                assert_eq!(kept.is_some(), is_kept, "{dispatch}");
            }
        }
    }

    /// Three of 40 digits of 52 bits, and two of 42 digits of 51.
    #[test]
    fn keys_of_other_lengths_share_a_batch() {
        let generated = [1984, 2028, 2048, 2090, 2100].map(|bits| PrivateKey::generate(bits).expect("a key"));
        let mut shared = 0;
        for dispatch in available().filter(|dispatch| dispatch.main().lanes() > 1) {
            let keys = generated.each_ref().map(|key| on(key, dispatch));
            for (short, long) in [(0, 2), (1, 2), (0, 1), (3, 4)].map(|(a, b)| (&keys[a], &keys[b])) {
                if short.class() != long.class() {
                    continue;
                }
                shared += 1;
                for count in [2, 3, dispatch.main().lanes()] {
                    let keys: Vec<&PrivateKey> =
                        [short, long].into_iter().cycle().take(count.min(dispatch.main().lanes())).collect();
                    // As long as n: n − 3.
                    let number = |key: &&PrivateKey| {
                        let mut x = key.public.modulus().limbs().to_vec();
                        limbs::sub_assign(&mut x, &[3]);
                        x
                    };
                    let numbers: Vec<_> = keys.iter().map(number).collect();
                    let x: Vec<&[u64]> = numbers.iter().map(|x| &x[..]).collect();
                    let mut pairs = blinding::take(&keys).expect("pairs");
                    let (_, is_right) = Batch::new(keys).attempt(&x, &mut pairs, Batch::raise);
                    assert!(is_right.iter().all(|&is_right| is_right), "{dispatch}: {is_right:?}");
                }
            }
        }
        assert!(shared > 0 || Engine::best().lanes() == 1, "no two lengths have a class in common");
    }

    /// Errors, keys of other lengths and methods, and two engines among requests that fill lanes.
    #[test]
    fn each_number_succeeds_or_fails_on_its_own() {
        let generated = PrivateKey::generate(1024).expect("a key");
        let longer = PrivateKey::generate(1280).expect("a key");
        let keys = [
            &on(&generated, Dispatch::Only(Engine::Portable)),
            &generated,
            &longer,
            &generated.with_method(crate::Method::TILED),
        ];
        let number = |key: &PrivateKey, i: u8| {
            let mut number = Zeroizing::new(vec![i; key.size()]);
            number[0] = 0;
            number
        };
        let job = |i: u8| {
            let key = keys[usize::from(i) % keys.len()];
            (key, if i.is_multiple_of(7) { Err(Error::Random) } else { Ok(number(key, i)) })
        };
        for (i, result) in (0..).zip(private_op((0..70).map(job).collect())) {
            let (key, given) = job(i);
            let key = on(key, Dispatch::Only(Engine::Portable)).with_method(None);
            assert_eq!(
                result,
                given.and_then(|number| private_op(vec![(&key, Ok(number))]).swap_remove(0)),
                "{i}"
            );
        }
    }
}
