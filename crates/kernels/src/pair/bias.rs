//! The initial values of sums of biased products, so that no bias is left when they are read.

use super::Machine;

/// Minus the biases of the columns of some rows: `count(c)` products have their low half in column `c`, and
/// their high half in the next.
#[inline(always)]
pub(super) fn start<M: Machine, const T: usize>(m: M, count: impl Fn(usize) -> usize) -> [M::Vector; T] {
    let mut out = [m.zero(); T];
    if M::BIASED {
        unroll!(c to T, {
            let highs = if c > 0 { count(c.wrapping_sub(1)) } else { 0 };
            let bias = M::BIAS_LOW.wrapping_mul(count(c) as u64).wrapping_add(M::BIAS_HIGH.wrapping_mul(highs as u64));
            out[c] = m.vector([bias.wrapping_neg(); super::LANES]);
        });
    }
    out
}

/// [`start`], added to columns.
#[inline(always)]
pub(super) fn restart<M: Machine, const T: usize>(
    m: M,
    columns: &mut [M::Vector; T],
    count: impl Fn(usize) -> usize,
) {
    if M::BIASED {
        let biases = start::<M, T>(m, count);
        unroll!(c to T, {
            columns[c] = m.add(columns[c], biases[c]);
        });
    }
}

/// How many products of digits of two numbers of `v` digits belong to column `c`.
#[inline(always)]
pub(super) const fn all(v: usize, c: usize) -> usize {
    if c < v {
        c + 1
    } else if c < 2 * v {
        2 * v - 1 - c
    } else {
        0
    }
}

/// How many of them are of the digits `from..to` of the second number.
#[inline(always)]
pub(super) fn rows(v: usize, from: usize, to: usize, c: usize) -> usize {
    (from..to).filter(|&j| j <= c && c - j < v).count()
}

/// How many of them are of digits at the same place.
#[inline(always)]
pub(super) const fn equal(v: usize, c: usize) -> usize {
    (c.is_multiple_of(2) && c / 2 < v) as usize
}

/// How many are of the digit `i` of the one and the digit `j` of the other, `i < j`.
#[inline(always)]
pub(super) const fn different(v: usize, c: usize) -> usize {
    (all(v, c) - equal(v, c)) / 2
}
