//! Four digits times a number, onto columns in memory.

use core::hint::black_box;

use super::wide::Wide;

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
    let mut at = 0;
    while at < 4 * n {
        let (c, a) = (&mut c[at..at + 4], &a[at..at + 7]);
        let mut x = if FRESH { w.zero() } else { w.load(c) };
        x = w.mac(x, w.load(&a[3..]), d[0]);
        x = w.mac(x, w.load(&a[2..]), d[1]);
        x = w.mac(x, w.load(&a[1..]), d[2]);
        x = w.mac(x, w.load(a), d[3]);
        w.store(c, x);
        at += 4;
    }
}

/// Four digits of a slice, each in every column of a vector.
///
/// They are read from memory: otherwise the compiler packs digits that it has in registers into one, and takes them apart again.
#[inline(always)]
pub fn broadcast<W: Wide>(w: W, digits: &[W::Digit]) -> [W::Vector; 4] {
    let digits = black_box(&digits[..4]);
    let digits = &digits[..4];
    [w.broadcast(&digits[0]), w.broadcast(&digits[1]), w.broadcast(&digits[2]), w.broadcast(&digits[3])]
}
