//! Where candidates come from: each fresh, or by walking on from random starts.

use once_cell::race::OnceBox;
use zariz_kernels::limbs::{self, Limbs};
use zariz_kernels::sieve::{Sieve, SmallPrimes, Survivors};
use zariz_kernels::wheel::Wheel;

use super::error::PrimeError;
use super::progression::{Progression, sum};
use super::random::Random;

/// The odd primes below `2^18`, for all searches of the process.
pub(crate) fn small_primes() -> &'static SmallPrimes {
    static SMALL: OnceBox<SmallPrimes> = OnceBox::new();
    SMALL.get_or_init(|| Box::new(SmallPrimes::below(1 << 18)))
}

/// How far trial division of fresh candidates goes: a prime `p` saves one power in `p`. The cost of a power
/// grows faster than that of a division with the length.
fn trial_bound(bits: usize) -> u32 {
    ((bits * bits / 64) as u32).clamp(1 << 10, 1 << 18)
}

/// A candidate, and the walk that it is from, if it is.
pub(super) struct Candidate {
    pub number: Limbs,
    pub walk: Option<usize>,
}

/// The candidates of a search.
pub(super) enum Candidates {
    Fresh(Fresh),
    Walks(Box<Walks>),
}

impl Candidates {
    /// `count` candidates without small factors, for a search that needs `wanted` primes: from up to as many
    /// starts.
    pub fn next(
        &mut self,
        random: &mut Random,
        count: usize,
        wanted: usize,
    ) -> Result<Vec<Candidate>, PrimeError> {
        match self {
            Self::Fresh(fresh) => fresh.next(random, count),
            Self::Walks(walks) => walks.next(random, count, wanted),
        }
    }

    /// Forgets what was drawn, and begins anew.
    pub fn forget(&mut self) {
        if let Self::Walks(walks) = self {
            walks.walks.clear();
        }
    }

    /// A prime was found: the count of tries begins anew, and its walk ends.
    pub fn found(&mut self, walk: Option<usize>) {
        match self {
            Self::Fresh(fresh) => fresh.tried = 0,
            Self::Walks(walks) => walks.found(walk),
        }
    }
}

/// Candidates that are each drawn at random from a progression.
pub(super) struct Fresh {
    progression: Progression,
    /// How many were drawn since the last prime.
    tried: usize,
}

/// Of the numbers of a progression, one part in `2^ROOM` at most is no start of a walk and not behind one.
const ROOM: usize = 128;

/// How many fresh candidates are drawn at a time.
const DRAWN: usize = 16;

impl Fresh {
    pub fn new(progression: Progression) -> Self {
        Self { progression, tried: 0 }
    }

    fn next(&mut self, random: &mut Random, count: usize) -> Result<Vec<Candidate>, PrimeError> {
        let bits = limbs::bits_vartime(&self.progression.last);
        let (small, bound) = (small_primes(), trial_bound(bits));
        // Five for each bit of an RSA key (FIPS 186-5, A.1.3), ten of a prime.
        let most = 10 * bits;
        let mut out = Vec::with_capacity(count);
        while out.len() < count {
            // What is drawn beyond the last candidate is thrown away: a child of `fork` must not use it, too.
            for position in random.some_below(&self.progression.count, DRAWN)? {
                if out.len() == count {
                    break;
                }
                if self.tried >= most {
                    return Err(PrimeError::NotFound { candidates: self.tried });
                }
                self.tried += 1;
                let number = self.progression.at(&position);
                if !small.divide(&number, bound) {
                    out.push(Candidate { number, walk: None });
                }
            }
        }
        Ok(out)
    }
}

/// Candidates from random starts on. No prime of a wheel divides a start, and steps are as long as whole
/// turns.
pub(super) struct Walks {
    /// Those under way. A walk whose prime was found has ended; its place is for the next.
    walks: Vec<Option<Walk>>,
    progression: Progression,
    wheel: Wheel,
    /// From a number to the next of its walk.
    step: Limbs,
    /// How many turns have starts.
    turns: Limbs,
    sieve: Sieve<'static>,
    /// How many positions were sieved since the last prime.
    tried: usize,
    /// After how many of them a search ends.
    most: usize,
}

/// A random start, and what the sieve has left after it.
struct Walk {
    start: Limbs,
    left: Survivors,
}

impl Walks {
    /// If `safe`, `(x − 1)/2` has no small factor, either.
    pub fn new(progression: Progression, safe: bool) -> Self {
        let bits = limbs::bits_vartime(&progression.last);
        // What is left over after whole turns has no starts: it is one part in 2^ROOM.
        let room = limbs::bits_vartime(&progression.count).saturating_sub(ROOM);
        let small = small_primes();
        let wheel = Wheel::new(small, &progression.first, &progression.step, room, safe);
        let step = limbs::trimmed_vartime(&limbs::mul(&progression.step, wheel.turn()));
        // Few starts have no prime behind them in the window, and few windows go to waste. The next prime
        // costs as much in the sieve as it saves in powers.
        let (positions, depth) = if safe { (2 * bits, 16) } else { (bits / 4, 4) };
        let bound = (depth * trial_bound(bits)).min(1 << 18);
        let sieve = Sieve::new(small, bound, &step, progression.last.len(), positions, safe);
        let mut turns = progression.count_over(wheel.turn());
        // Walks end below the last turn. There are more than 2^64.
        limbs::sub_assign(&mut turns, &[sieve.positions() as u64]);
        let turns = limbs::trimmed_vartime(&turns);
        // Thirty times what a search needs, or more.
        let most = if safe { 4 * bits * bits } else { 20 * bits };
        Self { walks: Vec::new(), progression, wheel, step, turns, sieve, tried: 0, most }
    }

    /// The lowest candidate of each of `wanted` walks, then the next lowest.
    fn next(
        &mut self,
        random: &mut Random,
        count: usize,
        wanted: usize,
    ) -> Result<Vec<Candidate>, PrimeError> {
        let starts = wanted.clamp(1, count);
        self.walks.resize_with(self.walks.len().max(starts), || None);
        // Walks under way go on before others begin: long gaps must not be left behind.
        let mut order: Vec<usize> = (0..self.walks.len()).collect();
        order.sort_by_key(|&walk| self.walks[walk].is_none());
        let mut out = Vec::with_capacity(count);
        for at in 0..count {
            let walk = order[at % starts];
            // Before a walk gets a new start, all candidates of the old one must have been tested.
            let number = if at < starts { Some(self.first(walk, random)?) } else { self.take(walk) };
            out.extend(number.map(|number| Candidate { number, walk: Some(walk) }));
        }
        Ok(out)
    }

    /// The next candidate of a walk, from a new start if nothing is left of the old one.
    fn first(&mut self, walk: usize, random: &mut Random) -> Result<Limbs, PrimeError> {
        loop {
            if let Some(number) = self.take(walk) {
                return Ok(number);
            }
            if self.walks[walk].is_some() {
                self.tried += self.sieve.positions();
            }
            if self.tried >= self.most {
                return Err(PrimeError::NotFound { candidates: self.tried });
            }
            let start = self.start(random)?;
            let left = self.sieve.run(&start);
            self.walks[walk] = Some(Walk { start, left });
        }
    }

    /// A number at random, of those that no prime of the wheel divides.
    fn start(&self, random: &mut Random) -> Result<Limbs, PrimeError> {
        let turn = random.below(&self.turns)?;
        let within = match self.wheel.random_bits() {
            0 => Limbs::default(),
            bits => self.wheel.position(&random.bits(bits)?),
        };
        let before = limbs::mul(&turn, self.wheel.turn());
        let start = self.progression.at(&sum(&before, &within, before.len()));
        #[cfg(test)]
        tests::STARTS.with_borrow_mut(|starts| starts.push(start.clone()));
        Ok(start)
    }

    /// The next candidate of a walk, if its start has one left.
    fn take(&mut self, walk: usize) -> Option<Limbs> {
        let Walk { start, left } = self.walks[walk].as_mut()?;
        // The position is secret.
        let position = left.take()?;
        Some(sum(start, &limbs::mul(&self.step, &[position]), start.len()))
    }

    /// How many walks have a start.
    #[cfg(test)]
    pub fn under_way(&self) -> usize {
        self.walks.iter().flatten().count()
    }

    fn found(&mut self, walk: Option<usize>) {
        self.tried = 0;
        if let Some(walk) = walk {
            self.walks[walk] = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::miller_rabin::halved;
    use crate::primes::progression::Class;
    use crate::primes::search::{Primes, Search};
    use crypto_bigint::BoxedUint;
    use crypto_primes::Flavor;
    use std::cell::RefCell;

    fn is_prime(number: &[u64]) -> bool {
        crypto_primes::is_prime(Flavor::Any, &BoxedUint::from_words(number.iter().copied()))
    }

    thread_local! {
        /// The starts of walks on this thread.
        pub static STARTS: RefCell<Vec<Limbs>> = const { RefCell::new(Vec::new()) };
    }

    /// A walk ends at the first prime (or safe prime) after its random start, for one search or many at once;
    /// and every start has no factor in the wheel.
    #[test]
    fn walks_end_at_the_first_prime_after_their_starts() {
        for (bits, safe) in [(256, false), (256, true), (320, false)] {
            let mut search = Search::new(bits).expect("a length").incremental();
            if safe {
                search = search.safe().expect("possible");
            }
            let class =
                if safe { Class::new(&[11], &[12]) } else { Class::new(&[1], &[2]) }.expect("a class");
            let (mut low, high) = (limbs::zero(bits / 64), Limbs::new(vec![u64::MAX; bits / 64]));
            *low.last_mut().expect("limbs") = 1 << 63;
            let walks = Walks::new(class.between(&low, &high).expect("a range"), safe);
            let mut primes = Primes::new(&search, Random::default());
            let count = if safe { 2 } else { 8 };
            let found: Vec<Limbs> =
                (0..count).map(|_| primes.next_in_limbs(count, &mut || true).expect("a prime")).collect();
            let starts = STARTS.take();
            for start in &starts {
                assert!(!limbs::less(start, &low), "a start is below the range");
                assert!(is_one(&limbs::gcd(walks.wheel.turn(), start)), "a start has a factor in the wheel");
                assert!(!safe || is_one(&limbs::gcd(walks.wheel.turn(), &halved(start))), "a half has one");
            }
            for prime in found {
                // Down from the prime: nothing before it is one, until a start is reached.
                let mut at = prime.clone();
                assert!(is_prime(&at) && (!safe || is_prime(&halved(&at))));
                let mut steps = 0;
                while !starts.iter().any(|start| limbs::equal(start, &at)) {
                    limbs::sub_assign(&mut at, &walks.step);
                    assert!(
                        !is_prime(&at) || safe && !is_prime(&halved(&at)),
                        "a prime before the one found"
                    );
                    steps += 1;
                    assert!(steps < walks.sieve.positions(), "the start is not found");
                }
            }
        }
    }

    fn is_one(x: &[u64]) -> bool {
        limbs::equal(x, &[1])
    }
}
