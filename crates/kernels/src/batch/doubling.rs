//! Numbers in Montgomery form times a power of two for each lane, for powers of the base 2.
//!
//! # Bounds
//!
//! A number below `4M` is doubled up to `2^w − 1` times, so it stays below `2^(2^w + 1)·M`. With
//! `R ≥ 2^(2(2^w + 1))·M` that is below `R`, and its square is reduced to less than `M + 2M`: below `4M`
//! again.

use alloc::vec::Vec;
use core::hint::black_box;

use super::bias::Bias;
use super::kernels::Kernels;
use crate::bounds::free_bits_for_doubling;
use crate::limbs::{self, Limbs};

/// The widest window: its factors are digits of at most 16 bits.
pub const MAX_WINDOW: usize = 4;

/// How numbers of `L` digits are doubled.
pub(crate) struct Doubling<M: Kernels> {
    machine: M,
    /// Initial columns of a product with one digit.
    initial: Vec<u64>,
    /// The factor of each lane.
    powers: Limbs,
}

/// The widest window for moduli of at most `modulus_bits` bits and `R` of `bits` bits, or 0 if there is none.
pub(crate) fn window(bits: usize, modulus_bits: usize) -> usize {
    let free = bits.saturating_sub(modulus_bits);
    (1..=MAX_WINDOW).rev().find(|&w| free_bits_for_doubling(w) <= free).unwrap_or(0)
}

impl<M: Kernels> Doubling<M> {
    pub fn new(machine: M, l: usize) -> Self {
        let initial = Bias::<M>::new(l + 1).offset_if(M::SIGNED, 0).product(0, 1, l).initial();
        Self { machine, initial, powers: limbs::zero(M::LANES) }
    }

    /// `x ← x·2^t` by the `t` of each lane. Cost: `L` products.
    pub fn run(&mut self, x: &mut [M::Digit], times: &[u64]) {
        self.powers.iter_mut().zip(times).for_each(|(power, times)| *power = power_of_two(*times));
        self.machine.scale(x, &self.powers, &self.initial);
    }
}

/// `2^times`, for `times` below 16. The barrier keeps the compiler from shifting several lanes at once, which
/// memcheck would report.
fn power_of_two(times: u64) -> u64 {
    1u64.wrapping_shl(black_box(times) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_the_widest_that_the_free_bits_allow() {
        // From 2(2^w + 1) free bits on, the window is w.
        for (free, w) in
            [(0, 0), (5, 0), (6, 1), (9, 1), (10, 2), (17, 2), (18, 3), (33, 3), (34, 4), (500, 4)]
        {
            assert_eq!(window(1040, 1040 - free), w, "{free} bits are free");
        }
        assert_eq!(window(520, 521), 0, "no bits are free");
    }
}
