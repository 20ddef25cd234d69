//! The compiled kernels of one machine.

use super::amm::Modulus;
use super::machine::{Digits, Machine};

/// The widest window, in vectors. The four chains of a window this wide hold eight masks; twice as many have
/// no room in any vector machine's mask registers, for which the paper splits longer multiplications.
pub const WIDEST: usize = 2;

/// The vectors that a multiplication needs beside its result.
pub const SPARE: usize = 2 * WIDEST;

/// The kernels of [`super`], each compiled for one machine: numbers of one vector as a window of one, longer
/// numbers, an even count of vectors, by windows of [`WIDEST`].
pub trait Kernels: Machine {
    /// [`super::amm()`], with [`SPARE`] vectors to spare.
    fn amm(self, out: &mut [Digits], spare: &mut [Digits; SPARE], a: &[Digits], b: &[Digits], modulus: Modulus);
    /// [`super::select()`].
    fn select(self, out: &mut [Digits], table: &[Digits], index: u32);
}
