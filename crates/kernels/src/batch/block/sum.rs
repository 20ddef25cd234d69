//! Columns to digits where a number is reduced in one piece (see [`crate::batch::separated`]).

use super::normalize::digits;
use crate::batch::Machine;

/// The lowest columns to digits, their carry moved on: `out` as [`normalize`](super::normalize()) leaves it,
/// and `C[out.len()]` receives the carry.
///
/// * Precondition: `c.len() > out.len()`; columns are corrected for bias and, as unsigned numbers, not
///   wrapped.
#[inline(always)]
pub fn settle<M: Machine>(m: M, out: &mut [M::Digit], c: &mut [M::Column]) {
    let carry = digits(m, out, c);
    c[out.len()] = m.add(c[out.len()], carry);
}

/// The upper digits of a sum of two rows of columns: `out = ⌊(low + D[0..l] + 2^{wl}·(C + D[l..])) / 2^{wl}⌋`
/// with `l = low.len()`, whose own digits are only carried.
///
/// * Precondition: `c.len() ≥ out.len()`, `d.len() ≥ l + out.len()`; the result is not negative and below
///   `2^{w·out.len()}`; sums of columns are corrected for bias and, as unsigned numbers, not wrapped.
#[inline(always)]
pub fn normalize_sum<M: Machine>(m: M, out: &mut [M::Digit], low: &[M::Digit], c: &[M::Column], d: &[M::Column]) {
    let mut carry = m.column_splat(0);
    for (&low, &d) in low.iter().zip(d) {
        carry = m.carry(m.add(m.add(m.column(low), d), carry));
    }
    for ((out, &c), &d) in out.iter_mut().zip(c).zip(&d[low.len()..]) {
        let column = m.add(m.add(c, d), carry);
        *out = m.operand(column);
        carry = m.carry(column);
    }
}
