//! Multiplication and squaring in portable code: by simple loops, and without a loop, where the seven limbs
//! in use fit registers.

use super::add::reduce_once;
use super::{FRIENDLY, Fe, LIMBS, MODULUS, MU};

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

/// `a·b/R mod p`, unrolled, in `u128` arithmetic: the paper's fifth row, with friendly rows.
///
/// * Precondition: `a, b < p`.
/// * Result: below `p`.
/// * Cost: 72 products of limbs, and one for the last quotient.
/// * Source: the paper's `fe_mont_mul_raw`; the friendly multiple is ours (see the module).
pub fn mul_flat(a: &Fe, b: &Fe) -> Fe {
    let mut t = [0; LIMBS + 1];
    each!(i in 0..LIMBS {
        let mut carry = 0;
        each!(j in 0..LIMBS {
            (t[j], carry) = mul_add(t[j], a[j], b[i], carry);
        });
        // t < 0.54·2^64·p + p before, a·b[i] < 2^64·p: below 2^448.
        t[LIMBS] += carry;
        t = if i + 1 < LIMBS { friendly_row(&t) } else { plain_row(&t) };
    });
    debug_assert_eq!(t[LIMBS], 0);
    reduce_once(&[t[0], t[1], t[2], t[3], t[4], t[5]])
}

/// `a²/R mod p`, unrolled: products of different limbs once, doubled, and the low half reduced.
///
/// * Precondition: `a < p`.
/// * Result: below `p`.
/// * Cost: 57 products of limbs, and one for the last quotient.
#[allow(unused_assignments)] // unrolled, the last carry goes nowhere: the number fits
pub fn sqr_flat(a: &Fe) -> Fe {
    let mut t = [0; 2 * LIMBS];
    each!(i in 0..LIMBS {
        let mut carry = 0;
        each!(j in 0..LIMBS {
            if j > i {
                (t[(i + j) % 12], carry) = mul_add(t[(i + j) % 12], a[j], a[i], carry);
            }
        });
        if i + 1 < LIMBS {
            t[i + LIMBS] = carry;
        }
    });
    // Twice that, and the squares of limbs.
    let (mut carry, mut above) = (0, 0);
    each!(i in 0..LIMBS {
        let (low, high) = (t[2 * i], t[2 * i + 1]);
        let square = u128::from(a[i]) * u128::from(a[i]);
        let sum = u128::from(low << 1 | above) + u128::from(square as u64) + u128::from(carry);
        t[2 * i] = sum as u64;
        let sum = u128::from(high << 1 | low >> 63) + (square >> 64) + (sum >> 64);
        t[2 * i + 1] = sum as u64;
        (carry, above) = ((sum >> 64) as u64, high >> 63);
    });
    // The low half is reduced as any number below R, and the high half added: T/R + (μ/2^64 + 1)·p again.
    let mut low = [t[0], t[1], t[2], t[3], t[4], t[5], 0];
    each!(i in 0..LIMBS {
        low = if i + 1 < LIMBS { friendly_row(&low) } else { plain_row(&low) };
    });
    let (mut sum, mut carry) = ([0; LIMBS], 0);
    each!(i in 0..LIMBS {
        let t = u128::from(low[i]) + u128::from(t[LIMBS + i]) + u128::from(carry);
        (sum[i], carry) = (t as u64, (t >> 64) as u64);
    });
    reduce_once(&sum)
}

/// `(t + q·p')/2^64` with `q = t[0]`: the friendly row.
#[inline(always)]
fn friendly_row(t: &[u64; LIMBS + 1]) -> [u64; LIMBS + 1] {
    let (q, mut out, mut carry) = (t[0], [0; LIMBS + 1], 0);
    each!(j in 0..LIMBS {
        (out[j], carry) = mul_add(t[j + 1], q, FRIENDLY[j], carry);
    });
    out[LIMBS] = carry;
    out
}

/// `(t + q·p)/2^64` with `q = μ·t mod 2^64`: Montgomery's row.
#[inline(always)]
fn plain_row(t: &[u64; LIMBS + 1]) -> [u64; LIMBS + 1] {
    let q = t[0].wrapping_mul(MU);
    let (mut out, mut carry) = ([0; LIMBS + 1], 0);
    (_, carry) = mul_add(t[0], q, MODULUS[0], carry);
    each!(j in 0..LIMBS {
        if j > 0 {
            (out[j.saturating_sub(1)], carry) = mul_add(t[j], q, MODULUS[j], carry);
        }
    });
    out[LIMBS - 1] = t[LIMBS] + carry;
    out
}
