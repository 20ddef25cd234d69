//! Products: a tile of columns times rows of digits.

use crate::batch::Machine;
use crate::unroll::reload;

/// `C += A · B`, as columns: `C[i + j] += lo(A[j]·B[i])`, `C[i + j + 1] += hi(A[j]·B[i])`, for `j < T`, any
/// number of rows `i`.
///
/// * Precondition: `a.len() = T`, `c.len() ≥ T + b.len()`; every column stays below `2^63` once corrected for
///   bias.
/// * Cost: `T·rows` products; one column load and one store per row.
/// * Source: operand scanning, the tile held as BLIS holds a micro-tile.
#[inline(always)]
pub fn mac_rows<M: Machine, const T: usize>(m: M, c: &mut [M::Column], a: &[M::Digit], b: &[M::Digit]) {
    let a: &[M::Digit; T] = a.first_chunk().expect("tile width");
    let (c, rows) = (&mut c[..T + b.len()], b.len());
    let mut acc: [M::Column; T] = *c.first_chunk().expect("columns");
    let single = if M::TWO_ROWS { rows % 2 } else { rows };
    for i in 0..single {
        // The window of T columns starts at column i; it leaves that column finished and moves up by one.
        let entering = c[i + T];
        m.mac_row(&mut acc, &mut c[i], entering, a, b[i]);
    }
    for i in (single..rows).step_by(2) {
        let (first, second) = (b[i], b[i + 1]);
        // The window of T columns leaves two columns finished, and moves up by two.
        let entering = [c[i + T], c[i + T + 1]];
        let (mut low, mut high) = (acc[0], if T > 1 { acc[1 % T] } else { entering[0] });
        let a = reload(a);
        each!(j in 0..T {
            let above = match T - j {
                1 => entering[1],
                2 => entering[0],
                _ => acc[(j + 2) % T],
            };
            (low, high) = m.mac(low, high, a[j], first);
            let (next, top) = m.mac(high, above, a[j], second);
            match j {
                0 => c[i] = low,
                1 => c[i + 1] = low,
                _ => acc[j - 2] = low,
            }
            (low, high) = (next, top);
        });
        if T > 1 {
            acc[T - 2] = low;
        } else {
            c[i + 1] = low;
        }
        acc[T - 1] = high;
    }
    c[rows..rows + T].copy_from_slice(&acc);
}

/// `X ← X·F`, digits normalised, by a factor of one digit for each lane.
///
/// * Precondition: `factor` holds `LANES` words below `2^w`; `initial` holds the initial values of the
///   product's columns, one more than `x` has digits; the product is below `2^{w·x.len()}`.
/// * Cost: a product for each digit, and a chain of additions and shifts.
#[inline(always)]
pub fn scale<M: Machine>(m: M, x: &mut [M::Digit], factor: &[u64], initial: &[u64]) {
    let factor = m.digit(m.column_from(factor));
    let mut carry = m.column_splat(0);
    let (first, rest) = initial.split_first().expect("columns");
    let mut column = m.column_splat(*first);
    for (x, &above) in x.iter_mut().zip(rest) {
        let (low, high) = m.mac(column, m.column_splat(above), *x, factor);
        let sum = m.add(low, carry);
        *x = m.operand(sum);
        (carry, column) = (m.carry(sum), high);
    }
}

/// Gives every column its initial value: `C[k] = initial[k]` in all lanes.
#[inline(always)]
pub fn splat<M: Machine>(m: M, c: &mut [M::Column], initial: &[u64]) {
    for (c, &value) in c.iter_mut().zip(initial) {
        *c = m.column_splat(value);
    }
}

/// Adds to every column: `C[k] += words[k]` in all lanes.
#[inline(always)]
pub fn add_words<M: Machine>(m: M, c: &mut [M::Column], words: &[u64]) {
    for (c, &word) in c.iter_mut().zip(words) {
        *c = m.add(*c, m.column_splat(word));
    }
}
