//! Almost-Montgomery multiplication (`amm`) and squaring (`ams`) on a batch, arranged from blocks for any digit count.
//!
//! # Bounds
//!
//! Numbers in the domain stay below `4M`, digits normalised, with `R = 2^{wL} ≥ 8M`. A product `T = x·y` is reduced by
//! `L − 1` friendly rows and one plain row: what they add is below `R·M` each, so the result is below `T/R + 2M`. For
//! `x, y < 4M` that is at most `16M²/8M + 2M = 4M`: stable. No subtraction is made until a number leaves.
//!
//! A column receives at most `L` low and `L` high halves from the product and as many from the reduction, each at most
//! `2^w` in size: below `4L·2^w < 2^63` for `L < 2^9` and `w ≤ 52`, and 16,384 bits need `L ≤ 322`.

use crate::block::MAX_LANES;
use crate::constants::{Constants, digits_of};
use crate::limbs::{self, Limbs};
use crate::machine::Machine;
use crate::place::{COLUMNS, NUMBERS, Placed};
use crate::tiles::tiles;
use alloc::vec::Vec;

/// The most digits of a number: columns are shown not to overflow up to here.
pub const MAX_DIGITS: usize = 400;

/// A number in every lane: `L` digits.
pub type Number<M> = Placed<<M as crate::Lanes>::Digit>;

/// The working space of one batch: the moduli of its lanes, and the columns.
///
/// Fewer moduli than lanes are allowed: the lanes left over repeat the last one.
pub struct Frame<'a, M: Machine> {
    machine: M,
    lanes: Vec<&'a Constants>,
    modulus: Number<M>,
    friendly: Number<M>,
    mu: Number<M>,
    /// Offset and width of the tiles of a number.
    tiles: Vec<(usize, usize)>,
    /// The same for squarings, whose tiles may be narrower.
    square_tiles: Vec<(usize, usize)>,
    /// What each column starts at: minus the bias of a product and its reduction.
    start: Vec<u64>,
    /// Half of it: squares double their columns.
    half: Vec<u64>,
    columns: Placed<M::Column>,
    quotients: Number<M>,
}

impl<'a, M: Machine> Frame<'a, M> {
    /// Prepares a batch. `lanes` holds from 1 to `LANES` moduli of one digit count.
    ///
    /// # Panics
    /// If there are none or too many, or if they differ in digit count or digit size from each other or the machine.
    pub fn new(machine: M, lanes: &[&'a Constants]) -> Self {
        const {
            assert!(M::LANES <= MAX_LANES);
            // The bound on columns above.
            assert!((4 * MAX_DIGITS as u128) << M::DIGIT_BITS < 1 << if M::SIGNED { 62 } else { 63 });
            assert!(M::BIAS_LO.is_multiple_of(2) && M::BIAS_HI.is_multiple_of(2));
            // The plain row reads its quotient from a column that has its own product's bias already taken off.
            assert!(M::BIAS_LO.is_multiple_of(1 << M::DIGIT_BITS));
        }
        assert!(!lanes.is_empty() && lanes.len() <= M::LANES, "lanes: {}", lanes.len());
        let l = lanes[0].digits();
        assert!(l <= MAX_DIGITS);
        assert!(lanes.iter().all(|c| c.digits() == l && c.digit_bits() == M::DIGIT_BITS));
        let lanes: Vec<_> = (0..M::LANES).map(|i| lanes[i.min(lanes.len() - 1)]).collect();
        let start = start_columns::<M>(l);
        let empty = || Placed::new(machine.digit_zero(), 0, None);
        let mut frame = Self {
            machine,
            modulus: empty(),
            friendly: empty(),
            mu: empty(),
            tiles: tiles(l, M::MAX_TILE).collect(),
            square_tiles: tiles(l, if l <= M::MAX_SQUARE { l } else { M::MAX_SQUARE_ONTO }).collect(),
            half: start.iter().map(|start| start >> 1).collect(),
            start,
            columns: Placed::new(machine.column_splat(0), 2 * l + 1, Some(COLUMNS)),
            quotients: Placed::new(machine.digit_zero(), l, None),
            lanes,
        };
        frame.modulus = frame.load(l, |_, c| &c.modulus);
        frame.friendly = frame.load(l, |_, c| &c.friendly);
        frame.mu = frame.load(1, |_, c| &c.mu);
        frame
    }

    fn digits(&self) -> usize {
        self.modulus.len()
    }

    /// `count` numbers, all 0, one after the other, where products like to find them.
    pub fn zeros(&self, count: usize) -> Number<M> {
        Placed::new(self.machine.digit_zero(), count * self.digits(), Some(NUMBERS))
    }

    /// A number of `count` digits that some function of lane and constants names, to multiply with.
    pub(crate) fn load<'b>(&self, count: usize, digits: impl Fn(usize, &'a Constants) -> &'b [u64]) -> Number<M>
    where
        'a: 'b,
    {
        let mut out = Placed::new(self.machine.digit_zero(), count, None);
        let mut lanes: [&[u64]; MAX_LANES] = [&[]; MAX_LANES];
        for (i, lane) in lanes[..M::LANES].iter_mut().enumerate() {
            *lane = digits(i, self.lanes[i]);
        }
        self.machine.gather(&mut out, &lanes[..M::LANES]);
        out
    }

    /// 1 in the domain.
    pub fn one(&self) -> Number<M> {
        let mut out = self.zeros(1);
        out.copy_from_slice(&self.load(self.digits(), |_, c| &c.one));
        out
    }

    /// `x ← x·y·R^{−1} mod M`, almost: see the module's bounds. Cost: `2L²` products.
    pub fn amm(&mut self, x: &mut [M::Digit], y: &[M::Digit]) {
        let m = self.machine;
        m.splat(&mut self.columns, &self.start);
        for &(at, width) in &self.tiles {
            m.mac_rows(&mut self.columns[at..], &x[at..at + width], y);
        }
        self.reduce(x);
    }

    /// `x ← x²·R^{−1} mod M`, almost. Cost: `L(L+1)/2 + L²` products.
    pub fn ams(&mut self, x: &mut [M::Digit]) {
        let m = self.machine;
        if self.square_tiles.len() == 1 {
            m.square(&mut self.columns, x, &self.half);
        } else {
            // The tiles with each other, then each with itself, which doubles what stands there.
            m.splat(&mut self.columns, &self.half);
            for &(at, width) in &self.square_tiles {
                let above = at + width;
                m.mac_rows(&mut self.columns[at + above..], &x[at..above], &x[above..]);
            }
            for &(at, width) in &self.square_tiles {
                m.square_onto(&mut self.columns[2 * at..], &x[at..at + width]);
            }
        }
        self.reduce(x);
    }

    /// Reduces the columns by `L` rows and normalises what stands above them. Cost: `L²` products.
    fn reduce(&mut self, out: &mut [M::Digit]) {
        let (m, l) = (self.machine, self.digits());
        let c = &mut self.columns;
        let (_, first) = self.tiles[0];
        for &(row, rows) in &self.tiles {
            let last = row + rows == l;
            let plain = last.then(|| (&self.modulus[..first], self.mu[0]));
            m.reduce_rows(&mut c[row..], &self.friendly[..first], &mut self.quotients[row..row + rows], plain);
            // The other tiles: friendly rows one column up, the plain row in place.
            let friendly_rows = &self.quotients[row..row + rows - usize::from(last)];
            for &(at, width) in &self.tiles[1..] {
                m.mac_rows(&mut c[row + 1 + at..], &self.friendly[at..at + width], friendly_rows);
                if last {
                    let plain_row = &self.quotients[l - 1..];
                    m.mac_rows(&mut c[l - 1 + at..], &self.modulus[at..at + width], plain_row);
                }
            }
        }
        m.normalize(out, &c[l..]);
    }

    /// Plain numbers into the domain, reduced: below `3M`. Lane `i` takes `numbers[i]`, of any length; lanes left over
    /// repeat the last. `bits` bounds the length of all of them and is public.
    ///
    /// A number longer than `L` digits is taken in by Horner's rule, `L − 1` digits at a time: `x ← x·2^{w(L−1)} + next`,
    /// which is below `3M + R/2^w < R`.
    pub fn enter(&mut self, numbers: &[&[u64]], bits: usize) -> Number<M> {
        let l = self.digits();
        let count = bits.div_ceil(M::DIGIT_BITS as usize).max(1);
        let steps = count.saturating_sub(l).div_ceil(l - 1);
        let total = steps * (l - 1) + l;
        let digits: Vec<Limbs> = numbers.iter().map(|n| digits_of(n, M::DIGIT_BITS, total)).collect();
        let lane = |i: usize| &digits[i.min(digits.len() - 1)];
        let mut x = self.zeros(1);
        x.copy_from_slice(&self.load(l, |i, _| &lane(i)[steps * (l - 1)..]));
        if steps > 0 {
            let shift = self.load(l, |_, c| &c.shift);
            for step in (0..steps).rev() {
                self.amm(&mut x, &shift);
                let next = self.load(l, |i, _| &lane(i)[step * (l - 1)..(step + 1) * (l - 1)]);
                self.machine.add_numbers(&mut x, &next);
            }
        }
        let enter = self.load(l, |_, c| &c.enter);
        self.amm(&mut x, &enter);
        x
    }

    /// Numbers below `3M` as canonical limbs, one of `⌈bits/64⌉` limbs for each lane.
    pub fn canonical(&self, x: &[M::Digit]) -> Vec<Limbs> {
        let l = self.digits();
        let mut digits = limbs::zero(l * M::LANES);
        self.machine.scatter(&mut digits, x);
        self.lanes.iter().zip(digits.chunks(l)).map(|(c, digits)| c.canonical(digits)).collect()
    }

    /// Out of the domain: canonical limbs. Reducing `x·1` leaves at most `2M`.
    pub fn leave(&mut self, mut x: Number<M>) -> Vec<Limbs> {
        let one = self.load(self.digits(), |_, _| &[1]);
        self.amm(&mut x, &one);
        self.canonical(&x)
    }

    /// The table entry each lane's index names; `table` holds whole numbers one after the other.
    pub(crate) fn select(&self, out: &mut [M::Digit], table: &[M::Digit], index: &[u64]) {
        let l = self.digits();
        for &(at, width) in &self.tiles {
            self.machine.select_tile(&mut out[at..at + width], &table[at..], l, index);
        }
    }
}

/// What each of `2L + 1` columns starts at: minus the bias that it gathers in a product of `L × L` digits and its
/// reduction, and an offset. Always even.
fn start_columns<M: Machine>(l: usize) -> Vec<u64> {
    // Low halves that rows `0..rows`, shifted by `shift`, put into column k: pairs (i, j) with i + j + shift = k.
    let low = |k: isize, rows: usize, shift: usize| -> u64 {
        let k = k - shift as isize;
        let (first, last) = ((k - (l as isize - 1)).max(0), k.min(rows as isize - 1));
        (last - first + 1).max(0) as u64
    };
    let all_low = |k: isize| {
        let plain_row = u64::from(k >= l as isize - 1 && k <= 2 * l as isize - 2);
        low(k, l, 0) + low(k, l - 1, 1) + plain_row
    };
    let bias = |k: isize| M::BIAS_LO.wrapping_mul(all_low(k)).wrapping_add(M::BIAS_HI.wrapping_mul(all_low(k - 1)));
    (0..2 * l as isize + 1).map(|k| offset::<M>(k).wrapping_sub(bias(k))).collect()
}

/// An offset that keeps the columns of a signed machine positive, so that their carries are those of unsigned numbers:
/// `2^62` in every column, which the column above takes off again as `2^{62−w}`. Their sum is 0 but for the carry out of
/// the last column, which nobody reads. Columns are below `2^62` in size (see the bounds above) and stay so.
fn offset<M: Machine>(k: isize) -> u64 {
    match k {
        _ if !M::SIGNED => 0,
        0 => 1 << 62,
        _ => (1 << 62) - (1 << (62 - M::DIGIT_BITS)),
    }
}
