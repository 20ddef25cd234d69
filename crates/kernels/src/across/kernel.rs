//! Multiplication in Montgomery's domain of numbers that are one tile wide.

use core::hint::black_box;

use super::{DIGIT_BITS, LANES, Row, Shape, normalize};

/// Vectors of a number's working space beside its columns: a quotient, its columns in two parts, and a carry.
pub(super) const SPACE: usize = 4;

/// Vectors of working space for each number: its columns in two parts, `SPACE`, and one factor, or one tile of it, between
/// zeros; where the shape has no kernel of its own, the factor shifted, too.
pub const fn columns_for(shape: Shape) -> usize {
    let shifted = if shape.is_tuned() { 0 } else { shape.shifted() };
    4 * shape.vectors() + SPACE + shifted + shape.width + 2
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
///
/// Numbers are worked through step by step, two numbers in turns: where one waits for carries, the processor finds
/// multiplications of the other within reach. Other orders of these steps, also those that let the product of one meet the
/// reduction of the other, take the same time or more.
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
    let y = |n: usize| y.map(|y| y[n * N..].first_chunk().expect("a number"));
    for (x, space) in x.chunks_exact(N).zip(columns.chunks_exact_mut(2 * T + SPACE + N + 2)) {
        let factor = &mut space[2 * T + SPACE..];
        factor[0] = m.zero();
        factor[1..=N].copy_from_slice(x);
        factor[N + 1] = m.zero();
    }
    for _ in 0..times {
        // Each loop is over the numbers side by side.
        macro_rules! each {
            ($side:ident: $step:expr) => {
                let spaces = columns.chunks_exact_mut(2 * T + SPACE + N + 2);
                let tables = tables.chunks_exact(2 * LANES * W + LANES);
                for (n, (space, tables)) in spaces.zip(tables).enumerate() {
                    let mut $side = Side::<M, N, W, T, E>::new(m, y(n), tables, space);
                    $step;
                }
            };
        }
        each!(side: side.product());
        each!(side: side.first());
        for k in 1..N - 1 {
            each!(side: side.middle(k));
        }
        each!(side: side.times_inverse());
        each!(side: side.last_quotient());
        each!(side: side.last());
    }
    for (x, space) in x.chunks_exact_mut(N).zip(columns.chunks_exact(2 * T + SPACE + N + 2)) {
        x.copy_from_slice(&space[2 * T + SPACE + 1..][..N]);
    }
}

/// One of the numbers side by side, and the steps of its multiplication.
struct Side<'a, M: Row, const N: usize, const W: usize, const T: usize, const E: usize> {
    m: M,
    y: Option<&'a [M::Vector; N]>,
    friendly: &'a [M::Vector],
    plain: &'a [M::Vector],
    inverse: &'a [M::Vector],
    low: &'a mut [M::Vector],
    high: &'a mut [M::Vector],
    space: &'a mut [M::Vector; SPACE],
    /// `x`, between two vectors of zeros.
    x: &'a mut [M::Vector],
}

impl<'a, M: Row, const N: usize, const W: usize, const T: usize, const E: usize> Side<'a, M, N, W, T, E> {
    #[inline(always)]
    fn new(m: M, y: Option<&'a [M::Vector; N]>, tables: &'a [M::Vector], columns: &'a mut [M::Vector]) -> Self {
        let (friendly, rest) = tables.split_at(LANES * W);
        let (plain, inverse) = rest.split_at(LANES * W);
        let (low, rest) = columns.split_at_mut(T);
        let (high, rest) = rest.split_at_mut(T);
        let (space, x) = rest.split_at_mut(SPACE);
        let space = space.first_chunk_mut().expect("space");
        Self { m, x, y, friendly, plain, inverse, low, high, space }
    }

    /// The columns of the product.
    #[inline(always)]
    fn product(&mut self) {
        let x = self.x[1..].first_chunk().expect("a number");
        product::<M, N, W, T, E>(self.m, self.low, self.high, self.x, self.y.unwrap_or(x));
    }

    /// Clears the lowest vector, in which the lanes below `E` are 0.
    #[inline(always)]
    fn first(&mut self) {
        let (m, [q, .., carry]) = (self.m, &mut *self.space);
        m.lanes_mut(carry)[0] = m.quotient::<E>(&self.low[0], &self.high[0], 0, m.lanes_mut(q));
        add_rows::<M, N, W, E, E>(m, &mut self.low[1..], &mut self.high[1..], self.friendly, m.lanes(q));
    }

    /// Clears vector `k`, one of those between the lowest and the last.
    #[inline(always)]
    fn middle(&mut self, k: usize) {
        let (m, [q, .., carry]) = (self.m, &mut *self.space);
        let carry = &mut m.lanes_mut(carry)[0];
        *carry = m.quotient::<0>(&self.low[k], &self.high[k], *carry, m.lanes_mut(q));
        add_rows::<M, N, W, E, 0>(m, &mut self.low[k + 1..], &mut self.high[k + 1..], self.friendly, m.lanes(q));
    }

    /// The columns of the last quotient.
    #[inline(always)]
    fn times_inverse(&mut self) {
        let (m, [q, low, high, carry]) = (self.m, &mut *self.space);
        m.quotient::<0>(&self.low[N - 1], &self.high[N - 1], m.lanes(carry)[0], m.lanes_mut(q));
        (*low, *high) = times_inverse(m, m.lanes(q), self.inverse);
    }

    /// Its digits.
    #[inline(always)]
    fn last_quotient(&mut self) {
        let (m, [q, low, high, _]) = (self.m, &mut *self.space);
        m.quotient::<0>(low, high, 0, m.lanes_mut(q));
    }

    /// Clears the last vector, and makes digits of what is left.
    #[inline(always)]
    fn last(&mut self) {
        let (m, [q, ..]) = (self.m, &*self.space);
        add_rows::<M, N, W, E, 0>(m, &mut self.low[N - 1..], &mut self.high[N - 1..], self.plain, m.lanes(q));
        let carry = pass(m, &self.low[N - 1], &self.high[N - 1]);
        let mut sum = [m.zero(); N];
        let (low, high) = (&self.low[N..], &self.high[N..]);
        unroll!(k in N, {
            sum[k] = m.add(low[k], high[k]);
        });
        sum[0] = m.add(sum[0], m.vector([carry, 0, 0, 0, 0, 0, 0, 0]));
        normalize(m, &mut sum);
        self.x[1..=N].copy_from_slice(&sum);
    }
}

/// The columns of `a·b·2^{52E}`: low halves in the first `T` vectors of `columns`, high halves in the next `T`.
///
/// `a` stands between two vectors of zeros, so that a shift is nothing but a load at another address. The number was stored
/// a while before: a load across two vectors has to wait until both are in the cache.
///
/// For each of the eight shifts, `a` is loaded once, and multiplied by every digit of `b` that stands in that place of its
/// vector: the low half by that digit, the high half by the one before, since high halves belong one column up.
#[inline(always)]
fn product<M: Row, const N: usize, const W: usize, const T: usize, const E: usize>(
    m: M,
    low_out: &mut [M::Vector],
    high_out: &mut [M::Vector],
    a: &[M::Vector],
    b: &[M::Vector; N],
) {
    let a = &a[..N + 2];
    let (mut low, mut high) = ([m.zero(); T], [m.zero(); T]);
    let digits = LANES * N - E;
    unroll!(s in 8, {
        // Digits are loaded anew for every shift: there are no registers to keep them in.
        let b = black_box(b);
        unroll!(k in W, {
            // With s ≤ E, the lanes that are left over take up the shift.
            if k < N || s > E {
                let part = m.window(a, LANES * (k + 1) - s);
                unroll!(i in W, {
                    let row = LANES * i + s;
                    if E <= row && row < digits + E {
                        low[(i + k) % T] = m.mac_low(low[(i + k) % T], part, m.splat(digit(m, b, row - E)));
                    }
                    if E < row && row <= digits + E {
                        high[(i + k) % T] = m.mac_high(high[(i + k) % T], part, m.splat(digit(m, b, row - E - 1)));
                    }
                });
            }
        });
    });
    low_out.copy_from_slice(&low);
    high_out.copy_from_slice(&high);
}

/// Digit `i` of a number.
#[inline(always)]
fn digit<M: Row>(m: M, number: &[M::Vector], i: usize) -> &u64 {
    &m.lanes(&number[i / LANES])[i % LANES]
}

/// The columns of `q·N' mod B`, in two parts; `inverse` holds `N'` shifted.
#[inline(always)]
pub(super) fn times_inverse<M: Row>(m: M, q: &[u64; LANES], inverse: &[M::Vector]) -> (M::Vector, M::Vector) {
    let inverse: &[_; LANES] = inverse.first_chunk().expect("eight shifts");
    // Four accumulators: little else is there to be done meanwhile.
    let mut sum = [m.zero(); 4];
    unroll!(s in 8, {
        sum[s % 2] = m.mac_low(sum[s % 2], inverse[s], m.splat(&q[s % LANES]));
        if s > 0 {
            sum[2 + s % 2] = m.mac_high(sum[2 + s % 2], inverse[s], m.splat(&q[(s + 7) % LANES]));
        }
    });
    (m.add(sum[0], sum[1]), m.add(sum[2], sum[3]))
}

/// What the last vector that is cleared carries out. With the last quotient's products, and the carry that came to it from
/// below, it is divisible by `B`.
///
/// Its lanes below the last, and that carry, bring less than `2^13` into the last lane, `v`, and make it divisible by
/// `2^52`. So `⌈v/2^52⌉` is carried out.
#[inline(always)]
pub(super) fn pass<M: Row>(m: M, low: &M::Vector, high: &M::Vector) -> u64 {
    let (low, high) = (m.lanes(low), m.lanes(high));
    (low[LANES - 1] + high[LANES - 1] + ((1 << DIGIT_BITS) - 1)) >> DIGIT_BITS
}

/// Adds the product of a number, as `table` holds its shifts, and the digits of `q` from `FROM` on, to columns in two parts.
///
/// `N` vectors of the number, of which `E` lanes on top are zeros; `W = N + 1`.
#[inline(always)]
pub(super) fn add_rows<M: Row, const N: usize, const W: usize, const E: usize, const FROM: usize>(
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
        let part: &[_; W] = table[s * W..].first_chunk().expect("a shifted number");
        unroll!(k in W, {
            if k < N || s > E {
                if s >= FROM {
                    l[k] = m.mac_low(l[k], part[k], m.splat(&q[s % LANES]));
                }
                if s > FROM {
                    h[k] = m.mac_high(h[k], part[k], m.splat(&q[(s + 7) % LANES]));
                }
            }
        });
    });
    unroll!(k in N, {
        h[(k + 1) % W] = m.mac_high(h[(k + 1) % W], table[k], m.splat(&q[7]));
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
            unroll!(k in N, {
                acc[k] = m.select(mask, acc[k], entry[k]);
            });
        }
        out.copy_from_slice(&acc);
    }
}
