//! Squares: the strict upper triangle once, doubled, and the diagonal.

use crate::lanes::Lanes;

/// The columns of `Σ_{i<j} A[i]·A[j]·2^{w(i+j)}`, written (not added) to `C[0..2T]`.
///
/// * Precondition: `a.len() = T`, `c.len() ≥ 2T`.
/// * Cost: `T(T−1)/2` products. Fully unrolled.
#[inline(always)]
#[allow(unused_assignments)] // the last row leaves nothing in the accumulators
pub fn triangle<M: Lanes, const T: usize>(m: M, c: &mut [M::Column], a: &[M::Digit]) {
    const { assert!(T <= 20, "more rows than are unrolled below") };
    let a: &[M::Digit; T] = a.first_chunk().expect("tile width");
    let c = &mut c[..2 * T];
    let zero = m.column_splat(0);
    // While row i is under way, acc[k] is column 2i + k: a row starts two columns above the one before, and finishes
    // columns 2i + 1 and 2i + 2. Its uppermost column, i + T, is new.
    let mut acc = [zero; T];
    c[0] = zero;
    macro_rules! rows {
        ($($i:literal)*) => {$(
            if $i + 1 < T {
                let mut column = acc[1];
                for j in $i + 1..T {
                    let k = j - $i;
                    let above = if j + 1 < T { acc[k + 1] } else { zero };
                    let (done, next) = m.mac(column, above, a[j], a[$i]);
                    match k {
                        1 | 2 => c[2 * $i + k] = done,
                        _ => acc[k - 2] = done,
                    }
                    column = next;
                }
                if T - $i == 2 {
                    c[2 * $i + 2] = column;
                } else {
                    acc[T - $i - 2] = column;
                }
            }
        )*};
    }
    rows!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
    c[2 * T - 1] = zero;
}

/// Makes the columns of a square from those of its strict upper triangle: `C ← 2·C + start`, and
/// `C[2i], C[2i+1] += lo, hi (A[i]²)`.
///
/// `start` carries the bias of a whole square with its reduction (doubling a column doubles the bias in it, as the
/// missing lower triangle would).
///
/// * Precondition: `start.len() ≥ 2·a.len()`, `c.len() ≥ start.len()`; columns past `2·a.len()` are set to `start`.
/// * Cost: `L` products.
#[inline(always)]
pub fn square_finish<M: Lanes>(m: M, c: &mut [M::Column], a: &[M::Digit], start: &[u64]) {
    let l = a.len();
    let (c, start) = (&mut c[..start.len()], &start[..]);
    for i in 0..l {
        let double = |k: usize, c: &[M::Column]| m.add(m.add(c[k], c[k]), m.column_splat(start[k]));
        let (lo, hi) = (double(2 * i, c), double(2 * i + 1, c));
        (c[2 * i], c[2 * i + 1]) = m.mac(lo, hi, a[i], a[i]);
    }
    for k in 2 * l..start.len() {
        c[k] = m.column_splat(start[k]);
    }
}
