//! The moduli of Montgomery's method.

use core::fmt;

use crate::limbs::{self, Limbs};

/// An odd number above 1.
///
/// It may be secret (a prime of an RSA key): only its bit length shows in the time taken. Zeroised when
/// dropped.
#[derive(Clone)]
pub struct OddModulus {
    limbs: Limbs,
    bits: usize,
}

impl fmt::Debug for OddModulus {
    /// Shows the length, not the value: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("OddModulus").field("bits", &self.bits).finish_non_exhaustive()
    }
}

impl OddModulus {
    /// The number with these limbs; `None` if it is even or 1. Limbs of zeros at the top are left out.
    pub fn new(number: &[u64]) -> Option<Self> {
        let bits = limbs::bits_vartime(number);
        (bits > 1 && number[0] & 1 == 1).then(|| Self::with_bits(number, bits))
    }

    /// The number with these limbs. Precondition: it is odd, above 1, and `bits` bits long.
    pub fn with_bits(number: &[u64], bits: usize) -> Self {
        debug_assert!(limbs::bits_vartime(number) == bits && bits > 1 && number[0] & 1 == 1);
        Self { limbs: Limbs::new(number[..bits.div_ceil(64)].to_vec()), bits }
    }

    /// The number, in `⌈bits/64⌉` limbs.
    pub fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// Its bit length.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// `2^e mod M`, in as many limbs as `M`, for a public exponent.
    pub(crate) fn power_of_two(&self, e: usize) -> Limbs {
        limbs::power_of_two(e, &self.limbs)
    }

    /// The residue of a number below `(times + 1)·M`, in as many limbs as `M`: subtracts `M` up to `times`
    /// times.
    pub(crate) fn canonical(&self, mut number: Limbs, times: usize) -> Limbs {
        let n = self.limbs.len();
        for _ in 0..times {
            limbs::reduce_once(&mut number, 0, &self.limbs);
        }
        debug_assert!(number[n..].iter().all(|&limb| limb == 0));
        number.truncate(n);
        debug_assert!(limbs::less(&number, &self.limbs));
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_numbers_above_one_alone() {
        for refused in [&[][..], &[0], &[1], &[1, 0], &[2], &[0, 1]] {
            assert!(OddModulus::new(refused).is_none(), "{refused:?}");
        }
        let modulus = OddModulus::new(&[5, 3, 0]).expect("odd");
        assert_eq!((modulus.limbs(), modulus.bits()), (&[5, 3][..], 66));
    }

    #[test]
    fn residues_are_canonical() {
        let modulus = OddModulus::new(&[7, 1]).expect("odd");
        for (number, residue) in [([6, 1, 0], [6, 1]), ([7, 1, 0], [0, 0]), ([20, 3, 0], [6, 1])] {
            assert_eq!(*modulus.canonical(Limbs::new(number.to_vec()), 2), residue);
        }
    }
}
