//! Montgomery multiplication (AMM) and squaring (AMS) of a number whose columns fit registers: the product,
//! its reduction and the carries in one block.
//!
//! Two rows are added at a time: a digit that is loaded takes part in four halves of products. Their two
//! quotients need no multiplication: with `μ = −M^{−1} mod 2^{2w}`, the friendly multiple
//! `M' = μ·M ≡ −1 (mod 2^{2w})` has the two lowest digits of the number as its quotient, and
//! `(c + q·M')/2^{2w} = ⌊c/2^{2w}⌋ + q·M''` with `M'' = (M' + 1)/2^{2w}`, which has `T` digits.
//!
//! The last rows, two or (of an odd number) three, are ordinary Montgomery rows. The friendly quotients are
//! then below `2^{w(T−2)}` and `M' < 2^{2w}·M`. So each kind adds less than `R·M`, and the result is below
//! `X·Y/R + 2M`, as with [`reduce_rows`](super::reduce_rows).
//!
//! Squarings on a machine of [`FOUR_ROWS`](Machine::FOUR_ROWS) reduce four rows at a time first, by the
//! multiple that is −1 modulo `2^{4w}`, as long as six rows are left behind them. Those `r` rows add less
//! than `2^{w(r+4)}·M`, at most `2^{w(T−2)}·M`. The pairs, with quotients that are multiples of `2^{wr}`, add
//! at most `(2^{w(T−2)} − 2^{wr})·(2^{2w} − 1)·M`, which is below `R·M − 2^{w(T−2)}·M`. So both together add
//! less than `R·M`.
//!
//! Columns start at 0: only for machines without bias, and without negative halves.

use super::beside::{Beside, Sink};
use crate::batch::Machine;
use crate::unroll::reload;

/// The widest number.
pub const WIDEST: usize = 20;

/// The shortest number: one pair of rows with a friendly quotient, and two ordinary rows.
pub const FEWEST_IN_REGISTERS: usize = 4;

/// A window: the columns that the next rows reach, from the lowest one that is not cleared. Two rows reach
/// `T + 2`, four rows `T + 4`.
pub(super) type Window<M> = [<M as Machine>::Column; WIDEST + 4];

/// Precomputed constants of a modulus, one slice of `3T + 1` digits: `M''` of four rows and of two, `M`, and
/// `μ mod 2^w`.
struct Modulus<'a, D, const T: usize> {
    friendly_four: &'a [D; T],
    friendly_pair: &'a [D; T],
    digits: &'a [D; T],
    mu: &'a D,
}

impl<'a, D, const T: usize> Modulus<'a, D, T> {
    #[inline(always)]
    fn new(modulus: &'a [D]) -> Self {
        let (friendly_four, rest) = modulus.split_first_chunk().expect("friendly multiple");
        let (friendly_pair, rest) = rest.split_first_chunk().expect("friendly multiple");
        let (digits, rest) = rest.split_first_chunk().expect("modulus");
        Self { friendly_four, friendly_pair, digits, mu: rest.first().expect("inverse") }
    }
}

/// Pairs of rows with a friendly quotient, before the ordinary rows.
const fn pairs(t: usize) -> usize {
    t.saturating_sub(2) / 2
}

/// How often a squaring of `t` digits reduces four rows at a time, in place of two pairs, on a machine of
/// [`FOUR_ROWS`](Machine::FOUR_ROWS).
pub const fn fours(t: usize) -> usize {
    t.saturating_sub(6) / 4
}

/// `X ← (X·Y + Q·M)/R`, with the `Q < 2R` that makes it an integer; digits normalised.
///
/// * Precondition: `x.len() = T ≥ FEWEST_IN_REGISTERS`, `y.len() ≥ T`; `modulus` has `3T + 1` digits: `M''`
///   of four rows and of two, `M` and `μ` (see the module), for an odd modulus; `X·Y/R + 2M < R`.
/// * Cost: `2T²` products, and a low half for each of the last two rows, or three.
#[inline(always)]
pub fn amm_registers<M: Machine, const T: usize>(
    m: M,
    x: &mut [M::Digit],
    y: &[M::Digit],
    modulus: &[M::Digit],
) {
    let modulus = Modulus::<_, T>::new(modulus);
    let a: &[M::Digit; T] = x.first_chunk().expect("tile width");
    let zero = m.column_splat(0);
    let mut c = [zero; WIDEST + 4];
    let (friendly, last) = y[..T].split_at(2 * pairs(T));
    for rows in friendly.chunks_exact(2) {
        product_pair::<M, T>(m, &mut c, a, rows);
        reduce_window::<M, T, 2, 2>(m, &mut c, modulus.friendly_pair, &[zero; 2]);
    }
    let (odd, last) = last.split_at(T % 2);
    if let [row] = odd {
        product_row::<M, T>(m, &mut c, a, *row);
        plain_row::<M, T>(m, &mut c, &modulus);
    }
    product_pair::<M, T>(m, &mut c, a, last);
    plain_row::<M, T>(m, &mut c, &modulus);
    plain_row::<M, T>(m, &mut c, &modulus);
    carry::<M, T>(m, x, &c);
}

/// Squares `times` times: each time `X ← (X² + Q·M)/R`, as [`amm_registers`] by itself.
///
/// * Precondition: those of [`amm_registers`]; `c` has `2T + 2` columns for the block to work in, in any
///   state.
/// * Cost, each time: `T(T + 1)/2 + T²` products, and a low half for each of the last two rows, or three.
#[inline(always)]
pub fn ams_registers<M: Machine, const T: usize>(
    m: M,
    x: &mut [M::Digit],
    times: usize,
    modulus: &[M::Digit],
    c: &mut [M::Column],
) {
    let modulus = Modulus::<_, T>::new(modulus);
    let columns = &mut c[..2 * T + 2];
    // The last pairs take in columns that the square does not reach.
    let zero = m.column_splat(0);
    columns[2 * T..].fill(zero);
    for _ in 0..times {
        square_columns::<M, T>(
            m,
            &mut columns[..2 * T],
            x.first_chunk().expect("tile width"),
            |_| zero,
            &mut (),
        );
        if const { M::FOUR_ROWS && fours(T) > 0 } {
            reduce_square::<M, T, 4>(m, x, columns, &modulus);
        } else {
            reduce_square::<M, T, 2>(m, x, columns, &modulus);
        }
    }
}

/// `X ← (C + Q·M)/R`, in a window of `T + ABOVE` columns.
#[inline(always)]
fn reduce_square<M: Machine, const T: usize, const ABOVE: usize>(
    m: M,
    x: &mut [M::Digit],
    columns: &[M::Column],
    modulus: &Modulus<M::Digit, T>,
) {
    let zero = m.column_splat(0);
    let (low, high) = columns.split_first_chunk::<T>().expect("columns");
    let low = reload(low);
    let mut c = [zero; WIDEST + 4];
    each!(k in 0..T {
        c[k] = low[k];
    });
    each!(k in 0..ABOVE {
        c[T + k] = high[k];
    });
    let (by_four, by_two) =
        const { if ABOVE == 4 { (4 * fours(T), 2 * pairs(T) - 4 * fours(T)) } else { (0, 2 * pairs(T)) } };
    for entering in high[ABOVE..][..by_four].as_chunks::<4>().0 {
        reduce_window::<M, T, 4, ABOVE>(m, &mut c, modulus.friendly_four, entering);
    }
    for entering in high[ABOVE + by_four..][..by_two].as_chunks::<2>().0 {
        reduce_window::<M, T, 2, ABOVE>(m, &mut c, modulus.friendly_pair, entering);
    }
    if T % 2 == 1 {
        if ABOVE == 2 {
            c[T + 2] = high[T - 1];
        }
        plain_row::<M, T>(m, &mut c, modulus);
    }
    plain_row::<M, T>(m, &mut c, modulus);
    plain_row::<M, T>(m, &mut c, modulus);
    carry::<M, T>(m, x, &c);
}

/// `C += A·(b0 + b1·2^w)`, on the window.
#[inline(always)]
fn product_pair<M: Machine, const T: usize>(m: M, c: &mut Window<M>, a: &[M::Digit; T], b: &[M::Digit]) {
    let (a, b0, b1) = (reload(a), b[0], b[1]);
    each!(j in 0..T {
        (c[j], c[j + 1]) = m.mac(c[j], c[j + 1], a[j], b0);
        (c[j + 1], c[j + 2]) = m.mac(c[j + 1], c[j + 2], a[j], b1);
    });
}

/// `C += A·b`, on the window.
#[inline(always)]
fn product_row<M: Machine, const T: usize>(m: M, c: &mut Window<M>, a: &[M::Digit; T], b: M::Digit) {
    let a = reload(a);
    each!(j in 0..T {
        (c[j], c[j + 1]) = m.mac(c[j], c[j + 1], a[j], b);
    });
}

/// Clears the `ROWS` lowest columns of a window of `T + ABOVE` columns by the friendly multiple of `ROWS`
/// rows, and moves the window up by as many columns; `entering` fills its top. Returns the quotients. Cost:
/// `T·ROWS` products.
#[inline(always)]
pub(super) fn reduce_window<M: Machine, const T: usize, const ROWS: usize, const ABOVE: usize>(
    m: M,
    c: &mut Window<M>,
    friendly: &[M::Digit; T],
    entering: &[M::Column; ROWS],
) -> [M::Digit; ROWS] {
    debug_assert!(ROWS <= ABOVE);
    m.jump();
    let mut column = c[0];
    let mut q = [m.operand(column); ROWS];
    each!(i in 0..ROWS {
        q[i] = m.operand(column);
        column = m.add(c[i + 1], m.carry(column));
    });
    let column_at = |c: &Window<M>, k: usize| if k < T + ABOVE { c[k] } else { entering[k - T - ABOVE] };
    let mut sums = [column; ROWS];
    each!(i in 0..ROWS {
        if i > 0 {
            sums[i] = column_at(c, ROWS + i);
        }
    });
    let friendly = reload(friendly);
    each!(j in 0..T {
        let mut next = column_at(c, j + 2 * ROWS);
        each!(i in 0..ROWS {
            if i + 1 < ROWS {
                (sums[i], sums[(i + 1) % ROWS]) = m.mac(sums[i], sums[(i + 1) % ROWS], friendly[j], q[i]);
            } else {
                (sums[i], next) = m.mac(sums[i], next, friendly[j], q[i]);
            }
        });
        c[j] = sums[0];
        each!(i in 0..ROWS {
            sums[i] = if i + 1 < ROWS { sums[(i + 1) % ROWS] } else { next };
        });
    });
    each!(k in 0..ABOVE {
        let after = if k < ROWS { sums[k % ROWS] } else { column_at(c, T + k + ROWS) };
        c[T + k] = after;
    });
    q
}

/// Clears the lowest column of the window by the modulus, and moves it up by one; 0 enters.
#[inline(always)]
fn plain_row<M: Machine, const T: usize>(m: M, c: &mut Window<M>, modulus: &Modulus<M::Digit, T>) {
    m.jump();
    let q = m.operand(m.mac_low(m.column_splat(0), m.operand(c[0]), *modulus.mu));
    let mut column = c[0];
    let digits = reload(modulus.digits);
    each!(j in 0..T {
        let (done, next) = m.mac(column, c[j + 1], digits[j], q);
        // The lowest column is now a multiple of 2^w: only its carry counts.
        if j == 0 {
            column = m.add(next, m.carry(done));
        } else {
            c[j - 1] = done;
            column = next;
        }
    });
    (c[T - 1], c[T], c[T + 1], c[T + 2], c[T + 3]) =
        (column, c[T + 1], c[T + 2], c[T + 3], m.column_splat(0));
}

/// The lowest `T` columns of the window, as digits.
#[inline(always)]
#[allow(unused_assignments)] // unrolled, the last digit leaves nothing for a next one
fn carry<M: Machine, const T: usize>(m: M, out: &mut [M::Digit], c: &Window<M>) {
    let out: &mut [M::Digit; T] = out.first_chunk_mut().expect("tile width");
    let mut column = c[0];
    each!(k in 0..T {
        out[k] = m.operand(column);
        if k + 1 < T {
            column = m.add(c[k + 1], m.carry(column));
        }
    });
}

/// The columns of `A²`: the strict upper triangle, two rows at a time, doubled, and the diagonal. Column `k`
/// starts at twice `half(k)`. Of an even `T`, `beside` gets `T/2·(T/2 − 1)` steps.
#[inline(always)]
#[allow(unused_assignments)] // unrolled, no step follows the last
pub(super) fn square_columns<M: Machine, const T: usize>(
    m: M,
    out: &mut (impl Sink<M> + ?Sized),
    a: &[M::Digit; T],
    half: impl Fn(usize) -> M::Column,
    beside: &mut impl Beside<M>,
) {
    let mut c = [m.column_splat(0); 2 * WIDEST + 1];
    each!(k in 0..T {
        (c[2 * k], c[2 * k + 1]) = (half(2 * k), half(2 * k + 1));
    });
    let mut steps = 0;
    each!(i in 0..T {
        if i.is_multiple_of(2) {
            if i.is_multiple_of(4) {
                m.jump();
            }
            let a = reload(a);
            let (first, second) = (a[i], a[(i + 1) % T]);
            if i + 1 < T {
                (c[2 * i + 1], c[2 * i + 2]) = m.mac(c[2 * i + 1], c[2 * i + 2], second, first);
            }
            each!(j in 0..T {
                if j > i + 1 {
                    (c[i + j], c[i + j + 1]) = m.mac(c[i + j], c[i + j + 1], a[j], first);
                    (c[i + j + 1], c[i + j + 2]) = m.mac(c[i + j + 1], c[i + j + 2], a[j], second);
                    beside.step(m, steps);
                    steps += 1;
                }
            });
            // The next rows start at column 2i + 5.
            let double = |k: usize| m.add(c[k], c[k]);
            let (even, odd) = m.mac(double(2 * i), double(2 * i + 1), first, first);
            out.put(m, 2 * i, even);
            out.put(m, 2 * i + 1, odd);
            if i + 1 < T {
                let (even, odd) = m.mac(double(2 * i + 2), double(2 * i + 3), second, second);
                out.put(m, 2 * i + 2, even);
                out.put(m, 2 * i + 3, odd);
            }
        }
    });
}
