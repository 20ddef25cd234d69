//! Random numbers, from a generator that is watched.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};

use rand_core::TryCryptoRng;
use zariz_kernels::limbs::{self, Limbs};
use zeroize::Zeroizing;

use super::error::PrimeError;

/// How many draws, and primes, are remembered.
const REMEMBERED: usize = 128;

/// After as many draws, at least half of which should be below a bound, none was.
const DRAWS: usize = 128;

/// A random generator: fills the bytes, or fails.
type Fill = Box<dyn FnMut(&mut [u8]) -> Result<(), ()> + Send>;

/// A random generator that is watched.
///
/// A generator that repeats a draw is broken: two draws of a good one end with the same 16 bytes with
/// probability `2^−128`. That finds one that is stuck, and one whose period is short. It does not measure
/// entropy.
pub(crate) struct Random {
    fill: Fill,
    /// The ends of the latest draws, to begin with zeros: a draw that ends with 16 bytes of zeros is as
    /// suspect as one that repeats another. On the heap: a move leaves no copy.
    drawn: Zeroizing<Vec<[u64; 2]>>,
    /// Where the next is noted.
    at: usize,
}

impl Default for Random {
    /// The operating system's generator.
    fn default() -> Self {
        Self::new(|out| getrandom::fill(out).map_err(|_| ()))
    }
}

impl Random {
    pub fn new(fill: impl FnMut(&mut [u8]) -> Result<(), ()> + Send + 'static) -> Self {
        Self { fill: Box::new(fill), drawn: Zeroizing::new(vec![[0; 2]; REMEMBERED]), at: 0 }
    }

    /// A generator of the caller's, which may serve several searches.
    pub fn of(generator: &Arc<Mutex<impl TryCryptoRng + Send + 'static>>) -> Self {
        let generator = Arc::clone(generator);
        Self::new(move |out| {
            generator.lock().unwrap_or_else(PoisonError::into_inner).try_fill_bytes(out).map_err(|_| ())
        })
    }

    /// A random number of `bits` bits or fewer, in `⌈bits/64⌉` limbs. Precondition: `bits ≥ 64`.
    pub fn bits(&mut self, bits: usize) -> Result<Limbs, PrimeError> {
        Ok(self.draw(bits, 1)?.swap_remove(0))
    }

    /// A random number below `bound`: draws until one is. Precondition: `2^63 ≤ bound`, without leading zero
    /// limbs. The time reveals how many draws were above it, and nothing of the one that was not.
    pub fn below(&mut self, bound: &[u64]) -> Result<Limbs, PrimeError> {
        Ok(self.some_below(bound, 1)?.swap_remove(0))
    }

    /// Like [`below`](Self::below), but draws `count` numbers at a time: all that are below `bound`, at least
    /// one.
    pub fn some_below(&mut self, bound: &[u64], count: usize) -> Result<Vec<Limbs>, PrimeError> {
        let mut highest = Limbs::new(bound.to_vec());
        limbs::sub_assign(&mut highest, &[1]);
        let bits = limbs::bits_vartime(&highest);
        for _ in 0..DRAWS.div_ceil(count) {
            let mut numbers = self.draw(bits, count)?;
            numbers.retain(|number| limbs::less(number, bound));
            if !numbers.is_empty() {
                return Ok(numbers);
            }
        }
        Err(PrimeError::Random("gives high numbers alone"))
    }

    /// `count` numbers of `bits` bits or fewer, by one call of the generator.
    fn draw(&mut self, bits: usize, count: usize) -> Result<Vec<Limbs>, PrimeError> {
        let size = bits.div_ceil(8).max(16);
        let mut bytes = Zeroizing::new(vec![0; count * size]);
        (self.fill)(&mut bytes).map_err(|_| PrimeError::Random("failed"))?;
        let number = |bytes: &[u8]| {
            let mut out = limbs::from_be_bytes(bytes);
            self.note([out[0], out[1]])?;
            out.truncate(bits.div_ceil(64));
            if let (Some(last), true) = (out.last_mut(), !bits.is_multiple_of(64)) {
                *last &= (1 << (bits % 64)) - 1;
            }
            Ok(out)
        };
        bytes.chunks_exact(size).map(number).collect()
    }

    /// Notes the end of a draw, in a time that does not depend on it.
    fn note(&mut self, [low, high]: [u64; 2]) -> Result<(), PrimeError> {
        let alike = |repeats, [a, b]: &[u64; 2]| repeats | u64::from((a ^ low) | (b ^ high) == 0);
        if black_box(self.drawn.iter().fold(0, alike)) != 0 {
            return Err(PrimeError::Random("repeats itself"));
        }
        self.drawn[self.at] = [low, high];
        self.at = (self.at + 1) % REMEMBERED;
        Ok(())
    }
}

/// The latest primes of a search, none of which may come again; zeroised when dropped.
#[derive(Default)]
pub(super) struct Latest {
    primes: VecDeque<Limbs>,
}

impl Latest {
    /// Notes a prime, in a time that does not depend on it. All have one length.
    pub fn note(&mut self, prime: &[u64]) -> Result<(), PrimeError> {
        let repeats = self.primes.iter().fold(0, |acc, old| acc | u64::from(limbs::equal(old, prime)));
        if black_box(repeats) != 0 {
            return Err(PrimeError::Random("repeats itself"));
        }
        if self.primes.len() == REMEMBERED {
            self.primes.pop_front();
        }
        self.primes.push_back(Limbs::new(prime.to_vec()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_below_their_bounds_and_reach_them() {
        let mut random = Random::default();
        let bound = [3, 1]; // 2^64 + 3: half of the draws are too high
        let mut high = 0;
        for _ in 0..200 {
            let number = random.below(&bound).expect("a good generator");
            assert!(limbs::less(&number, &bound));
            high += number[0] >> 63;
        }
        assert!((50..150).contains(&high), "{high} of 200 in the upper half");
        for bits in [64, 65, 127, 128, 130] {
            let most = (0..64).map(|_| limbs::bits_vartime(&random.bits(bits).expect("good"))).max();
            assert_eq!(most, Some(bits));
        }
    }

    #[test]
    fn a_generator_that_repeats_itself_is_an_error() {
        let mut zeros = Random::new(|out| {
            out.fill(0);
            Ok(())
        });
        assert_eq!(zeros.bits(128), Err(PrimeError::Random("repeats itself")));
        let mut counter = 0u8;
        let mut period = Random::new(move |out| {
            counter = counter % 50 + 1;
            out.fill(counter);
            Ok(())
        });
        let good = (0..).take_while(|_| period.bits(1024).is_ok()).count();
        assert_eq!(good, 50);
    }
}
