//! VNRMM: a product with reduction, interleaved.

use super::beside::Beside;
use super::carry::cleanup;
use super::machine::{Machine, SHIFTED};
use super::most_sums;
use super::rows::{broadcast, rows};
use super::workspace::Workspace;

/// `x ← x·y·R^{−1}`, for `g` fours of digits (`G`, or if that is 0 as the working space says).
///
/// For each four digits of `y`: four rows of `x·y`, then four rows of the reduction. The rows of the product
/// are done four digits ahead, so that the head never waits for them.
///
/// Preconditions: digits at most `2^M`, `R = 2^{Mk}`. Result: digits at most `2^M`; `< x·y/R + M`, or with
/// friendly quotients `+ 2M`; congruent to `x·y·R^{−1}`. Cost: `4g(g + 1) + 4g²` vector multiply-accumulates,
/// `4(g² − 1) + 4g(g+1)` with friendly quotients, and 14 scalar multiplications for each head. Source:
/// algorithm 3 and section 4.3.
#[inline(always)]
pub fn multiply<W: Machine, const M: u32, const FRIENDLY: bool, const G: usize>(
    w: W,
    space: &mut Workspace<W>,
    x: &mut [W::Digit],
    y: &[W::Digit],
    beside: &mut impl Beside,
) {
    beside.begin();
    let g = if G > 0 { G } else { space.groups };
    let (x, y) = (&mut x[..4 * g], &y[..4 * g]);
    let mut view = space.view(g);
    let mut below = w.no_factors();
    for v in 0..g {
        let digits = w.factors(&x[4 * v..]);
        w.shift(&mut view.factor[SHIFTED * v..], digits, below);
        below = digits;
    }
    w.shift(&mut view.factor[SHIFTED * g..], w.no_factors(), below);
    rows::<W, true, true, true>(w, view.columns, view.factor, broadcast(w, y), g + 1, beside);
    let mut sums = 4;
    let mut carry = w.word(w.digit(0));
    for h in 0..g {
        if sums + 8 > most_sums(M) {
            cleanup::<W, M>(w, &mut view.columns[4 * h..][..4 * g + 4]);
            sums = 1;
        }
        if h + 1 < g {
            // The highest four columns are reached for the first time.
            let (digits, c) = (broadcast(w, &y[4 * h + 4..]), &mut view.columns[4 * h + 4..]);
            rows::<W, false, true, false>(w, c, view.factor, digits, g, beside);
            rows::<W, true, false, true>(w, &mut c[4 * g..], &view.factor[SHIFTED * g..], digits, 1, beside);
        }
        carry = view.reduce::<M, FRIENDLY>(w, g, h, carry, beside);
        sums += 8;
    }
    view.finish::<M, FRIENDLY>(w, g, carry, x);
    beside.end();
}
