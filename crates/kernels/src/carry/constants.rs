//! The constants of a modulus, computed once.

use core::fmt;

use super::machine::{DIGITS, Digits, Modulus, WIDEST};
use crate::OddModulus;
use crate::bounds::REDUCED_FULL;
use crate::limbs::{self, Limbs};
use crate::place::AlignedBuf;

/// Everything the carry chains need of one modulus `M`: numbers of `n` digits in radix `2^32`,
/// `R = 2^{32n} > M`.
///
/// The modulus may be secret (a prime of an RSA key): only its bit length shows in the time taken. Zeroised
/// when dropped.
#[derive(Clone)]
pub struct Constants {
    pub(super) modulus: OddModulus,
    /// `M`, in digits; so are the others.
    digits: AlignedBuf<Digits>,
    /// `R − M`.
    negated: AlignedBuf<Digits>,
    /// `R mod M`.
    pub(super) one: AlignedBuf,
    /// `R² mod M`.
    pub(super) enter: AlignedBuf,
    /// `−M^{−1} mod 2^32`.
    mu: Limbs,
}

impl fmt::Debug for Constants {
    /// Shows the length of the modulus, not its value: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (modulus, words) = (&self.modulus, self.words());
        f.debug_struct("Constants").field("modulus", modulus).field("words", &words).finish_non_exhaustive()
    }
}

impl Constants {
    /// The vectors that numbers of `bits` bits need: one, or a multiple of two.
    pub const fn words_for(bits: usize) -> usize {
        let words = bits.div_ceil(32 * DIGITS);
        if words <= 1 { 1 } else { words.next_multiple_of(WIDEST) }
    }

    /// Prepares a modulus of any length.
    pub fn new(modulus: &OddModulus) -> Self {
        let m = modulus.limbs();
        let words = Self::words_for(modulus.bits());
        let radix = 32 * DIGITS * words;
        // 0 − M, modulo R.
        let mut negated = limbs::zero(radix / 64);
        limbs::sub_assign(&mut negated, m);
        Self {
            modulus: modulus.clone(),
            digits: digits_of(m, words),
            negated: digits_of(&negated, words),
            one: words_of(&modulus.power_of_two(radix), words),
            enter: words_of(&modulus.power_of_two(2 * radix), words),
            mu: Limbs::new(alloc::vec![limbs::negative_inverse(m[0]) & 0xffff_ffff]),
        }
    }

    /// The vectors of a number.
    pub fn words(&self) -> usize {
        self.digits.len()
    }

    /// The constants that a multiplication reads.
    pub fn modulus(&self) -> Modulus<'_> {
        Modulus { digits: &self.digits, negated: &self.negated, mu: self.mu[0] as u32 }
    }

    /// The canonical residue of a number below `2M`, as many limbs as the modulus has.
    pub(super) fn canonical(&self, words: &[u64]) -> Limbs {
        let mut number = limbs::zero(self.modulus.limbs().len() + 1);
        let count = number.len().min(words.len());
        number[..count].copy_from_slice(&words[..count]);
        self.modulus.canonical(number, REDUCED_FULL - 1)
    }
}

/// Vectors of zeros.
pub(super) fn zeros(vectors: usize) -> AlignedBuf<Digits> {
    AlignedBuf::new([0; DIGITS], vectors, None)
}

/// A number, cut or padded to so many vectors.
fn digits_of(number: &[u64], vectors: usize) -> AlignedBuf<Digits> {
    let mut out = zeros(vectors);
    out.copy_from_slice(bytemuck::cast_slice(&words_of(number, vectors)));
    out
}

/// A number, cut or padded to so many vectors. Two digits, the lower one first, are a limb as it is.
pub(super) fn words_of(number: &[u64], vectors: usize) -> AlignedBuf {
    let mut out = AlignedBuf::new(0, vectors * DIGITS / 2, None);
    let count = number.len().min(out.len());
    out[..count].copy_from_slice(&number[..count]);
    out
}
