//! The initial values of columns: minus the bias of the products that they will receive, and an offset where
//! they can be negative. So columns hold plain sums when they are read.

use alloc::vec::Vec;

use super::machine::Machine;

/// Builds the initial values of columns.
pub(crate) struct Bias<M> {
    columns: Vec<u64>,
    machine: core::marker::PhantomData<M>,
}

impl<M: Machine> Bias<M> {
    /// `count` columns that receive nothing.
    pub fn new(count: usize) -> Self {
        Self { columns: alloc::vec![0; count], machine: core::marker::PhantomData }
    }

    /// Prepares them for a product of `rows × columns` digits, its lowest column at `at`. Columns of the
    /// product beyond the last are left out.
    pub fn product(mut self, at: usize, rows: usize, columns: usize) -> Self {
        // Pairs (i, j) with i + j = k.
        let pairs =
            |k: usize| (k + 1).min(rows).min(columns).min((rows + columns).saturating_sub(k + 1)) as u64;
        for k in 0..rows + columns {
            let bias = M::BIAS_LO.wrapping_mul(pairs(k)).wrapping_add(match k {
                0 => 0,
                _ => M::BIAS_HI.wrapping_mul(pairs(k - 1)),
            });
            if let Some(column) = self.columns.get_mut(at + k) {
                *column = column.wrapping_sub(bias);
            }
        }
        self
    }

    /// Adds `value` to one column.
    pub fn plus(mut self, at: usize, value: u64) -> Self {
        self.columns[at] = self.columns[at].wrapping_add(value);
        self
    }

    /// Raises columns from `at` on, so that negative sums are carried like unsigned numbers: each starts at
    /// `2^62`, less the `2^{62−w}` that the one below carries into it. Except for the carry out of the last,
    /// these offsets sum to 0. Sums from `−2^62` to below `3·2^62` are then unsigned numbers that have not
    /// wrapped.
    pub fn offset(mut self, at: usize) -> Self {
        for (k, column) in self.columns[at..].iter_mut().enumerate() {
            *column = column.wrapping_add(offset(k, M::DIGIT_BITS));
        }
        self
    }

    /// Like [`offset`](Self::offset), where columns are `signed`.
    pub fn offset_if(self, signed: bool, at: usize) -> Self {
        if signed { self.offset(at) } else { self }
    }

    /// The initial values.
    pub fn initial(self) -> Vec<u64> {
        self.columns
    }
}

/// The offset of column `k`, counted from the lowest one that [`Bias::offset`] raises.
pub(crate) const fn offset(k: usize, digit_bits: u32) -> u64 {
    const OFFSET: u64 = 1 << 62;
    if k == 0 { OFFSET } else { OFFSET - (OFFSET >> digit_bits) }
}
