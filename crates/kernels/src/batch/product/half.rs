//! Halves of products, and products with a factor that is known beforehand: what a separated reduction is
//! made of.

use super::Product;
use crate::batch::block::Part;
use crate::batch::kernels::Kernels;

impl<M: Kernels> Product<M> {
    /// Sets `b` as the second factor of every later [`run`](Self::run).
    pub fn fix(mut self, b: &[M::Digit]) -> Self {
        if let Some(mut split) = self.split {
            let (low, high) = b.split_at(split.half);
            split.difference(1, low, high);
            split.low = split.low.fix(low);
            split.high = split.high.fix(high);
            split.middle = split.middle.fix(&split.factors[1]);
            split.fixed = true;
            self.split = Some(split);
        }
        self
    }

    /// The columns of a lower or upper half, tile by tile.
    pub(super) fn tiled_half(&self, c: &mut [M::Column], a: &[M::Digit], b: &[M::Digit]) {
        let (m, l, is_low) = (self.machine, self.l, self.part == Part::Low);
        let wanted = if is_low { 0..l } else { l - 1..2 * l };
        m.splat(&mut c[wanted.clone()], &self.initial[wanted]);
        for &(at, width) in &self.tiles {
            // Tile and rows below this one fill the columns below l; from `above` on, those from l on.
            let (below, above) = (l - at - width, l - at);
            let tile = &a[at..at + width];
            if is_low {
                m.mac_rows(&mut c[at..], tile, &b[..below]);
                m.low_triangle(&mut c[l - width..], tile, &b[below..above]);
            } else {
                m.high_triangle(&mut c[l - 1..], tile, &b[below.saturating_sub(1)..above]);
                m.mac_rows(&mut c[l..], tile, &b[above..]);
            }
        }
    }
}
