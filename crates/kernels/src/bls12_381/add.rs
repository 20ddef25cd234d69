//! Sums, differences and negatives.

use core::hint::black_box;

use super::{Fe, LIMBS, MODULUS, sub_limbs};

/// `a + b mod p`.
///
/// * Precondition: `a, b < p`.
/// * Result: below `p`.
/// * Cost: 12 additions of limbs.
pub fn add(a: &Fe, b: &Fe) -> Fe {
    let (mut sum, mut carry) = ([0; LIMBS], 0);
    for ((sum, &a), &b) in sum.iter_mut().zip(a).zip(b) {
        let t = u128::from(a) + u128::from(b) + u128::from(carry);
        (*sum, carry) = (t as u64, (t >> 64) as u64);
    }
    debug_assert_eq!(carry, 0);
    reduce_once(&sum)
}

/// `a − b mod p`.
///
/// * Precondition: `a, b < p`.
/// * Result: below `p`.
/// * Cost: 12 additions of limbs.
pub fn sub(a: &Fe, b: &Fe) -> Fe {
    let (mut difference, borrow) = sub_limbs(a, b);
    // Through a barrier, so that the mask is not turned back into a branch.
    let (mask, mut carry) = (black_box(borrow.wrapping_neg()), 0);
    for (out, &p) in difference.iter_mut().zip(&MODULUS) {
        let t = u128::from(*out) + u128::from(p & mask) + u128::from(carry);
        (*out, carry) = (t as u64, (t >> 64) as u64);
    }
    difference
}

/// `−a mod p`.
///
/// * Precondition: `a < p`.
/// * Result: below `p`.
/// * Cost: that of [`sub`].
pub fn neg(a: &Fe) -> Fe {
    sub(&[0; LIMBS], a)
}

/// `a − p` if that is not negative, else `a`.
///
/// * Precondition: `a < 2p`.
/// * Result: below `p`.
#[inline(always)]
pub(crate) fn reduce_once(a: &Fe) -> Fe {
    let (difference, borrow) = sub_limbs(a, &MODULUS);
    let mask = black_box(borrow.wrapping_neg());
    core::array::from_fn(|i| difference[i] ^ (mask & (difference[i] ^ a[i])))
}
