//! Reduction by several digits at a time, by a multiple of the modulus whose quotients need no products.
//!
//! With `k` digits at a time and `μ = −M^{−1} mod 2^{wk}`, the friendly multiple `M' = μ·M ≡ −1 (mod 2^{wk})`
//! has the `k` lowest digits of a number as its quotient: for `q = C mod 2^{wk}`,
//! `(C + q·M')/2^{wk} = ⌊C/2^{wk}⌋ + q·M''` with `M'' = (M' + 1)/2^{wk}`, which has `L` digits. So a step is
//! one carry chain over the lowest digits and one block of products. Row by row, each digit's quotient waits
//! for the products of the row before; within a step, only the carries wait for each other.
//!
//! A step of `n < k` digits takes the same `M'`: `(C + q·M')/2^{wn} = ⌊C/2^{wn}⌋ + q·M''·2^{w(k−n)}`.
//!
//! The last `p = k` digits (or all, where there are fewer) are reduced as Montgomery wrote it:
//! `q = μ·C mod 2^{wp}`, then `(C + q·M)/2^{wp}`.
//!
//! # Bounds
//!
//! Of `r` digits in all, the friendly quotients together are below `2^{w(r−k)}`, and `M' < 2^{wk}·M`; the
//! last quotient, at its place, is below `2^{wr}`. Each adds less than `2^{wr}·M`: the result is below
//! `C/2^{wr} + 2M`, as by [`interleaved`](super::interleaved), and below `C/2^{wr} + M` for up to `k` digits.

use alloc::vec::Vec;

use super::bias::Bias;
use super::kernels::Kernels;
use super::product::mac_tiles;
use super::tiles::{Cut, tiles};
use crate::place::{AlignedBuf, COLUMNS};

/// `k`: as many as tiles of AVX2's sixteen registers have digits.
pub const STEP: usize = 7;

/// The constants of the moduli of a batch, and the working space of their reduction.
pub(crate) struct Tiled<M: Kernels> {
    machine: M,
    pub modulus: AlignedBuf<M::Digit>,
    friendly: AlignedBuf<M::Digit>,
    mu: AlignedBuf<M::Digit>,
    quotient: AlignedBuf<M::Digit>,
    /// Columns of the last quotient, and their initial values.
    low: AlignedBuf<M::Column>,
    initial: Vec<u64>,
    steps: Cut,
    /// Minus the bias of the last multiple, for the lowest columns. It is added just before the multiple:
    /// earlier, it would change the quotient that is read from them.
    late: Vec<u64>,
}

/// The steps of a reduction by `rows` digits with a friendly quotient: offset and width.
fn steps(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    tiles(rows.saturating_sub(STEP), STEP)
}

impl<M: Kernels> Tiled<M> {
    /// `M`, `M''` and the `k` digits of `μ`.
    pub fn new(
        machine: M,
        modulus: AlignedBuf<M::Digit>,
        friendly: AlignedBuf<M::Digit>,
        mu: AlignedBuf<M::Digit>,
    ) -> Self {
        let quotient = AlignedBuf::new(machine.digit_zero(), STEP, None);
        let low = AlignedBuf::new(machine.column_splat(0), 2 * STEP, Some(COLUMNS));
        let initial = Bias::<M>::new(2 * STEP).offset_if(M::SIGNED, 0).product(0, STEP, STEP).initial();
        Self {
            machine,
            modulus,
            friendly,
            mu,
            quotient,
            low,
            initial,
            steps: Cut::default(),
            late: late::<M>(),
        }
    }

    /// `bias`, plus that of a reduction of `l` digits by `rows`, except for [`late`].
    pub fn bias(bias: Bias<M>, rows: usize, l: usize) -> Bias<M> {
        let last = rows.min(STEP);
        let bias = steps(rows).fold(bias, |bias, (at, width)| bias.product(at + STEP, width, l));
        let bias = bias.product(rows - last, last, l);
        late::<M>()
            .iter()
            .enumerate()
            .take(last)
            .fold(bias, |bias, (k, word)| bias.plus(rows - last + k, word.wrapping_neg()))
    }

    /// Reduces `C` by `rows` digits and normalises the `l` digits above them: `out ≡ C·2^{−w·rows} (mod M)`,
    /// below `C/2^{w·rows} + 2M`. `rows` is at most `l`, and `c` has at least `rows + l` columns.
    ///
    /// Cost: `rows·l` products, and `k²` for the last quotient.
    pub fn reduce(&mut self, c: &mut [M::Column], rows: usize, out: &mut [M::Digit]) {
        debug_assert!(rows <= out.len() && c.len() >= rows + out.len());
        let m = self.machine;
        for &(at, width) in self.steps.of(rows, steps) {
            let q = &mut self.quotient[..width];
            m.quotients(q, &mut c[at..]);
            mac_tiles(m, tiles(width, M::MAX_TILE), &mut c[at + STEP..], q, &self.friendly);
        }
        let last = rows.min(STEP);
        let (q, c) = (&mut self.quotient[..last], &mut c[rows - last..]);
        m.normalize(q, c);
        m.splat(&mut self.low, &self.initial);
        mac_tiles(m, tiles(last, M::MAX_TILE), &mut self.low, q, &self.mu[..last]);
        m.normalize(q, &self.low);
        m.add_words(&mut c[..last], &self.late);
        mac_tiles(m, tiles(last, M::MAX_TILE), c, q, &self.modulus);
        m.quotients(q, c);
        m.normalize(out, &c[last..]);
    }
}

/// Minus the bias of the `k` lowest columns of a product whose factors have `k` digits or more: column `i`
/// receives `i + 1` low halves and `i` high ones.
fn late<M: Kernels>() -> Vec<u64> {
    Bias::<M>::new(STEP).product(0, STEP, STEP).initial()
}
