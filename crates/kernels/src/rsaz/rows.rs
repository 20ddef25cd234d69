//! Four digits times a number, onto columns in memory.

use super::wide::Wide;

/// `c[i] += Σ_t a[i + 3 − t]·d[t]` for `t` in `0..4`: four rows of a product, the row of `d[t]` starting `t` columns above
/// that of `d[0]`.
///
/// A column is read and written once for four products. Operands are read at unaligned places, which shifts them for
/// nothing; around them stand zeros (section 4.3).
///
/// Preconditions: `c.len()` is a multiple of four, `a.len() ≥ c.len() + 3`; `a, d < 2^32`; the columns stay below `2^64`.
/// Cost: `c.len()` vector multiply-accumulates. Source: steps 7.3 and 7.7 of algorithm 3, four times.
#[inline(always)]
pub fn rows<W: Wide>(w: W, c: &mut [W::Word], a: &[W::Word], d: [W::Vector; 4]) {
    for (c, at) in c.chunks_exact_mut(4).zip((0..).step_by(4)) {
        let a = &a[at..at + 7];
        let mut x = w.load(c);
        for (t, &d) in d.iter().enumerate() {
            x = w.mac(x, w.load(&a[3 - t..]), d);
        }
        w.store(c, x);
    }
}

/// Four digits of a slice, each in every column of a vector.
#[inline(always)]
pub fn broadcast<W: Wide>(w: W, digits: &[W::Digit]) -> [W::Vector; 4] {
    let digits = &digits[..4];
    core::array::from_fn(|t| w.broadcast(&digits[t]))
}
