//! VNRMSQR: a square and its reduction.

use super::beside::Beside;
use super::carry::cleanup;
use super::machine::{Machine, SHIFTED};
use super::most_sums;
use super::rows::{LOWEST, MIDDLE, broadcast, four, rows, unrolled};
use super::workspace::{View, Workspace};

/// `x ← x²·R^{−1}`, `times` times, for `g` fours of digits (`G`, or if that is 0 as the working space says).
///
/// The square: each four digits times themselves, and times all digits above them doubled. The reduction:
/// four rows at a time. The paper does the one after the other; here they take turns, since a step of the
/// reduction waits for the one before, and has room for a step of the square.
///
/// Preconditions and result: those of [`multiply`](super::multiply::multiply()), with `y = x`. Cost, each
/// time: `2g(g + 3)` vector multiply-accumulates for the square, and the reduction's. Source: algorithm 5.
#[inline(always)]
pub fn square<W: Machine, const M: u32, const FRIENDLY: bool, const G: usize>(
    w: W,
    space: &mut Workspace<W>,
    x: &mut [W::Digit],
    times: usize,
    beside: &mut impl Beside,
) {
    let g = if G > 0 { G } else { space.groups };
    let x = &mut x[..4 * g];
    let mut view = space.view(g);
    for _ in 0..times {
        beside.begin();
        load(w, &mut view, g, x);
        product(w, &mut view, g, 0, x, beside);
        let mut state = State { squared: 1, reduced: 0, carry: w.word(w.digit(0)) };
        if G > 0 && G <= UNROLLED {
            // Lengths differ from step to step. Written out, no step has a loop or checks a length.
            unrolled!(h in 0 1 2 3 4 5 6 7 8 {
                if h < g {
                    step::<W, M, FRIENDLY>(w, &mut view, g, h, x, &mut state, beside);
                }
            });
        } else {
            for h in 0..g {
                step::<W, M, FRIENDLY>(w, &mut view, g, h, x, &mut state, beside);
            }
        }
        view.finish::<M, FRIENDLY>(w, g, state.carry, x);
        beside.end();
    }
}

/// The most steps that are written out: the code of longer numbers would not fit where it is decoded.
const UNROLLED: usize = 9;

/// How many fours of rows of the square and of the reduction have been added since the last cleanup, and the
/// carry.
struct State<W: Machine> {
    squared: usize,
    reduced: usize,
    carry: W::Word,
}

/// Four rows of the square, and four of the reduction below them. The rows of the square are done one step
/// ahead; all of them together bring a column as many products as a number has digits.
#[inline(always)]
fn step<W: Machine, const M: u32, const FRIENDLY: bool>(
    w: W,
    view: &mut View<W>,
    g: usize,
    h: usize,
    x: &[W::Digit],
    state: &mut State<W>,
    beside: &mut impl Beside,
) {
    if (8 * state.squared + 8).min(4 * g) + 4 * state.reduced + 4 > most_sums(M) {
        cleanup::<W, M>(w, &mut view.columns[4 * h..][..4 * g + 4]);
        (state.squared, state.reduced) = (0, 1);
    }
    if h + 1 < g {
        product(w, view, g, h + 1, x, beside);
    }
    state.carry = view.reduce::<M, FRIENDLY>(w, g, h, state.carry, beside);
    (state.squared, state.reduced) = (state.squared + 1, state.reduced + 1);
}

/// The number doubled and shifted, for the products with digits well above.
#[inline(always)]
fn load<W: Machine>(w: W, view: &mut View<W>, g: usize, x: &[W::Digit]) {
    let mut below = w.no_factors();
    for v in 1..=g {
        let digits = if v < g { w.factors(&x[4 * v..]) } else { w.no_factors() };
        let digits = w.double(digits);
        if v > 1 {
            w.shift(&mut view.factor[SHIFTED * v..], digits, below);
        }
        below = digits;
    }
}

/// The products of the four digits from `4h` on with themselves and, doubled, with those above, onto the
/// columns from `8h` on.
#[inline(always)]
fn product<W: Machine>(
    w: W,
    view: &mut View<W>,
    g: usize,
    h: usize,
    x: &[W::Digit],
    beside: &mut impl Beside,
) {
    let digits = broadcast(w, &x[4 * h..]);
    let c = &mut view.columns[8 * h..];
    // With themselves, and with the next four.
    let own = w.factors(&x[4 * h..]);
    let next = if h + 1 < g { w.factors(&x[4 * h + 4..]) } else { w.no_factors() };
    let (near, far) = (w.ups(own, w.no_factors()), w.ups(w.double(next), own));
    if h == 0 {
        four::<W, true, LOWEST>(w, c, near, digits);
        four::<W, true, MIDDLE>(w, &mut c[4..], far, digits);
        if g > 1 {
            rows::<W, true, false, true>(w, &mut c[8..], &view.factor[2 * SHIFTED..], digits, g - 1, beside);
        }
        return;
    }
    four::<W, false, LOWEST>(w, c, near, digits);
    // The highest four columns are reached for the first time.
    if h + 1 < g {
        four::<W, false, MIDDLE>(w, &mut c[4..], far, digits);
        beside.step();
        let (n, factor) = (g - h - 2, &view.factor[SHIFTED * (h + 2)..]);
        rows::<W, false, false, false>(w, &mut c[8..], factor, digits, n, beside);
        rows::<W, true, false, true>(w, &mut c[8 + 4 * n..], &factor[SHIFTED * n..], digits, 1, beside);
    } else {
        four::<W, true, MIDDLE>(w, &mut c[4..], far, digits);
    }
}
