//! Montgomery reduction by the friendly multiple.

use crate::batch::Machine;
use crate::unroll::reread;

/// Clears the lowest columns of `C`, one per row, by adding multiples of the modulus.
///
/// With `μ = −M^{−1} mod 2^w`, the *friendly multiple* `M' = μ·M ≡ −1 (mod 2^w)` has the quotient digit for
/// free: for the lowest column `c`, `q = c mod 2^w` itself, and `(c + q·M') / 2^w = ⌊c / 2^w⌋ + q·M''` with
/// `M'' = (M' + 1)/2^w`, which has `L` digits. So row `i` adds the carry of column `i` and `q_i·M''` one
/// column up. A column's quotient needs no multiplication.
///
/// The `last` row of a whole reduction is an ordinary Montgomery row (`q = μ·c mod 2^w`, `C += q·M`, not
/// shifted), so that the result grows by one `M` only: a number `T` becomes less than `T/R + 2M` (see
/// [`crate::batch::domain`]).
///
/// `friendly` is the lowest tile, `T` digits, of `M''`; the quotients go to `q`, for the other tiles to be
/// added by [`mac_rows`](crate::batch::block::mac_rows). `last` holds the lowest tile of `M`, and `μ`; with
/// it, the last of the rows is the ordinary one.
///
/// * Precondition: `friendly.len() = T ≥ q.len() − 1`, `c.len() ≥ T + q.len() + 1`; the columns of this row
///   block have received everything that earlier row blocks add.
/// * Result: the first `q.len()` columns are done with, their carries passed on; they are not written.
/// * Cost: `T·rows` products, and one more for `μ`.
#[inline(always)]
pub fn reduce_rows<M: Machine, const T: usize>(
    m: M,
    c: &mut [M::Column],
    friendly: &[M::Digit],
    q: &mut [M::Digit],
    last: Option<(&[M::Digit], M::Digit)>,
) {
    let friendly: &[M::Digit; T] = friendly.first_chunk().expect("tile width");
    let c = &mut c[..T + q.len() + 1];
    let (q, q_last) = q.split_at_mut(q.len() - usize::from(last.is_some()));
    // The window holds columns i .. i + T, and `top` column i + T.
    let mut acc: [M::Column; T] = *c.first_chunk().expect("columns");
    let mut top = c[T];
    for (q, &entering) in q.iter_mut().zip(&c[T + 1..]) {
        let digit = m.operand(acc[0]);
        *q = digit;
        let carry = m.carry(acc[0]);
        let mut column = m.add(if T > 1 { acc[1 % T] } else { top }, carry);
        let friendly = reread(friendly);
        each!(j in 0..T {
            let above = match T - j {
                1 => entering,
                2 => top,
                _ => acc[(j + 2) % T],
            };
            let (done, next) = m.mac(column, above, friendly[j], digit);
            acc[j] = done;
            column = next;
        });
        top = column;
    }
    let c = &mut c[q.len()..];
    c[..T].copy_from_slice(&acc);
    c[T] = top;
    if let (Some((modulus, mu)), [q]) = (last, q_last) {
        *q = plain_row::<M, T>(m, c, modulus, mu);
    }
}

/// The ordinary Montgomery row on column 0: returns its quotient. The column's carry moves on to column 1.
#[inline(always)]
fn plain_row<M: Machine, const T: usize>(m: M, c: &mut [M::Column], modulus: &[M::Digit], mu: M::Digit) -> M::Digit {
    let modulus: &[M::Digit; T] = modulus.first_chunk().expect("tile width");
    let bias = m.column_splat(M::BIAS_LO.wrapping_neg());
    let (low, _) = m.mac(bias, bias, m.digit(c[0]), mu);
    let digit = m.digit(low);
    let mut column = c[0];
    each!(j in 0..T {
        let (done, next) = m.mac(column, c[j + 1], modulus[j], digit);
        // Column 0 is now a multiple of 2^w: only its carry counts.
        if j == 0 {
            column = m.add(next, m.carry(done));
        } else {
            c[j] = done;
            column = next;
        }
    });
    c[T] = column;
    digit
}
