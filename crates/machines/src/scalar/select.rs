//! Reading a table without saying where.

use std::hint::black_box;

/// Limbs that are looked for at once: their accumulators stay in registers.
const WIDE: usize = 8;

/// `out ←` entry `index` of `table`, whose entries are as long as `out`. Every limb of the table is read, and masked.
#[inline(always)]
pub fn select(out: &mut [u64], table: &[u64], index: u64) {
    let n = out.len();
    let (wide, rest) = out.as_chunks_mut::<WIDE>();
    let after = WIDE * wide.len();
    for (i, out) in wide.iter_mut().enumerate() {
        *out = piece(table, n, WIDE * i, index);
    }
    for (i, out) in rest.iter_mut().enumerate() {
        [*out] = piece(table, n, after + i, index);
    }
}

/// The limbs from `at` on of entry `index` of a table of entries of `n` limbs.
#[inline(always)]
fn piece<const W: usize>(table: &[u64], n: usize, at: usize, index: u64) -> [u64; W] {
    let mut found = [0; W];
    for (i, entry) in (0..).zip(table.chunks_exact(n)) {
        // All ones if they are equal. Opaque, so that no branch is made of it.
        let difference: u64 = black_box(i ^ index);
        let mask = ((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1);
        for (found, limb) in found.iter_mut().zip(&entry[at..at + W]) {
            *found |= limb & mask;
        }
    }
    found
}
