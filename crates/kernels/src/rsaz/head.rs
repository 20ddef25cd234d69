//! The scalar head: four digits of the quotient from the four lowest columns.

use super::machine::Machine;

/// The constants of a modulus that the head reads, in scalar words.
#[derive(Clone, Copy)]
pub struct Low<W: Machine> {
    /// The four lowest digits of `M`.
    pub modulus: [W::Word; 4],
    /// `k0 = −M^{−1} mod 2^m`.
    pub k0: W::Word,
}

/// Four digits of the quotient as in the paper, and the carry out of the four columns.
///
/// `q[t] = (x_t + …)·k0 mod 2^m` makes column `t` divisible by `2^m` when `q[t]·M` is added; what that adds
/// to the four columns themselves is added here, the rest is for the vectors.
///
/// Preconditions: columns and `carry` with ten products added stay below `2^64`. Result: `q[t] < 2^m`; the
/// carry out is below `2^{64−m}`. Cost: 14 scalar multiplications, of which 8 wait for each other. Source:
/// steps 7.4, 7.5, 7.8 and 7.9 of algorithm 3, where `k0` is misprinted as modulo `M`.
#[allow(clippy::needless_range_loop)] // iterators are not always inlined below an entry point
#[inline(always)]
pub fn chained<W: Machine, const M: u32>(
    w: W,
    mut x: [W::Word; 4],
    mut carry: W::Word,
    low: &Low<W>,
) -> ([W::Digit; 4], W::Word) {
    let mut q = [w.digit(0); 4];
    for t in 0..4 {
        x[t] = w.word_add(x[t], carry);
        q[t] = w.word_quotient::<M>(x[t], low.k0);
        for j in t..4 {
            x[j] = w.word_mac(x[j], low.modulus[j - t], w.word(q[t]));
        }
        carry = w.word_carry::<M>(x[t]);
    }
    (q, carry)
}

/// Four digits of the quotient by the friendly multiple `M' ≡ −1 (mod 2^{4m})`: they are the four lowest
/// digits themselves.
///
/// With `M'' = (M' + 1)/2^{4m}`, `X + q·M' = (X − q) + 2^{4m}·q·M''`: the digits go, and `q·M''` is added
/// four columns up, all in vectors.
///
/// Preconditions: columns with the carries into them stay below `2^64`. Result: that of [`chained`]. Cost: no
/// multiplication; three operations for each digit.
#[allow(clippy::needless_range_loop)] // iterators are not always inlined below an entry point
#[inline(always)]
pub fn friendly<W: Machine, const M: u32>(
    w: W,
    x: [W::Word; 4],
    mut carry: W::Word,
) -> ([W::Digit; 4], W::Word) {
    let mut q = [w.digit(0); 4];
    for t in 0..4 {
        let x = w.word_add(x[t], carry);
        q[t] = w.word_low::<M>(x);
        carry = w.word_carry::<M>(x);
    }
    (q, carry)
}
