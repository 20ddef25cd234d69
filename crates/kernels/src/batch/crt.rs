//! Powers modulo products of two primes, by the Chinese remainder theorem, with masks: a key in each lane.
//! Between the masked numbers and the results, nothing leaves the lanes.
//!
//! With `n = p·q`, `U ≡ 1 (mod p)`, `U ≡ 0 (mod q)`, and `V` the other way round, the result is
//! `y = y_p·U + y_q·V mod n` for any `y_p`, `y_q` congruent to the halves: neither is reduced before.
//!
//! # Bounds
//!
//! Numbers are those of [`crate::batch::domain`]. `y_p·U` and `y_q·V` are products of a number below `R` and one
//! below `n`, so below `3n`, and their sum below `6n < R`. It is multiplied by the inverse mask, below `3n`: the
//! product is below `18n²/R + 2n < 5n`, for `R ≥ 8n`. The last product, by a plain number below `n`, is below `3n`
//! then. `analysis` proves these, as it does the domain's.

use alloc::vec::Vec;

use super::constants::Constants;
use super::domain::Domain;
use super::kernels::Kernels;
use super::number::Number;
use crate::Domain as _;
use crate::limbs::Numbers;
use crate::pow;

/// A prime of a key.
pub struct Prime<'a, C = Constants> {
    /// The prime.
    pub modulus: &'a C,
    /// The exponent, below the prime.
    pub exponent: &'a [u64],
    /// The number below `n` that is 1 modulo this prime and 0 modulo the other.
    pub unit: &'a [u64],
}

/// A key: its modulus `n` and its two primes. All keys of a batch have equally many digits, and so have all primes.
pub struct Key<'a, C = Constants> {
    /// `n`.
    pub modulus: &'a C,
    /// The primes.
    pub primes: [Prime<'a, C>; 2],
}

/// A mask and the number that takes it off again: `mask·unmask^e ≡ 1 (mod n)`, both below `n`, of its length.
pub struct Pair<'a> {
    /// What the number is multiplied by.
    pub mask: &'a mut [u64],
    /// What the result is multiplied by.
    pub unmask: &'a mut [u64],
}

/// What tests do to halves, to inject faults: called with the place of the prime, the lane, and the half's digits.
pub type Change<'f> = &'f mut dyn FnMut(usize, usize, &mut [u64]);

/// Private operations with a key in each lane.
pub struct Private<'a, M: Kernels> {
    n: Domain<'a, M>,
    primes: [Domain<'a, M>; 2],
    /// `U` and `V`, plain.
    units: [Number<M>; 2],
    keys: Vec<Key<'a>>,
}

impl<'a, M: Kernels> Private<'a, M> {
    /// Whether keys may share a batch: equal digits and methods of `n` and of all primes, which are not longer.
    pub fn fits(keys: &[Key]) -> bool {
        let shape = |c: &Constants| (c.digits(), c.method());
        let Some(first) = keys.first() else { return false };
        let (n, prime) = (shape(first.modulus), shape(first.primes[0].modulus));
        let alike = |key: &Key| shape(key.modulus) == n && key.primes.iter().all(|it| shape(it.modulus) == prime);
        keys.len() <= M::LANES && prime.0 <= n.0 && keys.iter().all(alike)
    }

    /// Prepares a batch of keys that [fit](Self::fits).
    pub fn new(machine: M, keys: Vec<Key<'a>>) -> Self {
        let domain = |modulus: &dyn Fn(&Key<'a>) -> &'a Constants| {
            Domain::new(machine, &keys.iter().map(modulus).collect::<Vec<_>>())
        };
        let mut n = domain(&|key| key.modulus);
        let units = [0, 1].map(|i| n.plain(&keys.iter().map(|key| key.primes[i].unit).collect::<Vec<_>>()));
        let primes = [0, 1].map(|i| domain(&|key| key.primes[i].modulus));
        Self { n, primes, units, keys }
    }

    /// `x^d mod n`, canonical, for each number below its `n`, by masked numbers. Constant time. Only tests `change`
    /// halves.
    ///
    /// Each mask is replaced by its square, and so is its inverse: these are the next pairs.
    pub fn raise(&mut self, numbers: &[&[u64]], pairs: &mut [Pair], mut change: Option<Change>) -> Numbers {
        let (masks, unmasks): (Vec<_>, Vec<_>) = pairs.iter().map(|pair| (&*pair.mask, &*pair.unmask)).unzip();
        let [plain_mask, plain_unmask] = [&masks, &unmasks].map(|numbers| self.n.plain(numbers));
        let mask = self.n.enter_plain(&plain_mask);
        let mut masked = self.n.plain(numbers);
        self.n.amm(&mut masked, &mask);

        // y_p·U + y_q·V, over R.
        let mut y = self.n.zeros(self.n.words());
        for i in 0..2 {
            let mut half = self.half(i, &masked);
            if let Some(change) = &mut change {
                self.primes[i].change(&mut half, |lane, digits| change(i, lane, digits));
            }
            let mut part = self.n.zeros(self.n.words());
            part[..half.len()].copy_from_slice(&half);
            self.n.amm(&mut part, &self.units[i]);
            self.n.add_piece(&mut y, &part);
            self.n.recycle([half, part]);
        }
        let unmask = self.n.enter_plain(&plain_unmask);
        self.n.amm(&mut y, &unmask);
        self.n.enter_in_place(&mut y);

        // Their squares, by the plain numbers: so they are plain.
        let [masks, unmasks] = [(mask, plain_mask), (unmask, plain_unmask)].map(|(mut x, plain)| {
            self.n.amm(&mut x, &plain);
            let squares = self.n.canonical(&x, pairs.len());
            self.n.recycle([x, plain]);
            squares
        });
        for (pair, (mask, unmask)) in pairs.iter_mut().zip(masks.iter().zip(unmasks.iter())) {
            pair.mask.copy_from_slice(mask);
            pair.unmask.copy_from_slice(unmask);
        }
        let results = self.n.canonical(&y, numbers.len());
        self.n.recycle([masked, y]);
        results
    }

    /// The half modulo the primes of one place: a plain number below three times the prime.
    fn half(&mut self, i: usize, masked: &Number<M>) -> Number<M> {
        let (domain, keys) = (&mut self.primes[i], &self.keys);
        domain.take_pool(&mut self.n);
        let base = domain.enter_by(self.n.bits(), |domain, from, bits| {
            let (from, count) = (from / M::DIGIT_BITS as usize, bits / M::DIGIT_BITS as usize);
            let mut piece = domain.zeros(domain.words());
            let digits = &masked[from..masked.len().min(from + count)];
            piece[..digits.len()].copy_from_slice(digits);
            piece
        });
        let prime = |lane: usize| &keys[lane.min(keys.len() - 1)].primes[i];
        let bits = keys.iter().map(|key| key.primes[i].modulus.modulus().bits()).max().unwrap_or(0);
        let mut half = pow::power(domain, &base, bits, |lane| prime(lane).exponent);
        domain.recycle([base]);
        domain.leave_in_place(&mut half);
        self.n.take_pool(domain);
        half
    }

    /// `y^e mod n` for each number below its `n`, canonical. The time depends on `e`.
    pub fn open_vartime(&mut self, numbers: &[&[u64]], e: &[u64]) -> Numbers {
        pow::power_of_reduced_vartime(&mut self.n, numbers, e)
    }
}
