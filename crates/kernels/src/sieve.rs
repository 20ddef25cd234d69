//! Small factors of secret numbers: trial division, and a sieve over an arithmetic progression.
//!
//! The primes, the step of a progression and all lengths are public. Numbers are secret: no branch, index or
//! address depends on them. Whether a number has a small factor is a result, which the caller may reveal.
//!
//! Primes are packed into products below `2^64`. One pass of exact division ("Hensel division", from the
//! lowest limb up) gives a number modulo each product, up to a known factor, with two multiplications for
//! each limb; from there each prime needs one or two more.

use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use crate::limbs::{self, Limbs};

/// The odd primes below a bound, prepared for division.
pub struct SmallPrimes {
    primes: Vec<Prime>,
    products: Vec<Product>,
    bound: u32,
}

/// One odd prime.
#[derive(Clone, Copy)]
pub(crate) struct Prime {
    value: u32,
    /// `value^{−1} mod 2^64`.
    inverse: u64,
    /// `⌊(2^64 − 1)/value⌋`.
    limit: u64,
}

/// A product of primes, below `2^64`.
#[derive(Clone, Copy)]
struct Product {
    value: u64,
    /// `value^{−1} mod 2^64`.
    inverse: u64,
    /// Its primes: from this index on.
    first: usize,
    /// And before this one.
    end: usize,
}

/// How many products are divided by at a time: their multiplications overlap.
const AT_ONCE: usize = 4;

impl Prime {
    fn new(value: u32) -> Self {
        let wide = u64::from(value);
        Self { value, inverse: limbs::negative_inverse(wide).wrapping_neg(), limit: u64::MAX / wide }
    }

    /// Whether the prime divides `x`: `x·p^{−1} mod 2^64` is at most `(2^64 − 1)/p` only for multiples
    /// (Granlund and Montgomery 1994, section 9). 1 or 0.
    #[inline(always)]
    fn divides(self, x: u64) -> u64 {
        u64::from(x.wrapping_mul(self.inverse) <= self.limit)
    }

    /// `x mod p`, by a multiplication: `⌊x·limit/2^64⌋` is the quotient or one less.
    #[inline(always)]
    pub(crate) fn rem(self, x: u64) -> u64 {
        let p = u64::from(self.value);
        let quotient = ((u128::from(x) * u128::from(self.limit)) >> 64) as u64;
        let remainder = x.wrapping_sub(quotient.wrapping_mul(p));
        reduced(remainder, p)
    }

    /// The prime.
    pub(crate) fn value(self) -> u64 {
        u64::from(self.value)
    }

    /// `1/x mod p`, by Fermat. Precondition: `x` is no multiple of `p`, and below it.
    pub(crate) fn inverse_of(self, x: u64) -> u64 {
        self.power_vartime(x, self.value() - 2)
    }

    /// `x^exponent mod p`, for a public exponent. Precondition: `x < p`.
    fn power_vartime(self, x: u64, mut exponent: u64) -> u64 {
        let (mut out, mut square) = (1, x);
        while exponent > 0 {
            if exponent & 1 == 1 {
                out = self.rem(out * square);
            }
            square = self.rem(square * square);
            exponent >>= 1;
        }
        out
    }
}

/// `x mod p`. Precondition: `x < 2p < 2^63`.
#[inline(always)]
fn reduced(x: u64, p: u64) -> u64 {
    let difference = x.wrapping_sub(p);
    // The sign of the difference, as a mask.
    difference.wrapping_add(p & ((difference as i64) >> 63) as u64)
}

/// The `c ≤ d` with `x ≡ −c·2^{64n} (mod d)` for each of some products `d`, `n` the number of limbs.
///
/// Limb by limb from the lowest: `q = (limb − c)·d^{−1} mod 2^64`; then `limb − c = q·d − c'·2^64`.
#[inline(always)]
fn remainders<const N: usize>(products: [Product; N], x: &[u64]) -> [u64; N] {
    let mut carry = [0u64; N];
    for &limb in x {
        for (carry, product) in carry.iter_mut().zip(&products) {
            let (low, borrow) = limb.overflowing_sub(*carry);
            let quotient = low.wrapping_mul(product.inverse);
            *carry = ((u128::from(quotient) * u128::from(product.value)) >> 64) as u64 + u64::from(borrow);
        }
    }
    carry
}

impl SmallPrimes {
    /// The odd primes below `bound`. Precondition: `bound ≤ 2^20`.
    pub fn below(bound: u32) -> Self {
        assert!(bound <= 1 << 20, "small primes are below 2^20");
        let half = bound as usize / 2;
        // Place i is for 2i + 1.
        let mut composite = vec![false; half];
        for i in (1..half).take_while(|i| (2 * i + 1) * (2 * i + 1) < bound as usize) {
            if !composite[i] {
                (2 * i * (i + 1)..half).step_by(2 * i + 1).for_each(|multiple| composite[multiple] = true);
            }
        }
        let primes: Vec<Prime> =
            (1..half).filter(|&i| !composite[i]).map(|i| Prime::new(2 * i as u32 + 1)).collect();
        let mut products: Vec<Product> = Vec::new();
        for (at, prime) in primes.iter().enumerate() {
            match products.last_mut() {
                Some(last) if last.value.checked_mul(prime.value.into()).is_some() => {
                    last.value *= u64::from(prime.value);
                    last.end = at + 1;
                }
                _ => products.push(Product { value: prime.value.into(), inverse: 0, first: at, end: at + 1 }),
            }
        }
        for product in &mut products {
            product.inverse = limbs::negative_inverse(product.value).wrapping_neg();
        }
        // Fill the last chunk: a product of 1 divides everything, and has no primes.
        let none = Product { value: 1, inverse: 1, first: 0, end: 0 };
        products.resize(products.len().next_multiple_of(AT_ONCE), none);
        Self { primes, products, bound }
    }

    /// The bound that [`below`](Self::below) took.
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// The primes, in ascending order, prepared.
    pub(crate) fn primes(&self) -> impl Iterator<Item = Prime> + '_ {
        self.primes.iter().copied()
    }

    /// The primes, in ascending order.
    pub fn values(&self) -> impl Iterator<Item = u32> + '_ {
        self.primes.iter().map(|prime| prime.value)
    }

    /// Whether one of the primes below `bound` divides `x`, or equals it; primes up to about `bound` are
    /// tried. It stops after some primes if one of them does, so the time reveals whether `x` has a small
    /// factor and about how small it is, and nothing else.
    pub fn divide(&self, x: &[u64], bound: u32) -> bool {
        self.chunks(bound).any(|products| black_box(self.divide_by(products, x)) != 0)
    }

    /// Whether one of the first primes, about `4·AT_ONCE` of them, divides `x`: 1 or 0. Time depends only on
    /// the length. [`divide`](Self::divide) repeats it.
    pub fn divide_by_first(&self, x: &[u64]) -> u64 {
        self.chunks(u32::MAX).next().map_or(0, |products| self.divide_by(products, x))
    }

    #[inline(always)]
    fn divide_by(&self, products: &[Product; AT_ONCE], x: &[u64]) -> u64 {
        let rests = remainders(*products, x);
        let mut found = 0;
        for (product, rest) in products.iter().zip(rests) {
            for prime in &self.primes[product.first..product.end] {
                found |= prime.divides(rest);
            }
        }
        found
    }

    /// The products whose lowest prime is below `bound`, in chunks.
    fn chunks(&self, bound: u32) -> impl Iterator<Item = &[Product; AT_ONCE]> {
        let (chunks, _) = self.products.as_chunks::<AT_ONCE>();
        chunks.iter().take_while(move |chunk| self.primes[chunk[0].first].value < bound)
    }
}

/// A sieve over `x + step·j`, `0 ≤ j < positions`, for secret numbers `x` of one length.
pub struct Sieve<'a> {
    small: &'a SmallPrimes,
    bound: u32,
    /// For each prime below about `bound`; zeros for the primes that divide the step, which are left out.
    factors: Vec<Factor>,
    limbs: usize,
    words: usize,
    safe: bool,
}

#[derive(Clone, Copy, Default)]
struct Factor {
    /// `2^{64n}/step mod p`, or 0.
    scale: u32,
    /// `1/step mod p`.
    step: u32,
    /// `−64 mod p`.
    back: u32,
    /// Where multiples of `p` are in a word, as bits.
    pattern: u64,
}

impl Factor {
    /// The constants of a prime, where `step ≡ −rest·2^{64n}` modulo the prime, with `n` limbs. Precondition:
    /// `rest < p`.
    fn new(prime: Prime, rest: u64, limbs: usize) -> Self {
        if rest == 0 {
            return Self::default();
        }
        let p = prime.value();
        let scale = prime.inverse_of(p - rest);
        // 2^{−64n}, by the inverse of 2.
        let shift = prime.power_vartime(p.div_ceil(2), 64 * limbs as u64);
        let back = (p - 64 % p) % p;
        let pattern = (0..64).step_by(prime.value as usize).fold(0, |acc, bit| acc | 1 << bit);
        Self { scale: scale as u32, step: prime.rem(scale * shift) as u32, back: back as u32, pattern }
    }
}

impl<'a> Sieve<'a> {
    /// A sieve by the primes below about `bound`, for numbers of `limbs` limbs, over at least `positions`
    /// numbers. If `safe`, it also looks for small factors of `(x + step·j − 1)/2`. Precondition: the step
    /// has at most `limbs` limbs.
    pub fn new(
        small: &'a SmallPrimes,
        bound: u32,
        step: &[u64],
        limbs: usize,
        positions: usize,
        safe: bool,
    ) -> Self {
        // As long as the numbers: then its remainders give 2^{64n}/step.
        let mut step = Limbs::new(step.to_vec());
        step.resize(limbs, 0);
        let mut factors = Vec::new();
        for products in small.chunks(bound) {
            for (product, rest) in products.iter().zip(remainders(*products, &step)) {
                let primes = &small.primes[product.first..product.end];
                factors.extend(primes.iter().map(|&prime| Factor::new(prime, prime.rem(rest), limbs)));
            }
        }
        Self { small, bound, factors, limbs, words: positions.div_ceil(64), safe }
    }

    /// How many numbers one run covers.
    pub fn positions(&self) -> usize {
        64 * self.words
    }

    /// The positions of numbers that may be prime: bit `j` is 1 where `x + step·j` has no small factor.
    ///
    /// Time depends only on lengths. Precondition: `x` has the sieve's length, and is above the small primes
    /// (a small prime is taken for a multiple of itself).
    pub fn run(&self, x: &[u64]) -> Survivors {
        assert_eq!(x.len(), self.limbs, "the length of the sieve");
        let mut composite = limbs::zero(self.words);
        for products in self.small.chunks(self.bound) {
            let rests = remainders(*products, x);
            for (product, rest) in products.iter().zip(rests) {
                for at in product.first..product.end {
                    let (prime, factor) = (self.small.primes[at], self.factors[at]);
                    if factor.scale == 0 {
                        continue;
                    }
                    let p = u64::from(prime.value);
                    // x + step·j ≡ 0 where j ≡ −x/step = rest·2^{64n}/step.
                    let first = prime.rem(prime.rem(rest) * u64::from(factor.scale));
                    mark(&mut composite, p, factor, first);
                    if self.safe {
                        mark(&mut composite, p, factor, reduced(first + u64::from(factor.step), p));
                    }
                }
            }
        }
        composite.iter_mut().for_each(|word| *word = !*word);
        Survivors { words: composite }
    }
}

/// Marks the positions `first, first + p, …`: every word is read and written.
#[inline(always)]
fn mark(words: &mut [u64], p: u64, factor: Factor, first: u64) {
    let mut next = first;
    for word in words {
        let inside = ((next.wrapping_sub(64) as i64) >> 63) as u64;
        *word |= factor.pattern << (next & 63) & inside;
        next = reduced(next + u64::from(factor.back), p);
    }
}

/// Positions that a sieve has left; zeroised when dropped. Where they are is secret; how many there are is
/// not.
pub struct Survivors {
    words: Limbs,
}

impl Survivors {
    /// Takes out the lowest position, or `None` if there is none.
    pub fn take(&mut self) -> Option<u64> {
        let (position, found) = self.take_masked();
        (black_box(found) != 0).then_some(position)
    }

    /// Takes out the lowest position; all ones if there was one, else 0. Every word is read and written.
    pub fn take_masked(&mut self) -> (u64, u64) {
        let (mut found, mut position) = (0u64, 0);
        for (at, word) in self.words.iter_mut().enumerate() {
            let lowest = *word & word.wrapping_neg();
            // All ones where the word has a bit, and none was found before.
            let here = ((lowest | lowest.wrapping_neg()) as i64 >> 63) as u64 & !found;
            position |= here & (64 * at as u64 + u64::from(lowest.wrapping_sub(1).count_ones()));
            *word ^= lowest & here;
            found |= here;
        }
        (position, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x mod p`, by long division.
    fn rem(x: &[u64], p: u32) -> u64 {
        let p = u128::from(p);
        x.iter().rev().fold(0, |acc, &limb| (acc << 64 | u128::from(limb)) % p) as u64
    }

    fn numbers(limbs: usize) -> Vec<Vec<u64>> {
        let mut state = 0x1234_5678_9abc_def1u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut out = vec![vec![u64::MAX; limbs], vec![0; limbs], vec![1 << 63; limbs]];
        out[1][limbs - 1] = 1;
        out.extend((0..20).map(|_| (0..limbs).map(|_| random()).collect()));
        out
    }

    #[test]
    fn primes_are_those_of_trial_division() {
        let small = SmallPrimes::below(2000);
        let expected =
            (3..2000u32).step_by(2).filter(|n| (3..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
        assert!(small.values().eq(expected));
        assert!(SmallPrimes::below(3).values().next().is_none());
    }

    #[test]
    fn small_factors_are_found() {
        let small = SmallPrimes::below(5000);
        let first = small.products[AT_ONCE - 1].end;
        for limbs in [1, 2, 5, 16] {
            for x in numbers(limbs) {
                let divides = |p| rem(&x, p) == 0;
                assert_eq!(small.divide(&x, 5000), small.values().any(divides), "{x:x?}");
                let expected = small.values().take(first).any(divides);
                assert_eq!(small.divide_by_first(&x), expected.into(), "{x:x?}");
            }
        }
        // A factor at each place of a product, and none but it.
        for (i, p) in small.values().enumerate() {
            let x = limbs::mul(&[p.into()], &[0xffff_ffff_ffff_ffc5]);
            assert!(small.divide(&x, 5000), "{p}");
            assert_eq!(small.divide_by_first(&x), (i < first).into(), "{p}");
        }
        assert!(!small.divide(&[0xffff_ffff_ffff_ffc5], 5000));
        assert_eq!(small.divide_by_first(&[0xffff_ffff_ffff_ffc5]), 0);
    }

    #[test]
    fn the_sieve_leaves_what_has_no_small_factor() {
        let small = SmallPrimes::below(3000);
        for limbs in [2, 7] {
            for step in [vec![2], vec![4], vec![30], vec![2 * 2999 * 1009, 77]] {
                for safe in [false, true] {
                    let sieve = Sieve::new(&small, 3000, &step, limbs, 200, safe);
                    for x in numbers(limbs) {
                        let mut survivors = sieve.run(&x);
                        let expected = (0..sieve.positions() as u64).filter(|&j| {
                            let mut number = limbs::mul(&step, &[j]);
                            number.resize(limbs + 4, 0);
                            limbs::add_assign(&mut number, &x);
                            let divides_step = |p: u32| rem(&step, p) == 0;
                            let hit = |p: u32| {
                                let rest = rem(&number, p);
                                rest == 0 || safe && rest == 1
                            };
                            !small.values().any(|p| !divides_step(p) && hit(p))
                        });
                        let found: Vec<u64> = core::iter::from_fn(|| survivors.take()).collect();
                        assert_eq!(found, expected.collect::<Vec<_>>());
                    }
                }
            }
        }
    }
}
