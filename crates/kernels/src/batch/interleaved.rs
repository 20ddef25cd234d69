//! Reduction digit by digit, by the friendly multiple.

use alloc::vec::Vec;

use super::bias::Bias;
use super::block::{plain_rows, rows_at_a_time};
use super::kernels::Kernels;
use super::tiles::{Cut, tiles};
use crate::place::AlignedBuf;

/// The constants of the moduli of a batch, `l` digits each, and the current quotients.
pub(crate) struct Interleaved<M: Kernels> {
    machine: M,
    pub modulus: AlignedBuf<M::Digit>,
    friendly: AlignedBuf<M::Digit>,
    mu: AlignedBuf<M::Digit>,
    quotients: AlignedBuf<M::Digit>,
    tiles: Vec<(usize, usize)>,
    blocks: Cut,
}

impl<M: Kernels> Interleaved<M> {
    /// `M`, `M''`, of two rows on a machine of [`TWO_ROWS`](super::Machine::TWO_ROWS), and `μ` (see
    /// [`crate::batch::block::reduce_rows`]).
    pub fn new(
        machine: M,
        modulus: AlignedBuf<M::Digit>,
        friendly: AlignedBuf<M::Digit>,
        mu: AlignedBuf<M::Digit>,
    ) -> Self {
        let l = modulus.len();
        let quotients = AlignedBuf::new(machine.digit_zero(), l, None);
        let tiles = tiles(l, M::MAX_TILE).collect();
        Self { machine, modulus, friendly, mu, quotients, tiles, blocks: Cut::default() }
    }

    /// `bias`, plus that of `rows` rows of a reduction of `l` digits, of which the last are ordinary ones.
    pub fn bias(bias: Bias<M>, rows: usize, l: usize) -> Bias<M> {
        let plain = plain_rows::<M>(rows);
        bias.product(rows_at_a_time::<M>(), rows - plain, l).product(rows - plain, plain, l)
    }

    /// Reduces `C` by `rows` rows and normalises the `l` digits above them: `out ≡ C·2^{−w·rows} (mod M)`,
    /// below `C/2^{w·rows} + 2M`. `c` has at least `rows + l + 1` columns.
    ///
    /// Cost: `rows·l` products.
    pub fn reduce(&mut self, c: &mut [M::Column], rows: usize, out: &mut [M::Digit]) {
        let m = self.machine;
        let (_, first) = self.tiles[0];
        let friendly = rows - plain_rows::<M>(rows);
        for &(row, count) in self.blocks.of(rows, |rows| blocks::<M>(rows, first)) {
            let last = row + count == rows;
            let plain = last.then(|| (&self.modulus[..first], self.mu[0]));
            m.reduce_rows(
                &mut c[row..],
                &self.friendly[..first],
                &mut self.quotients[row..row + count],
                plain,
            );
            // The other tiles: friendly rows as many columns up as there are rows at a time, ordinary rows in
            // place.
            for &(at, width) in &self.tiles[1..] {
                let friendly_rows = &self.quotients[row..(row + count).min(friendly)];
                m.mac_rows(
                    &mut c[row + rows_at_a_time::<M>() + at..],
                    &self.friendly[at..at + width],
                    friendly_rows,
                );
                if last {
                    m.mac_rows(
                        &mut c[friendly + at..],
                        &self.modulus[at..at + width],
                        &self.quotients[friendly..rows],
                    );
                }
            }
        }
        m.normalize(out, &c[rows..]);
    }
}

/// The rows of a reduction, cut into blocks of at most `most`, or one more in the last: offset and count.
/// Rows that share a friendly multiple stay together.
fn blocks<M: Kernels>(rows: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    let step = rows_at_a_time::<M>();
    let groups = (rows / step).max(1);
    tiles(groups, (most / step).max(1)).map(move |(at, count)| {
        let end = if at + count == groups { rows } else { (at + count) * step };
        (at * step, end - at * step)
    })
}
