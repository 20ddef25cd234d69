//! Carries that ripple: those that are left when the rounds are over.
//!
//! The paper (slide "Handling Tail") adds the masks of the four chains to the digits and then, in a loop that
//! ends when no lane carries any more, those carries to the next lanes. How long that takes depends on the
//! digits, which are secret. Here the carries of all lanes are found at once, by an addition of masks as
//! whole numbers: a lane that overflowed *generates* a carry, a lane of all ones *propagates* one, and a sum
//! of the two masks ripples as the digits would.

use super::chains::Chains;
use super::machine::{DIGITS, Digits, Machine};

/// The lanes of a window as bits of a whole number: `V` masks side by side.
#[inline(always)]
fn bits<M: Machine, const V: usize>(m: M, masks: &[M::Mask; V]) -> u64 {
    let mut all = 0;
    for (v, &mask) in masks.iter().enumerate() {
        all |= u64::from(m.bits(mask)) << (DIGITS * v);
    }
    all
}

/// Adds to digits the carries out of them, and `carry` to the lowest:
/// `s ← s + Σ_i 2^{32(i+1)}·overflowed_i + carry`. Returns the carry out of the topmost.
///
/// * Precondition: `carry ≤ 1`, and no digit that overflowed is `2^32 − 1`.
/// * Cost: for each vector a comparison and an addition under a mask; between them, two additions of 64-bit
///   words.
/// * Why it is right: let `g` and `p` be the masks of lanes that overflowed and of lanes of all ones,
///   disjoint by the precondition. Lane `i` receives a carry if lane `i − 1` generates one, or is all ones
///   and receives one. In `t = (2g + carry) + p` bit `i` receives a carry from below under the same
///   conditions, save that a received carry adds to bit `i` and ripples where `p_i = 1`: so `t_i ⊕ p_i` is 1
///   where lane `i` receives one, from bit `i` of `2g` or from the bit below.
#[inline(always)]
pub fn ripple<M: Machine, const V: usize>(
    m: M,
    s: &mut [M::Vector; V],
    overflowed: &[M::Mask; V],
    carry: u64,
) -> u64 {
    const { assert!(DIGITS * V < 63) };
    let mut full = *overflowed;
    for v in 0..V {
        full[v] = m.all_ones(s[v]);
    }
    let (generate, propagate) = (bits(m, overflowed), bits(m, &full));
    let received = ((generate << 1 | carry) + propagate) ^ propagate;
    let one = m.constant(1);
    for (v, s) in s.iter_mut().enumerate() {
        *s = m.add_where(m.mask((received >> (DIGITS * v)) as u16), *s, one);
    }
    received >> (DIGITS * V) & 1
}

/// The value of a window, as digits, and the digit above them.
///
/// * Result: `digits + 2^{32·16V}·top` is the value stated at [`Chains`]. `top ≤ 4`; it is at most 1 where
///   that value is below `2·2^{32·16V}`, as it is at the end of a row (see [`super::amm()`]).
/// * Cost: for each vector 3 additions with carry, 3 under a mask and a shift; [`ripple`].
/// * Source: slide "Handling Tail", except its loop.
#[inline(always)]
pub fn resolve<M: Machine, const V: usize>(m: M, chains: &Chains<M, V>, digits: &mut [Digits; V]) -> u64 {
    let Chains { mut s, k } = *chains;
    let (zero, one, none) = (m.constant(0), m.constant(1), m.mask(0));
    let mut spilled = k[1];
    let mut up = [zero; V];
    for v in 0..V {
        // Chains 0 and 1 belong to their own lanes: s + k[0] + k[1].
        let t = m.add_where(k[0][v], zero, one);
        (s[v], spilled[v]) = m.add(s[v], k[1][v], t);
        // What that carries belongs one lane up, as do chains 2 and 3: from 0 to 3.
        let t = m.add_where(spilled[v], zero, one);
        let t = m.add_where(k[2][v], t, one);
        up[v] = m.add_where(k[3][v], t, one);
    }
    // A lane that overflows is at most 2 afterwards: not all ones.
    let mut overflowed = spilled;
    for v in 0..V {
        let below = if v == 0 { zero } else { up[v - 1] };
        (s[v], overflowed[v]) = m.add(s[v], none, m.shift_up(up[v], below));
    }
    let rippled = ripple(m, &mut s, &overflowed, 0);
    let above = |mask: M::Mask| u64::from(m.bits(mask) >> (DIGITS - 1));
    let top = rippled + above(spilled[V - 1]) + above(k[2][V - 1]) + above(k[3][V - 1]);
    for (&s, digits) in s.iter().zip(digits) {
        m.store(s, digits);
    }
    top
}

/// `digits ← digits + addend` if `condition` is 1, modulo `2^{32·len}`; the same work if it is 0.
///
/// * Precondition: as many digits as addends, a multiple of `V` vectors; `condition ≤ 1`.
/// * Cost: for each vector an addition under a mask, one with carry and [`ripple`].
#[inline(always)]
pub fn add_if<M: Machine, const V: usize>(m: M, condition: u64, digits: &mut [Digits], addend: &[Digits]) {
    // Hide from the compiler that this is all ones or all zeros.
    let mask = m.mask(core::hint::black_box(condition.wrapping_neg()) as u16);
    let (zero, none) = (m.constant(0), m.mask(0));
    let mut carry = 0;
    let windows = digits.as_chunks_mut::<V>().0.iter_mut().zip(addend.as_chunks::<V>().0);
    for (digits, addend) in windows {
        let (mut s, mut overflowed) = ([zero; V], [none; V]);
        for v in 0..V {
            let addend = m.add_where(mask, zero, m.load(&addend[v]));
            // A lane that overflows is at most 2^32 − 2 afterwards.
            (s[v], overflowed[v]) = m.add(m.load(&digits[v]), none, addend);
        }
        carry = ripple(m, &mut s, &overflowed, carry);
        for v in 0..V {
            m.store(s[v], &mut digits[v]);
        }
    }
}
