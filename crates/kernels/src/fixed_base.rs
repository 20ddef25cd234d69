//! Many powers of one base, by a table of its powers: only products, no squarings (Brickell, Gordon, McCurley
//! and Wilson, Eurocrypt 1992, with every digit's powers in the table).
//!
//! With windows of `w` bits, row `i` of the table has `base^(j·2^(w·i))` for every `j` below `2^w`. A power
//! is the product of one entry of each row. The table has each entry once, and all numbers of a context read
//! it.

use alloc::vec::Vec;

use crate::limbs::{self, Numbers};
use crate::montgomery::{Costs, Montgomery};
use crate::place::AlignedBuf;
use crate::pow::{table, window_at};

/// How many powers a table should serve: a wider window costs more to build, and each power less.
const POWERS: usize = 1024;
/// How many batches go through the table together: more would not fit a near cache beside a row.
const BATCHES: usize = 16;

/// How entries are found in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Every entry of a row is read, for secret exponents.
    Scan,
    /// Only the entry itself is read, for public exponents.
    Direct,
}

impl Access {
    /// The widest window. Kernels that scan tables take windows of [`pow`](crate::pow), at most six bits;
    /// scans of wider ones do not pay.
    fn max_window(self) -> usize {
        match self {
            Self::Scan => 6,
            Self::Direct => 10,
        }
    }
}

/// The size of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    window: usize,
    rows: usize,
}

/// The powers of one base, in Montgomery form. Wiped when dropped.
pub struct Table {
    size: Size,
    /// The words of an entry.
    stride: usize,
    words: AlignedBuf,
}

impl Table {
    /// How many windows it has, and how wide they are.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The bytes of its entries.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.words[..])
    }

    fn row(&self, row: usize) -> &[u64] {
        let length = self.stride << self.size.window;
        &self.words[row * length..][..length]
    }
}

/// The cheapest table for exponents of `bits` bits that has at most `most` bytes; `None` where even the one
/// with the narrowest windows is larger.
pub fn size(mont: &dyn Montgomery, bits: usize, access: Access, most: usize) -> Option<Size> {
    let Costs { build, multiply, read } = mont.costs();
    let read = if access == Access::Scan { read } else { 0 };
    let cost = |size: Size| {
        let each = (build << size.window) + POWERS * (multiply + (read << size.window));
        size.rows as u128 * each as u128
    };
    let fits = |size: &Size| {
        let entry = mont.shared_words() * size_of::<u64>();
        size.rows.checked_mul(entry << size.window).is_some_and(|bytes| bytes <= most)
    };
    let sizes = (1..=access.max_window()).map(|window| Size { window, rows: bits.div_ceil(window) });
    sizes.filter(fits).min_by_key(|&size| cost(size))
}

/// The table of a base, in a context whose moduli are all the same. `base_bits` is a public bound on its
/// length.
///
/// Cost: `rows·2^w` products, of which the context makes as many at once as it has numbers side by side, and
/// `rows·w` squarings one after the other.
pub fn build(mont: &mut dyn Montgomery, base: &[u64], base_bits: usize, size: Size) -> Table {
    let Size { window, rows } = size;
    let (count, words, entry_words, stride) =
        (mont.count(), mont.words(), mont.entry_words(), mont.shared_words());
    let mut all = mont.shared_zeros((rows * stride) << window);
    let mut spread = mont.shared_zeros(count * stride);
    let mut generators = mont.shared_zeros(count * stride);
    let mut entry = mont.zeros(entry_words);
    // base^(2^(w·row)), the same for all numbers side by side.
    let mut x = mont.enter(&[base], base_bits);
    for from in (0..rows).step_by(count) {
        let group = count.min(rows - from);
        for (i, generator) in generators.chunks_exact_mut(stride).take(group).enumerate() {
            if from + i > 0 {
                mont.ams(&mut x, window);
            }
            entry[..words].copy_from_slice(&x);
            mont.share(&mut spread, &entry);
            generator.copy_from_slice(&spread[..stride]);
        }
        // A row for each of the numbers side by side.
        let each: Vec<&[u64]> = generators.chunks_exact(stride).take(group).collect();
        mont.collect(&mut entry, &each);
        let powers = table(mont, &entry, window);
        for (j, power) in powers.chunks_exact(entry_words).enumerate() {
            mont.share(&mut spread, power);
            for (i, shared) in spread.chunks_exact(stride).take(group).enumerate() {
                all[(((from + i) << window) + j) * stride..][..stride].copy_from_slice(shared);
            }
        }
    }
    Table { size, stride, words: all }
}

/// The powers of a table's base, in a context of its modulus, in constant time.
///
/// The time depends on the context, on how many exponents there are, and on `bits`: a public bound on their
/// length, at most that of the table. Results are canonical.
pub fn pow(mont: &mut dyn Montgomery, table: &Table, exponents: &[&[u64]], bits: usize) -> Numbers {
    let mut entry = mont.zeros(mont.entry_words());
    let mut index = limbs::zero(mont.count());
    by_rows(mont, table, exponents, bits, |mont, x, row, exponents, at| {
        for (lane, index) in index.iter_mut().enumerate() {
            *index = window_at(exponents[lane.min(exponents.len() - 1)], at, table.size.window);
        }
        mont.select_shared(&mut entry, row, &index);
        multiply(mont, x, &entry);
    })
}

/// Like [`pow`], for exponents that are public: the time depends on them.
pub fn pow_vartime(mont: &mut dyn Montgomery, table: &Table, exponents: &[&[u64]], bits: usize) -> Numbers {
    let mut entry = mont.zeros(mont.entry_words());
    by_rows(mont, table, exponents, bits, |mont, x, row, exponents, at| {
        let windows: Vec<_> =
            exponents.iter().map(|e| window_at(e, at, table.size.window) as usize).collect();
        if windows.iter().any(|&window| window > 0) {
            let entries: Vec<_> =
                windows.iter().map(|window| &row[window * table.stride..][..table.stride]).collect();
            mont.collect(&mut entry, &entries);
            multiply(mont, x, &entry);
        }
    })
}

/// The product so far of a batch; `None` before its first factor.
type Product = Option<AlignedBuf>;

/// Every batch uses a row of the table while that is in a near cache.
fn by_rows(
    mont: &mut dyn Montgomery,
    table: &Table,
    exponents: &[&[u64]],
    bits: usize,
    mut meet: impl FnMut(&mut dyn Montgomery, &mut Product, &[u64], &[&[u64]], usize),
) -> Numbers {
    let Size { window, rows } = table.size;
    assert!(bits <= rows * window, "exponents of {bits} bits, a table for {}", rows * window);
    let mut out = Numbers::default();
    for exponents in exponents.chunks(BATCHES * mont.count()) {
        let mut batches: Vec<(&[&[u64]], Product)> =
            exponents.chunks(mont.count()).map(|b| (b, None)).collect();
        for row in 0..bits.div_ceil(window) {
            for (batch, x) in &mut batches {
                meet(mont, x, table.row(row), batch, row * window);
            }
        }
        for (batch, x) in batches {
            let x = x.unwrap_or_else(|| mont.one());
            out.append(mont.leave(x, batch.len()));
        }
    }
    out
}

fn multiply(mont: &mut dyn Montgomery, x: &mut Product, entry: &[u64]) {
    match x {
        Some(x) => mont.multiply_entry(x, entry),
        None => {
            let mut first = mont.zeros(mont.words());
            let words = first.len();
            first.copy_from_slice(&entry[..words]);
            *x = Some(first);
        }
    }
}
