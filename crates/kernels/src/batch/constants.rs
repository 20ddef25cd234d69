//! What is computed once per modulus.

use core::fmt;

use super::method::{Method, Reduction};
use crate::limbs::{self, Limbs};

/// Everything the kernels need of one modulus `M`: numbers of `L` digits in radix `2^w`, with `R = 2^{wL} ≥ 8M`.
///
/// The modulus may be secret (a prime of an RSA key): only its bit length shows in the time taken. Zeroised when dropped.
#[derive(Clone)]
pub struct Constants {
    digit_bits: u32,
    bits: usize,
    /// `M`, in limbs; the others are in digits.
    limbs: Limbs,
    /// `M`.
    pub(crate) modulus: Limbs,
    /// `M'' = (M' + 1) / 2^w`, `M' = (−M^{−1} mod 2^w)·M` (see [`crate::batch::block::reduce_rows`]).
    pub(crate) friendly: Limbs,
    /// `R mod M`: the number 1 in Montgomery's domain.
    pub(crate) one: Limbs,
    /// `R² mod M`: brings a number into the domain.
    pub(crate) enter: Limbs,
    /// `R·2^{w(L−1)} mod M`: shifts a plain number by `L − 1` digits.
    pub(crate) shift: Limbs,
    /// `−M^{−1} mod 2^w`, one digit.
    pub(crate) mu: Limbs,
    /// The method to use, if not the fastest.
    method: Option<Method>,
    /// `N' = −M^{−1} mod R`, for the methods that need it (see `separate`).
    pub(crate) inverse: Limbs,
}

impl fmt::Debug for Constants {
    /// Shows the length of the modulus, not its value: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Constants").field("bits", &self.bits).field("digits", &self.digits()).finish_non_exhaustive()
    }
}

impl Constants {
    /// The digits a modulus of `bits` bits needs: `2^{wL} ≥ 8M`, so that friendly reduction is stable below `4M`
    /// (see [`crate::batch::domain`]), and at least 2.
    pub const fn digits_for(bits: usize, digit_bits: u32) -> usize {
        let digits = (bits + 3).div_ceil(digit_bits as usize);
        if digits < 2 { 2 } else { digits }
    }

    /// Prepares an odd modulus above 1 for machines with `digit_bits`-bit digits, in `digits` digits.
    ///
    /// # Panics
    /// If the modulus is even or 1, or `digits` is less than [`digits_for`](Self::digits_for) says.
    pub fn new(modulus: &[u64], digit_bits: u32, digits: usize) -> Self {
        let bits = limbs::bits_vartime(modulus);
        assert!(bits > 1 && modulus[0] & 1 == 1, "the modulus must be odd and above 1");
        assert!(digits >= Self::digits_for(bits, digit_bits), "too few digits");
        let w = digit_bits as usize;
        let m = Limbs::new(modulus[..bits.div_ceil(64)].to_vec());
        let in_digits = |number: &[u64]| limbs::digits_of(number, digit_bits, digits);

        let one = in_digits(&limbs::power_of_two(w * digits, &m));
        let enter = limbs::power_of_two(2 * w * digits, &m);

        let mu = limbs::negative_inverse(m[0]) & ((1 << w) - 1);
        // k·M + 1, exactly divisible by 2^w.
        let mut multiple = limbs::mul(&m, &[mu]);
        limbs::add_assign(&mut multiple, &[1]);
        let shifted = limbs::digits_of(&multiple, digit_bits, digits + 1);
        debug_assert_eq!(shifted[0], 0);
        let friendly = Limbs::new(shifted[1..].to_vec());

        // One plain row divides R² by 2^w: (x + t·M)/2^w < 2M, t = μ·x mod 2^w.
        let t = mu.wrapping_mul(enter[0]) & ((1 << w) - 1);
        let mut sum = limbs::mul(&m, &[t]);
        limbs::add_assign(&mut sum, &enter);
        let mut shift = limbs::zero(m.len() + 1);
        limbs::from_digits(&limbs::digits_of(&sum, digit_bits, digits + 1)[1..], digit_bits, &mut shift);
        limbs::reduce_once(&mut shift, 0, &m);

        Self {
            digit_bits,
            bits,
            modulus: in_digits(&m),
            friendly,
            one,
            enter: in_digits(&enter),
            shift: in_digits(&shift),
            mu: Limbs::new(alloc::vec![mu]),
            limbs: m,
            method: None,
            inverse: Limbs::default(),
        }
    }

    /// These constants, with a method of the caller's choice to multiply and reduce, in place of the fastest.
    pub fn with_method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self.inverse = Limbs::default();
        if let Reduction::Separate { .. } = method.reduction {
            let limbs = (self.digit_bits as usize * self.digits()).div_ceil(64);
            let inverse = limbs::negative_inverse_many(&self.limbs, limbs);
            self.inverse = limbs::digits_of(&inverse, self.digit_bits, self.digits());
        }
        self
    }

    /// The method that was chosen, if any. Numbers of different methods do not share a batch.
    pub fn method(&self) -> Option<Method> {
        self.method
    }

    /// `w`.
    pub fn digit_bits(&self) -> u32 {
        self.digit_bits
    }

    /// `L`.
    pub fn digits(&self) -> usize {
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

    /// The canonical residue of a number below `3M`, given in digits: subtracts `M` up to twice.
    pub(crate) fn canonical(&self, digits: &[u64]) -> Limbs {
        let mut value = limbs::zero(self.limbs.len() + 1);
        limbs::from_digits(digits, self.digit_bits, &mut value);
        for _ in 0..2 {
            limbs::reduce_once(&mut value, 0, &self.limbs);
        }
        debug_assert_eq!(value[self.limbs.len()], 0);
        value.truncate(self.limbs.len());
        debug_assert!(limbs::less(&value, &self.limbs));
        value
    }
}
