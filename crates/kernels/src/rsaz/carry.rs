//! Carries across vectors: the cleanup in the middle, and the normalisation at the end.

use super::machine::Machine;

/// Moves everything above `2^m` from each column to the next, once. Afterwards no column except the lowest
/// three is above `2^m + 2^{64−m}`, and the number that they make is the same.
///
/// The lowest four columns are the next to be reduced, and receive eight products more at most: only the
/// carry out of the highest of them is taken, so that nothing is read from below.
///
/// Preconditions: `c.len()` is a multiple of four; the highest column is below `2^m`. Cost: six vector
/// operations for four columns. Source: "cleanup", step 7.12 of algorithm 3, "shaving off only the necessary
/// number of bits".
#[inline(always)]
pub fn cleanup<W: Machine, const M: u32>(w: W, c: &mut [W::Word]) {
    // From the top, so that each carry is read before it is taken off.
    let mut at = c.len() - 4;
    while at > 0 {
        let c = &mut c[at - 1..at + 4];
        let x = w.add(w.low::<M>(w.load(&c[1..])), w.carry::<M>(w.load(c)));
        w.store(&mut c[1..], x);
        at -= 4;
    }
    let x = w.low_of_last::<M>(w.load(c));
    w.store(c, x);
}

/// The digits, each at most `2^m`, of the number that columns make, with `carry` added to the lowest.
///
/// Three passes of carries, each by one column, and all in one sweep. Of columns below `2^64` the first
/// leaves less than `2^m + 2^{64−m}`, the second at most `2^m + 2^{64−2m}`, the third at most `2^m`: for
/// `m ≥ 28` and digits in 32 bits.
///
/// Preconditions: `c.len() = out.len()`, a multiple of four; the number is below `2^{m·out.len()}`. Cost: 18
/// vector operations for four digits. Source: in place of algorithm 1, which has a chain through all digits.
#[inline(always)]
pub fn normalise<W: Machine, const M: u32>(w: W, out: &mut [W::Digit], c: &[W::Word], carry: W::Word) {
    let c = &c[..out.len()];
    let mut first = w.lowest(carry);
    let (mut below, mut twice, mut thrice) = (w.zero(), w.zero(), w.zero());
    let mut at = 0;
    while at < out.len() {
        let x = w.add(w.load(&c[at..at + 4]), first);
        first = w.zero();
        let (x, up) = pass::<W, M>(w, x, below);
        below = up;
        let (x, up) = pass::<W, M>(w, x, twice);
        twice = up;
        let (x, up) = pass::<W, M>(w, x, thrice);
        thrice = up;
        w.narrow(&mut out[at..at + 4], x);
        at += 4;
    }
}

/// One pass of carries over four columns, and their carries.
#[inline(always)]
fn pass<W: Machine, const M: u32>(w: W, x: W::Vector, below: W::Vector) -> (W::Vector, W::Vector) {
    let carry = w.carry::<M>(x);
    (w.add(w.low::<M>(x), w.up(carry, below)), carry)
}
