//! The protected table: an entry is found by reading all of them.

use super::machine::Machine;

/// Eight digits in a vector.
pub const PACK: usize = 8;

/// Writes to `out` the entry of a table that `index` names. Every entry is read.
///
/// Preconditions: `out.len()` is a multiple of `PACK`, `table.len()` of `out.len()`. Source: section 3.3;
/// there each entry lies in a part of every cache line, here every line is read whole.
#[inline(always)]
pub fn select<W: Machine>(w: W, out: &mut [W::Digit], table: &[W::Digit], index: u64) {
    let words = out.len();
    let (mut at, mut rest) = (0, out);
    while rest.len() >= 5 * PACK {
        let (tile, above) = rest.split_at_mut(5 * PACK);
        pick::<W, 5>(w, tile, &table[at..], words, index);
        (at, rest) = (at + 5 * PACK, above);
    }
    for tile in rest.chunks_exact_mut(PACK) {
        pick::<W, 1>(w, tile, &table[at..], words, index);
        at += PACK;
    }
}

/// A tile of the entry.
#[inline(always)]
fn pick<W: Machine, const T: usize>(
    w: W,
    out: &mut [W::Digit],
    table: &[W::Digit],
    stride: usize,
    index: u64,
) {
    let mut sum = [w.packed_zero(); T];
    for (i, entry) in table.chunks(stride).enumerate() {
        let entry = &entry[..T * PACK];
        for (j, sum) in sum.iter_mut().enumerate() {
            *sum = w.packed_pick(*sum, &entry[j * PACK..(j + 1) * PACK], i as u64, index);
        }
    }
    for (out, sum) in out.chunks_exact_mut(PACK).zip(sum) {
        w.packed_store(out, sum);
    }
}
