//! Products and squares of whole numbers as columns, arranged from blocks: by tiles, or by Karatsuba's
//! splitting down to tiles.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::bias::Bias;
use super::block::Part;
use super::kernels::Kernels;
use super::tiles::tiles;
use crate::place::{AlignedBuf, COLUMNS, NUMBERS};

/// Halves of numbers shorter than this are not split again.
const SHORTEST_HALF: usize = 2;

/// Whether two numbers are multiplied, or one is squared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Two numbers.
    Product,
    /// A number with itself.
    Square,
}

/// How one kind of product of `l × l` digits is made, with the working space for it.
pub(crate) struct Product<M: Kernels> {
    machine: M,
    l: usize,
    kind: Kind,
    part: Part,
    /// Offset and width of the tiles, of a number that is not split.
    tiles: Vec<(usize, usize)>,
    /// Initial columns of such a number; for a square half of them.
    initial: Vec<u64>,
    /// Whether a square is one block.
    one_block: bool,
    split: Option<Box<Split<M>>>,
}

/// A number split in two: the three products, and how they make the whole.
struct Split<M: Kernels> {
    /// Digits of the lower half; the upper has as many, or one less.
    half: usize,
    low: Product<M>,
    high: Product<M>,
    middle: Product<M>,
    columns: AlignedBuf<M::Column>,
    extra: Vec<u64>,
    /// `|A0 − A1|` and `|B0 − B1|`, of `half` digits each, and their signs.
    factors: [AlignedBuf<M::Digit>; 2],
    signs: AlignedBuf<M::Column>,
    scratch: AlignedBuf<M::Digit>,
    /// Whether every product has the same second factor, which is prepared once.
    fixed: bool,
}

/// Whether a product of `l` digits is split with at most `levels` levels. The upper part needs two equal
/// halves: its lowest column is the highest that the lower half leaves out.
pub(crate) fn splits(l: usize, levels: u32, part: Part) -> bool {
    levels > 0 && l / 2 >= SHORTEST_HALF && (part == Part::Full || l.is_multiple_of(2))
}

impl<M: Kernels> Product<M> {
    /// `extra` has `2l` numbers to add to the columns of the product.
    ///
    /// A split product has columns that can be negative.
    pub fn new(machine: M, l: usize, levels: u32, kind: Kind, part: Part, extra: &[u64]) -> Self {
        assert!(extra.len() == 2 * l && (part == Part::Full || kind == Kind::Product));
        let split =
            splits(l, levels, part).then(|| Box::new(Split::new(machine, l, levels, kind, part, extra)));
        let widest = match (kind, part) {
            (Kind::Product, Part::Full) => M::MAX_TILE,
            (Kind::Square, _) if l <= M::MAX_SQUARE.min(M::MAX_TRIANGLE) => l,
            _ => M::MAX_TRIANGLE,
        };
        debug_assert!(kind == Kind::Product || extra.iter().all(|extra| extra.is_multiple_of(2)));
        let (tiles, initial): (Vec<_>, Vec<_>) = match split {
            Some(_) => Default::default(),
            None => {
                let whole = Bias::<M>::new(2 * l).product(0, l, l).initial();
                let halve = u32::from(kind == Kind::Square);
                let initial =
                    whole.iter().zip(extra).map(|(initial, extra)| initial.wrapping_add(*extra) >> halve);
                (tiles(l, widest).collect(), initial.collect())
            }
        };
        // Without bias, a square in one block starts at 0, and can start at nothing else.
        let biased = M::BIAS_LO != 0 || M::BIAS_HI != 0;
        let one_block = tiles.len() == 1 && l <= M::MAX_SQUARE && (biased || initial.iter().all(|&x| x == 0));
        Self { machine, l, kind, part, tiles, initial, one_block, split }
    }

    /// Writes the wanted columns of `a·b`; the others are left in any state. `c` has at least `2l` columns.
    ///
    /// Cost: of the whole, `l²` products, or three times what `⌈l/2⌉` digits cost.
    pub fn run(&mut self, c: &mut [M::Column], a: &[M::Digit], b: &[M::Digit]) {
        debug_assert!(self.kind == Kind::Product);
        let Some(split) = &mut self.split else { return self.tiled(c, a, b) };
        let h = split.half;
        split.low.run(&mut c[..2 * h], &a[..h], &b[..h]);
        split.high.run(&mut c[2 * h..2 * self.l], &a[h..], &b[h..]);
        split.difference(0, &a[..h], &a[h..]);
        if !split.fixed {
            split.difference(1, &b[..h], &b[h..]);
        }
        let [a, b] = &split.factors;
        split.middle.run(&mut split.columns, a, b);
        self.machine.karatsuba(&mut c[..2 * self.l], &split.columns, &split.signs, &split.extra, self.part);
    }

    /// Writes the columns of `a²`, of a [`Kind::Square`]. `c` has at least `2l` columns.
    ///
    /// Cost: `l(l + 1)/2` products, or three times what `⌈l/2⌉` digits cost.
    pub fn square(&mut self, c: &mut [M::Column], a: &[M::Digit]) {
        debug_assert!(self.kind == Kind::Square);
        let Some(split) = &mut self.split else { return self.tiled_square(c, a) };
        let h = split.half;
        split.low.square(&mut c[..2 * h], &a[..h]);
        split.high.square(&mut c[2 * h..2 * self.l], &a[h..]);
        split.difference(0, &a[..h], &a[h..]);
        split.middle.square(&mut split.columns, &split.factors[0]);
        self.machine.karatsuba(&mut c[..2 * self.l], &split.columns, &[], &split.extra, self.part);
    }

    fn tiled(&self, c: &mut [M::Column], a: &[M::Digit], b: &[M::Digit]) {
        #[cfg(feature = "papers")]
        if self.part != Part::Full {
            return self.tiled_half(c, a, b);
        }
        self.machine.splat(&mut c[..2 * self.l], &self.initial);
        mac_tiles(self.machine, self.tiles.iter().copied(), c, a, b);
    }

    fn tiled_square(&self, c: &mut [M::Column], a: &[M::Digit]) {
        let m = self.machine;
        if self.one_block {
            return m.square(c, a, &self.initial);
        }
        // First products of different tiles; then each tile with itself, which doubles the columns.
        m.splat(&mut c[..2 * self.l], &self.initial);
        for &(at, width) in &self.tiles[..self.tiles.len() - 1] {
            let above = at + width;
            m.mac_rows(&mut c[at + above..], &a[at..above], &a[above..]);
        }
        for &(at, width) in &self.tiles {
            m.square_onto(&mut c[2 * at..], &a[at..at + width]);
        }
    }
}

/// Halves of products, and products with a factor that is known beforehand, for separated reductions.
#[cfg(feature = "papers")]
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
    fn tiled_half(&self, c: &mut [M::Column], a: &[M::Digit], b: &[M::Digit]) {
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

/// `C += A · B`, for all tiles of a number `A` and any rows `B`.
pub(crate) fn mac_tiles<M: Kernels>(
    machine: M,
    tiles: impl Iterator<Item = (usize, usize)>,
    c: &mut [M::Column],
    a: &[M::Digit],
    b: &[M::Digit],
) {
    for (at, width) in tiles {
        machine.mac_rows(&mut c[at..], &a[at..at + width], b);
    }
}

impl<M: Kernels> Split<M> {
    fn new(machine: M, l: usize, levels: u32, kind: Kind, part: Part, extra: &[u64]) -> Self {
        let half = l.div_ceil(2);
        let upper = l - half;
        // The outer columns are those of the outer products, which add their extra. The middle columns are
        // sums of several; what is still missing is added when they are put together.
        let mut low = alloc::vec![0; 2 * half];
        let mut high = alloc::vec![0; 2 * upper];
        let mut middle = alloc::vec![0; 2 * half];
        if part != Part::High {
            low[..half].copy_from_slice(&extra[..half]);
        }
        high[half..].copy_from_slice(&extra[3 * half..]);
        for k in 0..half {
            middle[k] = extra[half + k].wrapping_sub(low[k]);
            middle[half + k] = extra[2 * half + k].wrapping_sub(high.get(half + k).copied().unwrap_or(0));
        }
        let [low_part, high_part] = match part {
            Part::Full => [Part::Full, Part::Full],
            Part::Low => [Part::Full, Part::Low],
            Part::High => [Part::High, Part::Full],
        };
        let child = |digits: usize, part: Part, extra: &[u64]| {
            Product::new(machine, digits, levels - 1, kind, part, extra)
        };
        let number = || AlignedBuf::new(machine.digit_zero(), half, Some(NUMBERS));
        Self {
            half,
            low: child(half, low_part, &low),
            high: child(upper, high_part, &high),
            middle: child(half, part, &alloc::vec![0; 2 * half]),
            columns: AlignedBuf::new(machine.column_splat(0), 2 * half, Some(COLUMNS)),
            extra: middle,
            factors: [number(), number()],
            signs: AlignedBuf::new(machine.column_splat(0), 2, None),
            scratch: AlignedBuf::new(machine.digit_zero(), 2 * half, None),
            fixed: false,
        }
    }

    /// `|A0 − A1|` of factor `which`, and its sign.
    fn difference(&mut self, which: usize, low: &[M::Digit], high: &[M::Digit]) {
        let machine = self.low.machine;
        let sign = &mut self.signs[which..=which];
        machine.difference(&mut self.factors[which], &mut self.scratch, sign, low, high);
    }
}
