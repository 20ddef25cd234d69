//! Reduction digit by digit, by the friendly multiple.

use alloc::vec::Vec;

use super::bias::Bias;
use super::kernels::Kernels;
use super::tiles::tiles;
use crate::place::Placed;

/// The constants of the moduli of a batch, `l` digits each, and the quotients under way.
pub(crate) struct Interleaved<M: Kernels> {
    machine: M,
    modulus: Placed<M::Digit>,
    friendly: Placed<M::Digit>,
    mu: Placed<M::Digit>,
    quotients: Placed<M::Digit>,
    tiles: Vec<(usize, usize)>,
}

impl<M: Kernels> Interleaved<M> {
    /// `M`, `M''` and `μ` (see [`crate::batch::block::reduce_rows`]).
    pub fn new(machine: M, modulus: Placed<M::Digit>, friendly: Placed<M::Digit>, mu: Placed<M::Digit>) -> Self {
        let l = modulus.len();
        let quotients = Placed::new(machine.digit_zero(), l, None);
        Self { machine, modulus, friendly, mu, quotients, tiles: tiles(l, M::MAX_TILE).collect() }
    }

    /// `bias` with that of `rows` rows of a reduction of `l` digits, the last of them an ordinary one.
    pub fn bias(bias: Bias<M>, rows: usize, l: usize) -> Bias<M> {
        bias.product(1, rows - 1, l).product(rows - 1, 1, l)
    }

    /// Reduces `C` by `rows` rows and normalises the `l` digits above them: `out ≡ C·2^{−w·rows} (mod M)`,
    /// below `C/2^{w·rows} + 2M`. `c` has at least `rows + l + 1` columns.
    ///
    /// Cost: `rows·l` products.
    pub fn reduce(&mut self, c: &mut [M::Column], rows: usize, out: &mut [M::Digit]) {
        let m = self.machine;
        let (_, first) = self.tiles[0];
        for (row, count) in tiles(rows, first) {
            let last = row + count == rows;
            let plain = last.then(|| (&self.modulus[..first], self.mu[0]));
            m.reduce_rows(&mut c[row..], &self.friendly[..first], &mut self.quotients[row..row + count], plain);
            // The other tiles: friendly rows one column up, the plain row in place.
            let friendly_rows = &self.quotients[row..row + count - usize::from(last)];
            for &(at, width) in &self.tiles[1..] {
                m.mac_rows(&mut c[row + 1 + at..], &self.friendly[at..at + width], friendly_rows);
                if last {
                    let plain_row = &self.quotients[rows - 1..rows];
                    m.mac_rows(&mut c[rows - 1 + at..], &self.modulus[at..at + width], plain_row);
                }
            }
        }
        m.normalize(out, &c[rows..]);
    }
}
