//! Reading a table at a secret index: every entry is read, one is kept.

use crate::lanes::Lanes;

/// One tile of the table entry that each lane's index names: `out[j] = table[index·stride + j]`, `j < T`, every lane its
/// own index.
///
/// All entries are read, in order, whatever the indices are; a lane keeps its own by a mask.
///
/// * Precondition: `out.len() = T`; `table` holds `n` entries spaced `stride` apart, of which the tile's digits stand
///   first; an index outside `0..n` yields 0.
/// * Cost: `n·T` loads and masked moves.
#[inline(always)]
pub fn select_tile<M: Lanes, const T: usize>(
    m: M,
    out: &mut [M::Digit],
    table: &[M::Digit],
    stride: usize,
    index: &[u64],
) {
    let index = m.column_from(index);
    let mut acc = [m.digit_zero(); T];
    for (e, entry) in table.chunks(stride).enumerate() {
        let entry: &[M::Digit; T] = entry.first_chunk().expect("tile width");
        let mask = m.equals(index, e as u64);
        each!(j in 0..T {
            acc[j] = m.select(mask, acc[j], entry[j]);
        });
    }
    out[..T].copy_from_slice(&acc);
}
