//! Multiplication in Montgomery form of long numbers, tile by tile.

use super::bias::{all, different, equal, restart, start};
use super::kernel::{add_different, add_equal, normalize, pass, rounded_up};
use super::{DIGIT_BITS, LANES, Machine, TOP_BITS};

/// Like [`amm`](super::amm), for numbers of any count of tiles of `W` vectors; `C = 2W`.
///
/// Preconditions, bound and cost are those of [`amm`](super::amm), except that the quotient of each tile of
/// the last segment costs `W(W + 1)/2`.
#[inline(always)]
pub fn amm_tiles<M: Machine, const SIDES: usize, const W: usize, const C: usize>(
    m: M,
    x: &mut [M::Vector],
    y: &[M::Vector],
    tables: &[M::Vector],
    space: &mut [M::Vector],
) {
    multiply::<M, SIDES, W, C>(m, x, Some(y), tables, space);
}

/// Like [`ams`](super::ams), by tiles, `times` times. Products of different tiles are computed once and
/// doubled.
#[inline(always)]
pub fn ams_tiles<M: Machine, const SIDES: usize, const W: usize, const C: usize>(
    m: M,
    x: &mut [M::Vector],
    times: usize,
    tables: &[M::Vector],
    space: &mut [M::Vector],
) {
    for _ in 0..times {
        multiply::<M, SIDES, W, C>(m, x, None, tables, space);
    }
}

/// `x·y·R^{−1}`, or `x²·R^{−1}` if `y` is `None` (constant in each entry point).
#[inline(always)]
fn multiply<M: Machine, const SIDES: usize, const W: usize, const C: usize>(
    m: M,
    x: &mut [M::Vector],
    y: Option<&[M::Vector]>,
    tables: &[M::Vector],
    space: &mut [M::Vector],
) {
    const { assert!(C == 2 * W && LANES.is_multiple_of(SIDES)) };
    let v = x.len();
    let (friendly, rest) = tables.split_at(v);
    let (modulus, inverse) = rest.split_at(v);
    let inverse: &[_; W] = inverse.first_chunk().expect("the inverse");
    let (sum, quotient) = space.split_at_mut(2 * v);
    let mut carry = m.zero();
    for segment in 0..LANES / SIDES {
        let multiple = if segment > 0 {
            carry = quotient_of::<M, SIDES>(m, quotient, sum, carry);
            Some(Multiple { number: friendly, quotient })
        } else {
            None
        };
        add_segment::<M, SIDES, W, C>(m, sum, x, y, segment, multiple);
    }
    // The last segment, a tile at a time, as `clear` of the kernels in registers does it.
    for j in 0..v / W {
        let sum = &mut sum[W * j..];
        let mut digits = [m.zero(); W];
        unroll!(i in W, {
            digits[i] = m.lowest::<SIDES>(sum[i]);
        });
        pass::<M, W, DIGIT_BITS>(m, &mut digits, W, carry);
        let mut columns = start::<M, C>(m, |c| all(W, c));
        // The compiler drops the columns from `W` on.
        add_tile::<M, W, C>(m, &mut columns, inverse, &digits);
        unroll!(i in W, {
            digits[i] = columns[i];
        });
        let is_top = W * (j + 1) == v;
        match is_top {
            true => pass::<M, W, TOP_BITS>(m, &mut digits, W, m.zero()),
            false => pass::<M, W, DIGIT_BITS>(m, &mut digits, W, m.zero()),
        };
        for (i, tile) in modulus.chunks_exact(W).enumerate() {
            let sum: &mut [_; C] = sum[W * i..].first_chunk_mut().expect("columns");
            let mut columns = *sum;
            restart(m, &mut columns, |c| all(W, c));
            add_tile::<M, W, C>(m, &mut columns, tile.first_chunk().expect("a tile"), &digits);
            *sum = columns;
        }
        let top = m.lowest::<SIDES>(sum[W - 1]);
        carry = if is_top { rounded_up::<M, TOP_BITS>(m, top) } else { rounded_up::<M, DIGIT_BITS>(m, top) };
    }
    let (low, high) = sum.split_at(v);
    for (x, (&low, &high)) in x.iter_mut().zip(low.iter().zip(high)) {
        *x = m.add(m.down::<SIDES>(low), m.add(high, high));
    }
    normalize::<M, SIDES>(m, x, carry);
}

/// The quotient that clears the lowest segment of a sum; returns the carry.
#[inline(always)]
fn quotient_of<M: Machine, const SIDES: usize>(
    m: M,
    quotient: &mut [M::Vector],
    sum: &[M::Vector],
    mut carry: M::Vector,
) -> M::Vector {
    let (top, others) = quotient.split_last_mut().expect("a number");
    for (digit, &column) in others.iter_mut().zip(sum) {
        let value = m.add(m.lowest::<SIDES>(column), carry);
        (*digit, carry) = (m.digits(value), m.carry::<DIGIT_BITS>(value));
    }
    let value = m.add(m.lowest::<SIDES>(sum[others.len()]), carry);
    *top = m.digits(m.low::<TOP_BITS>(value));
    m.carry::<TOP_BITS>(value)
}

/// A number, and the digits of one segment to multiply it by.
struct Multiple<'a, V> {
    number: &'a [V],
    quotient: &'a [V],
}

/// Adds the product of `a` and one segment of `b`, or without a `b` of `a`, to a sum, once its lowest segment
/// is gone; and a multiple, whose quotient has cleared that segment. At the first segment there is no sum
/// yet.
///
/// Columns are made `W` at a time, in registers.
#[inline(always)]
fn add_segment<M: Machine, const SIDES: usize, const W: usize, const C: usize>(
    m: M,
    sum: &mut [M::Vector],
    a: &[M::Vector],
    b: Option<&[M::Vector]>,
    segment: usize,
    multiple: Option<Multiple<M::Vector>>,
) {
    let (v, tiles) = (a.len(), a.len() / W);
    let mut upper = [m.zero(); W];
    for c in 0..2 * tiles {
        // Products of tile `i` and tile `c − i`.
        let (first, end) = ((c + 1).saturating_sub(tiles), tiles.min(c + 1));
        let count = end.saturating_sub(first);
        let mut columns;
        if let Some(b) = b {
            columns = start::<M, C>(m, |c| count * all(W, c));
            for i in first..end {
                add_tile::<M, W, C>(
                    m,
                    &mut columns,
                    tile(a, i),
                    &segment_of::<M, SIDES, W>(m, tile(b, c - i), segment),
                );
            }
        } else {
            // Each product of different digits once, and doubled.
            let (pairs, middle) = (count / 2, count % 2);
            columns = start::<M, C>(m, |c| pairs * all(W, c) + middle * different(W, c));
            for i in first..first + pairs {
                add_tile::<M, W, C>(
                    m,
                    &mut columns,
                    tile(a, i),
                    &segment_of::<M, SIDES, W>(m, tile(a, c - i), segment),
                );
            }
            let digits = segment_of::<M, SIDES, W>(m, tile(a, c / 2), segment);
            if middle > 0 {
                add_different::<M, W, C>(m, &mut columns, tile(a, c / 2), &digits);
            }
            unroll!(c to C, {
                columns[c] = m.add(columns[c], columns[c]);
            });
            restart(m, &mut columns, |c| middle * equal(W, c));
            if middle > 0 {
                add_equal::<M, W, C>(m, &mut columns, tile(a, c / 2), &digits);
            }
        }
        if let Some(Multiple { number, quotient }) = &multiple {
            restart(m, &mut columns, |c| count * all(W, c));
            for i in first..end {
                add_tile::<M, W, C>(m, &mut columns, tile(number, i), tile(quotient, c - i));
            }
        }
        unroll!(i in W, {
            let mut column = m.add(columns[i], upper[i]);
            if multiple.is_some() && c < tiles {
                let (low, high) = (sum[W * c + i], sum[v + W * c + i]);
                column = m.add(column, m.add(m.down::<SIDES>(low), m.add(high, high)));
            }
            sum[W * c + i] = column;
            upper[i] = columns[W + i];
        });
    }
}

/// Tile `i` of a number.
#[inline(always)]
fn tile<V, const W: usize>(number: &[V], i: usize) -> &[V; W] {
    number[W * i..].first_chunk().expect("a tile")
}

/// The digits of one segment of a tile, in all segments.
#[inline(always)]
fn segment_of<M: Machine, const SIDES: usize, const W: usize>(
    m: M,
    tile: &[M::Vector; W],
    segment: usize,
) -> [M::Vector; W] {
    let mut digits = [m.zero(); W];
    unroll!(j in W, {
        digits[j] = m.segment::<SIDES>(&tile[j], segment);
    });
    digits
}

/// Adds the product of two tiles.
#[inline(always)]
fn add_tile<M: Machine, const W: usize, const C: usize>(
    m: M,
    sum: &mut [M::Vector; C],
    tile: &[M::Vector; W],
    digits: &[M::Vector; W],
) {
    unroll!(j in W, {
        unroll!(i in W, {
            (sum[i + j], sum[i + j + 1]) = m.mac(sum[i + j], sum[i + j + 1], tile[i], digits[j]);
        });
    });
}
