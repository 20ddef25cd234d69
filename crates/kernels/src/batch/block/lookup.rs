//! Reading a table at secret indices by lookups in registers: sixteen entries at once, for eight windows.
//!
//! A table for that is *turned*: a vector has not one entry's digit in every lane, but eight entries' digit in one
//! lane. So one lookup among two vectors finds the digits of one lane for eight windows; and eight lanes' results,
//! transposed, are a digit of every lane for each window. Masks ([`select_tile`](super::select_tile())) need a move for
//! each entry, digit and window; this, an eighth of that and the transposition.
//!
//! All vectors of the table are read, in order, whatever the indices are.

use crate::batch::Machine;

/// Lanes, entries in a vector of a turned table, and windows at a time.
pub const EIGHT: usize = 8;

/// The fewest entries of a table that is turned: what one lookup looks at.
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

/// The table entries that each lane's indices name: `out[v·stride + j]` is digit `j` of entry `index[8v + k]` in lane
/// `k`, for `v` in `0..8`.
///
/// * Precondition: `table` is [`turn`]ed, of `n` entries, `n ≥ 16` a power of two; `out` has eight entries; `index` holds
///   the eight indices, below `n`, of one window after the other.
/// * Cost: for each digit `n` loads, `n/2` lookups, `n/2 − 8` masked moves and a transposition.
#[inline(always)]
pub fn lookup<M: Machine>(m: M, out: &mut [M::Digit], table: &[M::Digit], stride: usize, index: &[u64]) {
    let groups = table.len() / stride / EIGHT;
    // Of each lane, for its eight windows: the index, and which sixteen entries it is among.
    let mut within = [m.column_splat(0); EIGHT];
    let mut among = within;
    let mut words = [0; EIGHT];
    each!(k in 0..EIGHT {
        each!(v in 0..EIGHT {
            words[v] = index[EIGHT * v + k];
        });
        within[k] = m.column_from(&words);
        words = words.map(|word| word / FEWEST_TURNED as u64);
        among[k] = m.column_from(&words);
    });
    words = [0; EIGHT];
    core::hint::black_box(&words);
    for (j, table) in table.chunks_exact(EIGHT * groups).enumerate() {
        let mut found = [m.digit_zero(); EIGHT];
        each!(k in 0..EIGHT {
            let entries = &table[k * groups..][..groups];
            found[k] = m.permute(entries[0], entries[1], within[k]);
            for pair in 1..groups / 2 {
                let other = m.permute(entries[2 * pair], entries[2 * pair + 1], within[k]);
                let mask = m.equals(among[k], pair as u64);
                found[k] = m.select(mask, found[k], other);
            }
        });
        found = m.transpose(found);
        each!(v in 0..EIGHT {
            out[v * stride + j] = found[v];
        });
    }
}
