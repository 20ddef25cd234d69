//! Reading a table at secret indices by lookups in registers: sixteen entries at once, for sixteen windows,
//! eight at a time.
//!
//! The table is *turned* beforehand: a vector then holds not one entry's digit in every lane, but eight
//! entries' digit in one lane. One lookup in two vectors finds the digits of one lane for eight windows. The
//! results of eight lanes, transposed, are a digit of every lane for each window. Masks
//! ([`select_tile`](super::select_tile())) take a move for each entry, digit and window. Lookups take an
//! eighth of that, and the transposition.
//!
//! All vectors of the table are read, in order, whatever the indices are.

use crate::batch::Machine;

/// Lanes, entries in a vector of a turned table, and windows of a lookup.
pub const EIGHT: usize = 8;

/// For how many windows a table is read at a time.
pub const LOOKUP_WINDOWS: usize = 2 * EIGHT;

/// The fewest entries of a table that is turned: those that one lookup covers.
pub const FEWEST_TURNED: usize = 2 * EIGHT;

/// Turns a table: `out[(8j + k)·n/8 + g]` has, as element `i`, digit `j` of entry `8g + i` in lane `k`.
///
/// * Precondition: `table` holds `n` entries of `stride` digits, `n` a multiple of eight; `out` is as long.
/// * Cost: `n·stride/8` transpositions.
#[inline(always)]
pub fn turn<M: Machine>(m: M, out: &mut [M::Digit], table: &[M::Digit], stride: usize) {
    let groups = table.len() / stride / EIGHT;
    for (j, out) in out.chunks_exact_mut(EIGHT * groups).enumerate() {
        for g in 0..groups {
            let mut rows = [m.digit_zero(); EIGHT];
            each!(i in 0..EIGHT {
                rows[i] = table[(EIGHT * g + i) * stride + j];
            });
            rows = m.transpose(rows);
            each!(k in 0..EIGHT {
                out[k * groups + g] = rows[k];
            });
        }
    }
}

/// The table entries that each lane's indices name: `out[v·stride + j]` is digit `j` of entry `index[8v + k]`
/// in lane `k`, for each window `v`.
///
/// * Precondition: `table` is [`turn`]ed, of 16, 32 or 64 entries; `index` holds the eight indices, below the
///   number of entries, of one window after the other, of [`LOOKUP_WINDOWS`] windows; `out` has an entry for
///   each.
/// * Cost: for each digit of `n` entries, and eight windows, `n` loads, `n/2` lookups, `n/2 − 8` masked moves
///   and a transposition. Both eights read a digit's vectors one after the other: the second finds them in
///   the first-level cache.
#[inline(always)]
pub fn lookup<M: Machine>(m: M, out: &mut [M::Digit], table: &[M::Digit], stride: usize, index: &[u64]) {
    // `Context` has other blocks for machines without lookups.
    if !M::LOOKUP {
        return;
    }
    match table.len() / stride {
        16 => lookup_among::<M, 2>(m, out, table, stride, index),
        32 => lookup_among::<M, 4>(m, out, table, stride, index),
        64 => lookup_among::<M, 8>(m, out, table, stride, index),
        entries => unreachable!("a turned table of {entries} entries"),
    }
}

/// [`lookup`] in a table of `8·GROUPS` entries.
#[inline(always)]
fn lookup_among<M: Machine, const GROUPS: usize>(
    m: M,
    out: &mut [M::Digit],
    table: &[M::Digit],
    stride: usize,
    index: &[u64],
) {
    const SETS: usize = LOOKUP_WINDOWS / EIGHT;
    const PAIRS: usize = 4;
    let index: &[[[u64; EIGHT]; EIGHT]; SETS] =
        index.as_chunks().0.as_chunks().0.first_chunk().expect("an index of every lane for each window");
    // Of each lane, for eight windows: the index, and whether it is among the sixteen entries of each pair of
    // vectors but the first. The masks fill whole vectors: to compare into a mask register uses the port of
    // the lookups.
    let zero = m.column_splat(0);
    let ones = m.column_splat(u64::MAX);
    let mut within = [[zero; EIGHT]; SETS];
    let mut among = [[[zero; PAIRS]; EIGHT]; SETS];
    each!(set in 0..SETS {
        let (mut first, mut second) = ([m.digit_zero(); EIGHT], [m.digit_zero(); EIGHT]);
        each!(v in 0..EIGHT {
            let mut words = index[set][v];
            first[v] = m.digit(m.column_from(&words));
            each!(k in 0..EIGHT {
                words[k] /= FEWEST_TURNED as u64;
            });
            second[v] = m.digit(m.column_from(&words));
        });
        (first, second) = (m.transpose(first), m.transpose(second));
        each!(k in 0..EIGHT {
            within[set][k] = m.column(first[k]);
            each!(pair in 0..PAIRS {
                if 0 < pair && pair < GROUPS / 2 {
                    among[set][k][pair] = m.select_column(m.equals(m.column(second[k]), pair as u64), zero, ones);
                }
            });
        });
    });
    let digits = table.as_chunks::<GROUPS>().0.as_chunks::<EIGHT>().0;
    let out = &mut out[..LOOKUP_WINDOWS * stride];
    for (j, lanes) in digits[..stride].iter().enumerate() {
        // Unrolled: the counter of a loop of two is in the low byte of a register, and `codegen` takes it for
        // a secret.
        each!(set in 0..SETS {
            let mut found = [m.digit_zero(); EIGHT];
            each!(k in 0..EIGHT {
                let lane = &lanes[k];
                found[k] = m.permute(lane[0], lane[1], within[set][k]);
                for pair in 1..GROUPS / 2 {
                    let other = m.permute(lane[2 * pair], lane[2 * pair + 1], within[set][k]);
                    found[k] = m.select_bits(among[set][k][pair], found[k], other);
                }
            });
            found = m.transpose(found);
            each!(v in 0..EIGHT {
                out[(set * EIGHT + v) * stride + j] = found[v];
            });
        });
    }
}
