//! Multiplication as one writes it down: the paper's fourth row.

use super::add::reduce_once;
use super::{Fe, LIMBS, MODULUS, MU};

/// `a·b/R mod p`, by two loops in a loop over twelve limbs.
///
/// * Precondition: `a·b < R·p`, as for `a, b < p`.
/// * Result: below `p`.
/// * Cost: 72 products of limbs, and 6 for the quotients.
/// * Source: the paper's `fe_mont_mul` (its first post's, called mont1).
pub fn mul_loops(a: &Fe, b: &Fe) -> Fe {
    let mut t = [0; 2 * LIMBS];
    for i in 0..LIMBS {
        let mut carry = 0;
        for j in 0..LIMBS {
            (t[i + j], carry) = mul_add(t[i + j], a[j], b[i], carry);
        }
        // Nothing has come so high before: a row writes its highest limb first.
        t[i + LIMBS] += carry;
        let q = t[i].wrapping_mul(MU);
        carry = 0;
        for j in 0..LIMBS {
            (t[i + j], carry) = mul_add(t[i + j], q, MODULUS[j], carry);
        }
        // T < p·2^{64(i+1)} + p·2^{64(i+1)}, so this does not carry.
        t[i + LIMBS] += carry;
    }
    let mut high = [0; LIMBS];
    high.copy_from_slice(&t[LIMBS..]);
    reduce_once(&high)
}

/// `t + a·b + carry`, as its low and high limb: never more than two.
#[inline(always)]
pub(super) fn mul_add(t: u64, a: u64, b: u64, carry: u64) -> (u64, u64) {
    let sum = u128::from(t) + u128::from(a) * u128::from(b) + u128::from(carry);
    (sum as u64, (sum >> 64) as u64)
}
