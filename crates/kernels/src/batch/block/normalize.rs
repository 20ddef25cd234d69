//! Columns to digits: the carry chain.

use crate::batch::Machine;

/// Propagates carries: digits `out` with `Σ out[i]·2^{wi} = Σ C[i]·2^{wi}`.
///
/// * Precondition: `c.len() ≥ out.len()`; the number is not negative and below `2^{w·out.len()}`; columns are
///   corrected for bias.
/// * Result: operands of `mac`; every digit is below `2^w` as far as `mac` and [`Machine::column`] see.
/// * Cost: a chain of `L` additions and shifts.
#[inline(always)]
pub fn normalize<M: Machine>(m: M, out: &mut [M::Digit], c: &[M::Column]) {
    digits(m, out, c);
}

/// The lowest digits of `C`, and their carry added to the column above them.
///
/// * Precondition: `c.len() > q.len()`; columns are corrected for bias.
/// * Result: operands of `mac`; column `q.len()` has received the carry; the columns below are left as they
///   are.
/// * Cost: a chain of as many additions and shifts as `q` has digits.
#[inline(always)]
pub fn quotients<M: Machine>(m: M, q: &mut [M::Digit], c: &mut [M::Column]) {
    let (low, above) = c.split_at_mut(q.len());
    let carry = digits(m, q, low);
    above[0] = m.add(above[0], carry);
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

/// `out = A − M`, or `A` where that would be negative.
///
/// Column `k` of the difference is `A[k] − M[k] + 2^w − 1 + carry`, the first carry 1: from 0 to
/// `2^{w+1} − 1`, and its carry is 1 unless it borrows. The difference goes to `scratch`: kept in place, it
/// would be selected by a store under a secret mask.
///
/// * Precondition: equal lengths.
/// * Result: digits below `2^w`.
/// * Cost: a chain of as many steps as there are digits.
#[inline(always)]
pub fn reduce_once<M: Machine>(
    m: M,
    out: &mut [M::Digit],
    scratch: &mut [M::Digit],
    a: &[M::Digit],
    modulus: &[M::Digit],
) {
    let borrow = m.column_splat((1 << M::DIGIT_BITS) - 1);
    let mut carry = m.column_splat(1);
    for ((scratch, &a), &modulus) in scratch.iter_mut().zip(a).zip(modulus) {
        let column = m.add(m.add(m.sub(m.column(a), m.column(modulus)), borrow), carry);
        (*scratch, carry) = (m.digit(column), m.carry(column));
    }
    let smaller = m.equals(carry, 0);
    for ((out, &scratch), &a) in out.iter_mut().zip(scratch.iter()).zip(a) {
        *out = m.select(smaller, scratch, m.digit(m.column(a)));
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

/// The lowest columns to digits, their carry moved on: `out` as [`normalize`](super::normalize()) leaves it,
/// and `C[out.len()]` receives the carry.
///
/// * Precondition: `c.len() > out.len()`; columns are corrected for bias and, as unsigned numbers, not
///   wrapped.
#[cfg(feature = "papers")]
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
#[cfg(feature = "papers")]
#[inline(always)]
pub fn normalize_sum<M: Machine>(
    m: M,
    out: &mut [M::Digit],
    low: &[M::Digit],
    c: &[M::Column],
    d: &[M::Column],
) {
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
