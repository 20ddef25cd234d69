//! New keys, one or many.

use std::collections::VecDeque;
use std::fmt;
use std::hint::black_box;
use std::sync::{Arc, Mutex};

use rand_core::TryCryptoRng;
use zariz_kernels::limbs::{self, Limbs};
use zariz_process::Process;

use super::algorithm::Algorithm;
use super::error::{Error, KeyError};
use super::private::PrivateKey;
use super::public::PublicKey;
use super::secrets::{Secrets, bytes, in_limbs, inverse_of_odd};
use super::sign::{SignJob, sign_many};
use super::usage::Usage;
use crate::declassify;
use crate::dispatch::{Dispatch, Route};
use crate::engine::EngineError;
use crate::miller_rabin::{minus_one, odd_part};
use crate::primes::{Primes, Random, Search, root_two};
use crate::zeroize_stack::zeroize_stack;

/// The usual public exponent, a prime.
const E: u64 = 65_537;

/// How the primes of new keys are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyMethod {
    /// FIPS 186-5, A.1.3, probable primes: every candidate is drawn at random from `[√2·2^(k−1), 2^k)`, so
    /// all pairs of primes are equally likely. A search gives up after `10·k` candidates. `|p − q|` is above
    /// `2^(n/2 − 100)`, and `d`, above `2^(n/2)`, is the inverse of `e` modulo `lcm(p − 1, q − 1)`. The
    /// default: little slower than [`Incremental`](Self::Incremental).
    #[default]
    Fips,
    /// From random starts on, the next primes ([`Search::incremental`]). One sieve serves many candidates, so
    /// it is faster. Primes after long gaps are more likely than others: it claims nothing of FIPS 186-5.
    /// Everything else is as in [`Fips`](Self::Fips).
    Incremental,
}

/// Makes keys: their length, public exponent and method.
///
/// ```
/// use zariz::rsa::KeyGenerator;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let keys = KeyGenerator::new(1024)?.generate_many(4)?;
/// assert!(keys.iter().all(|key| key.bits() == 1024));
/// # Ok(())
/// # }
/// ```
///
/// Candidates are tested side by side on the lanes of an engine, so many keys at once cost less each. Every
/// key has made a signature, which was checked, before it is returned.
///
/// The time reveals how many candidates were tried ([`crate::primes`]).
#[derive(Clone)]
pub struct KeyGenerator {
    bits: usize,
    e: Limbs,
    method: KeyMethod,
    route: Route,
}

impl fmt::Debug for KeyGenerator {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { bits, method, .. } = self;
        f.debug_struct("KeyGenerator").field("bits", bits).field("method", method).finish_non_exhaustive()
    }
}

impl KeyGenerator {
    /// Keys of exactly `bits` bits with public exponent 65537, by [`KeyMethod::Fips`].
    ///
    /// # Errors
    /// [`KeyError::Size`] unless `bits` is from [`PublicKey::MIN_BITS`] to [`PublicKey::MAX_BITS`].
    pub fn new(bits: usize) -> Result<Self, KeyError> {
        if !(PublicKey::MIN_BITS..=PublicKey::MAX_BITS).contains(&bits) {
            return Err(KeyError::Size { bits });
        }
        Ok(Self { bits, e: Limbs::new(vec![E]), method: KeyMethod::default(), route: Route::default() })
    }

    /// Finds primes by another method.
    #[must_use]
    pub fn with_method(&self, method: KeyMethod) -> Self {
        Self { method, ..self.clone() }
    }

    /// Takes another public exponent, big-endian: odd, above `2^16` and below `2^256` (FIPS 186-5, A.1.1).
    ///
    /// # Errors
    /// [`KeyError::Exponent`] for another exponent.
    pub fn with_exponent(&self, e: &[u8]) -> Result<Self, KeyError> {
        let mut e = limbs::from_be_bytes(e);
        let bits = limbs::bits_vartime(&e);
        e.truncate(bits.div_ceil(64));
        match bits {
            _ if e.first().is_none_or(|low| low & 1 == 0) => Err(KeyError::Exponent("is even")),
            0..=16 => Err(KeyError::Exponent("of a new key is not above 65536")),
            257.. => Err(KeyError::Exponent("is longer than 256 bits")),
            _ => Ok(Self { e, ..self.clone() }),
        }
    }

    /// Searches on another [`Engine`](crate::Engine) or [`Dispatch`], which the keys also use.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] where this processor cannot run the engine.
    pub fn with_engine(&self, engine: impl Into<Dispatch>) -> Result<Self, EngineError> {
        Ok(Self { route: Route::new(engine.into())?, ..self.clone() })
    }

    /// One key.
    ///
    /// # Errors
    /// [`KeyError::Random`]; [`KeyError::Primes`] if a search gives up; [`KeyError::Inconsistent`] if a
    /// signature of the new key is wrong: the machine is faulty.
    pub fn generate(&self) -> Result<PrivateKey, KeyError> {
        Ok(self.generate_many(1)?.swap_remove(0))
    }

    /// One key from a generator of the caller's: see [`keys_with`](Self::keys_with).
    ///
    /// # Errors
    /// Those of [`generate`](Self::generate).
    pub fn generate_with(&self, random: impl TryCryptoRng + Send + 'static) -> Result<PrivateKey, KeyError> {
        Ok(self.keys_with(random).many(1)?.swap_remove(0))
    }

    /// One key, by a search that can be cancelled: `go_on` is called before each batch of candidates, and
    /// `false` ends the search.
    ///
    /// # Errors
    /// Those of [`generate`](Self::generate);
    /// [`PrimeError::Cancelled`](crate::primes::PrimeError::Cancelled), in [`KeyError::Primes`], once `go_on`
    /// has returned `false`.
    pub fn generate_while(&self, mut go_on: impl FnMut() -> bool) -> Result<PrivateKey, KeyError> {
        let mut keys = self.keys();
        keys.left = Some(1);
        Ok(zeroize_stack(|| keys.make(&mut go_on))?.swap_remove(0))
    }

    /// `count` keys, independent of each other.
    ///
    /// # Errors
    /// Those of [`generate`](Self::generate).
    pub fn generate_many(&self, count: usize) -> Result<Vec<PrivateKey>, KeyError> {
        self.keys().many(count)
    }

    /// Keys without end, independent of each other: an iterator that keeps all lanes busy.
    #[must_use]
    pub fn keys(&self) -> Keys {
        Keys::new(self, Random::default)
    }

    /// Like [`keys`](Self::keys), with a generator of the caller's in place of the operating system's, as
    /// [`Search::primes_with`] says. (The signature that tests a key is blinded by the operating system's.)
    #[must_use]
    pub fn keys_with(&self, random: impl TryCryptoRng + Send + 'static) -> Keys {
        let random = Arc::new(Mutex::new(random));
        Keys::new(self, || Random::of(&random))
    }

    /// The search for primes of half of the key's bits, rounded up or down.
    fn search(&self, bits: usize) -> Result<Search, KeyError> {
        let mut high = limbs::zero(bits / 64 + 1);
        high[bits / 64] = 1 << (bits % 64);
        limbs::sub_assign(&mut high, &[1]);
        let search = Search::in_limbs(&root_two(bits), &high)?.with_route(self.route);
        // With an exponent of many small factors, one prime in seven has p − 1 without a factor of it.
        let search = if self.e[..] == [E] { search } else { search.losing(3.0) };
        Ok(if self.method == KeyMethod::Incremental { search.incremental() } else { search })
    }
}

impl PrivateKey {
    /// Makes a new key of `bits` bits with public exponent 65537, by the default method of
    /// [`KeyGenerator`].
    ///
    /// # Errors
    /// [`KeyError::Size`] unless `bits` is from [`PublicKey::MIN_BITS`] to [`PublicKey::MAX_BITS`];
    /// [`KeyError::Random`].
    pub fn generate(bits: usize) -> Result<Self, KeyError> {
        KeyGenerator::new(bits)?.generate()
    }

    /// Makes `count` new keys like [`generate`](Self::generate). Many at once are faster than as many calls
    /// for one.
    ///
    /// # Errors
    /// Those of [`generate`](Self::generate).
    pub fn generate_many(bits: usize, count: usize) -> Result<Vec<Self>, KeyError> {
        KeyGenerator::new(bits)?.generate_many(count)
    }
}

/// Keys without end: see [`KeyGenerator::keys`].
///
/// After an error, it ends.
pub struct Keys {
    generator: KeyGenerator,
    /// The primes of a key: the first alone gives both where they have one length.
    primes: Result<Vec<Primes>, KeyError>,
    /// How many the caller still wants, if that is known.
    left: Option<usize>,
    made: VecDeque<PrivateKey>,
    /// Where they were made.
    process: Process,
    ended: bool,
}

impl fmt::Debug for Keys {
    /// Shows nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Keys").field("generator", &self.generator).finish_non_exhaustive()
    }
}

impl Iterator for Keys {
    type Item = Result<PrivateKey, KeyError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended || self.left == Some(0) {
            return None;
        }
        // A child of `fork` must not have its parent's keys.
        if self.process != Process::current() {
            self.made.clear();
        }
        if self.made.is_empty() {
            match zeroize_stack(|| self.make(&mut || true)) {
                Ok(keys) => self.made = keys.into(),
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        self.left = self.left.map(|left| left - 1);
        self.made.pop_front().map(Ok)
    }
}

impl Keys {
    fn new(generator: &KeyGenerator, random: impl Fn() -> Random) -> Self {
        let bits = generator.bits;
        let lengths = if bits.is_multiple_of(2) { vec![bits / 2] } else { vec![bits / 2 + 1, bits / 2] };
        let primes =
            lengths.into_iter().map(|bits| Ok(Primes::new(&generator.search(bits)?, random()))).collect();
        Self {
            generator: generator.clone(),
            primes,
            left: None,
            made: VecDeque::new(),
            process: Process::current(),
            ended: false,
        }
    }

    /// The next `count` keys, and no more.
    fn many(mut self, count: usize) -> Result<Vec<PrivateKey>, KeyError> {
        self.left = Some(count);
        self.collect()
    }

    /// Makes the next keys: as many as fill the lanes, or as are wanted.
    fn make(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<Vec<PrivateKey>, KeyError> {
        let KeyGenerator { bits, e, route, .. } = &self.generator;
        let primes = self.primes.as_mut().map_err(|error| error.clone())?;
        let wanted = self.left.unwrap_or(usize::MAX);
        let count = wanted.min(route.engine().lanes().max(4));
        let mut numbers = Vec::with_capacity(count);
        self.process = Process::current();
        while numbers.len() < count {
            let left = wanted - numbers.len();
            let p = prime(&mut primes[0], e, left.saturating_mul(2), go_on)?;
            let last = primes.len() - 1;
            let q = prime(&mut primes[last], e, left.saturating_mul(2) - 1, go_on)?;
            // The caller's function may have called `fork`: a prime of parent and child would reveal both
            // keys.
            if self.process != Process::current() {
                self.process = Process::current();
                numbers.clear();
                continue;
            }
            // One pair in 2^100 is that close: it is the generator that is broken.
            if !far_apart(&p, &q, *bits) {
                return Err(KeyError::Random);
            }
            let d = private_exponent(&p, &q, e);
            // All but one pair in 2^(bits/2).
            if declassify::is_long_enough(limbs::bits(&d) > bits.div_ceil(2)) {
                numbers.push([d, p, q]);
            }
        }
        let secrets = Secrets::complete_many(*route, numbers)?;
        let key = |secrets: Secrets| -> Result<PrivateKey, KeyError> {
            let public = PublicKey::new(&bytes(&limbs::mul(&secrets.p, &secrets.q)), &bytes(e), Usage::Any)?;
            Ok(PrivateKey::new(public, secrets)?.with_route(*route))
        };
        let keys = secrets.into_iter().map(key).collect::<Result<Vec<_>, _>>()?;
        let jobs: Vec<_> = keys.iter().map(|key| SignJob::new(key, Algorithm::RS256, b"a new key")).collect();
        let wrong = |error| match error {
            Error::Random => KeyError::Random,
            _ => KeyError::Inconsistent("a signature of the new key is wrong"),
        };
        sign_many(&jobs).into_iter().try_for_each(|signature| signature.map(drop).map_err(wrong))?;
        Ok(keys)
    }
}

/// The next prime `p` with `gcd(p − 1, e) = 1`. Primes that are passed over reveal only that.
fn prime(
    primes: &mut Primes,
    e: &[u64],
    left: usize,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Limbs, KeyError> {
    loop {
        let prime = primes.next_in_limbs(left, go_on)?;
        if declassify::fits_exponent(limbs::equal(&limbs::gcd(&limbs::rem(&minus_one(&prime), e), e), &[1])) {
            return Ok(prime);
        }
    }
}

/// Whether `|p − q| > 2^{bits/2 − 100}` (FIPS 186-5, A.1.3, step 5.4).
fn far_apart(p: &[u64], q: &[u64], bits: usize) -> bool {
    let len = p.len().max(q.len());
    let (mut difference, mut negative) = (in_limbs(p, len), in_limbs(q, len));
    let borrow = limbs::sub_assign(&mut difference, q);
    limbs::sub_assign(&mut negative, p);
    // |p − q|, by the sign, and 1 less: both are odd.
    let mask = black_box(borrow.wrapping_neg());
    difference.iter_mut().zip(negative.iter()).for_each(|(a, b)| *a ^= mask & (*a ^ b));
    limbs::sub_assign(&mut difference, &[1]);
    declassify::are_far_apart(limbs::bits(&difference) > bits.div_ceil(2) - 100)
}

/// `e^{−1} mod lcm(p − 1, q − 1)`, for an odd `e` that has no factor in common with either.
///
/// With `p − 1 = 2^s·a` and `q − 1 = 2^t·b`, `λ = lcm(p − 1, q − 1) = 2^max(s, t)·a·b/gcd(a, b)`.
fn private_exponent(p: &[u64], q: &[u64], e: &[u64]) -> Limbs {
    let [(a, s, most_s), (b, t, most_t)] = [p, q].map(|prime| odd_part(&minus_one(prime)));
    let mut lambda = limbs::div_exact(&limbs::mul(&a, &b), &limbs::gcd(&a, &b));
    // As many doublings for almost all primes.
    for i in 0..most_s.max(most_t) {
        let doubled = black_box((u64::from(i < s) | u64::from(i < t)).wrapping_neg());
        let copy = lambda.clone();
        limbs::add_masked(&mut lambda, &copy, doubled);
    }
    inverse_of_odd(e, &lambda)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// FIPS 186-5 draws every candidate; an incremental search draws only its starts.
    #[test]
    fn methods_differ_in_what_they_draw() {
        let [fips, incremental] = [KeyMethod::Fips, KeyMethod::Incremental].map(|method| {
            let drawn = Arc::new(AtomicUsize::new(0));
            let random = || {
                let drawn = drawn.clone();
                Random::new(move |out| {
                    drawn.fetch_add(out.len(), Ordering::Relaxed);
                    getrandom::fill(out).map_err(|_| ())
                })
            };
            let generator = KeyGenerator::new(1024).expect("a good length").with_method(method);
            let keys: Result<Vec<_>, _> = Keys::new(&generator, random).take(8).collect();
            assert_eq!(keys.expect("keys").len(), 8);
            drawn.load(Ordering::Relaxed)
        });
        assert!(fips > 2 * incremental, "{fips} bytes, {incremental} bytes");
    }

    #[test]
    fn a_child_has_no_keys_of_its_parent() {
        let _alone = crate::forks::alone();
        let mut keys = KeyGenerator::new(1024).expect("a good length").keys();
        let next =
            |keys: &mut Keys| keys.next().expect("keys without end").expect("a key").public_key().clone();
        let made = |keys: &Keys| -> Vec<_> { keys.made.iter().map(|key| key.public_key().clone()).collect() };
        next(&mut keys);
        let parents = made(&keys);
        assert!(parents.len() > 2, "several are made at once");
        assert!(next(&mut keys) == parents[0], "and kept");
        // What a fork does.
        zariz_process::note_fork();
        let child = next(&mut keys);
        assert!(made(&keys).len() > 1 && !parents.contains(&child));
        assert!(made(&keys).iter().all(|key| !parents.contains(key)));
    }

    #[test]
    fn a_broken_generator_is_an_error_and_no_key_is_returned() {
        let generator = KeyGenerator::new(1024).expect("a good length");
        for method in [KeyMethod::Fips, KeyMethod::Incremental] {
            let generator = generator.with_method(method);
            // Fewer than the first keys need, and fewer numbers than are remembered: 16 in a draw.
            for good_draws in [0, 1, 2, 7] {
                // Fails, or repeats itself, or has a short period.
                for broken in 0..3 {
                    let random = || {
                        let (mut draws, mut kept) = (0, Vec::new());
                        Random::new(move |out| {
                            draws += 1;
                            if draws <= good_draws {
                                getrandom::fill(out).map_err(|_| ())?;
                                kept.push(out.to_vec());
                                return Ok(());
                            }
                            match broken {
                                0 => return Err(()),
                                1 => out.fill(0),
                                _ if kept.is_empty() => out.fill(0xa5),
                                _ => out
                                    .iter_mut()
                                    .zip(kept[draws % kept.len()].iter().cycle())
                                    .for_each(|(a, b)| *a = *b),
                            }
                            Ok(())
                        })
                    };
                    let mut keys = Keys::new(&generator, random);
                    assert_eq!(keys.next().map(|key| key.map(drop)), Some(Err(KeyError::Random)));
                    assert!(keys.next().is_none());
                }
            }
        }
    }

    #[test]
    fn the_private_exponent_is_the_inverse_modulo_the_least_common_multiple() {
        // Primes for which p − 1 and q − 1 share factors: 3·2^5 + 1, 3·2^6 + 1, 2·3·5·7 + 1, 2^16 + 1.
        for (p, q) in [(97u64, 193u64), (211, 97), (65_537, 193), (193, 65_537), (211, 421)] {
            let (mut x, mut y) = (p - 1, q - 1);
            while y != 0 {
                (x, y) = (y, x % y);
            }
            let lambda = (p - 1) * (q - 1) / x;
            for e in [11u64, 13, 65_539] {
                let d = private_exponent(&[p], &[q], &[e]);
                assert_eq!(u128::from(d[0]) * u128::from(e) % u128::from(lambda), 1, "{p}, {q}, {e}");
                assert!(d[0] < lambda && d[1..].iter().all(|&limb| limb == 0));
            }
        }
    }
}
