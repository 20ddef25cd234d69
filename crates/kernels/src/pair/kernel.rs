//! Multiplication in Montgomery form, with the columns of a sum in registers.

use core::hint::black_box;

use super::bias::{all, different, equal, restart, rows, start};
use super::{DIGIT_BITS, LANES, Machine, TOP_BITS};

/// `x ← x·y·R^{−1} mod M` for each of the numbers side by side.
///
/// A number has `V` vectors, and a sum `T = 2V` columns. Of the last segment, `H = ⌈V/2⌉` digits are cleared
/// first, then the others. With `D = LANES/SIDES` segments:
///
/// * Precondition: `x` and `y` below `4M`, in digits below `2^52`; `tables` as [`Context`](super::Context)
///   makes them.
/// * Bound of the result: the same, see [`crate::pair`].
/// * Cost in multiplications of vectors with both halves: `DV²` of the product, `(D − 1)V²` of friendly
///   multiples, `V²` of `M`, and `H(H + 1)/2 + (V − H)(V − H + 1)/2` of the last quotients. For two numbers
///   of 1024 bits, `V = 5`: `100 + 75 + 25 + 9`.
#[inline(always)]
pub fn amm<M: Machine, const SIDES: usize, const V: usize, const T: usize, const H: usize>(
    m: M,
    x: &mut [M::Vector],
    y: &[M::Vector],
    tables: &[M::Vector],
) {
    let (x, y) = (x.first_chunk_mut().expect("a number"), y.first_chunk().expect("a factor"));
    multiply::<M, SIDES, V, T, H, false>(m, x, Some(y), tables);
}

/// `x ← x²·R^{−1} mod M`, `times` times, as [`amm`] does; the product takes `DV(V + 1)/2` multiplications.
#[inline(always)]
pub fn ams<M: Machine, const SIDES: usize, const V: usize, const T: usize, const H: usize>(
    m: M,
    x: &mut [M::Vector],
    times: usize,
    tables: &[M::Vector],
) {
    let x = x.first_chunk_mut().expect("a number");
    for _ in 0..times {
        multiply::<M, SIDES, V, T, H, true>(m, x, None, tables);
    }
}

/// `x·y·R^{−1}`, or `x²·R^{−1}` if `SQUARE`, where `y` is `None`.
#[inline(always)]
fn multiply<
    M: Machine,
    const SIDES: usize,
    const V: usize,
    const T: usize,
    const H: usize,
    const SQUARE: bool,
>(
    m: M,
    x: &mut [M::Vector; V],
    y: Option<&[M::Vector; V]>,
    tables: &[M::Vector],
) {
    const { assert!(T == 2 * V && H == V.div_ceil(2) && LANES.is_multiple_of(SIDES)) };
    let (friendly, rest) = tables.split_first_chunk::<V>().expect("the friendly multiple");
    let (modulus, rest) = rest.split_first_chunk::<V>().expect("the modulus");
    let inverse: &[_; H] = rest.first_chunk().expect("the inverse");
    let a = *x;
    let y = y.unwrap_or(x);
    let mut sum = product::<M, SIDES, V, T, SQUARE>(m, &a, y, 0);
    let mut carry = m.zero();
    for segment in 1..LANES / SIDES {
        // The product does not wait for the quotient, so it comes first.
        let mut next = product::<M, SIDES, V, T, SQUARE>(m, &a, y, segment);
        let mut quotient = lowest::<M, SIDES, V, T>(m, &sum, 0);
        carry = pass::<M, V, TOP_BITS>(m, &mut quotient, V, carry);
        unroll!(c in V, {
            next[c] = m.add(next[c], moved::<M, SIDES, V, T>(m, &sum, c));
        });
        restart(m, &mut next, |c| all(V, c));
        add_rows::<M, V, T>(m, &mut next, friendly, &quotient, 0, V);
        sum = next;
    }
    carry = clear::<M, SIDES, V, T>(m, &mut sum, carry, inverse, modulus, 0, H);
    carry = clear::<M, SIDES, V, T>(m, &mut sum, carry, inverse, modulus, H, V);
    unroll!(c in V, {
        x[c] = moved::<M, SIDES, V, T>(m, &sum, c);
    });
    normalize::<M, SIDES>(m, x, carry);
}

/// Column `c` of a sum, once its lowest segment is gone.
#[inline(always)]
fn moved<M: Machine, const SIDES: usize, const V: usize, const T: usize>(
    m: M,
    sum: &[M::Vector; T],
    c: usize,
) -> M::Vector {
    m.add(m.down::<SIDES>(sum[c]), m.add(sum[c + V], sum[c + V]))
}

/// The columns of all segments of `a` by one of `b`; if `SQUARE`, `b` is the same number as `a`.
#[inline(always)]
fn product<M: Machine, const SIDES: usize, const V: usize, const T: usize, const SQUARE: bool>(
    m: M,
    a: &[M::Vector; V],
    b: &[M::Vector; V],
    segment: usize,
) -> [M::Vector; T] {
    // Load the digits: otherwise the compiler takes them from the registers of `a`, by instructions that move
    // lanes.
    let b = black_box(b);
    let mut digits = [m.zero(); V];
    unroll!(j in V, {
        digits[j] = m.segment::<SIDES>(&b[j], segment);
    });
    if !SQUARE {
        let mut sum = start::<M, T>(m, |c| all(V, c));
        unroll!(j in V, {
            unroll!(i in V, {
                (sum[i + j], sum[i + j + 1]) = m.mac(sum[i + j], sum[i + j + 1], a[i], digits[j]);
            });
        });
        return sum;
    }
    let mut sum = start::<M, T>(m, |c| different(V, c));
    add_different(m, &mut sum, a, &digits);
    unroll!(c to T, {
        sum[c] = m.add(sum[c], sum[c]);
    });
    restart(m, &mut sum, |c| equal(V, c));
    add_equal(m, &mut sum, a, &digits);
    sum
}

/// Adds the products of each digit `i` of a number and the digits `j > i` of one segment of it.
#[inline(always)]
pub(super) fn add_different<M: Machine, const V: usize, const T: usize>(
    m: M,
    sum: &mut [M::Vector; T],
    a: &[M::Vector; V],
    digits: &[M::Vector; V],
) {
    unroll!(j in V, {
        unroll!(i in V, {
            if i < j {
                (sum[i + j], sum[i + j + 1]) = m.mac(sum[i + j], sum[i + j + 1], a[i], digits[j]);
            }
        });
    });
}

/// Adds the products of each digit of a number and the same digit of one segment of it.
#[inline(always)]
pub(super) fn add_equal<M: Machine, const V: usize, const T: usize>(
    m: M,
    sum: &mut [M::Vector; T],
    a: &[M::Vector; V],
    digits: &[M::Vector; V],
) {
    unroll!(i in V, {
        (sum[2 * i], sum[2 * i + 1]) = m.mac(sum[2 * i], sum[2 * i + 1], a[i], digits[i]);
    });
}

/// Adds the product of a number and a quotient, the digits `from..to` of a segment, lowest columns first: the
/// next quotient waits for these.
#[inline(always)]
fn add_rows<M: Machine, const V: usize, const T: usize>(
    m: M,
    sum: &mut [M::Vector; T],
    number: &[M::Vector; V],
    quotient: &[M::Vector; V],
    from: usize,
    to: usize,
) {
    unroll!(c to T, {
        unroll!(j in V, {
            if from <= j && j < to && j <= c && c - j < V {
                (sum[c], sum[c + 1]) = m.mac(sum[c], sum[c + 1], number[c - j], quotient[j - from]);
            }
        });
    });
}

/// Clears the digits `from..to` of the lowest segment, by a multiple of the modulus. `carry` is the carry of
/// the digits below, in all lanes; returns the carry of these digits, in all lanes.
///
/// Let `v` be the uppermost of these columns. With the carry to it, less than `2^13`, it is divisible by
/// `2^52` (`2^51` at the top): so `⌈v/2^52⌉` is carried out.
#[inline(always)]
fn clear<M: Machine, const SIDES: usize, const V: usize, const T: usize>(
    m: M,
    sum: &mut [M::Vector; T],
    carry: M::Vector,
    inverse: &[M::Vector],
    modulus: &[M::Vector; V],
    from: usize,
    to: usize,
) -> M::Vector {
    let mut digits = lowest::<M, SIDES, V, T>(m, sum, from);
    pass::<M, V, DIGIT_BITS>(m, &mut digits, to - from, carry);
    // Of the columns of the product, those below the number of digits.
    let mut columns = start::<M, T>(m, |c| c + 1);
    unroll!(c in V, {
        unroll!(j in V, {
            if j <= c && c < to - from {
                (columns[c], columns[c + 1]) = m.mac(columns[c], columns[c + 1], inverse[c - j], digits[j]);
            }
        });
    });
    let mut quotient = [m.zero(); V];
    unroll!(j in V, {
        quotient[j] = columns[j];
    });
    match to < V {
        true => pass::<M, V, DIGIT_BITS>(m, &mut quotient, to - from, m.zero()),
        false => pass::<M, V, TOP_BITS>(m, &mut quotient, to - from, m.zero()),
    };
    restart(m, sum, |c| rows(V, from, to, c));
    add_rows::<M, V, T>(m, sum, modulus, &quotient, from, to);
    let top = m.lowest::<SIDES>(sum[to - 1]);
    if to < V { rounded_up::<M, DIGIT_BITS>(m, top) } else { rounded_up::<M, TOP_BITS>(m, top) }
}

/// The columns of the lowest segment from column `from` on, in all segments.
#[inline(always)]
fn lowest<M: Machine, const SIDES: usize, const V: usize, const T: usize>(
    m: M,
    sum: &[M::Vector; T],
    from: usize,
) -> [M::Vector; V] {
    let mut out = [m.zero(); V];
    unroll!(j in V, {
        if from + j < V {
            out[j] = m.lowest::<SIDES>(sum[from + j]);
        }
    });
    out
}

/// Makes digits of the first `count` columns, the last of `TOP` bits; returns the carry.
#[inline(always)]
pub(super) fn pass<M: Machine, const N: usize, const TOP: u32>(
    m: M,
    columns: &mut [M::Vector; N],
    count: usize,
    mut carry: M::Vector,
) -> M::Vector {
    unroll!(j in N, {
        if j < count {
            let sum = m.add(columns[j], carry);
            if j + 1 == count && TOP < DIGIT_BITS {
                carry = m.carry::<TOP>(sum);
                columns[j] = m.digits(m.low::<TOP>(sum));
            } else {
                carry = m.carry::<DIGIT_BITS>(sum);
                columns[j] = m.digits(sum);
            }
        }
    });
    carry
}

/// `⌈column / 2^BITS⌉`.
#[inline(always)]
pub(super) fn rounded_up<M: Machine, const BITS: u32>(m: M, column: M::Vector) -> M::Vector {
    m.carry::<BITS>(m.add(column, m.vector([(1 << BITS) - 1; LANES])))
}

/// Makes digits of columns below `2^63`, after a carry is added to the lowest; see [`crate::pair`].
#[inline(always)]
pub(super) fn normalize<M: Machine, const SIDES: usize>(m: M, columns: &mut [M::Vector], carry: M::Vector) {
    let (last, others) = columns.split_last_mut().expect("a number");
    let mut carry = m.only_lowest::<SIDES>(carry);
    for column in &mut *others {
        let sum = m.add(*column, carry);
        (*column, carry) = (m.low::<DIGIT_BITS>(sum), m.carry::<DIGIT_BITS>(sum));
    }
    let sum = m.add(*last, carry);
    *last = m.low::<TOP_BITS>(sum);
    carry = m.up::<SIDES>(m.carry::<TOP_BITS>(sum));
    for column in others {
        let sum = m.add(*column, carry);
        (*column, carry) = (m.digits(sum), m.carry::<DIGIT_BITS>(sum));
    }
    *last = m.whole_digits(m.add(*last, carry));
}

/// The entry of a table that the indices name, one index for each number side by side. Reads the whole table.
///
/// A part of `N` vectors at a time. Precondition: `index` has `SIDES` indices, and the table's entries are as
/// long as `out`; an index outside the table yields 0.
#[inline(always)]
pub fn select<M: Machine, const SIDES: usize, const N: usize>(
    m: M,
    out: &mut [M::Vector],
    table: &[M::Vector],
    index: &[u64],
) {
    let stride = out.len();
    let index: &[u64; SIDES] = index.first_chunk().expect("an index for each number");
    let index = m.vector(core::array::from_fn(|lane| index[lane % SIDES]));
    for (part, out) in out.chunks_exact_mut(N).enumerate() {
        let mut acc = [m.zero(); N];
        for (e, entry) in table.chunks_exact(stride).enumerate() {
            let mask = m.equals(index, e as u64);
            let entry: &[_; N] = entry[part * N..].first_chunk().expect("a part of a number");
            unroll!(k in N, {
                acc[k] = m.select(mask, acc[k], entry[k]);
            });
        }
        out.copy_from_slice(&acc);
    }
}
