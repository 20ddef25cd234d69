//! VNRMSQR: a square, then its reduction.

use super::carry::{cleanup, normalise};
use super::most_sums;
use super::multiply::clear;
use super::rows::{broadcast, rows};
use super::wide::Wide;
use super::work::{BEFORE, Work};

/// `x ← x²·R^{−1}`, `times` times, for `g` fours of digits (`G`, or if that is 0 as the working space says).
///
/// First the square: each four digits times themselves, and times all digits above them doubled. Then the reduction, four rows at a
/// time.
///
/// Preconditions and result: those of [`multiply`](super::multiply::multiply()), with `y = x`. Cost, each time:
/// `2g(g + 3)` vector multiply-accumulates for the square, and the reduction's. Source: algorithm 5.
#[inline(always)]
pub fn square<W: Wide, const M: u32, const FRIENDLY: bool, const G: usize>(
    w: W,
    work: &mut Work<W>,
    x: &mut [W::Digit],
    times: usize,
) {
    let g = if G > 0 { G } else { work.groups };
    let x = &mut x[..4 * g];
    for _ in 0..times {
        clear(w, work, g);
        load(w, work, g, x);
        for h in 0..g {
            product(w, work, g, h, x);
        }
        // Of each column, at most as many products as a number has digits.
        let mut sums = 4 * g;
        let mut carry = w.word(w.digit(0));
        for h in 0..g {
            if sums + 4 > most_sums(M) {
                cleanup::<W, M>(w, &mut work.columns[4 * h..8 * g + 8]);
                sums = 1;
            }
            carry = work.reduce::<M, FRIENDLY>(w, g, h, carry);
            sums += 4;
        }
        normalise::<W, M>(w, x, &mut work.columns[4 * g..8 * g], carry);
    }
}

/// The number doubled, for the products with digits well above; and for each four of its digits, what stands next to them.
#[inline(always)]
fn load<W: Wide>(w: W, work: &mut Work<W>, g: usize, x: &[W::Digit]) {
    let factor = &mut work.factor[BEFORE..][..4 * g];
    let edges = &mut work.edges[..12 * g];
    for (h, digits) in x.chunks_exact(4).enumerate() {
        let once = w.widen(digits);
        let twice = w.add(once, once);
        w.store(&mut factor[4 * h..4 * h + 4], twice);
        w.store(&mut edges[12 * h + 4..12 * h + 8], once);
        if h > 0 {
            w.store(&mut edges[12 * h - 4..12 * h], twice);
        }
    }
}

/// The products of the four digits from `4h` on with themselves and, doubled, with those above, onto the columns from `8h` on.
#[inline(always)]
fn product<W: Wide>(w: W, work: &mut Work<W>, g: usize, h: usize, x: &[W::Digit]) {
    let digits = broadcast(w, &x[4 * h..]);
    let c = &mut work.columns[8 * h..4 * (g + h) + 4];
    let (near, far) = c.split_at_mut(8);
    rows(w, near, &work.edges[12 * h + 1..12 * h + 12], digits);
    rows(w, far, &work.factor[BEFORE + 4 * h + 5..][..4 * (g - h) - 4 + 3], digits);
}
