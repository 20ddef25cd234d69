//! Remainders.

use core::hint::black_box;

use super::{Limbs, add_masked, sub_assign, zero};

/// `a mod m` in `m.len()` limbs, a limb of the quotient at a time (Knuth, The Art of Computer Programming,
/// volume 2, 4.3.1, algorithm D), in time that depends only on the numbers of limbs. Precondition: the
/// highest limb of `m` is not zero.
pub fn rem(a: &[u64], m: &[u64]) -> Limbs {
    let n = m.len();
    debug_assert!(m[n - 1] != 0);
    // Both are shifted, so that the divisor's highest limb is at least 2^63.
    let shift = (m[n - 1] | 1).leading_zeros() as usize;
    let divisor = shifted_left(m, shift, n);
    let mut rest = shifted_left(a, shift, n.max(a.len() + 1));
    let top = divisor[n - 1];
    let inverse = reciprocal(top);
    for i in (0..rest.len() - n).rev() {
        // The n limbs above `i` are below the divisor: the highest limb of all is below 2^shift, and the
        // others are a remainder.
        let window = &mut rest[i..=i + n];
        // At most two above the right one (theorem B there).
        let quotient = quotient(window[n], window[n - 1], top, inverse);
        let high = mul_sub(&mut window[..n], &divisor, quotient);
        let mut borrow = sub_assign(&mut window[n..], &[high]);
        for _ in 0..2 {
            borrow &= !add_masked(window, &divisor, black_box(borrow.wrapping_neg())) & 1;
        }
    }
    let mut out = zero(n);
    for i in 0..n {
        out[i] = rest[i] >> shift | rest.get(i + 1).map_or(0, |above| above << 1 << (63 - shift));
    }
    out
}

/// `a·2^shift` in `len` limbs, for a `shift` below 64.
fn shifted_left(a: &[u64], shift: usize, len: usize) -> Limbs {
    let mut out = zero(len);
    for (i, &limb) in a.iter().enumerate() {
        out[i] |= limb << shift;
        if let Some(above) = out.get_mut(i + 1) {
            *above = limb >> 1 >> (63 - shift);
        }
    }
    out
}

/// `acc −= b·a`; returns the amount to subtract from the limb above. Precondition: `acc.len() = b.len()`.
fn mul_sub(acc: &mut [u64], b: &[u64], a: u64) -> u64 {
    let mut high = 0;
    for (acc, &b) in acc.iter_mut().zip(b) {
        // At most (2^64 − 1)^2 + 2^64 − 1 = (2^64 − 1)·2^64: where the upper half is 2^64 − 1, the lower one
        // is 0 and there is no borrow, so their sum fits.
        let t = u128::from(a) * u128::from(b) + u128::from(high);
        let (difference, borrow) = acc.overflowing_sub(t as u64);
        (*acc, high) = (difference, (t >> 64) as u64 + u64::from(borrow));
    }
    high
}

/// `⌊(2^128 − 1)/d⌋ − 2^64`, bit by bit. Precondition: `d ≥ 2^63`.
fn reciprocal(d: u64) -> u64 {
    // The quotient of (2^64 − 1 − d)·2^64 + 2^64 − 1, whose upper half is below d.
    let (mut rest, mut out) = (!d, 0);
    for _ in 0..64 {
        let doubled = u128::from(rest) << 1 | 1;
        let difference = doubled.wrapping_sub(u128::from(d));
        let less = black_box((difference >> 127) as u64);
        rest = (difference as u64).wrapping_add(d & less.wrapping_neg());
        out = out << 1 | (less ^ 1);
    }
    out
}

/// `⌊(high·2^64 + low)/d⌋`, or `2^64 − 1` where that is more, by a multiplication with
/// `inverse = reciprocal(d)` (Möller and Granlund, Improved division by invariant integers, algorithm 4). A
/// division instruction would take time that depends on the numbers. Precondition: `high ≤ d`, `d ≥ 2^63`.
fn quotient(high: u64, low: u64, d: u64, inverse: u64) -> u64 {
    let product =
        (u128::from(inverse) * u128::from(high)).wrapping_add(u128::from(high) << 64 | u128::from(low));
    let mut out = ((product >> 64) as u64).wrapping_add(1);
    let mut rest = low.wrapping_sub(out.wrapping_mul(d));
    let above = black_box(u64::from(rest > product as u64));
    out = out.wrapping_sub(above);
    rest = rest.wrapping_add(d & above.wrapping_neg());
    out = out.wrapping_add(black_box(u64::from(rest >= d)));
    out | black_box(u64::from(high == d)).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::limbs::{add_assign, halve_if_even, mul};

    /// `q·m + r`, for a quotient and a remainder that make the estimates of the quotient's limbs as wrong as
    /// possible.
    #[test]
    fn remainders_of_extreme_numbers() {
        const EDGES: [u64; 8] = [0, 1, 2, 1 << 63, (1 << 63) - 1, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
        let edge = |i: usize| EDGES[i % 8];
        for m_len in 1..=3 {
            for m_code in 1..8usize.pow(m_len) {
                let m: Vec<u64> = (0..m_len).map(|i| edge(m_code >> (3 * i))).collect();
                if m.last() == Some(&0) {
                    continue;
                }
                let mut largest = Limbs::new(m.clone());
                sub_assign(&mut largest, &[1]);
                for q_code in 0..64 {
                    let q = [edge(q_code), edge(q_code >> 3), edge(q_code >> 1)];
                    let mut middle = largest.clone();
                    halve_if_even(&mut middle);
                    for r in [&zero(m.len()), &middle, &largest] {
                        let mut a = mul(&q, &m);
                        assert_eq!(add_assign(&mut a, r), 0);
                        assert_eq!(rem(&a, &m), *r, "{q:x?}·{m:x?} + {r:x?}");
                    }
                }
            }
        }
        // Shorter than the divisor.
        assert_eq!(*rem(&[5], &[7, 1]), [5, 0]);
        assert_eq!(*rem(&[], &[7, 1]), [0, 0]);
    }

    #[test]
    fn quotients_of_two_limbs() {
        for d in
            [1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX, 0xc000_0000_0000_0001, 0x9e37_79b9_7f4a_7c15]
        {
            let inverse = reciprocal(d);
            assert_eq!(u128::from(inverse) + (1 << 64), u128::MAX / u128::from(d));
            for high in [0, 1, d / 2, d - 2, d - 1, d] {
                for low in [0, 1, d - 1, d, u64::MAX - 1, u64::MAX] {
                    let right = (u128::from(high) << 64 | u128::from(low)) / u128::from(d);
                    let expected = u64::try_from(right).unwrap_or(u64::MAX);
                    assert_eq!(quotient(high, low, d, inverse), expected, "{high:x} {low:x} / {d:x}");
                }
            }
        }
    }
}
