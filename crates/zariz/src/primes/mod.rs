//! Primes: found in bulk on the lanes of the engines, or tested.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let prime = zariz::primes::generate(512)?; // big-endian, zeroised when dropped
//! assert!(zariz::primes::is_prime(&prime)?);
//! # Ok(())
//! # }
//! ```
//!
//! Candidates are tested side by side, one in each lane, so many primes at once ([`generate_many`]) cost less
//! than one after the other. [`Search`] has ranges, congruences and safe primes, and says how primes are
//! distributed and how sure it is that they are prime.
//!
//! The time reveals how many candidates were tried, and that those were composite. With fresh candidates that
//! is independent of the prime found; with [incremental](Search::incremental) searches it is the number of
//! candidates between the start and the prime, and so tells about how long the gap before the prime is.
//! Nothing else shows: trial division and sieves compare every small prime and every position under masks,
//! and powers take constant time. Rejected candidates are zeroised.

mod candidates;
mod error;
mod progression;
mod random;
mod rounds;
mod search;

use zariz_kernels::limbs::{self, Limbs};
use zeroize::Zeroizing;

pub use error::PrimeError;
pub use search::{Primes, Search};

use crate::dispatch::Route;
use crate::modulus::Modulus;
use crate::zeroize_stack::zeroize_stack;
#[cfg(feature = "keygen")]
pub(crate) use progression::root_two;
pub(crate) use random::Random;

/// The length of the shortest primes that can be searched for, in bits.
pub const MIN_BITS: usize = 256;
/// The length of the longest primes that can be searched for, in bits.
pub const MAX_BITS: usize = 8192;

/// How many numbers [`is_prime_many`] tests at a time.
const AT_ONCE: usize = 64;

/// A random prime of exactly `bits` bits, big-endian: [`Search::generate`].
///
/// # Errors
/// [`PrimeError::Bits`] unless `bits` is from [`MIN_BITS`] to [`MAX_BITS`]; [`PrimeError::Random`].
pub fn generate(bits: usize) -> Result<Zeroizing<Vec<u8>>, PrimeError> {
    Search::new(bits)?.generate()
}

/// `count` random primes of exactly `bits` bits each: [`Search::generate_many`].
///
/// # Errors
/// Those of [`generate`].
pub fn generate_many(bits: usize, count: usize) -> Result<Vec<Zeroizing<Vec<u8>>>, PrimeError> {
    Search::new(bits)?.generate_many(count)
}

/// A random safe prime of exactly `bits` bits: `(p − 1)/2` is prime, too.
///
/// # Errors
/// Those of [`generate`].
pub fn generate_safe(bits: usize) -> Result<Zeroizing<Vec<u8>>, PrimeError> {
    Search::new(bits)?.safe()?.generate()
}

/// `count` random safe primes of exactly `bits` bits each.
///
/// # Errors
/// Those of [`generate`].
pub fn generate_safe_many(bits: usize, count: usize) -> Result<Vec<Zeroizing<Vec<u8>>>, PrimeError> {
    Search::new(bits)?.safe()?.generate_many(count)
}

/// Whether a number, big-endian, is prime. The number may be secret, and an adversary may have chosen it: 64
/// rounds of Miller-Rabin with random bases take a composite for a prime with probability at most `2^−128`.
///
/// The time reveals the number's length, and at which test a composite failed. Numbers below `2^36` are
/// tested in a time that depends on their value.
///
/// # Errors
/// [`PrimeError::TooLong`] above [`Modulus::MAX_BITS`] bits; [`PrimeError::Random`].
pub fn is_prime(number: &[u8]) -> Result<bool, PrimeError> {
    Ok(is_prime_many(&[number])?[0])
}

/// Like [`is_prime`], for many numbers: they share lanes.
///
/// # Errors
/// Those of [`is_prime`], for the first number that has one.
pub fn is_prime_many(numbers: &[&[u8]]) -> Result<Vec<bool>, PrimeError> {
    zeroize_stack(|| test(numbers))
}

fn test(numbers: &[&[u8]]) -> Result<Vec<bool>, PrimeError> {
    let small = candidates::small_primes();
    let (mut random, route) = (Random::default(), Route::default());
    let mut out = vec![false; numbers.len()];
    let mut unknown: Vec<(usize, Limbs)> = Vec::new();
    for (i, number) in numbers.iter().enumerate() {
        let mut number = limbs::from_be_bytes(number);
        let bits = limbs::bits_vartime(&number);
        number.truncate(bits.div_ceil(64));
        if bits > Modulus::MAX_BITS {
            return Err(PrimeError::TooLong { bits });
        }
        // Below the square of their bound, the small primes decide.
        let decided = u128::from(small.bound()).pow(2);
        match number[..] {
            [] => {}
            [x] if u128::from(x) < decided => out[i] = is_small_prime(x),
            _ if number[0] & 1 == 0 || small.divide(&number, 1 << 12) => {}
            _ => unknown.push((i, number)),
        }
    }
    // Some at a time: each has many bases.
    for unknown in unknown.chunks(AT_ONCE) {
        let candidates: Vec<&[u64]> = unknown.iter().map(|(_, number)| &number[..]).collect();
        let likely = crate::miller_rabin::base_two(route, &candidates);
        let (places, likely): (Vec<usize>, Vec<Limbs>) = unknown
            .iter()
            .zip(likely)
            .filter(|(_, likely)| *likely)
            .map(|(unknown, _)| unknown.clone())
            .unzip();
        let good = search::probable_primes(route, &mut random, &likely, rounds::WORST_CASE)?;
        for (i, good) in places.into_iter().zip(good) {
            out[i] = good;
        }
    }
    Ok(out)
}

/// Whether a number below the square of the small primes' bound is prime. Its time depends on the number:
/// there are so few that it is no secret.
fn is_small_prime(x: u64) -> bool {
    let mut primes = candidates::small_primes().values().map(u64::from).take_while(|p| p * p <= x);
    x == 2 || x > 2 && x % 2 == 1 && primes.all(|p| !x.is_multiple_of(p))
}
