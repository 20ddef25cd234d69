//! The search for primes on lanes.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use rand_core::TryCryptoRng;
use zariz_kernels::limbs::{self, Limbs};
use zariz_process::Process;
use zeroize::Zeroizing;

use super::candidates::{Candidate, Candidates, Fresh, Walks};
use super::error::PrimeError;
use super::progression::{Class, Progression};
use super::random::{Latest, Random};
use super::{MAX_BITS, MIN_BITS, rounds};
use crate::declassify;
use crate::dispatch::{Dispatch, Route};
use crate::engine::EngineError;
use crate::miller_rabin::{self, halved};
use crate::prepared::Prepared;
use crate::zeroize_stack::zeroize_stack;

/// Which primes to search for, and how.
///
/// ```
/// use zariz::primes::Search;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Three primes of 256 bits that are 7 modulo 8.
/// let primes = Search::new(256)?.with_congruence(&[7], &[8])?.generate_many(3)?;
/// assert!(primes.iter().all(|prime| prime[31] % 8 == 7));
/// # Ok(())
/// # }
/// ```
///
/// # How primes are distributed
///
/// By default every candidate is drawn at random, uniformly, from all odd numbers of the range and the
/// congruences, so each of its primes is equally likely. [`incremental`](Self::incremental) draws a start
/// instead, uniformly from those that have no factor among the lowest primes, and goes on in steps of the
/// product of these, so that no candidate has. It takes the first prime (in the first window that has one): a
/// prime is then as likely as the gap before it is long, among numbers with its remainder. That is cheaper,
/// because one sieve serves many candidates, and most of the numbers with small factors are not among them.
/// Safe primes are so rare that they are always searched for like that. There the remainders are such that
/// `(p − 1)/2` has none of these factors, either. At the upper end of the range, a part in `2^127` or less is
/// left out.
///
/// # How sure it is
///
/// Candidates pass trial division, a test to base 2 and then rounds of Miller-Rabin with random bases. There
/// are as many rounds as make it less likely than `2^−128` (from 2,048 bits on `2^−144`) that a result is
/// composite, by FIPS 186-5, Appendix C.1; never fewer than its Table B.1.
///
/// The formula holds for uniform odd numbers of one length. Other candidates lose some of that bound, and
/// rounds are added for it. A range or congruence that one in `2^b` odd numbers meets costs `b` bits. A walk
/// costs 4: the number of candidates that it looks at, over the chance that one is prime. A safe prime costs
/// `log2` of its length, because it is that much rarer. That counts on primes being as dense among the
/// candidates as elsewhere. At most 72 rounds are made: `2^−144` for any composite, and there are fewer than
/// `2^16` for each prime.
#[derive(Clone)]
pub struct Search {
    low: Limbs,
    high: Limbs,
    class: Class,
    /// What follows from these.
    progression: Progression,
    safe: bool,
    incremental: bool,
    /// The bits by which a caller that passes over some primes makes the others rarer.
    lost: f64,
    route: Route,
}

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { high, safe, incremental, .. } = self;
        let bits = limbs::bits_vartime(high);
        let mut out = f.debug_struct("Search");
        out.field("bits", &bits).field("safe", safe).field("incremental", incremental).finish_non_exhaustive()
    }
}

impl Search {
    /// Primes of exactly `bits` bits.
    ///
    /// # Errors
    /// [`PrimeError::Bits`] unless `bits` is from [`MIN_BITS`] to [`MAX_BITS`].
    pub fn new(bits: usize) -> Result<Self, PrimeError> {
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(PrimeError::Bits { bits });
        }
        let mut low = limbs::zero(bits.div_ceil(64));
        low[(bits - 1) / 64] = 1 << ((bits - 1) % 64);
        let mut high = Limbs::new(vec![u64::MAX; bits.div_ceil(64)]);
        high[(bits - 1) / 64] >>= 63 - (bits - 1) % 64;
        Self::in_limbs(&low, &high)
    }

    /// Primes from `low` to `high`, big-endian, both inclusive.
    ///
    /// # Errors
    /// [`PrimeError::Bits`] unless both have from [`MIN_BITS`] to [`MAX_BITS`] bits; [`PrimeError::Range`] if
    /// there are fewer than `2^64` odd numbers from one to the other.
    pub fn between(low: &[u8], high: &[u8]) -> Result<Self, PrimeError> {
        let [low, high] = [low, high].map(limbs::from_be_bytes);
        Self::in_limbs(&low, &high)
    }

    pub(crate) fn in_limbs(low: &[u64], high: &[u64]) -> Result<Self, PrimeError> {
        for bits in [low, high].map(limbs::bits_vartime) {
            if !(MIN_BITS..=MAX_BITS).contains(&bits) {
                return Err(PrimeError::Bits { bits });
            }
        }
        let class = Class::new(&[1], &[2])?;
        let (low, high) = (limbs::trimmed_vartime(low), limbs::trimmed_vartime(high));
        let progression = class.between(&low, &high)?;
        Ok(Self {
            low,
            high,
            class,
            progression,
            safe: false,
            incremental: false,
            lost: 0.0,
            route: Route::default(),
        })
    }

    /// Primes that are also congruent to `remainder` modulo `modulus`, both big-endian and public. Several
    /// congruences may be asked for, one after the other.
    ///
    /// # Errors
    /// [`PrimeError::Congruence`] if no prime of the range can satisfy all of them: the remainder and the
    /// modulus have a common factor, or two congruences contradict each other. [`PrimeError::Range`] if they
    /// leave fewer than `2^64` candidates.
    pub fn with_congruence(&self, remainder: &[u8], modulus: &[u8]) -> Result<Self, PrimeError> {
        let [remainder, modulus] = [remainder, modulus].map(limbs::from_be_bytes);
        if limbs::bits_vartime(&modulus) > limbs::bits_vartime(&self.high) {
            return Err(PrimeError::Range("a congruence has a modulus that is longer than the primes"));
        }
        self.with_class(&Class::new(&remainder, &modulus)?, self.safe)
    }

    fn with_class(&self, class: &Class, safe: bool) -> Result<Self, PrimeError> {
        let class = self.class.and(class)?;
        if safe && class.halves_have_a_factor() {
            return Err(PrimeError::Congruence("(p - 1)/2 always has a factor in common with a modulus"));
        }
        Ok(Self { progression: class.between(&self.low, &self.high)?, class, ..self.clone() })
    }

    /// Safe primes: `(p − 1)/2` is prime, too. The search is [incremental](Self::incremental).
    ///
    /// # Errors
    /// [`PrimeError::Congruence`] if the congruences contradict that: safe primes are 3 modulo 4 and 2 modulo
    /// 3.
    pub fn safe(&self) -> Result<Self, PrimeError> {
        Ok(Self { safe: true, incremental: true, ..self.with_class(&Class::new(&[11], &[12])?, true)? })
    }

    /// Searches on from random starts, instead of drawing each candidate at random.
    #[must_use]
    pub fn incremental(&self) -> Self {
        Self { incremental: true, ..self.clone() }
    }

    /// Uses another [`Engine`](crate::Engine) or [`Dispatch`].
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] where this processor cannot run the engine.
    pub fn with_engine(&self, engine: impl Into<Dispatch>) -> Result<Self, EngineError> {
        Ok(self.with_route(Route::new(engine.into())?))
    }

    pub(crate) fn with_route(&self, route: Route) -> Self {
        Self { route, ..self.clone() }
    }

    /// For a caller that passes over all but one in `2^bits` of the primes found.
    #[cfg(feature = "keygen")]
    pub(crate) fn losing(&self, bits: f64) -> Self {
        Self { lost: bits, ..self.clone() }
    }

    /// One prime, big-endian, as long as the upper end of the range. Zeroised when dropped.
    ///
    /// # Errors
    /// [`PrimeError::Random`]; [`PrimeError::NotFound`] where range and congruences hold no primes.
    pub fn generate(&self) -> Result<Zeroizing<Vec<u8>>, PrimeError> {
        Ok(self.generate_many(1)?.swap_remove(0))
    }

    /// One prime, for a caller that may change its mind: before each batch of candidates, `go_on` is asked.
    ///
    /// # Errors
    /// Those of [`generate`](Self::generate); [`PrimeError::Cancelled`] once `go_on` has returned `false`.
    pub fn generate_while(&self, mut go_on: impl FnMut() -> bool) -> Result<Zeroizing<Vec<u8>>, PrimeError> {
        let mut primes = self.primes();
        zeroize_stack(|| {
            let prime = primes.next_in_limbs(1, &mut go_on)?;
            Ok(primes.bytes(&prime))
        })
    }

    /// One prime from a generator of the caller's: see [`primes_with`](Self::primes_with).
    ///
    /// # Errors
    /// Those of [`generate`](Self::generate).
    pub fn generate_with(
        &self,
        random: impl TryCryptoRng + Send + 'static,
    ) -> Result<Zeroizing<Vec<u8>>, PrimeError> {
        Ok(self.primes_with(random).many(1)?.swap_remove(0))
    }

    /// `count` primes, independent of each other. Many at once are faster than as many calls for one.
    ///
    /// # Errors
    /// Those of [`generate`](Self::generate).
    pub fn generate_many(&self, count: usize) -> Result<Vec<Zeroizing<Vec<u8>>>, PrimeError> {
        self.primes().many(count)
    }

    /// Primes without end, independent of each other: an iterator that keeps all lanes busy.
    #[must_use]
    pub fn primes(&self) -> Primes {
        Primes::new(self, Random::default())
    }

    /// Like [`primes`](Self::primes), with a generator of the caller's in place of the operating system's.
    /// Its draws are watched all the same. After `fork`, parent and child must not draw the same numbers:
    /// that is the caller's care.
    ///
    /// Which primes come of a seed may differ between engines and releases.
    #[must_use]
    pub fn primes_with(&self, random: impl TryCryptoRng + Send + 'static) -> Primes {
        Primes::new(self, Random::of(&Arc::new(Mutex::new(random))))
    }

    /// The rounds that a candidate needs.
    fn rounds(&self) -> usize {
        let progression = &self.progression;
        let [shortest, longest] = [&progression.first, &progression.last].map(|x| limbs::bits_vartime(x));
        if shortest != longest {
            return rounds::MOST;
        }
        // One in how many odd numbers of this length is a candidate, rounded up.
        let mut lost = self.lost + (longest - limbs::bits_vartime(&progression.count)) as f64;
        if self.incremental {
            lost += 4.0;
        }
        if self.safe {
            lost += (longest as f64).log2();
        }
        // (p − 1)/2 is a bit shorter.
        rounds::for_random(longest - usize::from(self.safe), lost)
    }
}

/// Primes without end: see [`Search::primes`].
///
/// After an error, it ends.
pub struct Primes {
    /// Gone after an error, which is kept.
    candidates: Result<Candidates, PrimeError>,
    random: Random,
    route: Route,
    rounds: usize,
    safe: bool,
    size: usize,
    /// How many the caller still wants, if that is known.
    left: Option<usize>,
    /// Passed the test to base 2.
    likely: Vec<Limbs>,
    found: VecDeque<Limbs>,
    latest: Latest,
    /// Where all this was drawn.
    process: Process,
}

impl fmt::Debug for Primes {
    /// Shows nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Primes")
            .field("bytes", &self.size)
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}

impl Iterator for Primes {
    type Item = Result<Zeroizing<Vec<u8>>, PrimeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == Some(0) || self.candidates.is_err() {
            return None;
        }
        let left = self.left.unwrap_or(usize::MAX);
        self.left = self.left.map(|left| left - 1);
        Some(zeroize_stack(|| self.next_in_limbs(left, &mut || true).map(|prime| self.bytes(&prime))))
    }
}

impl Primes {
    pub(crate) fn new(search: &Search, random: Random) -> Self {
        let progression = search.progression.clone();
        Self {
            size: limbs::bits_vartime(&progression.last).div_ceil(8),
            candidates: Ok(if search.incremental {
                Candidates::Walks(Box::new(Walks::new(progression, search.safe)))
            } else {
                Candidates::Fresh(Fresh::new(progression))
            }),
            random,
            route: search.route,
            rounds: search.rounds(),
            safe: search.safe,
            left: None,
            likely: Vec::new(),
            found: VecDeque::new(),
            latest: Latest::default(),
            process: Process::current(),
        }
    }

    /// The next `count` primes, and no more.
    fn many(mut self, count: usize) -> Result<Vec<Zeroizing<Vec<u8>>>, PrimeError> {
        self.left = Some(count);
        self.collect()
    }

    /// A prime, big-endian.
    fn bytes(&self, prime: &[u64]) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![0; self.size]);
        limbs::to_be_bytes(prime, &mut bytes);
        bytes
    }

    /// The next prime, as limbs, for a caller that wants `left` more, with this one. Asks before each batch
    /// of candidates whether to go on. After an error, it is returned again.
    pub(crate) fn next_in_limbs(
        &mut self,
        left: usize,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Limbs, PrimeError> {
        loop {
            self.forget_after_fork();
            if let Some(prime) = self.found.pop_front() {
                return Ok(prime);
            }
            if let Err(error) = self.step(left, go_on) {
                self.candidates = Err(error.clone());
                return Err(error);
            }
        }
    }

    /// Throws away in a child of `fork` what its parent drew: the parent uses it, too.
    fn forget_after_fork(&mut self) {
        let process = Process::current();
        if process != self.process {
            self.process = process;
            self.likely.clear();
            self.found.clear();
            if let Ok(candidates) = &mut self.candidates {
                candidates.forget();
            }
        }
    }

    /// Searches until one more prime is found, most likely.
    fn step(&mut self, left: usize, go_on: &mut dyn FnMut() -> bool) -> Result<(), PrimeError> {
        let lanes = self.route.engine().lanes();
        // Two batches at a time: 16 searches for eight lanes.
        let ahead = (2 * lanes).max(8);
        let wanted = left.min(ahead);
        while self.likely.len() < wanted {
            if !go_on() {
                return Err(PrimeError::Cancelled);
            }
            // The caller's function may have called `fork`.
            self.forget_after_fork();
            let missing = wanted - self.likely.len();
            let count = if missing == 1 { lanes.max(4) } else { ahead };
            let candidates = self.candidates.as_mut().map_err(|error| error.clone())?;
            let batch = candidates.next(&mut self.random, count, missing)?;
            let mut good = vec![true; batch.len()];
            self.test_base_two(&batch, &mut good, false);
            if self.safe {
                self.test_base_two(&batch, &mut good, true);
            }
            let candidates = self.candidates.as_mut().map_err(|error| error.clone())?;
            let mut ended = Vec::new();
            for (Candidate { number, walk }, good) in batch.into_iter().zip(good) {
                // The first prime after a start is the result; later ones of its batch are not.
                if good && !(walk.is_some() && ended.contains(&walk)) {
                    ended.push(walk);
                    candidates.found(walk);
                    self.likely.push(number);
                }
            }
        }
        let later = self.likely.split_off(wanted);
        let likely = std::mem::replace(&mut self.likely, later);
        let good = probable_primes(self.route, &mut self.random, &likely, self.rounds)?;
        let halves: Vec<Limbs> = likely.iter().filter(|_| self.safe).map(|prime| halved(prime)).collect();
        let good_halves = probable_primes(self.route, &mut self.random, &halves, self.rounds)?;
        for (i, prime) in likely.into_iter().enumerate() {
            if good[i] && good_halves.get(i).is_none_or(|good| *good) {
                self.latest.note(&prime)?;
                self.found.push_back(prime);
            }
        }
        Ok(())
    }

    /// The test to base 2 of the candidates that are still good, or of their halves.
    fn test_base_two(&self, batch: &[Candidate], good: &mut [bool], halves: bool) {
        let left: Vec<usize> = (0..batch.len()).filter(|&i| good[i]).collect();
        let number = |&i: &usize| {
            let number = &batch[i].number;
            if halves { halved(number) } else { number.clone() }
        };
        let numbers: Vec<Limbs> = left.iter().map(number).collect();
        let numbers: Vec<&[u64]> = numbers.iter().map(|number| &number[..]).collect();
        for (i, passes) in left.into_iter().zip(miller_rabin::base_two(self.route, &numbers)) {
            good[i] = passes;
        }
    }
}

/// Whether each number passes `rounds` rounds of Miller-Rabin with random bases, uniform from 2 to `n − 2`.
/// Precondition: numbers are odd and above 4.
pub(super) fn probable_primes(
    route: Route,
    random: &mut Random,
    numbers: &[Limbs],
    rounds: usize,
) -> Result<Vec<bool>, PrimeError> {
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let prepared: Vec<Prepared> = numbers
        .iter()
        .map(|number| Prepared::new(number, declassify::modulus_bits(limbs::bits(number))))
        .collect();
    let mut bases = Vec::with_capacity(numbers.len() * rounds);
    for number in &prepared {
        // n − 3 numbers from 2 on.
        let mut count = Limbs::new(number.limbs().to_vec());
        limbs::sub_assign(&mut count, &[3]);
        for _ in 0..rounds {
            // 64 bits more than the number has: the remainder is uniform but for 2^−64.
            let mut base = limbs::rem(&random.bits(number.bits() + 64)?, &limbs::trimmed_vartime(&count));
            base.resize(number.limbs().len(), 0);
            limbs::add_assign(&mut base, &[2]);
            bases.push(base);
        }
    }
    Ok(miller_rabin::strong(route, &prepared.iter().collect::<Vec<_>>(), &bases, rounds))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A child continues neither with primes that its parent has, nor from a start of its parent's.
    #[test]
    fn nothing_drawn_before_a_fork_is_used_after_it() {
        let _alone = crate::forks::alone();
        let search = Search::new(256).expect("a length");
        for search in [search.clone(), search.incremental()] {
            let mut primes = search.primes();
            let mut parents: Vec<Limbs> = Vec::new();
            while parents.is_empty() {
                primes.next().expect("without end").expect("a prime");
                parents = primes.likely.iter().chain(&primes.found).cloned().collect();
            }
            zariz_process::note_fork();
            primes.forget_after_fork();
            let walks_on =
                matches!(&primes.candidates, Ok(Candidates::Walks(walks)) if walks.under_way() > 0);
            assert!(!walks_on && primes.likely.is_empty() && primes.found.is_empty());
            for _ in 0..2 * parents.len() {
                let prime = primes.next_in_limbs(usize::MAX, &mut || true).expect("a prime");
                assert!(!parents.iter().any(|parent| limbs::equal(parent, &prime)));
            }
        }
    }
}
