//! Montgomery reduction by the friendly multiple.

use super::amm_registers::{self, WIDEST};
use crate::batch::Machine;

/// Clears the lowest columns of `C`, one per row, by adding multiples of the modulus.
///
/// With `μ = −M^{−1} mod 2^w`, the *friendly multiple* `M' = μ·M ≡ −1 (mod 2^w)` has the quotient digit for
/// free: for the lowest column `c`, `q = c mod 2^w` itself, and `(c + q·M') / 2^w = ⌊c / 2^w⌋ + q·M''` with
/// `M'' = (M' + 1)/2^w`, which has `L` digits. So row `i` adds the carry of column `i` and `q_i·M''` one
/// column up. A column's quotient needs no multiplication.
///
/// A machine of [`TWO_ROWS`](Machine::TWO_ROWS) adds two rows at a time, by the multiple that is −1 modulo
/// `2^{2w}` (see [`amm_registers`](super::amm_registers())): row `i` adds `q_i·M''` two columns up, and each
/// row its column's carry.
///
/// The last rows of a whole reduction, [`plain_rows`] of them, are ordinary Montgomery rows
/// (`q = μ·c mod 2^w`, `C += q·M`, not shifted), so that the result grows by one `M` only: a number `T`
/// becomes less than `T/R + 2M` (see [`crate::batch::context`]).
///
/// `friendly` is the lowest tile, `T` digits, of `M''`; the quotients go to `q`, for the other tiles to be
/// added by [`mac_rows`](crate::batch::block::mac_rows). `last` holds the lowest tile of `M`, and `μ`; with
/// it, the last of the rows are ordinary ones.
///
/// * Precondition: `friendly.len() = T ≥ q.len() − 1`, `c.len() ≥ T + q.len() + 1`, or one more for pairs
///   without `last`; the columns of this row block have received everything that earlier row blocks add. Of
///   pairs, the friendly rows are an even number.
/// * Result: the first `q.len()` columns are done with, their carries passed on; they are not written.
/// * Cost: `T·rows` products, and one more for each `μ`.
#[inline(always)]
pub fn reduce_rows<M: Machine, const T: usize>(
    m: M,
    c: &mut [M::Column],
    friendly: &[M::Digit],
    q: &mut [M::Digit],
    last: Option<(&[M::Digit], M::Digit)>,
) {
    let friendly: &[M::Digit; T] = friendly.first_chunk().expect("tile width");
    let plain = if last.is_some() { plain_rows::<M>(q.len()) } else { 0 };
    let (q, q_last) = q.split_at_mut(q.len() - plain);
    if M::TWO_ROWS {
        friendly_pairs(m, c, friendly, q);
    } else {
        friendly_rows(m, c, friendly, q);
    }
    if let Some((modulus, mu)) = last {
        // A constant for the compiler, where it is always one.
        let rows = if M::TWO_ROWS { plain } else { 1 };
        for (i, q_last) in q_last[..rows].iter_mut().enumerate() {
            *q_last = plain_row::<M, T>(m, &mut c[q.len() + i..], modulus, mu);
        }
    }
}

/// The friendly rows, one at a time.
#[inline(always)]
fn friendly_rows<M: Machine, const T: usize>(
    m: M,
    c: &mut [M::Column],
    friendly: &[M::Digit; T],
    q: &mut [M::Digit],
) {
    let (c, rows) = (&mut c[..T + q.len() + 1], q.len());
    let Some((last, others)) = q.split_last_mut() else { return };
    // Before row `i` is added, the window holds columns i + 1 ..= i + T. The carry of column `i` is in it
    // already.
    let mut acc: [M::Column; T] = *c[1..].first_chunk().expect("columns");
    let mut quotient = m.operand(c[0]);
    acc[0] = m.add(acc[0], m.carry(c[0]));
    for (q, &entering) in others.iter_mut().zip(&c[T + 1..]) {
        *q = quotient;
        quotient = m.reduce_row(&mut acc, entering, friendly, quotient);
    }
    // The last row: an ordinary row may still add to column `rows`, so its carry stays in it.
    *last = quotient;
    let mut lowest = acc[0];
    m.mac_row(&mut acc, &mut lowest, c[T + rows], friendly, quotient);
    c[rows] = lowest;
    c[rows + 1..].copy_from_slice(&acc);
}

/// The friendly rows, two at a time: the multiple is that of two digits.
#[inline(always)]
fn friendly_pairs<M: Machine, const T: usize>(
    m: M,
    c: &mut [M::Column],
    friendly: &[M::Digit; T],
    q: &mut [M::Digit],
) {
    debug_assert!(q.len().is_multiple_of(2));
    if q.is_empty() {
        return;
    }
    let mut window = [m.column_splat(0); WIDEST + 4];
    let c = &mut c[..T + q.len() + 2];
    let held: &[M::Column; T] = c.first_chunk().expect("columns");
    each!(k in 0..T {
        window[k] = held[k];
    });
    (window[T], window[T + 1]) = (c[T], c[T + 1]);
    for (q, entering) in q.as_chunks_mut::<2>().0.iter_mut().zip(c[T + 2..].as_chunks::<2>().0) {
        *q = amm_registers::reduce_window::<M, T, 2, 2>(m, &mut window, friendly, entering);
    }
    let c = &mut c[q.len()..];
    (c[T], c[T + 1]) = (window[T], window[T + 1]);
    let held: &mut [M::Column; T] = c.first_chunk_mut().expect("columns");
    each!(k in 0..T {
        held[k] = window[k];
    });
}

/// How many rows share a friendly multiple.
pub const fn rows_at_a_time<M: Machine>() -> usize {
    if M::TWO_ROWS { 2 } else { 1 }
}

/// How many of the `rows` rows at the end of a reduction are ordinary ones: the friendly quotients must be
/// below `2^{w(rows − k)}`, of a multiple below `2^{wk}·M`.
pub const fn plain_rows<M: Machine>(rows: usize) -> usize {
    match (M::TWO_ROWS, rows) {
        (true, 0..=3) => rows,
        (true, _) => 2 + rows % 2,
        (false, _) => 1,
    }
}

/// The ordinary Montgomery row on column 0: returns its quotient. The column's carry moves on to column 1.
#[inline(always)]
fn plain_row<M: Machine, const T: usize>(
    m: M,
    c: &mut [M::Column],
    modulus: &[M::Digit],
    mu: M::Digit,
) -> M::Digit {
    let modulus: &[M::Digit; T] = modulus.first_chunk().expect("tile width");
    let bias = m.column_splat(M::BIAS_LO.wrapping_neg());
    let (low, _) = m.mac(bias, bias, m.digit(c[0]), mu);
    let digit = m.digit(low);
    let (c, above) = c.split_first_chunk_mut::<T>().expect("columns");
    let mut column = c[0];
    each!(j in 0..T {
        let (done, next) = m.mac(column, if j + 1 < T { c[(j + 1) % T] } else { above[0] }, modulus[j], digit);
        // Column 0 is now a multiple of 2^w: only its carry counts.
        if j == 0 {
            column = m.add(next, m.carry(done));
        } else {
            c[j] = done;
            column = next;
        }
    });
    above[0] = column;
    digit
}
