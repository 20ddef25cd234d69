//! The constants of a modulus, computed once.

use core::fmt;

use super::block::{PREPARED_TERM, TERM, has_terms};
use super::kernels::Kernels;
#[cfg(feature = "papers")]
use super::method::Reduction;
use super::method::{Method, MethodChoice};
use super::tiled::STEP;
use crate::OddModulus;
use crate::bounds::{FREE_BITS, REDUCED};
use crate::limbs::{self, Limbs};

/// Everything the kernels need of one modulus `M`: numbers of `L` digits in radix `2^w`, with
/// `R = 2^{wL} ≥ 8M`.
///
/// The modulus may be secret (a prime of an RSA key): only its bit length shows in the time taken. Zeroised
/// when dropped.
#[derive(Clone)]
pub struct Constants {
    digit_bits: u32,
    modulus: OddModulus,
    /// `M`, in digits; so are the others.
    pub(crate) digits: Limbs,
    /// `M'' = (M' + 1) / 2^w`, `M' = (−M^{−1} mod 2^w)·M` (see [`crate::batch::block::reduce_rows`]).
    pub(crate) friendly: Limbs,
    /// `M'' = (M' + 1) / 2^{2w}`, `M' = (−M^{−1} mod 2^{2w})·M`, for two rows at a time (see
    /// [`crate::batch::block::multiply`]).
    pub(crate) friendly_pair: Limbs,
    /// `M'' = (M' + 1) / 2^{4w}`, `M' = (−M^{−1} mod 2^{4w})·M`, for four rows at a time.
    pub(crate) friendly_four: Limbs,
    /// `M'' = (M' + 1) / 2^{10w}`, `M' = (−M^{−1} mod 2^{10w})·M`, for a term at a time, its terms prepared
    /// (see [`PREPARED_TERM`]). Empty where numbers have no terms.
    pub(crate) friendly_terms: Limbs,
    /// `M`, its terms prepared. Empty where numbers have no terms.
    pub(crate) modulus_terms: Limbs,
    /// `M'' = (M' + 1) / 2^{wk}`, `M' = (−M^{−1} mod 2^{wk})·M`, for `k` digits at a time (see
    /// [`crate::batch::tiled`]).
    pub(crate) friendly_tile: Limbs,
    /// `R mod M`: the number 1 in Montgomery form.
    pub(crate) one: Limbs,
    /// `R² mod M`: brings a number into Montgomery form.
    pub(crate) enter: Limbs,
    /// `R·2^{w(L−1)} mod M`: shifts a plain number by `L − 1` digits.
    pub(crate) shift: Limbs,
    /// `−M^{−1}` modulo the radix to the power of its digits: [`STEP`], or [`TERM`] where numbers have terms.
    /// The lowest digit is `−M^{−1} mod 2^w`.
    pub(crate) mu: Limbs,
    /// The method to use, if not the fastest.
    method: MethodChoice,
    /// `N' = −M^{−1} mod R`, for the methods that need it (see [`crate::batch::separated`]).
    #[cfg(feature = "papers")]
    pub(crate) inverse: Limbs,
}

impl fmt::Debug for Constants {
    /// Shows the length of the modulus, not its value: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (modulus, digits) = (&self.modulus, self.digits());
        f.debug_struct("Constants").field("modulus", modulus).field("digits", &digits).finish_non_exhaustive()
    }
}

impl Constants {
    /// The digits a modulus of `bits` bits needs: `2^{wL} ≥ 8M`, so that friendly reduction is stable below
    /// `4M` (see [`crate::batch::context`]), and at least 2.
    pub const fn digits_for(bits: usize, digit_bits: u32) -> usize {
        let digits = (bits + FREE_BITS).div_ceil(digit_bits as usize);
        if digits < 2 { 2 } else { digits }
    }

    /// Prepares a modulus for machines with `digit_bits`-bit digits, in `digits` digits.
    ///
    /// # Panics
    /// If `digits` is less than [`digits_for`](Self::digits_for) says.
    pub fn new(modulus: &OddModulus, digit_bits: u32, digits: usize) -> Self {
        assert!(digits >= Self::digits_for(modulus.bits(), digit_bits), "too few digits");
        let (w, m) = (digit_bits as usize, modulus.limbs());
        let in_digits = |number: &[u64]| limbs::digits_of(number, digit_bits, digits);

        let one = in_digits(&modulus.power_of_two(w * digits));
        let enter = modulus.power_of_two(2 * w * digits);

        let has_terms = has_terms(digits);
        let most = if has_terms { STEP.max(TERM) } else { STEP };
        let inverse = limbs::negative_inverse_many(m, (most * w).div_ceil(64));
        let mu = limbs::digits_of(&inverse, digit_bits, most);
        let terms = |multiple: &[u64]| prepared_terms(multiple, digit_bits);
        let (friendly_terms, modulus_terms) = if has_terms {
            (terms(&friendly(m, &inverse, digit_bits, TERM, digits)), terms(&in_digits(m)))
        } else {
            Default::default()
        };
        let [friendly, friendly_pair, friendly_four, friendly_tile] =
            [1, 2, 4, STEP].map(|rows| friendly(m, &inverse, digit_bits, rows, digits));

        // One plain row divides R² by 2^w: (x + t·M)/2^w < 2M, t = μ·x mod 2^w.
        let t = mu[0].wrapping_mul(enter[0]) & ((1 << w) - 1);
        let mut sum = limbs::mul(m, &[t]);
        limbs::add_assign(&mut sum, &enter);
        let mut shift = limbs::zero(m.len() + 1);
        limbs::from_digits(&limbs::digits_of(&sum, digit_bits, digits + 1)[1..], digit_bits, &mut shift);
        limbs::reduce_once(&mut shift, 0, m);

        Self {
            digit_bits,
            modulus: modulus.clone(),
            digits: in_digits(m),
            friendly,
            friendly_pair,
            friendly_four,
            friendly_terms,
            modulus_terms,
            friendly_tile,
            one,
            enter: in_digits(&enter),
            shift: in_digits(&shift),
            mu,
            method: None.into(),
            #[cfg(feature = "papers")]
            inverse: Limbs::default(),
        }
    }

    /// These constants, with a method of the caller's choice to multiply and reduce, in place of the fastest.
    pub fn with_method(mut self, method: Method) -> Self {
        self.method = Some(method).into();
        #[cfg(feature = "papers")]
        {
            self.inverse = match method.reduction {
                Reduction::Interleaved | Reduction::Tiled => Limbs::default(),
                Reduction::Separated { .. } => {
                    let limbs = (self.digit_bits as usize * self.digits()).div_ceil(64);
                    let inverse = limbs::negative_inverse_many(self.modulus.limbs(), limbs);
                    limbs::digits_of(&inverse, self.digit_bits, self.digits())
                }
            };
        }
        self
    }

    /// The method that was chosen, if any. Numbers of different methods do not share a batch.
    pub fn method(&self) -> Option<Method> {
        self.method.into()
    }

    /// The method that a batch of this modulus uses on a machine: the caller's choice or the fastest, with no
    /// more splitting than fits.
    #[doc(hidden)]
    pub fn method_on<M: Kernels>(&self, machine: M) -> Method {
        self.method()
            .unwrap_or_else(|| Method::fastest(machine, self.digits()))
            .fitting(self.digits(), M::DIGIT_BITS)
    }

    /// `w`.
    pub fn digit_bits(&self) -> u32 {
        self.digit_bits
    }

    /// `L`.
    pub fn digits(&self) -> usize {
        self.digits.len()
    }

    /// The modulus.
    pub fn modulus(&self) -> &OddModulus {
        &self.modulus
    }

    /// The canonical residue of a number below `3M`, given in digits.
    pub(crate) fn canonical(&self, digits: &[u64]) -> Limbs {
        let mut number = limbs::zero(self.modulus.limbs().len() + 1);
        limbs::from_digits(digits, self.digit_bits, &mut number);
        self.modulus.canonical(number, REDUCED - 1)
    }

    /// Writes a number below `M`, given in digits, to as many limbs as `M` has.
    pub(crate) fn residue(&self, digits: &[u64], number: &mut [u64]) {
        limbs::from_digits(digits, self.digit_bits, number);
        debug_assert!(limbs::less(number, self.modulus.limbs()));
    }
}

/// `(μ·M + 1) / 2^{w·rows}` in `digits` digits, for `μ = −M^{−1} mod 2^{w·rows}`; `inverse` is `−M^{−1}`
/// modulo a power of two that is not smaller.
fn friendly(m: &[u64], inverse: &[u64], digit_bits: u32, rows: usize, digits: usize) -> Limbs {
    let bits = digit_bits as usize * rows;
    let mut mu = Limbs::new(inverse[..bits.div_ceil(64)].to_vec());
    if let (Some(highest), 1..) = (mu.last_mut(), bits % 64) {
        *highest &= (1 << (bits % 64)) - 1;
    }
    let mut multiple = limbs::mul(m, &mu);
    limbs::add_assign(&mut multiple, &[1]);
    let shifted = limbs::digits_of(&multiple, digit_bits, digits + rows);
    debug_assert!(shifted[..rows].iter().all(|&digit| digit == 0));
    Limbs::new(shifted[rows..].to_vec())
}

/// The terms of a number, each prepared: see [`PREPARED_TERM`].
fn prepared_terms(number: &[u64], digit_bits: u32) -> Limbs {
    let mut out = limbs::zero(number.len() / TERM * PREPARED_TERM);
    for (term, out) in number.chunks_exact(TERM).zip(out.chunks_exact_mut(PREPARED_TERM)) {
        let (copy, difference) = out.split_at_mut(TERM);
        copy.copy_from_slice(term);
        let (low, high) = term.split_at(TERM / 2);
        let mut borrow = 0;
        for ((difference, low), high) in difference.iter_mut().zip(low).zip(high) {
            let signed = high.wrapping_sub(*low).wrapping_sub(borrow);
            *difference = signed & ((1 << digit_bits) - 1);
            borrow = signed >> 63;
        }
        difference[TERM / 2] = borrow;
    }
    out
}
