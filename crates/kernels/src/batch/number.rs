//! Numbers of a batch: a vector for each digit.

use super::block::MAX_LANES;
use super::kernels::Kernels;
use super::machine::Digit;
use crate::place::AlignedBuf;

/// A number in every lane: `L` digits.
pub type Number<M> = AlignedBuf<Digit<M>>;

/// A number of `count` digits, of which `digits` has those of each lane.
pub(crate) fn load<'b, M: Kernels>(machine: M, count: usize, digits: impl Fn(usize) -> &'b [u64]) -> Number<M> {
    let mut out = AlignedBuf::new(machine.digit_zero(), count, None);
    load_into(machine, &mut out, digits);
    out
}

/// Overwrites a number with the digits that `digits` has of each lane.
pub(crate) fn load_into<'b, M: Kernels>(machine: M, out: &mut [Digit<M>], digits: impl Fn(usize) -> &'b [u64]) {
    let mut lanes: [&[u64]; MAX_LANES] = [&[]; MAX_LANES];
    for (i, lane) in lanes[..M::LANES].iter_mut().enumerate() {
        *lane = digits(i);
    }
    machine.gather(out, &lanes[..M::LANES]);
}
