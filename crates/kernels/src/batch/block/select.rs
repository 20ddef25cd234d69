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
    let index: [M::Column; WINDOWS] =
        core::array::from_fn(|v| m.column_from(&index[v * M::LANES..][..M::LANES]));
    let mut acc = [[m.digit_zero(); T]; WINDOWS];
    for (e, entry) in table.chunks(stride).enumerate() {
        let entry: &[M::Digit; T] = entry.first_chunk().expect("tile width");
        each!(v in 0..WINDOWS {
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

/// One tile of the table entries that each lane's index names, from a table that all lanes share: in lane
/// `k`, `out[j] = table[index[k]·stride + j]`, `j < T`.
///
/// The table has each digit once, as a word below `2^w`; a load brings it to all lanes. All entries are read,
/// in order; a lane keeps its own by a mask.
///
/// * Precondition: `out` has `T` digits; `table` holds `n` entries spaced `stride` apart, each beginning with
///   the tile's digits; `index` holds `LANES` indices; an index outside `0..n` yields 0.
/// * Cost: `n·T` loads and `n·T` masked moves.
#[inline(always)]
pub fn select_shared<M: Machine, const T: usize>(
    m: M,
    out: &mut [M::Digit],
    table: &[u64],
    stride: usize,
    index: &[u64],
) {
    let index = m.column_from(index);
    let mut acc = [m.column_splat(0); T];
    for (e, entry) in table.chunks(stride).enumerate() {
        let entry: &[u64; T] = entry.first_chunk().expect("tile width");
        let mask = m.equals(index, e as u64);
        each!(j in 0..T {
            acc[j] = m.select_column(mask, acc[j], m.column_splat(entry[j]));
        });
    }
    let out: &mut [M::Digit; T] = out.first_chunk_mut().expect("tile width");
    each!(j in 0..T {
        out[j] = m.operand(acc[j]);
    });
}
