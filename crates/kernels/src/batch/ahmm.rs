//! Almost-half-Montgomery multiplication (paper `ahmm`, section 2.3.1): products with a fixed factor, reduced
//! by half as many rows.
//!
//! Let `B` be a factor that is used many times, such as a table entry of an exponentiation, and
//! `K = B·2^{−w·low} mod M`. Cut the other factor in two: `x = XL + 2^{w·low}·XH`, with `low = ⌊L/2⌋` digits
//! in `XL`, and `high = L − low` in `XH`. Then
//!
//! `x·B·R^{−1} ≡ (XL·K + XH·B)·2^{−w·high} (mod M)`
//!
//! So only `high` rows of reduction are left. The paper has even `L`; any cut with `low ≤ high` works.
//!
//! # Bounds
//!
//! `R ≥ 32M`. For `x < 5M` and `B < 3M`, `K < B/2^{w·low} + 2M < 2M + M/8`; `XL < 2^{w·low} ≤ 2^{w·high}` and
//! `XH < 5M/2^{w·low}`; so the sum divided by `2^{w·high}` is below `K + 15M²/R < 3M`, and the result below
//! `5M`.

use alloc::vec::Vec;

use super::bias::Bias;
use super::kernels::{Kernels, load};
use super::method::Reduction;
use super::product::mac_tiles;
use super::reducer::Reducer;
use super::tiles::tiles;
use crate::bounds::FREE_BITS_AHMM;
use crate::place::AlignedBuf;

/// How numbers of `L` digits are split, and the initial values of columns.
pub(crate) struct Ahmm<M: Kernels> {
    machine: M,
    /// Digits of a factor's lower part.
    low: usize,
    tiles: Vec<(usize, usize)>,
    /// Initial columns of the product, reduced by `high` rows.
    product: Vec<u64>,
    /// Initial columns of `K`: one row and its reduction by `low` rows.
    entry: Vec<u64>,
    one: AlignedBuf<M::Digit>,
}

impl<M: Kernels> Ahmm<M> {
    /// Whether `l` digits leave enough bits free above moduli of at most `bits` bits.
    pub fn fits(l: usize, bits: usize) -> bool {
        M::DIGIT_BITS as usize * l >= bits + FREE_BITS_AHMM
    }

    pub fn new(machine: M, reduction: Reduction, l: usize) -> Self {
        let (low, high) = (l / 2, l - l / 2);
        let bias = |rows: usize| {
            Reducer::bias(reduction, Bias::<M>::new(l + rows + 1).offset_if(M::SIGNED, 0), rows, l)
        };
        Self {
            machine,
            low,
            tiles: tiles(l, M::MAX_TILE).collect(),
            product: bias(high).product(0, low, l).product(0, high, l).initial(),
            entry: bias(low).product(0, 1, l).initial(),
            one: load(machine, 1, |_| &[1]),
        }
    }

    /// `k = B·2^{−w·low} mod M`, almost. Cost: `(low + 1)·L` products.
    pub fn complete(
        &self,
        reduction: &mut Reducer<M>,
        c: &mut [M::Column],
        number: &[M::Digit],
        k: &mut [M::Digit],
    ) {
        self.machine.splat(c, &self.entry);
        mac_tiles(self.machine, self.tiles.iter().copied(), c, number, &self.one);
        reduction.reduce(c, self.low, k);
    }

    /// `x ← x·B·R^{−1} mod M`, almost. Cost: `L² + high·L` products.
    pub fn multiply(
        &self,
        reduction: &mut Reducer<M>,
        c: &mut [M::Column],
        x: &mut [M::Digit],
        number: &[M::Digit],
        k: &[M::Digit],
    ) {
        self.machine.splat(c, &self.product);
        let (low, high) = x.split_at(self.low);
        mac_tiles(self.machine, self.tiles.iter().copied(), c, k, low);
        mac_tiles(self.machine, self.tiles.iter().copied(), c, number, high);
        reduction.reduce(c, x.len() - self.low, x);
    }
}
