//! Multiplication in Montgomery's domain of numbers that are one tile wide.

use core::hint::black_box;

use super::{DIGIT_BITS, LANES, Machine, Shape, normalize};

/// Vectors of a number's working space beside its columns: two quotients, the last one's columns in two
/// parts, and a carry.
pub(super) const SPACE: usize = 5;

/// The widest number whose shifts are written one after the other. The compiler reorders the sums of more
/// columns and more halves so that they do not fit into registers; that ends where a loop does.
const MAX_UNROLLED: usize = 3;

/// Vectors of working space for each number: its columns in two parts with a vector of zeros between them,
/// `SPACE`, and one factor, or one tile of it, between zeros; where the shape has no kernel of its own, the
/// factor shifted, too.
pub const fn columns_for(shape: Shape) -> usize {
    let shifted = if shape.is_tuned() { 0 } else { shape.shifted() };
    4 * shape.vectors() + 1 + SPACE + shifted + shape.width + 2
}

/// Vectors of what a modulus is multiplied by, and of what its columns start at.
pub const fn tables_for(shape: Shape) -> usize {
    shape.tables() + 4 * shape.vectors()
}

/// `x ← x·y·R^{−1} mod M` for each of the numbers side by side, or without a `y` `x ← x²·R^{−1} mod M`;
/// `times` times.
///
/// `N` vectors a number, of which the highest `E` lanes are left over: `L = 8N − E`; `W = N + 1`, `T = 2N`.
///
/// * Precondition: `x`, and `y` where it is given, below `4M`, in digits below `2^52`; `tables` as
///   [`Constants`](super::Constants) has them for each number, as digits, and after them what the columns
///   start at.
/// * Bound of the result: the same, see [`crate::pair`].
/// * Cost, each, in multiplications of vectors with both halves: `L` rows of product, `8(N − 1) − E` rows of
///   friendly multiples and `8` of `M`, each of `N` vectors, or `N + 1` where its shift makes it span so
///   many; and `8` for the last quotient. For `L = 20`: `69 + 42 + 27 + 8`.
///
/// Everything waits for the quotients, one after the other. So the lowest vector of the product comes first,
/// and of each multiple the part in the next vector: a quotient is known while the parts above it are still
/// being added.
///
/// Numbers are worked through step by step, two numbers in turns: where one waits for carries, the processor
/// finds multiplications of the other within reach. Orders that let the product of one meet the reduction of
/// the other take the same time or more.
#[inline(always)]
pub fn amm<M: Machine, const N: usize, const W: usize, const T: usize, const E: usize>(
    m: M,
    x: &mut [M::Vector],
    y: Option<&[M::Vector]>,
    times: usize,
    tables: &[M::Vector],
    columns: &mut [M::Vector],
) {
    const { assert!(W == N + 1 && T == 2 * N && E < LANES && N <= super::constants::MAX_WIDTH) };
    let y = |n: usize| y.map(|y| y[n * N..].first_chunk().expect("a number"));
    let (count, space, size) = (x.len() / N, 2 * T + 1 + SPACE + N + 2, 2 * LANES * W + LANES + 2 * T);
    for n in 0..count {
        let (x, space) = (&x[n * N..][..N], &mut columns[n * space..][..space]);
        space[T] = m.zero();
        let factor = &mut space[2 * T + 1 + SPACE..];
        factor[0] = m.zero();
        factor[1..=N].copy_from_slice(x);
        factor[N + 1] = m.zero();
    }
    for _ in 0..times {
        // Each loop is over the numbers side by side.
        macro_rules! each {
            ($side:ident: $step:expr) => {
                let (spaces, tables) = (columns.chunks_exact_mut(space), tables.chunks_exact(size));
                if N <= MAX_UNROLLED {
                    for (n, (space, tables)) in spaces.zip(tables).enumerate() {
                        let mut $side = Side::<M, N, W, T, E>::new(m, y(n), tables, space);
                        $step;
                    }
                } else {
                    // Here there are more steps, and the compiler calls `zip`; without it the code of each
                    // step is longer.
                    let (mut spaces, mut tables) = (spaces, tables);
                    for n in 0..count {
                        let (Some(space), Some(tables)) = (spaces.next(), tables.next()) else { break };
                        let mut $side = Side::<M, N, W, T, E>::new(m, y(n), tables, space);
                        $step;
                    }
                }
            };
        }
        each!(side: side.lowest());
        each!(side: side.product());
        if N > 2 {
            each!(side: side.middle::<E>(1));
        }
        for k in 2..N - 1 {
            each!(side: side.middle::<0>(k));
        }
        each!(side: side.times_inverse());
        each!(side: side.last());
    }
    for n in 0..count {
        x[n * N..][..N].copy_from_slice(&columns[n * space + 2 * T + 1 + SPACE + 1..][..N]);
    }
}

/// One of the numbers side by side, and the steps of its multiplication.
struct Side<'a, M: Machine, const N: usize, const W: usize, const T: usize, const E: usize> {
    m: M,
    y: Option<&'a [M::Vector; N]>,
    friendly: &'a [M::Vector],
    plain: &'a [M::Vector],
    inverse: &'a [M::Vector],
    initial: &'a [M::Vector],
    low: &'a mut [M::Vector],
    /// Below the high parts of columns a vector of zeros.
    high: &'a mut [M::Vector],
    space: &'a mut [M::Vector; SPACE],
    /// `x`, between two vectors of zeros.
    x: &'a mut [M::Vector],
}

impl<'a, M: Machine, const N: usize, const W: usize, const T: usize, const E: usize> Side<'a, M, N, W, T, E> {
    #[inline(always)]
    fn new(m: M, y: Option<&'a [M::Vector; N]>, tables: &'a [M::Vector], columns: &'a mut [M::Vector]) -> Self {
        let (friendly, rest) = tables.split_at(LANES * W);
        let (plain, rest) = rest.split_at(LANES * W);
        let (inverse, initial) = rest.split_at(LANES);
        let (low, rest) = columns.split_at_mut(T);
        let (high, rest) = rest.split_at_mut(T + 1);
        let (space, x) = rest.split_at_mut(SPACE);
        let space = space.first_chunk_mut().expect("space");
        Self { m, x, y, friendly, plain, inverse, initial, low, high, space }
    }

    /// The lowest vector of the product.
    #[inline(always)]
    fn lowest(&mut self) {
        let m = self.m;
        let y = self.y.unwrap_or(self.x[1..].first_chunk().expect("a number"));
        (self.low[0], self.high[1]) = lowest::<M, N, E>(m, self.initial[0], self.initial[T], self.x, y);
    }

    /// The quotient of the lowest, in which the lanes below `E` are 0; the other vectors, and this quotient's
    /// part in vector 1.
    #[inline(always)]
    fn product(&mut self) {
        let (m, [q, .., carry]) = (self.m, &mut *self.space);
        m.lanes_mut(carry)[0] = quotient::<M, E>(m, self.low, self.high, 0, 0, m.lanes_mut(q));
        let x = self.x[1..].first_chunk().expect("a number");
        let y = self.y.unwrap_or(x);
        product::<M, N, W, T, E>(m, self.low, &mut self.high[1..], self.initial, self.x, y);
        add_lowest::<M, W, E>(m, &mut self.low[1], &mut self.high[2], self.friendly, m.lanes(q));
    }

    /// The quotient of vector `k`, one of those between the lowest and the last. Its multiple is added to
    /// vector `k + 1`, once that of the quotient before, whose digits start at `FROM`, is added to vector
    /// `k + 1` and those above.
    #[inline(always)]
    fn middle<const FROM: usize>(&mut self, k: usize) {
        let (m, [even, odd, .., carry]) = (self.m, &mut *self.space);
        let (before, q) = if k.is_multiple_of(2) { (odd, even) } else { (even, odd) };
        let carry = &mut m.lanes_mut(carry)[0];
        *carry = quotient::<M, 0>(m, self.low, self.high, k, *carry, m.lanes_mut(q));
        let (low, high) = (&mut self.low[k..], &mut self.high[k + 1..]);
        add_others::<M, N, W, E, FROM>(m, low, high, self.friendly, m.lanes(before));
        add_lowest::<M, W, 0>(m, &mut low[1], &mut high[1], self.friendly, m.lanes(q));
    }

    /// The columns of the last quotient.
    #[inline(always)]
    fn times_inverse(&mut self) {
        let (m, [even, odd, low_sum, high_sum, carry]) = (self.m, &mut *self.space);
        let (before, q) = if (N - 1).is_multiple_of(2) { (odd, even) } else { (even, odd) };
        quotient::<M, 0>(m, self.low, self.high, N - 1, m.lanes(carry)[0], m.lanes_mut(q));
        let (low, high) = (&mut self.low[N - 1..], &mut self.high[N..]);
        if N == 2 {
            add_others::<M, N, W, E, E>(m, low, high, self.friendly, m.lanes(before));
        } else {
            add_others::<M, N, W, E, 0>(m, low, high, self.friendly, m.lanes(before));
        }
        (*low_sum, *high_sum) = times_inverse(m, m.lanes(q), self.inverse);
    }

    /// Clears the last vector, and makes digits of what is left.
    #[inline(always)]
    fn last(&mut self) {
        let (m, [q, _, low, high, _]) = (self.m, &mut *self.space);
        m.quotient::<0>(m.lanes(low), m.lanes(high), 0, m.lanes_mut(q));
        let (low, high) = (&mut self.low[N - 1..], &mut self.high[N..]);
        add_lowest::<M, W, 0>(m, &mut low[0], &mut high[0], self.plain, m.lanes(q));
        let carry = pass(m, &low[0], &high[0]);
        add_others::<M, N, W, E, 0>(m, low, high, self.plain, m.lanes(q));
        let mut sum = [m.zero(); N];
        let (low, high) = (&low[1..=N], &high[..=N]);
        unroll!(k in N, {
            sum[k] = m.add(low[k], m.up(high[k + 1], high[k]));
        });
        sum[0] = m.add(sum[0], m.vector([carry, 0, 0, 0, 0, 0, 0, 0]));
        normalize(m, &mut sum);
        unroll!(k in N, {
            self.x[1 + k] = m.digits(sum[k]);
        });
    }
}

/// The columns of `a·b·2^{52E}` in two parts, except for the lowest vector, which [`lowest`] makes.
///
/// `a` is between two vectors of zeros, so that a shift is just a load at another address. The number was
/// stored a while before: a load across two vectors has to wait until both are in the cache.
///
/// For each of the eight shifts, `a` is loaded once, and multiplied by every digit of `b` at that place in
/// its vector.
#[inline(always)]
fn product<M: Machine, const N: usize, const W: usize, const T: usize, const E: usize>(
    m: M,
    low_out: &mut [M::Vector],
    high_out: &mut [M::Vector],
    initial: &[M::Vector],
    a: &[M::Vector],
    b: &[M::Vector; N],
) {
    let a = &a[..N + 2];
    let (mut low, mut high) = ([m.zero(); T], [m.zero(); T]);
    if M::BIASED {
        (low, high) =
            (*initial.first_chunk().expect("initial columns"), *initial[T..].first_chunk().expect("initial columns"));
    }
    macro_rules! shift {
        ($s:expr) => {{
            let s: usize = $s;
            // Digits are loaded anew for every shift: there are no registers to keep them in.
            let b = black_box(b);
            unroll!(k in W, {
                // With s ≤ E, the lanes that are left over take up the shift.
                if k < N || s > E {
                    let part = m.window(a, LANES * (k + 1) - s);
                    unroll!(i in N, {
                        if (i > 0 || E <= s) && i + k > 0 {
                            let row = LANES * i + s - E;
                            let digit = m.digit(&m.lanes(&b[row / LANES])[row % LANES]);
                            (low[(i + k) % T], high[(i + k) % T]) =
                                m.mac(low[(i + k) % T], high[(i + k) % T], part, digit);
                        }
                    });
                }
            });
        }};
    }
    if N <= MAX_UNROLLED {
        unroll!(s in 8, { shift!(s) });
    } else {
        unroll!(s in 8, {
            if s <= E {
                shift!(s)
            }
        });
        for s in E + 1..LANES {
            shift!(s);
        }
    }
    low_out[1..].copy_from_slice(&low[1..]);
    high_out[1..].copy_from_slice(&high[1..]);
}

/// The lowest vector of the columns of `a·b·2^{52E}`.
#[inline(always)]
fn lowest<M: Machine, const N: usize, const E: usize>(
    m: M,
    mut low: M::Vector,
    mut high: M::Vector,
    a: &[M::Vector],
    b: &[M::Vector; N],
) -> (M::Vector, M::Vector) {
    if !M::BIASED {
        (low, high) = (m.zero(), m.zero());
    }
    unroll!(s in 8, {
        if s >= E {
            let digit = m.digit(&m.lanes(&b[0])[s.wrapping_sub(E) % LANES]);
            (low, high) = m.mac(low, high, m.window(&a[..2], LANES - s), digit);
        }
    });
    (low, high)
}

/// The digits of vector `k` of the columns, as [`Machine::quotient`] makes them. The high parts have a vector
/// of zeros below.
#[inline(always)]
pub(super) fn quotient<M: Machine, const FROM: usize>(
    m: M,
    low: &[M::Vector],
    high: &[M::Vector],
    k: usize,
    carry: u64,
    q: &mut [u64; LANES],
) -> u64 {
    let high = m.words(&high[k..k + 2])[LANES - 1..].first_chunk().expect("the lanes one below");
    m.quotient::<FROM>(m.lanes(&low[k]), high, carry, q)
}

/// The columns of `q·N' mod B`, in two parts, both where they belong; `inverse` holds `N'` shifted.
#[inline(always)]
pub(super) fn times_inverse<M: Machine>(m: M, q: &[u64; LANES], inverse: &[M::Vector]) -> (M::Vector, M::Vector) {
    let inverse: &[_; LANES] = inverse.first_chunk().expect("eight shifts");
    let initial = |bias: u64| m.vector([bias.wrapping_mul(4).wrapping_neg(); LANES]);
    // Four accumulators: there is little else to do meanwhile.
    let (mut low, mut high) = ([initial(M::BIAS_LOW); 2], [initial(M::BIAS_HIGH); 2]);
    unroll!(s in 8, {
        (low[s % 2], high[s % 2]) = m.mac(low[s % 2], high[s % 2], inverse[s], m.quotient_digit(&q[s]));
    });
    (m.add(low[0], low[1]), m.up(m.add(high[0], high[1]), m.zero()))
}

/// What to add to the column above the last vector that is cleared: what this vector carries out, less the
/// bias of the high halves in its last lane, which belong to that column. The vector's initial values do not
/// have the biases of the last quotient's products. With these products, and the carry that came to it from
/// below, the vector is divisible by `B`.
///
/// Its lanes below the last, and that carry, bring less than `2^13` into the last lane, `v`, and make it
/// divisible by `2^52`. So `⌈v/2^52⌉` is carried out.
#[inline(always)]
pub(super) fn pass<M: Machine>(m: M, low: &M::Vector, high: &M::Vector) -> u64 {
    let bias = |bias: u64| bias.wrapping_mul(LANES as u64);
    let v = m.lanes(low)[LANES - 1].wrapping_sub(bias(M::BIAS_LOW));
    let v = v.wrapping_add(m.lanes(high)[LANES - 2].wrapping_sub(bias(M::BIAS_HIGH)));
    ((v + ((1 << DIGIT_BITS) - 1)) >> DIGIT_BITS).wrapping_sub(bias(M::BIAS_HIGH))
}

/// Adds the product of a number, as `table` holds its shifts, and the digits of a quotient from `FROM` on, to
/// columns in two parts: what goes into the lowest vector.
#[inline(always)]
fn add_lowest<M: Machine, const W: usize, const FROM: usize>(
    m: M,
    low: &mut M::Vector,
    high: &mut M::Vector,
    table: &[M::Vector],
    q: &[u64; LANES],
) {
    // Two accumulators: everything waits for the quotient, and the quotient for them.
    let (mut l, mut h) = ([*low, m.zero()], [*high, m.zero()]);
    unroll!(s in 8, {
        if s >= FROM {
            (l[s % 2], h[s % 2]) = m.mac(l[s % 2], h[s % 2], table[s * W], m.quotient_digit(&q[s]));
        }
    });
    (*low, *high) = (m.add(l[0], l[1]), m.add(h[0], h[1]));
}

/// Like [`add_lowest`], for the vectors above the lowest: `low[1]`, `high[1]` and so on.
///
/// `N` vectors of the number, of which `E` lanes on top are zeros; `W = N + 1`.
#[inline(always)]
fn add_others<M: Machine, const N: usize, const W: usize, const E: usize, const FROM: usize>(
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
        if s >= FROM {
            let part: &[_; W] = table[s * W..].first_chunk().expect("a shifted number");
            let digit = m.quotient_digit(&q[s]);
            unroll!(k in W, {
                if k > 0 && (k < N || s > E) {
                    (l[k], h[k]) = m.mac(l[k], h[k], part[k], digit);
                }
            });
        }
    });
    low[1..].copy_from_slice(&l[1..]);
    high[1..].copy_from_slice(&h[1..]);
}

/// The entries of a table that the indices name, one for each number side by side. Reads the whole table.
///
/// Numbers have tiles of `N` vectors. Precondition: `index` has an index for each number of `out`, and the
/// table's entries are as long as `out`; an index outside the table yields 0.
#[inline(always)]
pub fn select<M: Machine, const N: usize>(m: M, out: &mut [M::Vector], table: &[M::Vector], index: &[u64]) {
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
