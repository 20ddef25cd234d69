//! How a number of `L` digits is cut into tiles that fit in registers.

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
}
