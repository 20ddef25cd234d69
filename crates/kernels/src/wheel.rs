//! Numbers that no small prime divides, drawn at once: a wheel, by the Chinese remainder theorem.
//!
//! For each of some small primes, the wheel draws a random residue other than 0. Together, these residues
//! name one position of an arithmetic progression within a *turn*: as many positions as the product of the
//! primes. If a search starts each candidate like that, none is lost to these primes, and a sieve can skip
//! them. (Joye and Paillier 2006 draw units in this way, too.)
//!
//! The progression and the primes are public. Residues are secret: no branch, index or address depends on
//! them.

use alloc::vec::Vec;

use crate::limbs::{self, Limbs};
use crate::sieve::{Prime, SmallPrimes};

/// The positions of a progression at which no prime of the wheel divides a number.
pub struct Wheel {
    spokes: Vec<Spoke>,
    turn: Limbs,
}

/// One prime of a wheel.
struct Spoke {
    prime: Prime,
    /// At positions congruent to this, numbers are congruent to the lowest residue that is allowed.
    lowest: u64,
    /// The distance from there to the next residue: `1/step mod p`.
    next: u64,
    /// How many residues are allowed.
    count: u64,
    /// The number below the turn that is 1 modulo this prime and 0 modulo the others.
    unit: Limbs,
}

impl Wheel {
    /// A wheel for the numbers `first + step·j`: the lowest odd primes that do not divide `step`, as many as
    /// have a product of at most `bits` bits. If `safe`, they do not divide `(first + step·j − 1)/2`, either.
    pub fn new(small: &SmallPrimes, first: &[u64], step: &[u64], bits: usize, safe: bool) -> Self {
        let lowest_residue = if safe { 2 } else { 1 };
        let mut turn = Limbs::new(alloc::vec![1]);
        let mut chosen: Vec<(Prime, u64)> = Vec::new();
        for prime in small.primes() {
            let step = limbs::rem(step, &[prime.value()]);
            if step[0] == 0 {
                continue;
            }
            let product = limbs::trimmed_vartime(&limbs::mul(&turn, &[prime.value()]));
            if limbs::bits_vartime(&product) > bits {
                break;
            }
            turn = product;
            chosen.push((prime, step[0]));
        }
        let spoke = |(prime, step): (Prime, u64)| {
            let p = prime.value();
            let others = limbs::div_exact(&turn, &[p]);
            let mut unit = limbs::mul(&others, &[prime.inverse_of(limbs::rem(&others, &[p])[0])]);
            unit.truncate(turn.len());
            let next = prime.inverse_of(step);
            let first = limbs::rem(first, &[p])[0];
            let lowest = (lowest_residue + p - first) * next % p;
            Spoke { prime, lowest, next, count: p - lowest_residue, unit }
        };
        Self { spokes: chosen.into_iter().map(spoke).collect(), turn }
    }

    /// How many numbers a turn has: the product of the primes, 1 without any.
    pub fn turn(&self) -> &[u64] {
        &self.turn
    }

    /// How many random bits [`position`](Self::position) takes: 128 for each prime.
    pub fn random_bits(&self) -> usize {
        128 * self.spokes.len()
    }

    /// A position in the turn at which no prime of the wheel divides a number. Each is as likely as the
    /// others, up to a part in `2^110`, if `random` is uniform. Time depends only on lengths.
    ///
    /// # Panics
    /// If `random` has fewer than [`random_bits`](Self::random_bits).
    pub fn position(&self, random: &[u64]) -> Limbs {
        let mut sum = limbs::zero(self.turn.len() + 1);
        for (spoke, random) in self.spokes.iter().zip(random.as_chunks::<2>().0) {
            let Spoke { prime, lowest, next, count, unit } = spoke;
            let residue = prime.rem(lowest + scaled(*random, *count) * next);
            limbs::add_product(&mut sum, unit, residue);
        }
        assert!(random.len() >= 2 * self.spokes.len(), "random bits for each prime");
        limbs::rem(&sum, &self.turn)
    }
}

/// `⌊x·count/2^128⌋`: of a uniform `x`, a number below `count`.
fn scaled([low, high]: [u64; 2], count: u64) -> u64 {
    let [low, high] = [low, high].map(|x| u128::from(x) * u128::from(count));
    ((high + (low >> 64)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over one turn, every position that is allowed comes for some random numbers, and no other does.
    #[test]
    fn all_allowed_positions_come_and_no_others() {
        let small = SmallPrimes::below(100);
        for (first, step, safe) in
            [([11], [12], true), ([11], [60], true), ([7], [2], false), ([101], [22], false)]
        {
            let wheel = Wheel::new(&small, &first, &step, 11, safe);
            let turn = wheel.turn()[0];
            let divides = |x: u64| wheel.spokes.iter().any(|spoke| x.is_multiple_of(spoke.prime.value()));
            let is_allowed = |&j: &u64| {
                let x = first[0] + step[0] * j;
                !(divides(x) || safe && divides((x - 1) / 2))
            };
            // Every residue of every prime, by a number that leads to it.
            let parts: Vec<u64> = wheel.spokes.iter().map(|spoke| spoke.count).collect();
            let mut found: Vec<u64> = (0..parts.iter().product())
                .map(|mut choice: u64| {
                    let random = parts.iter().flat_map(|&count| {
                        let residue = choice % count;
                        choice /= count;
                        [u64::MAX, (u128::from(residue) * (1 << 64) / u128::from(count)) as u64 + 1]
                    });
                    let position = wheel.position(&random.collect::<Vec<_>>());
                    assert!(position[1..].iter().all(|&limb| limb == 0));
                    position[0]
                })
                .collect();
            found.sort_unstable();
            assert_eq!(found, (0..turn).filter(is_allowed).collect::<Vec<_>>());
        }
    }

    #[test]
    fn random_numbers_are_spread_over_all_residues() {
        assert_eq!(scaled([0, 0], 7), 0);
        assert_eq!(scaled([u64::MAX, u64::MAX], 7), 6);
        assert_eq!([scaled([u64::MAX, (1 << 63) - 1], 2), scaled([0, 1 << 63], 2)], [0, 1]);
        // The lower half counts: 3·x/2^128 is 1 from ⌈2^128/3⌉ on.
        let third = u64::MAX / 3;
        assert_eq!([scaled([third, third], 3), scaled([third + 1, third], 3)], [0, 1]);
    }

    /// Residues modulo each prime of a long wheel are those that were chosen.
    #[test]
    fn long_wheels_reach_their_residues() {
        let small = SmallPrimes::below(1 << 12);
        let first = limbs::from_be_bytes(&[0xc3; 128]);
        let step = limbs::from_be_bytes(&[12; 9]);
        for safe in [false, true] {
            let wheel = Wheel::new(&small, &first, &step, 800, safe);
            assert!((780..=800).contains(&limbs::bits_vartime(wheel.turn())));
            let mut state = 1u64;
            let random: Vec<u64> = (0..wheel.random_bits() / 64)
                .map(|_| {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(99);
                    state
                })
                .collect();
            let position = wheel.position(&random);
            assert!(limbs::less(&position, wheel.turn()));
            let mut x = limbs::mul(&step, &position);
            let len = x.len().max(first.len()) + 1;
            x.resize(len, 0);
            limbs::add_assign(&mut x, &first);
            for (spoke, random) in wheel.spokes.iter().zip(random.as_chunks::<2>().0) {
                let residue = limbs::rem(&x, &[spoke.prime.value()])[0];
                assert_eq!(residue, scaled(*random, spoke.count) + if safe { 2 } else { 1 });
            }
        }
    }
}
