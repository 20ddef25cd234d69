//! Reading a table at a secret index: every entry is read.

use std::hint::black_box;

/// Limbs that are read at once: their accumulators stay in registers.
const WIDE: usize = 8;

/// The most entries of a table: windows of six bits.
const ENTRIES: usize = 64;

/// `out ←` entry `index` of `table`, whose entries are as long as `out`. Every limb of the table is read, and
/// masked.
///
/// Precondition: the table has at most 64 entries.
#[inline(always)]
pub fn select(out: &mut [u64], table: &[u64], index: u64) {
    let n = out.len();
    assert!(table.len() <= ENTRIES * n);
    let mut masks = [0; ENTRIES];
    for (i, mask) in (0..).zip(&mut masks) {
        // All ones if they are equal.
        let difference: u64 = i ^ index;
        *mask = ((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1);
    }
    // Opaque, so that no branch is made of a mask.
    let masks = black_box(&mut masks);
    let (wide, rest) = out.as_chunks_mut::<WIDE>();
    let mut at = 0;
    for out in wide {
        *out = piece(table, n, at, masks);
        at += WIDE;
    }
    for out in rest {
        [*out] = piece(table, n, at, masks);
        at += 1;
    }
    // The masks reveal the index.
    *black_box(masks) = [0; ENTRIES];
}

/// The limbs from `at` on of the entry, of a table of entries of `n` limbs, whose mask is set.
#[inline(always)]
fn piece<const W: usize>(table: &[u64], n: usize, at: usize, masks: &[u64; ENTRIES]) -> [u64; W] {
    let mut found = [0; W];
    for (mask, entry) in masks.iter().zip(table.chunks_exact(n)) {
        for (found, limb) in found.iter_mut().zip(&entry[at..at + W]) {
            *found |= limb & mask;
        }
    }
    found
}
