//! Reading a table at secret indices: every entry is read, some are kept.

use crate::batch::Machine;

/// How many entries are taken from a table at a time. A table of large numbers is in the second-level cache,
/// from where a vector arrives in about two cycles: time enough to compare it with several indices.
pub const WINDOWS: usize = 4;

/// One tile of the table entries that each lane's indices name: `out[v][j] = table[index[v]·stride + j]`,
/// `j < T`, every lane its own index, for `v` in `0..WINDOWS`.
///
/// All entries are read, in order, for all indices; a lane keeps its own by a mask.
///
/// * Precondition: every `out[v]` has `T` digits; `table` holds `n` entries spaced `stride` apart, each
///   beginning with the tile's digits; `index` holds the `LANES` indices of one window after the other; an
///   index outside `0..n` yields 0.
/// * Cost: `n·T` loads and `WINDOWS·n·T` masked moves.
#[inline(always)]
pub fn select_tile<M: Machine, const T: usize>(
    m: M,
    out: [&mut [M::Digit]; WINDOWS],
    table: &[M::Digit],
    stride: usize,
    index: &[u64],
) {
    const N: usize = WINDOWS;
    let index: [M::Column; N] = core::array::from_fn(|v| m.column_from(&index[v * M::LANES..][..M::LANES]));
    let mut acc = [[m.digit_zero(); T]; N];
    for (e, entry) in table.chunks(stride).enumerate() {
        let entry: &[M::Digit; T] = entry.first_chunk().expect("tile width");
        each!(v in 0..N {
            let mask = m.equals(index[v], e as u64);
            each!(j in 0..T {
                acc[v][j] = m.select(mask, acc[v][j], entry[j]);
            });
        });
    }
    for (out, acc) in out.into_iter().zip(&acc) {
        out[..T].copy_from_slice(acc);
    }
}
