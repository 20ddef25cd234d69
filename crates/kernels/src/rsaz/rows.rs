//! Four digits times a number, onto columns in memory.

use core::hint::black_box;

use super::beside::Beside;
use super::machine::{Machine, SHIFTED};

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
/// After every three or four fours of columns, there is a step of the work `beside`: [`steps`]. There is none
/// where vectors are halves.
///
/// `BOTTOM` and `TOP` say that `a` begins with the number's lowest four digits, and ends above its highest.
/// Where vectors are halves, halves that are 0 there are not multiplied.
#[inline(always)]
pub fn rows<W: Machine, const FRESH: bool, const BOTTOM: bool, const TOP: bool>(
    w: W,
    c: &mut [W::Word],
    a: &[W::Word],
    d: [W::Factors; 4],
    n: usize,
    beside: &mut impl Beside,
) {
    // As arrays, so that lengths are checked once.
    let (c, a) = (&mut c.as_chunks_mut::<4>().0[..n], &a.as_chunks::<SHIFTED>().0[..n]);
    if W::HALVED {
        let (from, to) = (usize::from(BOTTOM), n - usize::from(TOP));
        if BOTTOM {
            four::<W, FRESH, LOWEST>(w, &mut c[0], w.shifted(&a[0]), d);
        }
        for v in from..to {
            four::<W, FRESH, MIDDLE>(w, &mut c[v], w.shifted(&a[v]), d);
        }
        if TOP {
            four::<W, FRESH, ABOVE>(w, &mut c[to], w.shifted(&a[to]), d);
        }
        return;
    }
    // Written out, so that addresses are constants where the length is one. With an index, a processor
    // executes each load as an instruction of its own.
    unrolled!(v in 0 1 2 3 4 5 6 7 8 9 10 11 {
        if v < n {
            let a = w.shifted(&a[v]);
            four::<W, FRESH, MIDDLE>(w, &mut c[v], a, d);
            if v % EVERY == EVERY - 1 {
                beside.step();
            }
        }
    });
    let mut v = WRITTEN;
    while v < n {
        let a = w.shifted(&a[v]);
        four::<W, FRESH, MIDDLE>(w, &mut c[v], a, d);
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

/// Four digits of a number: its lowest, others, or those above its highest, which are 0.
pub const LOWEST: u8 = 0;
pub const MIDDLE: u8 = 1;
pub const ABOVE: u8 = 2;

/// Four columns of [`rows`], by the digits `WHICH`.
#[inline(always)]
pub fn four<W: Machine, const FRESH: bool, const WHICH: u8>(
    w: W,
    c: &mut [W::Word],
    a: [W::Factors; 4],
    d: [W::Factors; 4],
) {
    let whole = if WHICH == ABOVE { 3 } else { 0 };
    let mut x = if FRESH { w.mul(a[whole], d[whole]) } else { w.mac(w.load(c), a[whole], d[whole]) };
    if WHICH == ABOVE {
        x = w.mac_lower(x, a[1], d[1]);
        x = w.mac_lower(x, a[2], d[2]);
    } else {
        x = w.mac(x, a[1], d[1]);
        if WHICH == LOWEST {
            x = w.mac_upper(x, a[2], d[2]);
            x = w.mac_upper(x, a[3], d[3]);
        } else {
            x = w.mac(x, a[2], d[2]);
            x = w.mac(x, a[3], d[3]);
        }
    }
    w.store(c, x);
}

/// Four digits of a slice, each in every column of a vector.
#[inline(always)]
pub fn broadcast<W: Machine>(w: W, digits: &[W::Digit]) -> [W::Factors; 4] {
    let digits = &digits[..4];
    [w.broadcast(&digits[0]), w.broadcast(&digits[1]), w.broadcast(&digits[2]), w.broadcast(&digits[3])]
}

/// Like [`broadcast`], for digits in registers: each goes through memory.
///
/// The compiler packs digits that it has in registers into one vector and takes them apart again. And vectors
/// made from scalar registers take the port that products need.
#[inline(always)]
pub fn broadcast_each<W: Machine>(w: W, [a, b, c, d]: [W::Digit; 4]) -> [W::Factors; 4] {
    [
        w.broadcast(&black_box(a)),
        w.broadcast(&black_box(b)),
        w.broadcast(&black_box(c)),
        w.broadcast(&black_box(d)),
    ]
}
