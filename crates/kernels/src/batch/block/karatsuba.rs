//! Karatsuba's step: three products of half the size for one.

use crate::batch::Machine;

/// Which columns of a product of `l × l` digits are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All `2l`.
    Full,
    /// Columns `0..l`.
    Low,
    /// Columns `l − 1 ..`, the first of them a guard (see `batch/separated.rs`).
    High,
}

/// The absolute difference of two numbers, and which one is larger: `out = |A − B|` as digits; `sign[0]` is 1
/// where `A ≥ B`, else 0.
///
/// Both differences are computed side by side and one is kept by a mask. In each, column `k` is
/// `A[k] − B[k] + 2^w − 1 + carry`, the first carry 1: a number from 0 to `2^{w+1} − 1` whose carry is 1
/// unless it borrows.
///
/// Both go to `scratch` and not to `out`: kept in place, they would be selected by a store under the mask,
/// and a load after such a store takes longer for some masks than for others.
///
/// * Precondition: `out.len() = a.len() ≥ b.len()`, `scratch.len() = 2·a.len()`; missing digits of `b` are 0.
/// * Cost: a chain of `a.len()` steps.
#[inline(always)]
pub fn difference<M: Machine>(
    m: M,
    out: &mut [M::Digit],
    scratch: &mut [M::Digit],
    sign: &mut [M::Column],
    a: &[M::Digit],
    b: &[M::Digit],
) {
    let borrow = m.column_splat((1 << M::DIGIT_BITS) - 1);
    let one = m.column_splat(1);
    let (mut carry, mut other) = (one, one);
    let (differences, opposite) = scratch.split_at_mut(a.len());
    for (k, ((difference, opposite), &a)) in
        differences.iter_mut().zip(opposite.iter_mut()).zip(a).enumerate()
    {
        let a = m.column(a);
        let b = m.column(b.get(k).copied().unwrap_or(m.digit_zero()));
        let down = m.add(m.add(m.sub(a, b), borrow), carry);
        let up = m.add(m.add(m.sub(b, a), borrow), other);
        (*difference, carry) = (m.digit(down), m.carry(down));
        (*opposite, other) = (m.digit(up), m.carry(up));
    }
    let smaller = m.equals(carry, 0);
    for ((out, &difference), &opposite) in out.iter_mut().zip(differences.iter()).zip(opposite.iter()) {
        *out = m.select(smaller, difference, opposite);
    }
    sign[0] = carry;
}

/// Puts a product together (Karatsuba): for `A = A0 + 2^{wh}·A1` and `B = B0 + 2^{wh}·B1`,
/// `A·B = D0 + 2^{wh}·(D0 + D2 − s·D1) + 2^{2wh}·D2` with `D0 = A0·B0`, `D2 = A1·B1`,
/// `D1 = |A0 − A1|·|B0 − B1|` and `s` the sign of `(A0 − A1)·(B0 − B1)`. The paper `truncated` has sums in
/// the place of differences; a difference needs no digit more.
///
/// `C` holds `D0` in columns `0..2h` and `D2` from column `2h` on; `middle` holds `D1`, `2h` columns, and is
/// negated where the two signs (as [`difference`] writes them) are not the same; for a square there are none.
/// `extra` holds `2h` numbers that the middle columns receive besides.
///
/// The middle columns can be negative. `part` says which of the result are computed: of [`Part::Low`] columns
/// `0..2h`, which do not need `D1` and `D2` from column `h` on; of [`Part::High`] columns `2h − 1 ..`, which
/// do not need `D0` and `D1` below column `h − 1`.
///
/// * Precondition: `middle.len() = extra.len() = 2h`, `c.len()` is `4h`, or `4h − 2` for a high half of
///   `h − 1` digits.
/// * Cost: `2h` columns, five additions in each pair.
#[inline(always)]
pub fn karatsuba<M: Machine>(
    m: M,
    c: &mut [M::Column],
    middle: &[M::Column],
    signs: &[M::Column],
    extra: &[u64],
    part: Part,
) {
    let h = middle.len() / 2;
    let negative = match signs {
        [a, b] => m.equals(m.add(*a, *b), 1),
        _ => m.equals(m.column_splat(0), 1),
    };
    let first = if part == Part::High { h - 1 } else { 0 };
    for k in 0..h {
        let shared = m.add(c[h + k], c[2 * h + k]);
        if k >= first {
            let d1 = m.negate(negative, middle[k]);
            c[h + k] = m.add(m.add(shared, m.column_splat(extra[k])), m.sub(c[k], d1));
        }
        if part != Part::Low {
            let d1 = m.negate(negative, middle[h + k]);
            let d2 = c.get(3 * h + k).copied().unwrap_or(m.column_splat(0));
            c[2 * h + k] = m.add(m.add(shared, m.column_splat(extra[h + k])), m.sub(d2, d1));
        }
    }
}
