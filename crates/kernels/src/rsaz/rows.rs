//! Four digits times a number, onto columns in memory.

use core::hint::black_box;

use super::beside::Beside;
use super::machine::Machine;

/// The body of `rows` for each of some constants.
macro_rules! unrolled {
    ($v:ident in $($value:literal)* $body:block) => {
        $({
            let $v: usize = $value;
            $body
        })*
    };
}

pub(super) use unrolled;

/// Vectors in a *shifted* number: for each four digits, these as they are, and moved up by one, two and three
/// places.
pub const COPIES: usize = 4;

/// `C[v] += Σ_t A[v][t]·d[t]` for `t` in `0..4` and `v` in `0..n`, where `C[v]` are four columns from `c[4v]`
/// on, and `A[v][t]` the four digits from `4v − t` on: four rows of a product, the row of `d[t]` starting `t`
/// columns above that of `d[0]`. Where `FRESH`, `C[v] =`.
///
/// A column is read and written once for four products. The paper reads the number at unaligned places
/// (section 4.3); where a load crosses from one cache line to the next it costs two, so here copies that are
/// already shifted lie in `a`.
///
/// Preconditions: `c.len() ≥ 4n`, `a.len() ≥ 16n`; `a, d < 2^32`; the columns stay below `2^64`. Cost: `4n`
/// vector multiply-accumulates. Source: steps 7.3 and 7.7 of algorithm 3, four times.
///
/// After every three or four fours of columns, there is a step of the work `beside`: [`steps`].
#[inline(always)]
pub fn rows<W: Machine, const FRESH: bool>(
    w: W,
    c: &mut [W::Word],
    a: &[W::Word],
    d: [W::Vector; 4],
    n: usize,
    beside: &mut impl Beside,
) {
    // As arrays, so that lengths are checked once.
    let (c, a) = (&mut c.as_chunks_mut::<4>().0[..n], &a.as_chunks::<{ 4 * COPIES }>().0[..n]);
    // Written out, so that addresses are constants where the length is one. With an index, a processor
    // executes each load as an instruction of its own.
    unrolled!(v in 0 1 2 3 4 5 6 7 8 9 10 11 {
        if v < n {
            let a = [w.load(&a[v]), w.load(&a[v][4..]), w.load(&a[v][8..]), w.load(&a[v][12..])];
            four::<W, FRESH>(w, &mut c[v], a, d);
            if v % EVERY == EVERY - 1 {
                beside.step();
            }
        }
    });
    let mut v = WRITTEN;
    while v < n {
        let a = [w.load(&a[v]), w.load(&a[v][4..]), w.load(&a[v][8..]), w.load(&a[v][12..])];
        four::<W, FRESH>(w, &mut c[v], a, d);
        if v % EVERY_IN_LOOP == EVERY_IN_LOOP - 1 {
            beside.step();
        }
        v += 1;
    }
}

/// The fours of columns that are written out.
const WRITTEN: usize = 12;
/// The fours of columns between two steps: about as many instructions as a step has.
const EVERY: usize = 3;
/// In the loop, where a division by a power of two is cheaper.
const EVERY_IN_LOOP: usize = 4;

/// How many steps [`rows`] calls for `n` fours of columns.
pub(super) const fn steps(n: usize) -> usize {
    if n < WRITTEN { n / EVERY } else { WRITTEN / EVERY + (n - WRITTEN) / EVERY_IN_LOOP }
}

/// Four columns of [`rows`].
#[inline(always)]
pub fn four<W: Machine, const FRESH: bool>(w: W, c: &mut [W::Word], a: [W::Vector; 4], d: [W::Vector; 4]) {
    let mut x = if FRESH { w.zero() } else { w.load(c) };
    x = w.mac(x, a[0], d[0]);
    x = w.mac(x, a[1], d[1]);
    x = w.mac(x, a[2], d[2]);
    x = w.mac(x, a[3], d[3]);
    w.store(c, x);
}

/// Writes four digits, with those `below` them, as part of a shifted number.
#[inline(always)]
pub fn shift<W: Machine>(w: W, out: &mut [W::Word], digits: W::Vector, below: W::Vector) {
    let out = &mut out[..4 * COPIES];
    let [a, b, c, d] = w.ups(digits, below);
    w.store(out, a);
    w.store(&mut out[4..], b);
    w.store(&mut out[8..], c);
    w.store(&mut out[12..], d);
}

/// Four digits of a slice, each in every column of a vector.
#[inline(always)]
pub fn broadcast<W: Machine>(w: W, digits: &[W::Digit]) -> [W::Vector; 4] {
    let digits = &digits[..4];
    [w.broadcast(&digits[0]), w.broadcast(&digits[1]), w.broadcast(&digits[2]), w.broadcast(&digits[3])]
}

/// Like [`broadcast`], for digits in registers: each goes through memory.
///
/// The compiler packs digits that it has in registers into one vector and takes them apart again. And vectors
/// made from scalar registers take the port that products need.
#[inline(always)]
pub fn broadcast_each<W: Machine>(w: W, [a, b, c, d]: [W::Digit; 4]) -> [W::Vector; 4] {
    [
        w.broadcast(&black_box(a)),
        w.broadcast(&black_box(b)),
        w.broadcast(&black_box(c)),
        w.broadcast(&black_box(d)),
    ]
}
