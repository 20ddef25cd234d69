//! Carries, eight digits at a time.

use super::{LANES, Machine};

/// Makes digits of the columns of one vector: the digits below `2^52`, and in lane 0 of a second vector the
/// carry out.
///
/// First every column passes on its bits above the digit. Then only 0 or 1 is left to carry everywhere, and
/// one addition of integers finds it for all lanes: with a bit for each lane, lanes above `2^52 − 1`
/// *generate* a carry, lanes equal to it *propagate* one, and in `propagate + 2·generate` carries run as they
/// do through the digits.
///
/// * Precondition: columns below `2^64`.
/// * Cost: about 14 instructions, 20 cycles from columns to digits.
#[inline(always)]
pub fn settle<M: Machine>(m: M, columns: M::Vector) -> (M::Vector, M::Vector) {
    let above = m.carry(columns);
    let digits = m.add(m.low(columns), m.up(above, m.zero()));
    let carries = ripple(m.over(digits).into(), m.full(digits).into());
    let out = m.increment(m.up(m.zero(), above), carries as u32 >> LANES & 1);
    (m.low(m.increment(digits, carries as u32)), out)
}

/// Makes digits of the columns `c`, in place, all below `2^52`: a number whose top vector carries nothing
/// out.
///
/// * Precondition: columns below `2^64`, and the number below `2^{52·8·c.len()}`; `c.len() ≤ 7`.
#[inline(always)]
pub fn normalize<M: Machine, const N: usize>(m: M, c: &mut [M::Vector; N]) {
    const { assert!(LANES * N < 64) };
    let mut above = *c;
    unroll!(k in N, {
        above[k] = m.carry(above[k]);
    });
    let (mut generate, mut propagate) = (0, 0);
    unroll!(k in N, {
        let below = if k > 0 { above[(k + N - 1) % N] } else { m.zero() };
        c[k] = m.add(m.low(c[k]), m.up(above[k], below));
        generate |= u64::from(m.over(c[k])) << (LANES * k % 64);
        propagate |= u64::from(m.full(c[k])) << (LANES * k % 64);
    });
    let carries = ripple(generate, propagate);
    unroll!(k in N, {
        c[k] = m.low(m.increment(c[k], (carries >> (LANES * k % 64)) as u32));
    });
}

/// Where carries arrive.
#[inline(always)]
fn ripple(generate: u64, propagate: u64) -> u64 {
    (propagate + 2 * generate) ^ propagate
}
