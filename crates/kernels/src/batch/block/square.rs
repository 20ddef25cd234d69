//! Squares: the strict upper triangle once, doubled, and the diagonal.

use crate::batch::Machine;
use crate::unroll::reload;

/// The columns of `A²`, written to `C[0..2T]`:
/// `C = 2·(half + Σ_{i<j} A[i]·A[j]·2^{w(i+j)}) + Σ_i A[i]²·2^{2wi}`.
///
/// `half` is half of the initial values of a whole product with its reduction (see
/// [`crate::batch::context`]): doubling a column doubles the bias in it, as the missing lower triangle would.
/// A machine without bias does not read it.
///
/// * Precondition: `a.len() = T`, `c.len(), half.len() ≥ 2T`.
/// * Cost: `T(T+1)/2` products. Fully unrolled.
#[inline(always)]
pub fn square<M: Machine, const T: usize>(m: M, c: &mut [M::Column], a: &[M::Digit], half: &[u64]) {
    let half = &half[..2 * T];
    let biased = M::BIAS_LO != 0 || M::BIAS_HI != 0;
    square_columns::<M, T>(m, c, a, |_, k| m.column_splat(if biased { half[k] } else { 0 }));
}

/// Adds a square to products `C` that are still to be doubled: `C ← 2·(C + Σ_{i<j} …) + Σ_i …`.
///
/// The tiles of a longer number use it once [`mac_rows`](crate::batch::block::mac_rows) has multiplied them
/// with each other, starting from half.
#[inline(always)]
pub fn square_onto<M: Machine, const T: usize>(m: M, c: &mut [M::Column], a: &[M::Digit]) {
    square_columns::<M, T>(m, c, a, |c, k| c[k]);
}

/// Both: `before` gives what column `k` holds before the first product.
#[inline(always)]
#[allow(unused_assignments)] // unrolled, the last row leaves nothing for a next one
fn square_columns<M: Machine, const T: usize>(
    m: M,
    c: &mut [M::Column],
    a: &[M::Digit],
    before: impl Fn(&[M::Column], usize) -> M::Column,
) {
    let a: &[M::Digit; T] = a.first_chunk().expect("tile width");
    let c = &mut c[..2 * T];
    // While row i is under way, acc[k] is column 2i + k: a row starts two columns above the one before, and
    // its uppermost column, i + T, is new. It leaves columns 2i + 1 and 2i + 2 with their products complete.
    let mut acc = [m.column_splat(0); T];
    each!(k in 0..T {
        acc[k] = before(c, k);
    });
    let mut even = acc[0];
    each!(i in 0..T {
        let a = reload(a);
        let digit = a[i];
        let odd;
        let next_even;
        if i + 1 < T {
            let mut column = acc[1 % T];
            let (mut first, mut second) = (column, column);
            each!(j in 0..T {
                if j > i {
                    let k = j - i;
                    let above = if j + 1 < T { acc[(k + 1) % T] } else { before(c, i + T) };
                    let (done, next) = m.mac(column, above, a[j], digit);
                    match k {
                        1 => first = done,
                        2 => second = done,
                        _ => acc[k - 2] = done,
                    }
                    column = next;
                }
            });
            if i + 2 == T {
                second = column;
            } else {
                acc[T - i - 2] = column;
            }
            (odd, next_even) = (first, second);
        } else {
            odd = before(c, 2 * T - 1);
            next_even = odd;
        }
        (c[2 * i], c[2 * i + 1]) = m.mac(m.add(even, even), m.add(odd, odd), digit, digit);
        even = next_even;
    });
}
