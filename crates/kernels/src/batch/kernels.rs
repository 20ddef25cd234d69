//! The compiled micro-kernels of one machine.

use super::block::{Part, WINDOWS};
use super::machine::Machine;

/// The blocks of [`crate::batch::block`], each compiled for one machine: the seam between arrangement (safe, generic, ordinary
/// code) and the instructions of a processor.
///
/// A block that works on a tile takes the tile's width from a slice's length: one of `1..=MAX_TILE`, or for
/// [`square`](Kernels::square) `1..=MAX_SQUARE`, for the triangles `1..=MAX_TRIANGLE`, for
/// [`select_tile`](Kernels::select_tile) `1..=MAX_SELECT`. Others panic, by a mistake in this crate alone: lengths
/// depend on the modulus size alone.
pub trait Kernels: Machine {
    /// What a product of two digits in every lane costs, in tenths of a cycle: the limit of the processor's ports. Only
    /// the choice of window depends on it.
    const PRODUCT_TENTHS: u32;
    /// The widest tile, bounded by the processor's registers.
    const MAX_TILE: usize;
    /// The widest square of a whole number, bounded by code size.
    const MAX_SQUARE: usize;
    /// The widest triangle, in products and squares of longer numbers, bounded by code size.
    const MAX_TRIANGLE: usize;
    /// The widest tile of table entries, bounded by the processor's registers: one accumulator for each window and digit.
    const MAX_SELECT: usize;
    /// From how many digits on squares by Karatsuba's splitting are faster: measured, see [`crate::batch::Method::fastest`].
    const KARATSUBA_FROM: usize;
    /// From how many digits on half-reduced products with table entries are faster: measured likewise.
    const AHMM_FROM: usize;

    /// [`crate::batch::block::mac_rows`].
    fn mac_rows(self, c: &mut [Self::Column], a: &[Self::Digit], b: &[Self::Digit]);
    /// [`crate::batch::block::square`].
    fn square(self, c: &mut [Self::Column], a: &[Self::Digit], half: &[u64]);
    /// [`crate::batch::block::square_onto`].
    fn square_onto(self, c: &mut [Self::Column], a: &[Self::Digit]);
    /// [`crate::batch::block::low_triangle`].
    fn low_triangle(self, c: &mut [Self::Column], a: &[Self::Digit], b: &[Self::Digit]);
    /// [`crate::batch::block::high_triangle`].
    fn high_triangle(self, c: &mut [Self::Column], a: &[Self::Digit], b: &[Self::Digit]);
    /// [`crate::batch::block::reduce_rows`].
    fn reduce_rows(
        self,
        c: &mut [Self::Column],
        friendly: &[Self::Digit],
        q: &mut [Self::Digit],
        last: Option<(&[Self::Digit], Self::Digit)>,
    );
    /// [`crate::batch::block::splat`].
    fn splat(self, c: &mut [Self::Column], start: &[u64]);
    /// [`crate::batch::block::normalize`].
    fn normalize(self, out: &mut [Self::Digit], c: &[Self::Column]);
    /// [`crate::batch::block::settle`].
    fn settle(self, out: &mut [Self::Digit], c: &mut [Self::Column]);
    /// [`crate::batch::block::normalize_sum`].
    fn normalize_sum(self, out: &mut [Self::Digit], low: &[Self::Digit], c: &[Self::Column], d: &[Self::Column]);
    /// [`crate::batch::block::difference`].
    fn difference(
        self,
        out: &mut [Self::Digit],
        spare: &mut [Self::Digit],
        sign: &mut [Self::Column],
        a: &[Self::Digit],
        b: &[Self::Digit],
    );
    /// [`crate::batch::block::karatsuba`].
    fn karatsuba(
        self,
        c: &mut [Self::Column],
        middle: &[Self::Column],
        signs: &[Self::Column],
        extra: &[u64],
        part: Part,
    );
    /// [`crate::batch::block::add`].
    fn add_numbers(self, out: &mut [Self::Digit], a: &[Self::Digit]);
    /// [`crate::batch::block::select_tile`].
    fn select_tile(self, out: [&mut [Self::Digit]; WINDOWS], table: &[Self::Digit], stride: usize, index: &[u64]);
    /// [`crate::batch::block::gather`].
    fn gather(self, out: &mut [Self::Digit], lanes: &[&[u64]]);
    /// [`crate::batch::block::scatter`].
    fn scatter(self, out: &mut [u64], digits: &[Self::Digit]);
}
