//! Multiplication in Montgomery's domain of numbers of any length, tile by tile.

use core::hint::black_box;

use super::kernel::{SPACE, pass, quotient, times_inverse};
use super::{LANES, Machine, settle};

/// As [`amm`](super::amm), for numbers of any number of tiles `N` vectors wide, with no lanes left over:
/// `L = 8·N·tiles`; `W = N + 1`.
///
/// Preconditions and bounds are the same. Cost: for each tile and every eight rows, `L` of the product and
/// `L` of the reduction, `8N + 7` multiplications of vectors with both halves; and `8` for the last quotient.
#[inline(always)]
pub fn amm_general<M: Machine, const N: usize, const W: usize>(
    m: M,
    tiles: usize,
    x: &mut [M::Vector],
    y: Option<&[M::Vector]>,
    times: usize,
    tables: &[M::Vector],
    columns: &mut [M::Vector],
) {
    const { assert!(W == N + 1) };
    let vectors = N * tiles;
    let count = x.len() / vectors;
    let (t, shifted, size) = (2 * vectors, LANES * W * tiles, tables.len() / count);
    let space = columns.len() / count;
    for _ in 0..times {
        for n in 0..count {
            let a = &x[n * vectors..][..vectors];
            let b = y.map_or(a, |y| &y[n * vectors..][..vectors]);
            let (columns, rest) = columns[n * space..][..space].split_at_mut(2 * t + 1);
            let (space, table) = rest.split_at_mut(SPACE);
            // Zeros hidden from the compiler: otherwise it calls memset.
            let zero = black_box(m.zero());
            columns.fill(zero);
            space.fill(zero);
            if M::BIASED {
                let initial = &tables[n * size..][..size][2 * shifted + LANES..];
                // Added to zeros: otherwise the compiler calls memcpy.
                let (low, high) = columns.split_at_mut(t);
                for (column, &value) in low.iter_mut().chain(&mut high[1..]).zip(initial) {
                    *column = m.add(value, zero);
                }
            }
            shift_up::<M, N, W>(m, table, a);
            for (k, digits) in b.iter().enumerate() {
                tiled::<M, N, W, false>(m, columns, k, &table[..shifted], m.lanes(digits));
            }
        }
        for k in 0..vectors {
            for n in 0..count {
                let (columns, space) = columns[n * space..][..space].split_at_mut(2 * t + 1);
                let (friendly, rest) = tables[n * size..][..size].split_at(shifted);
                let (plain, inverse) = rest.split_at(shifted);
                let [q, _, sum_low, sum_high, carry]: &mut [_; SPACE] = space.first_chunk_mut().expect("space");
                let (q, carry) = (m.lanes_mut(q), &mut m.lanes_mut(carry)[0]);
                let (low, high) = columns.split_at(t);
                *carry = quotient::<M, 0>(m, low, high, k, *carry, q);
                if k < vectors - 1 {
                    tiled::<M, N, W, true>(m, columns, k + 1, friendly, q);
                } else {
                    (*sum_low, *sum_high) = times_inverse(m, q, inverse);
                    m.quotient::<0>(m.lanes(sum_low), m.lanes(sum_high), 0, q);
                    tiled::<M, N, W, true>(m, columns, k, plain, q);
                }
            }
        }
        for n in 0..count {
            let (low, high) = columns[n * space..][..2 * t + 1].split_at(t);
            let carry = pass(m, &low[vectors - 1], &high[vectors]);
            let mut carry = m.vector([carry, 0, 0, 0, 0, 0, 0, 0]);
            for (k, x) in (vectors..).zip(&mut x[n * vectors..][..vectors]) {
                let sum = m.add(low[k], m.up(high[k + 1], high[k]));
                let (digits, out) = settle(m, m.add(sum, carry));
                (*x, carry) = (m.digits(digits), out);
            }
        }
    }
}

/// Adds the product of eight digits and a number of many tiles to the columns, from vector `k` on. The digits
/// are those of a quotient if `QUOTIENT`, else of a number.
#[inline(always)]
fn tiled<M: Machine, const N: usize, const W: usize, const QUOTIENT: bool>(
    m: M,
    columns: &mut [M::Vector],
    k: usize,
    table: &[M::Vector],
    q: &[u64; LANES],
) {
    let (low, high) = columns.split_at_mut(columns.len() / 2);
    for (tile, table) in table.chunks_exact(LANES * W).enumerate() {
        let at = k + tile * N;
        add_rows::<M, N, W, QUOTIENT>(m, &mut low[at..], &mut high[at + 1..], table, q);
    }
}

/// Adds the product of one tile of `N` vectors, as `table` holds its shifts, and eight digits to columns in
/// two parts.
#[inline(always)]
fn add_rows<M: Machine, const N: usize, const W: usize, const QUOTIENT: bool>(
    m: M,
    low: &mut [M::Vector],
    high: &mut [M::Vector],
    table: &[M::Vector],
    q: &[u64; LANES],
) {
    let (low, high) = (&mut low[..W], &mut high[..W]);
    let mut l: [M::Vector; W] = *low.first_chunk().expect("columns");
    let mut h: [M::Vector; W] = *high.first_chunk().expect("columns");
    unroll!(s in 8, {
        let part: &[_; W] = table[s * W..].first_chunk().expect("a shifted tile");
        let digit = if QUOTIENT { m.quotient_digit(&q[s]) } else { m.digit(&q[s]) };
        unroll!(k in W, {
            if k < N || s > 0 {
                (l[k], h[k]) = m.mac(l[k], h[k], part[k], digit);
            }
        });
    });
    low.copy_from_slice(&l);
    high.copy_from_slice(&h);
}

/// Each tile of a number shifted up by 0, 1, … 7 digits. Meanwhile the end of `table` holds a tile between
/// zeros.
#[inline(always)]
fn shift_up<M: Machine, const N: usize, const W: usize>(m: M, table: &mut [M::Vector], number: &[M::Vector]) {
    let (table, padded) = table.split_at_mut(table.len() - N - 2);
    (padded[0], padded[N + 1]) = (m.zero(), m.zero());
    for (table, tile) in table.chunks_exact_mut(LANES * W).zip(number.chunks_exact(N)) {
        padded[1..=N].copy_from_slice(tile);
        for (up, vectors) in table.chunks_exact_mut(W).enumerate() {
            for (k, vector) in vectors.iter_mut().enumerate() {
                *vector = m.window(padded, LANES * (k + 1) - up);
            }
        }
    }
}
