//! Reduction as Montgomery wrote it, by two products, and its truncated form (paper `truncated`).
//!
//! For `T < R·N·2` and `N' = −N^{−1} mod R`: `q = T·N' mod R`, and `(T + q·N)/R` is the result, exactly,
//! below `T/R + N`. Both products are made of half the columns where possible: `q` needs the lower half of
//! `T·N'` only.
//!
//! # The truncated form
//!
//! The lower half of `q·N` is known before it is computed: `T + q·N ≡ 0 (mod R)`, so it is `R − (T mod R)`,
//! or 0 when `T mod R` is. Adding the two halves therefore carries `c_add = 1` into the upper half unless
//! `T mod R = 0`: `c_add` is the OR of the low digits of `T`. What remains is `⌊q·N/R⌋`, for which the paper
//! computes the upper columns and estimates the carry out of the lower ones from a single one, column
//! `l − 1`.
//!
//! **The estimate by itself is not exact**: the columns it drops carry into column `l − 1`, and when its low
//! digit is within that carry of `2^w` the carry out changes: of random products about one in `2^w/l`, and
//! always for numbers chosen for it. But the whole digit is known, since it must cancel that of `T`. Let `t`
//! be digit `l − 1` of `T`, `v` column `l − 1` of `q·N`, and `2^{w(l−1)}·e` all that lies below both:
//!
//! `T mod R + Σ_{k<l} C[k]·2^{wk} = 2^{w(l−1)}·(t + v + e)`, which is a multiple of `R = 2^{wl}`.
//!
//! So `t + v + e` is a multiple of `2^w`, an integer `e` included: `0 ≤ e ≤ 1 + 2l` where columns are not
//! negative (the lower digits of `T` give less than 1, and each of the columns below is less than `2l·2^w`),
//! and `|e| < 2^{w−1}` in any case, as columns are below `2^63` in size. The carry out of column `l − 1` is
//! then the multiple nearest to `t + v`:
//!
//! `carry = ⌊(t + v + 2^{w−1}) / 2^w⌋`
//!
//! exactly. It holds both `c_add` and the estimate: for `T mod R = 0`, `q = 0` and `t + v = 0`; else the sum
//! is at least one multiple.

use alloc::vec::Vec;

use super::bias::Bias;
use super::block::Part;
use super::kernels::Kernels;
use super::product::{Kind, Product, splits};
use crate::place::{AlignedBuf, COLUMNS};

/// The constants of the moduli of a batch and the working space of their reduction.
pub(crate) struct Separated<M: Kernels> {
    machine: M,
    pub modulus: AlignedBuf<M::Digit>,
    inverse: AlignedBuf<M::Digit>,
    quotient: Product<M>,
    multiple: Product<M>,
    /// Whether only the upper half of the multiple is computed.
    truncated: bool,
    low: AlignedBuf<M::Digit>,
    q: AlignedBuf<M::Digit>,
    columns: AlignedBuf<M::Column>,
}

impl<M: Kernels> Separated<M> {
    /// `N` and `N'`, of `l` digits each.
    pub fn new(
        machine: M,
        modulus: AlignedBuf<M::Digit>,
        inverse: AlignedBuf<M::Digit>,
        levels: u32,
        truncated: bool,
    ) -> Self {
        let l = modulus.len();
        let number = || AlignedBuf::new(machine.digit_zero(), l, None);
        let signed = |part| M::SIGNED || splits(l, levels, part);
        let extra = Bias::<M>::new(2 * l).offset_if(signed(Part::Low), 0).initial();
        let quotient = Product::new(machine, l, levels, Kind::Product, Part::Low, &extra).fix(&inverse);
        let part = if truncated { Part::High } else { Part::Full };
        let guard = if truncated { l - 1 } else { 0 };
        let rounding = if truncated { 1 << (M::DIGIT_BITS - 1) } else { 0 };
        let extra: Vec<u64> =
            Bias::<M>::new(2 * l).offset_if(signed(part), guard).plus(guard, rounding).initial();
        let multiple = Product::new(machine, l, levels, Kind::Product, part, &extra).fix(&modulus);
        let columns = AlignedBuf::new(machine.column_splat(0), 2 * l, Some(COLUMNS));
        Self { machine, modulus, inverse, quotient, multiple, truncated, low: number(), q: number(), columns }
    }

    /// `out = (T + q·N)/R` for the number `T` in the `2l` columns of `c`, which are left in any state.
    pub fn reduce(&mut self, c: &mut [M::Column], out: &mut [M::Digit]) {
        let (m, l) = (self.machine, self.modulus.len());
        m.settle(&mut self.low, c);
        self.quotient.run(&mut self.columns, &self.low, &self.inverse);
        m.normalize(&mut self.q, &self.columns[..l]);
        self.multiple.run(&mut self.columns, &self.q, &self.modulus);
        let from = if self.truncated { l - 1 } else { 0 };
        m.normalize_sum(out, &self.low[from..], &c[l..2 * l], &self.columns[from..]);
    }
}
