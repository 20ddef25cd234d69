//! Multiplication in Montgomery's domain of numbers that are one tile wide.

use super::{DIGIT_BITS, LANES, MOST, Row, Shape, normalize};

/// Vectors of working space for each number: its columns in two parts, and where a kernel wants it, one factor shifted.
pub const fn columns_for(shape: Shape) -> usize {
    4 * shape.vectors() + if shape.is_tuned() { 0 } else { shape.shifted() }
}

/// `x ← x·y·R^{−1} mod M` for each of the numbers side by side, or without a `y` `x ← x²·R^{−1} mod M`; `times` times.
///
/// `N` vectors a number, of which the highest `E` lanes are left over: `L = 8N − E`; `W = N + 1`, `T = 2N`.
///
/// * Precondition: `x`, and `y` where it is given, below `4M`, in digits below `2^52`; `tables` as
///   [`Constants`](super::Constants) has them for each number.
/// * Bound of the result: the same, see [`crate::across`].
/// * Cost, each: `L` rows of product and `8N − E` rows of reduction, each of `N` vectors, or `N + 1` where its shift makes it
///   span so many; and `15` multiplications for the last quotient. For `L = 20`: `135 + 135 + 15`.
#[inline(always)]
pub fn amm<M: Row, const N: usize, const W: usize, const T: usize, const E: usize>(
    m: M,
    x: &mut [M::Vector],
    y: Option<&[M::Vector]>,
    times: usize,
    tables: &[M::Vector],
    columns: &mut [M::Vector],
) {
    const { assert!(W == N + 1 && T == 2 * N && E < LANES && N <= super::constants::MAX_WIDTH) };
    let tables = || tables.chunks_exact(2 * LANES * W + LANES);
    for _ in 0..times {
        for (n, columns) in columns.chunks_exact_mut(2 * T).enumerate() {
            let a: &[_; N] = x[n * N..].first_chunk().expect("a number");
            let b = y.map_or(a, |y| y[n * N..].first_chunk().expect("a number"));
            product::<M, N, T, E>(m, columns, a, b);
        }
        let mut carries = [0; MOST];
        for k in 0..N - 1 {
            for ((columns, tables), carry) in columns.chunks_exact_mut(2 * T).zip(tables()).zip(&mut carries) {
                let (low, high) = columns.split_at_mut(T);
                let mut q = [0; LANES];
                if k == 0 {
                    *carry = m.quotient::<E>(&low[k], &high[k], 0, &mut q);
                    add_rows::<M, N, W, E, E>(m, &mut low[k + 1..], &mut high[k + 1..], tables, &q);
                } else {
                    *carry = m.quotient::<0>(&low[k], &high[k], *carry, &mut q);
                    add_rows::<M, N, W, E, 0>(m, &mut low[k + 1..], &mut high[k + 1..], tables, &q);
                }
            }
        }
        // All quotients first: they wait for carries twice.
        let mut quotients = [[0; LANES]; MOST];
        for (((columns, tables), carry), q) in
            columns.chunks_exact(2 * T).zip(tables()).zip(&carries).zip(&mut quotients)
        {
            last_quotient(m, &columns[N - 1], &columns[T + N - 1], *carry, &tables[2 * LANES * W..], q);
        }
        for (((columns, tables), x), q) in
            columns.chunks_exact_mut(2 * T).zip(tables()).zip(x.chunks_exact_mut(N)).zip(&quotients)
        {
            let (low, high) = columns.split_at_mut(T);
            add_rows::<M, N, W, E, 0>(m, &mut low[N - 1..], &mut high[N - 1..], &tables[LANES * W..], q);
            let carry = pass(m, &low[N - 1], &high[N - 1]);
            let (low, high): (&[_; N], &[_; N]) =
                (low[N..].first_chunk().expect("the upper half"), high[N..].first_chunk().expect("the upper half"));
            let mut sum = [m.zero(); N];
            unroll!(K in N, {
                sum[K] = m.add(low[K], high[K]);
            });
            sum[0] = m.add(sum[0], m.vector([carry, 0, 0, 0, 0, 0, 0, 0]));
            normalize(m, &mut sum);
            x.copy_from_slice(&sum);
        }
    }
}

/// The columns of `a·b·2^{52E}`: low halves in the first `T` vectors of `columns`, high halves in the next `T`.
///
/// For each of the eight shifts, `a` is shifted once, and multiplied by every digit of `b` that stands in that place of its
/// vector: the low half by that digit, the high half by the one before, since high halves belong one column up.
#[inline(always)]
pub fn product<M: Row, const N: usize, const T: usize, const E: usize>(
    m: M,
    columns: &mut [M::Vector],
    a: &[M::Vector; N],
    b: &[M::Vector; N],
) {
    let (mut low, mut high) = ([m.zero(); T], [m.zero(); T]);
    let digits = LANES * N - E;
    unroll!(S in 8, {
        unroll!(K in N + 1, {
            let vector = if K < N { a[K % N] } else { m.zero() };
            let below = if K > 0 { a[(K + N - 1) % N] } else { m.zero() };
            let part = if S == 0 { vector } else { m.align::<{ (16 - S as i32) % 8 }>(vector, below) };
            // With S ≤ E, the lanes that are left over take up the shift.
            if K < N || S > E {
                unroll!(I in N + 1, {
                    let row = LANES * I + S;
                    if E <= row && row < digits + E {
                        low[(I + K) % T] = m.mac_low(low[(I + K) % T], part, m.splat(digit(m, b, row - E)));
                    }
                    if E < row && row <= digits + E {
                        high[(I + K) % T] = m.mac_high(high[(I + K) % T], part, m.splat(digit(m, b, row - E - 1)));
                    }
                });
            }
        });
    });
    let columns: &mut [M::Vector] = &mut columns[..2 * T];
    unroll!(K in T, {
        columns[K] = low[K];
        columns[T + K] = high[K];
    });
}

/// Digit `i` of a number.
#[inline(always)]
fn digit<M: Row>(m: M, number: &[M::Vector], i: usize) -> &u64 {
    &m.lanes(&number[i / LANES])[i % LANES]
}

/// The quotient `U·N' mod B` of a vector of columns and the carry from below; `inverse` holds `N'` shifted.
#[inline(always)]
pub fn last_quotient<M: Row>(
    m: M,
    low: &M::Vector,
    high: &M::Vector,
    carry: u64,
    inverse: &[M::Vector],
    q: &mut [u64; LANES],
) {
    let inverse: &[_; LANES] = inverse.first_chunk().expect("eight shifts");
    let mut digits = [0; LANES];
    m.quotient::<0>(low, high, carry, &mut digits);
    // Four accumulators: nothing else is there to be done meanwhile.
    let mut sum = [m.zero(); 4];
    unroll!(S in 8, {
        sum[S % 2] = m.mac_low(sum[S % 2], inverse[S], m.splat(&digits[S % LANES]));
        if S > 0 {
            sum[2 + S % 2] = m.mac_high(sum[2 + S % 2], inverse[S], m.splat(&digits[(S + 7) % LANES]));
        }
    });
    m.quotient::<0>(&m.add(sum[0], sum[1]), &m.add(sum[2], sum[3]), 0, q);
}

/// What the last vector that is cleared carries out. With the last quotient's products, and the carry that came to it from
/// below, it is divisible by `B`.
///
/// Its lanes below the last, and that carry, bring less than `2^13` into the last lane, `v`, and make it divisible by
/// `2^52`. So `⌈v/2^52⌉` is carried out.
#[inline(always)]
pub fn pass<M: Row>(m: M, low: &M::Vector, high: &M::Vector) -> u64 {
    let (low, high) = (m.lanes(low), m.lanes(high));
    (low[LANES - 1] + high[LANES - 1] + ((1 << DIGIT_BITS) - 1)) >> DIGIT_BITS
}

/// Adds the product of a number, as `table` holds its shifts, and the digits of `q` from `FROM` on, to columns in two parts.
///
/// `N` vectors of the number, of which `E` lanes on top are zeros; `W = N + 1`.
#[inline(always)]
pub fn add_rows<M: Row, const N: usize, const W: usize, const E: usize, const FROM: usize>(
    m: M,
    low: &mut [M::Vector],
    high: &mut [M::Vector],
    table: &[M::Vector],
    q: &[u64; LANES],
) {
    let (low, high) = (&mut low[..W], &mut high[..W]);
    let mut l: [M::Vector; W] = *low.first_chunk().expect("columns");
    let mut h: [M::Vector; W] = *high.first_chunk().expect("columns");
    unroll!(S in 8, {
        let part: &[_; W] = table[S * W..].first_chunk().expect("a shifted number");
        unroll!(K in W, {
            if K < N || S > E {
                if S >= FROM {
                    l[K] = m.mac_low(l[K], part[K], m.splat(&q[S % LANES]));
                }
                if S > FROM {
                    h[K] = m.mac_high(h[K], part[K], m.splat(&q[(S + 7) % LANES]));
                }
            }
        });
    });
    unroll!(K in N, {
        h[(K + 1) % W] = m.mac_high(h[(K + 1) % W], table[K], m.splat(&q[7]));
    });
    low.copy_from_slice(&l);
    high.copy_from_slice(&h);
}

/// The entries of a table that the indices name, one for each number side by side. Reads the whole table.
///
/// Numbers have tiles of `N` vectors. Precondition: `index` has an index for each number of `out`, and the table's entries
/// are as long as `out`; an index outside the table yields 0.
#[inline(always)]
pub fn select<M: Row, const N: usize>(m: M, out: &mut [M::Vector], table: &[M::Vector], index: &[u64]) {
    let stride = out.len();
    let tiles = stride / N / index.len();
    for (n, out) in out.chunks_exact_mut(N).enumerate() {
        let index = index[n / tiles];
        let mut acc = [m.zero(); N];
        for (e, entry) in table.chunks_exact(stride).enumerate() {
            let mask = m.equals(index, e as u64);
            let entry: &[_; N] = entry[n * N..].first_chunk().expect("a number");
            unroll!(K in N, {
                acc[K] = m.select(mask, acc[K], entry[K]);
            });
        }
        out.copy_from_slice(&acc);
    }
}
