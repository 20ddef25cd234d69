//! The arithmetic on one number, four of its digits in a vector, from which an exponentiation is made
//! (algorithm 4).
//!
//! The paper finds `R²` by two products from `2^{2n} mod M`; here it is one of the [`Constants`]. Its table
//! and windows are those of [`crate::pow`].

use bytemuck::{cast_slice, cast_slice_mut};

use super::kernels::Kernels;
use super::select::PACK;
use super::workspace::{NUMBERS, Workspace};
use super::{Quotients, most_sums};
use crate::batch::Constants;
use crate::limbs::{self, Limbs, Numbers};
use crate::montgomery::{Costs, Montgomery};
use crate::place::AlignedBuf;

/// The arithmetic modulo one modulus, for one exponentiation at a time.
///
/// A number is its digits, of 32 bits each, padded with zeros to a multiple of eight. Bounds: the folder's.
pub struct Context<'a, W: Kernels> {
    machine: W,
    constants: &'a Constants,
    pub(crate) space: Workspace<W>,
}

impl<'a, W: Kernels> Context<'a, W> {
    /// Prepares for a modulus from [`super::constants()`].
    ///
    /// # Panics
    /// If the constants are not in radix `2^28` or `2^29`, or have a number of digits that is no multiple of
    /// four or more than [`most_sums`].
    pub fn new(machine: W, constants: &'a Constants) -> Self {
        Self::with_quotients(machine, constants, Quotients::default())
    }

    /// Like [`new`](Self::new), with the caller's choice of quotients.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn with_quotients(machine: W, constants: &'a Constants, quotients: Quotients) -> Self {
        let (m, digits) = (constants.digit_bits(), constants.digits());
        assert!((28..=29).contains(&m) && digits <= most_sums(m), "{digits} digits of {m} bits");
        let multiple = friendly(constants);
        let space = Workspace::new(machine, m, &constants.digits, constants.mu[0], &multiple, quotients);
        Self { machine, constants, space }
    }

    /// The digits of a number, padded for the kernels.
    fn load(&mut self, digits: &[u64]) -> AlignedBuf {
        let mut out = self.zeros(self.words());
        let digit =
            |&digit: &u64| self.machine.digit(u32::try_from(digit).expect("a digit has less than 32 bits"));
        cast_slice_mut(&mut out).iter_mut().zip(digits).for_each(|(out, value)| *out = digit(value));
        out
    }

    /// The vector multiply-accumulates of a product.
    fn product_macs(&self) -> usize {
        4 * self.space.groups() * (2 * self.space.groups() + 1)
    }
}

/// `M'' = (cM + 1)/2^{4m}` with `c = −M^{−1} mod 2^{4m}`: at most `M`, so as many digits.
fn friendly(constants: &Constants) -> Limbs {
    let m = constants.digit_bits();
    let inverse = limbs::digits_of(&limbs::negative_inverse_many(constants.modulus().limbs(), 2), m, 4);
    let mut c = limbs::zero(2);
    limbs::from_digits(&inverse, m, &mut c);
    let mut multiple = limbs::mul(constants.modulus().limbs(), &c);
    limbs::add_assign(&mut multiple, &[1]);
    let digits = limbs::digits_of(&multiple, m, constants.digits() + 4);
    debug_assert!(digits[..4].iter().all(|&digit| digit == 0));
    Limbs::new(digits[4..].to_vec())
}

impl<W: Kernels> Montgomery for Context<'_, W> {
    fn count(&self) -> usize {
        1
    }

    fn words(&self) -> usize {
        self.constants.digits().next_multiple_of(PACK) / DIGITS
    }

    fn zeros(&mut self, words: usize) -> AlignedBuf {
        AlignedBuf::new(0, words, Some(NUMBERS))
    }

    fn one(&mut self) -> AlignedBuf {
        self.load(&self.constants.one)
    }

    fn bits(&self) -> usize {
        self.constants.digits() * self.constants.digit_bits() as usize
    }

    /// A digit less than `R`: `3M + R/2^m < R`.
    fn step_bits(&self) -> usize {
        self.bits() - self.constants.digit_bits() as usize
    }

    fn piece(&mut self, numbers: &[&[u64]], from: usize, bits: usize) -> AlignedBuf {
        let m = self.constants.digit_bits();
        let mut digits = limbs::zero(bits / m as usize);
        limbs::to_digits(numbers.first().copied().unwrap_or(&[]), from, m, &mut digits);
        self.load(&digits)
    }

    fn add(&mut self, x: &mut [u64], piece: &[u64]) {
        let mut sum = self.normalised(x);
        limbs::add_digits(&mut sum, &self.normalised(piece), self.constants.digit_bits());
        x.copy_from_slice(&self.load(&sum));
    }

    fn enter_factor(&mut self) -> AlignedBuf {
        self.load(&self.constants.enter)
    }

    fn shift_factor(&mut self) -> AlignedBuf {
        self.load(&self.constants.shift)
    }

    fn amm(&mut self, x: &mut [u64], y: &[u64]) {
        self.machine.multiply(&mut self.space, cast_slice_mut(x), cast_slice(y));
    }

    fn ams(&mut self, x: &mut [u64], times: usize) {
        self.machine.square(&mut self.space, cast_slice_mut(x), times);
    }

    fn select(&mut self, out: &mut [u64], table: &[u64], index: &[u64]) {
        self.machine.select(cast_slice_mut(out), cast_slice(table), index[0]);
    }

    /// In tenths of a processor cycle. Reading an entry costs `TABLE` for each eight digits.
    fn costs(&self) -> Costs {
        let product = self.product_macs() * W::MAC_TENTHS as usize;
        Costs { build: product, multiply: product, read: self.words() * DIGITS / PACK * TABLE }
    }

    fn canonical(&mut self, x: &[u64], count: usize) -> Numbers {
        debug_assert_eq!(count, 1);
        self.constants.canonical(&self.normalised(x)).into()
    }
}

impl<W: Kernels> Context<'_, W> {
    /// The digits of a number, each below `2^m` (algorithm 1).
    fn normalised(&self, x: &[u64]) -> Limbs {
        let m = self.space.digit_bits();
        let mut out = limbs::zero(self.constants.digits());
        let mut carry = 0;
        for (out, &digit) in out.iter_mut().zip(cast_slice::<_, W::Digit>(x)) {
            let sum = u64::from(self.machine.value(digit)) + carry;
            (*out, carry) = (sum & ((1 << m) - 1), sum >> m);
        }
        debug_assert_eq!(carry, 0);
        out
    }
}

/// Digits in a word of 64 bits.
const DIGITS: usize = 2;

/// A load, a comparison's result put to it, and a sum, at three vector operations a cycle.
const TABLE: usize = 10;
