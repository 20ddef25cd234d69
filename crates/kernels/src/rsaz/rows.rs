//! Four digits times a number, onto columns in memory.

use core::hint::black_box;

use super::wide::Wide;

/// The body of `rows` for each of some constants.
macro_rules! unrolled {
    ($v:ident in $($value:literal)* $body:block) => {
        $({
            let $v: usize = $value;
            $body
        })*
    };
}

/// `c[i] += Σ_t a[i + 3 − t]·d[t]` for `t` in `0..4`, and `i` in `0..4n`: four rows of a product, the row of `d[t]` starting `t`
/// columns above that of `d[0]`. Where `FRESH`, `c[i] =`.
///
/// A column is read and written once for four products. Operands are read at unaligned places, which shifts them for
/// nothing; around them stand zeros (section 4.3).
///
/// Preconditions: `c.len() ≥ 4n`, `a.len() ≥ 4n + 3`; `a, d < 2^32`; the columns stay below `2^64`. Cost: `4n` vector
/// multiply-accumulates. Source: steps 7.3 and 7.7 of algorithm 3, four times.
#[inline(always)]
pub fn rows<W: Wide, const FRESH: bool>(w: W, c: &mut [W::Word], a: &[W::Word], d: [W::Vector; 4], n: usize) {
    let (c, a) = (&mut c[..4 * n], &a[..4 * n + 3]);
    // Written out, so that of lengths known to the compiler addresses are too: with an index each load would be an
    // instruction of its own within the processor.
    unrolled!(v in 0 1 2 3 4 5 6 7 8 9 10 11 {
        if v < n {
            four::<W, FRESH>(w, &mut c[4 * v..4 * v + 4], &a[4 * v..4 * v + 7], d);
        }
    });
    let mut v = 12;
    while v < n {
        four::<W, FRESH>(w, &mut c[4 * v..4 * v + 4], &a[4 * v..4 * v + 7], d);
        v += 1;
    }
}

/// Four columns of [`rows`].
#[inline(always)]
fn four<W: Wide, const FRESH: bool>(w: W, c: &mut [W::Word], a: &[W::Word], d: [W::Vector; 4]) {
    let mut x = if FRESH { w.zero() } else { w.load(c) };
    x = w.mac(x, w.load(&a[3..]), d[0]);
    x = w.mac(x, w.load(&a[2..]), d[1]);
    x = w.mac(x, w.load(&a[1..]), d[2]);
    x = w.mac(x, w.load(a), d[3]);
    w.store(c, x);
}

/// Four digits of a slice, each in every column of a vector.
#[inline(always)]
pub fn broadcast<W: Wide>(w: W, digits: &[W::Digit]) -> [W::Vector; 4] {
    let digits = &digits[..4];
    [w.broadcast(&digits[0]), w.broadcast(&digits[1]), w.broadcast(&digits[2]), w.broadcast(&digits[3])]
}

/// The same of digits in registers, each by way of memory.
///
/// The compiler packs digits that it has in registers into one vector and takes them apart again. And vectors made from scalar
/// registers take the port that products need.
#[inline(always)]
pub fn broadcast_each<W: Wide>(w: W, [a, b, c, d]: [W::Digit; 4]) -> [W::Vector; 4] {
    [w.broadcast(&black_box(a)), w.broadcast(&black_box(b)), w.broadcast(&black_box(c)), w.broadcast(&black_box(d))]
}
