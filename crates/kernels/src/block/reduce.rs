//! Montgomery reduction by the friendly multiple.

use crate::lanes::Lanes;

/// Clears the lowest columns of `C`, one per row, by adding multiples of the modulus.
///
/// With `k = −M^{−1} mod 2^w`, the *friendly multiple* `M' = k·M ≡ −1 (mod 2^w)` has the quotient digit for free: for
/// the lowest column `c`, `q = c mod 2^w` itself, and
/// `(c + q·M') / 2^w = ⌊c / 2^w⌋ + q·M''` with `M'' = (M' + 1)/2^w`, which has `L` digits. So row `i` adds the carry of
/// column `i` and `q_i·M''` one column up. No multiplication stands between a column and its quotient.
///
/// The `last` row of a whole reduction is an ordinary Montgomery row (`q = μ·c mod 2^w`, `C += q·M`, not shifted), so
/// that the result grows by one `M` only: a number `T` becomes less than `T/R + 2M` (DESIGN section 3).
///
/// `friendly` is the lowest tile, `T` digits, of `M''`; the quotients go to `q`, for the other tiles to be added by
/// [`mac_rows`](crate::block::mac_rows). `last` holds the lowest tile of `M`, and `μ`; with it, the last of the rows is
/// the ordinary one.
///
/// * Precondition: `friendly.len() = T ≥ q.len() − 1`, `c.len() ≥ T + q.len() + 1`; the columns of this row block have
///   received everything that earlier row blocks add.
/// * Result: the first `q.len()` columns are zero modulo `2^w`, their carries passed on; they are not written.
/// * Cost: `T·rows` products, and one more for `μ`.
#[inline(always)]
pub fn reduce_rows<M: Lanes, const T: usize>(
    m: M,
    c: &mut [M::Column],
    friendly: &[M::Digit],
    q: &mut [M::Digit],
    last: Option<(&[M::Digit], M::Digit)>,
) {
    let friendly: &[M::Digit; T] = friendly.first_chunk().expect("tile width");
    let rows = q.len();
    let c = &mut c[..T + rows + 1];
    let plain_rows = usize::from(last.is_some());
    let mut acc: [M::Column; T] = *c.first_chunk().expect("columns");
    // The window holds columns i .. i + T, and `top` column i + T.
    let mut top = c[T];
    for i in 0..rows - plain_rows {
        let entering = c[i + T + 1];
        let digit = m.operand(acc[0]);
        q[i] = digit;
        let carry = m.carry(acc[0]);
        let mut column = m.add(if T > 1 { acc[1] } else { top }, carry);
        for j in 0..T {
            let above = match T - j {
                1 => entering,
                2 => top,
                _ => acc[(j + 2) % T],
            };
            let (done, next) = m.mac(column, above, friendly[j], digit);
            acc[j] = done;
            column = next;
        }
        top = column;
    }
    if let Some((modulus, mu)) = last {
        let modulus: &[M::Digit; T] = modulus.first_chunk().expect("tile width");
        let i = rows - 1;
        let bias = m.column_splat(M::BIAS_LO.wrapping_neg());
        let (low, _) = m.mac(bias, bias, m.digit(acc[0]), mu);
        let digit = m.digit(low);
        q[i] = digit;
        let mut column = acc[0];
        for j in 0..T {
            let above = if j + 1 < T { acc[j + 1] } else { top };
            let (done, next) = m.mac(column, above, modulus[j], digit);
            acc[j] = done;
            column = next;
        }
        // Column i is now a multiple of 2^w; it goes, and its carry moves on.
        let carry = m.carry(acc[0]);
        if T > 1 {
            acc[1] = m.add(acc[1], carry);
            top = column;
        } else {
            top = m.add(column, carry);
        }
        c[i + 1..i + T].copy_from_slice(&acc[1..]);
        c[i + T] = top;
    } else {
        c[rows..rows + T].copy_from_slice(&acc);
        c[rows + T] = top;
    }
}
