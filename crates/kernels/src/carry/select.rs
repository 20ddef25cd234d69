//! Reading a table at a secret index: every entry is read, one is kept.

use super::machine::{Digits, Machine};

/// `out = table[index]`, entries as long as `out`, in windows of `V` vectors.
///
/// All entries are read, in order, for every index.
///
/// * Precondition: `out` is a multiple of `V` vectors long, and the table of that; an index outside the table
///   yields 0.
/// * Cost: for each window a load and a masked move of each vector of each entry, and a comparison.
#[inline(always)]
pub fn select<M: Machine, const V: usize>(m: M, out: &mut [Digits], table: &[Digits], index: u32) {
    let stride = out.len();
    let entries = table.len() / stride;
    assert!(entries > 0, "a table has an entry");
    let index = m.splat(index);
    for (at, out) in out.as_chunks_mut::<V>().0.iter_mut().enumerate() {
        let mut kept = [m.constant(0); V];
        for i in 0..entries {
            let mask = m.equal(index, m.constant(i as u32));
            for (kept, digits) in kept.iter_mut().zip(&table[i * stride + at * V..][..V]) {
                *kept = m.move_where(mask, *kept, m.load(digits));
            }
        }
        for (&kept, out) in kept.iter().zip(out) {
            m.store(kept, out);
        }
    }
}
