//! What is computed once per modulus.

use core::fmt;

use crate::limbs::{self, Limbs};

/// Everything the scalar arithmetic needs of one modulus `M`: numbers of `n` limbs, `R = 2^{64n} > M`.
///
/// The modulus may be secret (a prime of an RSA key): only its bit length shows in the time taken. Zeroised when dropped.
#[derive(Clone)]
pub struct Constants {
    bits: usize,
    /// `M`, padded to `n` limbs; so are the others.
    pub(super) modulus: Limbs,
    /// `R mod M`: the number 1 in Montgomery's domain.
    pub(super) one: Limbs,
    /// `R² mod M`: brings a number into the domain.
    pub(super) enter: Limbs,
    /// `−M^{−1} mod 2^64`, one limb: in memory of its own, which moves of this value do not copy.
    pub(super) mu: Limbs,
}

impl fmt::Debug for Constants {
    /// Shows the length of the modulus, not its value: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Constants").field("bits", &self.bits).field("limbs", &self.limbs()).finish_non_exhaustive()
    }
}

impl Constants {
    /// Prepares an odd modulus above 1 for machines whose lengths are multiples of `step` limbs.
    ///
    /// # Panics
    /// If the modulus is even or 1.
    pub fn new(modulus: &[u64], step: usize) -> Self {
        let bits = limbs::bits_vartime(modulus);
        assert!(bits > 1 && modulus[0] & 1 == 1, "the modulus must be odd and above 1");
        let modulus = &modulus[..bits.div_ceil(64)];
        let n = modulus.len().next_multiple_of(step);
        let padded = |number: &[u64]| {
            let mut out = limbs::zero(n);
            out[..number.len()].copy_from_slice(number);
            out
        };
        Self {
            bits,
            modulus: padded(modulus),
            one: padded(&limbs::power_of_two(64 * n, modulus)),
            enter: padded(&limbs::power_of_two(2 * 64 * n, modulus)),
            mu: Limbs::new(alloc::vec![limbs::negative_inverse(modulus[0])]),
        }
    }

    /// The bit length of the modulus.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// `n`.
    pub fn limbs(&self) -> usize {
        self.modulus.len()
    }
}
