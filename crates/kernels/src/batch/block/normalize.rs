//! Columns to digits: the carry chain.

use crate::batch::Machine;

/// Propagates carries: digits `out` with `Σ out[i]·2^{wi} = Σ C[i]·2^{wi}`.
///
/// * Precondition: `c.len() ≥ out.len()`; the number is not negative and below `2^{w·out.len()}`; columns are corrected
///   for bias.
/// * Result: operands of `mac`; every digit is below `2^w` as far as `mac` and [`Machine::column`] see.
/// * Cost: a chain of `L` additions and shifts.
#[inline(always)]
pub fn normalize<M: Machine>(m: M, out: &mut [M::Digit], c: &[M::Column]) {
    digits(m, out, c);
}

/// The chain itself: columns to as many digits as `out` has, and the carry out of the last.
#[inline(always)]
fn digits<M: Machine>(m: M, out: &mut [M::Digit], c: &[M::Column]) -> M::Column {
    let mut carry = m.column_splat(0);
    for (out, &c) in out.iter_mut().zip(c) {
        let column = m.add(c, carry);
        *out = m.operand(column);
        carry = m.carry(column);
    }
    carry
}

/// The lowest columns to digits, their carry moved on: `out` as [`normalize`] leaves it, and `C[out.len()]` receives the
/// carry.
///
/// * Precondition: `c.len() > out.len()`; columns are corrected for bias and, as unsigned numbers, not wrapped.
#[inline(always)]
pub fn settle<M: Machine>(m: M, out: &mut [M::Digit], c: &mut [M::Column]) {
    let carry = digits(m, out, c);
    c[out.len()] = m.add(c[out.len()], carry);
}

/// The upper digits of a sum of two rows of columns: `out = ⌊(low + D[0..l] + 2^{wl}·(C + D[l..])) / 2^{wl}⌋` with
/// `l = low.len()`, whose own digits are only carried.
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

/// `out += a`, with carries propagated.
///
/// * Precondition: equal lengths; the sum is below `2^{wL}`.
#[inline(always)]
pub fn add_digits<M: Machine>(m: M, out: &mut [M::Digit], a: &[M::Digit]) {
    let mut carry = m.column_splat(0);
    for (out, &a) in out.iter_mut().zip(a) {
        let column = m.add(m.add(m.column(*out), m.column(a)), carry);
        *out = m.digit(column);
        carry = m.carry(column);
    }
}
