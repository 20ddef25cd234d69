//! Numbers in the domain times a power of two for each lane, for powers of the base 2.
//!
//! # Bounds
//!
//! A number below `4M` is doubled up to `2^w − 1` times, so it stays below `2^(2^w + 1)·M`. With
//! `R ≥ 2^(2(2^w + 1))·M` that is below `R`, and its square is reduced to less than `M + 2M`: the domain is
//! closed.

use alloc::vec::Vec;
use core::hint::black_box;

use super::bias::Bias;
use super::block::MAX_LANES;
use super::kernels::Kernels;
use super::number::load_into;
use super::product::mac_tiles;
use super::tiles::tiles;
use crate::bounds::free_bits_for_doubling;
use crate::limbs::{self, Limbs};
use crate::place::Placed;

/// The widest window: its factors are digits of at most 16 bits.
pub const MAX_WINDOW: usize = 4;

/// How numbers of `L` digits are doubled.
pub(crate) struct Doubling<M: Kernels> {
    machine: M,
    tiles: Vec<(usize, usize)>,
    /// Initial columns of a product with one digit.
    initial: Vec<u64>,
    factor: Placed<M::Digit>,
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
        Self {
            machine,
            tiles: tiles(l, M::MAX_TILE).collect(),
            initial: Bias::<M>::new(l + 1).offset_if(M::SIGNED, 0).product(0, 1, l).initial(),
            factor: Placed::new(machine.digit_zero(), 1, None),
            powers: limbs::zero(MAX_LANES),
        }
    }

    /// `x ← x·2^t` by the `t` of each lane. Cost: `L` products.
    pub fn run(&mut self, c: &mut [M::Column], x: &mut [M::Digit], times: &[u64]) {
        let m = self.machine;
        self.powers.iter_mut().zip(times).for_each(|(power, times)| *power = power_of_two(*times));
        load_into(m, &mut self.factor, |lane| &self.powers[lane..=lane]);
        m.splat(&mut c[..=x.len()], &self.initial);
        mac_tiles(m, &self.tiles, c, x, &self.factor);
        m.normalize(x, c);
    }
}

/// `2^times`, for `times` below 16. Every shift has a public length: memcheck reports a shift of a vector by a
/// secret one, which the compiler makes of `1 << times` for several lanes.
fn power_of_two(times: u64) -> u64 {
    (0..MAX_WINDOW).fold(1, |power, bit| {
        let chosen = black_box((times >> bit & 1).wrapping_neg());
        power ^ (power ^ power << (1 << bit)) & chosen
    })
}
