//! How a number of `L` digits is cut into tiles that fit in registers.

use alloc::vec::Vec;

/// The widths of the tiles of an `l`-digit number, none wider than `max`: the fewest tiles, of widths as
/// equal as possible, the wider ones first. A row block of a reduction then never has more rows than the
/// first tile has columns, which [`crate::batch::block::reduce_rows`] relies on.
///
/// Yields `(offset, width)`.
#[inline]
pub fn tiles(l: usize, max: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    let count = l.div_ceil(max);
    let (base, wider) = (l / count.max(1), l % count.max(1));
    (0..count).map(move |i| (i * base + i.min(wider), base + usize::from(i < wider)))
}

/// A cut that is kept for the next number of the same length. A division for each number cost 3 % of a power
/// (1024 bits, AVX-512F).
#[derive(Default)]
pub(crate) struct Cut {
    len: usize,
    parts: Vec<(usize, usize)>,
}

impl Cut {
    /// The parts of a number of `len` digits, by `cut`, which must always be the same.
    pub fn of<I: Iterator<Item = (usize, usize)>>(
        &mut self,
        len: usize,
        cut: impl FnOnce(usize) -> I,
    ) -> &[(usize, usize)] {
        if self.len != len {
            self.parts.clear();
            self.parts.extend(cut(len));
            self.len = len;
        }
        &self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_without_gap_and_never_grow() {
        for max in 1..=24 {
            for l in 1..=400 {
                let (mut next, mut previous) = (0, max);
                for (offset, width) in tiles(l, max) {
                    assert_eq!(offset, next);
                    assert!(width >= 1 && width <= previous);
                    (next, previous) = (offset + width, width);
                }
                assert_eq!(next, l);
            }
        }
    }

    #[test]
    fn a_kept_cut_is_that_of_the_length() {
        let mut cut = Cut::default();
        for l in [0, 20, 20, 7, 0, 20, 21] {
            assert!(cut.of(l, |l| tiles(l, 8)).iter().copied().eq(tiles(l, 8)), "{l} digits");
        }
    }
}
