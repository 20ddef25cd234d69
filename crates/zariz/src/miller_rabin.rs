//! Probable primes: strong (Miller-Rabin) to random bases, and the quick test to base 2 before that.
//!
//! That a number is composite shows. Nothing else does: powers take constant time, and the power of two in
//! `n − 1` is found under masks.

use std::hint::black_box;

use zariz_kernels::limbs::{self, Limbs};

use crate::backend::{Power, Product};
use crate::declassify;
use crate::dispatch::Route;
use crate::jobs;
use crate::prepared::Prepared;

/// The time does not show how many factors of two `n − 1` has, up to this many.
pub(crate) const TWOS: u64 = 16;

/// Whether each number passes Euler's criterion for base 2: `2^((n−1)/2) ≡ ±1`. Every odd prime does, and few
/// random composites. Numbers of one length share batches. Precondition: odd, above 1.
#[cfg(feature = "primes")]
pub(crate) fn base_two(route: Route, numbers: &[&[u64]]) -> Vec<bool> {
    let prepared: Vec<Prepared> = numbers
        .iter()
        .map(|number| Prepared::new(number, declassify::modulus_bits(limbs::bits(number))))
        .collect();
    // ⌊n/2⌋ = (n − 1)/2
    let exponents: Vec<Limbs> = prepared.iter().map(|number| halved(number.limbs())).collect();
    let powers: Vec<Power> = prepared
        .iter()
        .zip(&exponents)
        .map(|(modulus, exponent)| {
            let exponent_bits = modulus.bits() - 1;
            Power { modulus, base: &[2], base_bits: 2, exponent, exponent_bits }
        })
        .collect();
    let results = jobs::pow_of_two(route, &powers);
    let passes = |(result, modulus): (&[u64], &Prepared)| {
        declassify::is_prime(limbs::equal(result, &[1]) | limbs::equal(result, &minus_one(modulus.limbs())))
    };
    results.iter().zip(&prepared).map(passes).collect()
}

/// Whether each number is a strong probable prime to all of its bases. `bases` has `rounds` bases for each
/// number, one number after the other.
///
/// With `n − 1 = 2^s·t`, `t` odd: `a^t ≡ 1`, or one of `a^t, a^{2t}, …, a^{2^{s−1}t}` is `−1`. The number of
/// squarings is at least [`TWOS`], so that the time does not show a smaller `s`.
///
/// Precondition: numbers are odd and above 1. Bases that are multiples of the number make it composite.
pub(crate) fn strong(route: Route, numbers: &[&Prepared], bases: &[Limbs], rounds: usize) -> Vec<bool> {
    let tests: Vec<Test> = numbers.iter().map(|number| Test::new(number)).collect();
    let of = |i: usize| &tests[i / rounds];
    let powers: Vec<Power> = bases
        .iter()
        .enumerate()
        .map(|(i, base)| {
            let Test { number, odd, .. } = of(i);
            let base_bits = 64 * base.len();
            Power { modulus: number, base, base_bits, exponent: odd, exponent_bits: number.bits() }
        })
        .collect();
    let mut roots = jobs::pow(route, &powers);
    let mut good: Vec<bool> = roots.iter().map(|x| limbs::equal(x, &[1])).collect();
    let squarings = tests.iter().map(|test| test.most).max().unwrap_or(TWOS);
    let mut left: Vec<usize> = (0..roots.len()).collect();
    for round in 0..squarings {
        // That a number has more factors of two than most shows already.
        left.retain(|&i| round < of(i).most);
        for &i in &left {
            let counts = black_box(u64::from(round < of(i).twos));
            good[i] |= (u64::from(limbs::equal(&roots[i], &of(i).minus_one)) & counts) != 0;
        }
        let square = |&i: &usize| Product {
            modulus: of(i).number,
            a: &roots[i],
            a_bits: of(i).number.bits(),
            b: &roots[i],
        };
        let squares = jobs::mul(route, &left.iter().map(square).collect::<Vec<_>>());
        for (&i, square) in left.iter().zip(squares.iter()) {
            roots[i].copy_from_slice(square);
        }
    }
    good.chunks(rounds)
        .map(|good| declassify::is_prime(good.iter().fold(true, |all, good| all & good)))
        .collect()
}

/// A number to be tested, with `n − 1 = 2^twos·odd`.
struct Test<'a> {
    number: &'a Prepared,
    minus_one: Limbs,
    odd: Limbs,
    twos: u64,
    /// At least `twos`, and no secret.
    most: u64,
}

impl<'a> Test<'a> {
    fn new(number: &'a Prepared) -> Self {
        let minus_one = minus_one(number.limbs());
        let (odd, twos, most) = odd_part(&minus_one);
        Self { number, minus_one, odd, twos, most }
    }
}

/// The odd `t` and the `s` with `x = 2^s·t`, and how large an `s` the time shows to be possible: [`TWOS`] for
/// all but one number in `2^TWOS`. Precondition: `x` is not zero.
pub(crate) fn odd_part(x: &[u64]) -> (Limbs, u64, u64) {
    let (mut odd, mut twos) = (Limbs::new(x.to_vec()), 0);
    for _ in 0..TWOS {
        twos += limbs::halve_if_even(&mut odd);
    }
    let mut most = TWOS;
    while declassify::has_many_twos(odd[0] & 1 == 0) {
        twos += limbs::halve_if_even(&mut odd);
        most += 1;
    }
    (odd, twos, most)
}

/// `x − 1` for an odd `x`.
pub(crate) fn minus_one(x: &[u64]) -> Limbs {
    let mut out = Limbs::new(x.to_vec());
    out[0] &= !1;
    out
}

/// `⌊x/2⌋`.
#[cfg(feature = "primes")]
pub(crate) fn halved(x: &[u64]) -> Limbs {
    let mut out = limbs::zero(x.len());
    for (i, out) in out.iter_mut().enumerate() {
        *out = x[i] >> 1 | x.get(i + 1).map_or(0, |above| above << 63);
    }
    out
}
