//! What is computed once per modulus.

use core::fmt;

use super::amm::Modulus;
use super::kernels::WIDEST;
use super::machine::{DIGITS, Digits};
use crate::limbs::{self, Limbs};
use crate::place::Placed;

/// Everything the carry chains need of one odd modulus `M` above 1: numbers of `n` digits in radix `2^32`,
/// `R = 2^{32n} > M`.
///
/// The modulus may be secret (a prime of an RSA key): only its bit length shows in the time taken. Zeroised when dropped.
#[derive(Clone)]
pub struct Constants {
    bits: usize,
    /// `M`, in limbs; the others are in digits.
    limbs: Limbs,
    modulus: Placed<Digits>,
    /// `R − M`.
    negated: Placed<Digits>,
    /// `R mod M`.
    pub(super) one: Placed<Digits>,
    /// `R² mod M`.
    pub(super) enter: Placed<Digits>,
    /// `−M^{−1} mod 2^32`.
    mu: Limbs,
}

impl fmt::Debug for Constants {
    /// Shows the length of the modulus, not its value: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Constants").field("bits", &self.bits).field("words", &self.words()).finish_non_exhaustive()
    }
}

impl Constants {
    /// The vectors that numbers of `bits` bits need: one, or a multiple of two.
    pub const fn words_for(bits: usize) -> usize {
        let words = bits.div_ceil(32 * DIGITS);
        if words <= 1 { 1 } else { words.next_multiple_of(WIDEST) }
    }

    /// Prepares an odd modulus above 1, of any length.
    ///
    /// # Panics
    /// If the modulus is even or 1.
    pub fn new(modulus: &[u64]) -> Self {
        let bits = limbs::bits_vartime(modulus);
        assert!(bits > 1 && modulus[0] & 1 == 1, "the modulus must be odd and above 1");
        let m = Limbs::new(modulus[..bits.div_ceil(64)].to_vec());
        let words = Self::words_for(bits);
        let radix = 32 * DIGITS * words;
        // 0 − M, modulo R.
        let mut negated = limbs::zero(radix / 64);
        limbs::sub_assign(&mut negated, &m);
        Self {
            bits,
            modulus: digits_of(&m, words),
            negated: digits_of(&negated, words),
            one: digits_of(&limbs::power_of_two(radix, &m), words),
            enter: digits_of(&limbs::power_of_two(2 * radix, &m), words),
            mu: Limbs::new(alloc::vec![limbs::negative_inverse(m[0]) & 0xffff_ffff]),
            limbs: m,
        }
    }

    /// The vectors of a number.
    pub fn words(&self) -> usize {
        self.modulus.len()
    }

    /// The bit length of the modulus.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The modulus, in `⌈bits/64⌉` limbs.
    pub fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// What a multiplication needs of it.
    pub fn modulus(&self) -> Modulus<'_> {
        Modulus { digits: &self.modulus, negated: &self.negated, mu: self.mu[0] as u32 }
    }

    /// The canonical residue of a number below `2M`, as many limbs as the modulus has.
    pub(super) fn canonical(&self, digits: &[Digits]) -> Limbs {
        let mut value = limbs::zero(self.limbs.len() + 1);
        limbs_of(digits, &mut value);
        limbs::reduce_once(&mut value, 0, &self.limbs);
        debug_assert_eq!(value[self.limbs.len()], 0);
        value.truncate(self.limbs.len());
        debug_assert!(limbs::less(&value, &self.limbs));
        value
    }
}

/// Vectors of zeros.
pub(super) fn zeros(words: usize) -> Placed<Digits> {
    Placed::new(Digits::ZERO, words, None)
}

/// A number, cut or padded to `words` vectors.
pub(super) fn digits_of(number: &[u64], words: usize) -> Placed<Digits> {
    let mut out = zeros(words);
    let digits = out.iter_mut().flat_map(|word| &mut word.0);
    for (i, digit) in digits.enumerate() {
        *digit = number.get(i / 2).map_or(0, |limb| (limb >> (32 * (i % 2))) as u32);
    }
    out
}

/// Writes digits as limbs, cut or padded to the length of `out`.
fn limbs_of(digits: &[Digits], out: &mut [u64]) {
    out.fill(0);
    for (i, &digit) in digits.iter().flat_map(|word| &word.0).enumerate() {
        if let Some(limb) = out.get_mut(i / 2) {
            *limb |= u64::from(digit) << (32 * (i % 2));
        }
    }
}
