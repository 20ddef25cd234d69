//! The constants of a modulus, computed once.

use core::fmt;

use crate::OddModulus;
use crate::limbs::{self, Limbs};

/// Everything the scalar arithmetic needs of one modulus `M`: numbers of `n` limbs, `R = 2^{64n} > M`.
///
/// The modulus may be secret (a prime of an RSA key): only its bit length shows in the time taken. Zeroised
/// when dropped.
#[derive(Clone)]
pub struct Constants {
    pub(super) modulus: OddModulus,
    /// `M`, padded to `n` limbs; so are the others.
    pub(crate) padded: Limbs,
    /// `R mod M`: the number 1 in Montgomery form.
    pub(super) one: Limbs,
    /// `R² mod M`: brings a number into Montgomery form.
    pub(super) enter: Limbs,
    /// `−M^{−1} mod 2^64`, one limb: in memory of its own, which moves of this value do not copy.
    pub(crate) mu: Limbs,
}

impl fmt::Debug for Constants {
    /// Shows the length of the modulus, not its value: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (modulus, limbs) = (&self.modulus, self.limbs());
        f.debug_struct("Constants").field("modulus", modulus).field("limbs", &limbs).finish_non_exhaustive()
    }
}

impl Constants {
    /// Prepares a modulus for machines whose lengths are multiples of `step` limbs.
    pub fn new(modulus: &OddModulus, step: usize) -> Self {
        let m = modulus.limbs();
        let n = m.len().next_multiple_of(step);
        let padded = |number: &[u64]| {
            let mut out = limbs::zero(n);
            out[..number.len()].copy_from_slice(number);
            out
        };
        Self {
            modulus: modulus.clone(),
            padded: padded(m),
            one: padded(&modulus.power_of_two(64 * n)),
            enter: padded(&modulus.power_of_two(2 * 64 * n)),
            mu: Limbs::new(alloc::vec![limbs::negative_inverse(m[0])]),
        }
    }

    /// `n`.
    pub fn limbs(&self) -> usize {
        self.padded.len()
    }
}
