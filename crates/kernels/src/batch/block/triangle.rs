//! Half products of a tile: the columns below, or from, its anti-diagonal.

use crate::batch::Machine;
use crate::unroll::reload;

/// The lower half of `A · B`, `T × T` digits, as columns `0..T`: `C[i + j] += lo(A[j]·B[i])` for `i + j < T`
/// and `C[i + j + 1] += hi(A[j]·B[i])` for `i + j < T − 1`.
///
/// These are the whole of columns `0..T` of the product: `Σ_{k<T} C[k]·2^{wk} ≡ A·B (mod 2^{wT})`.
///
/// * Precondition: `a.len() = b.len() = T`, `c.len() ≥ T`.
/// * Cost: `T(T − 1)/2` products and `T` low halves. Fully unrolled.
#[inline(always)]
#[allow(unused_assignments)] // unrolled, the last product of a row leaves nothing for a next one
pub fn low_triangle<M: Machine, const T: usize>(m: M, c: &mut [M::Column], a: &[M::Digit], b: &[M::Digit]) {
    let a: &[M::Digit; T] = a.first_chunk().expect("tile width");
    let b: &[M::Digit; T] = b.first_chunk().expect("rows");
    let c: &mut [M::Column; T] = c.first_chunk_mut().expect("columns");
    let mut acc = *c;
    each!(i in 0..T {
        let a = reload(a);
        let digit = reload(b)[i];
        let mut column = acc[i];
        each!(j in 0..T {
            if i + j + 1 < T {
                (acc[(i + j) % T], column) = m.mac(column, acc[(i + j + 1) % T], a[j], digit);
            } else if i + j + 1 == T {
                acc[T - 1] = m.mac_low(column, a[j], digit);
            }
        });
        // Column i has all its products: nothing below touches it again.
        c[i] = acc[i];
    });
}

/// The upper half of `A · B`, `T × T` digits, from column `T − 1` up, which is `C[0]`:
/// `C[i + j − T + 1] += lo(A[j]·B[i])` for `i + j ≥ T − 1`, and `C[i + j − T + 2] += hi(A[j]·B[i])` for
/// `i + j ≥ T − 2`.
///
/// These are the whole of columns `T − 1 ..` of the product. The carry of the columns below is left out: the
/// lowest is a *guard*, from which the true carry is found (see [`crate::batch::separated`]).
///
/// In a number of several tiles the row below the triangle has a high half for the guard too: `b` then starts
/// with that row, and has `T + 1`.
///
/// * Precondition: `a.len() = T`, `b.len()` is `T` or `T + 1`, `c.len() ≥ T + 1`.
/// * Cost: `T(T + 1)/2` products and `T − 1` or `T` high halves. Fully unrolled.
#[inline(always)]
pub fn high_triangle<M: Machine, const T: usize>(m: M, c: &mut [M::Column], a: &[M::Digit], b: &[M::Digit]) {
    let a: &[M::Digit; T] = a.first_chunk().expect("tile width");
    let c = &mut c[..T + 1];
    // acc[k] holds column k; the highest, T, only ever receives the last row's high half.
    let mut acc: [M::Column; T] = *c.first_chunk().expect("columns");
    let below = b.len() - T;
    if below == 1 {
        acc[0] = m.mac_high(acc[0], a[T - 1], b[0]);
    }
    let b: &[M::Digit; T] = b[below..].first_chunk().expect("rows");
    let mut top = c[T];
    each!(i in 0..T {
        let a = reload(a);
        let digit = reload(b)[i];
        if i + 1 < T {
            acc[0] = m.mac_high(acc[0], a[T - 2 - i], digit);
        }
        let mut column = acc[0];
        each!(k in 0..T {
            if k <= i {
                let above = if k + 1 < T { acc[(k + 1) % T] } else { top };
                (acc[k], column) = m.mac(column, above, a[T - 1 - i + k], digit);
                if k == i {
                    if k + 1 < T {
                        acc[(k + 1) % T] = column;
                    } else {
                        top = column;
                    }
                }
            }
        });
    });
    c[..T].copy_from_slice(&acc);
    c[T] = top;
}
