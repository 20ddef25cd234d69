//! Batches of numbers in Montgomery's domain: in, multiplied (`amm`, `ahmm`), squared (`ams`), and out.
//!
//! # Bounds
//!
//! Numbers in the domain stay below `4M`, digits normalised, with `R = 2^{wL} ≥ 8M`. A product `T = x·y` is reduced to
//! less than `T/R + 2M` by rows ([`crate::rows`]), or `T/R + M` in one piece ([`crate::separate`]). For `x, y < 4M` that
//! is at most `16M²/8M + 2M = 4M`: stable. No subtraction is made until a number leaves.
//!
//! With half-reduced table entries ([`Frame::ahmm`]) numbers stay below `5M`, with `R ≥ 32M`: a square below
//! `25M²/32M + 2M < 3M`; a table entry below that; and the half product, see there, below `5M`.
//!
//! A column receives at most `L` low and `L` high halves from the product and as many from the reduction, each at most
//! `2^w` in size: below `4L·2^w < 2^63` for `L ≤ 400` and `w ≤ 52`, and 16,384 bits need `L ≤ 322`. Where columns can be
//! negative they are kept positive by an offset of `2^62` (see [`crate::starts`]): with signed halves, and in products by
//! Karatsuba, whose middle columns have at most `L` negative halves. `analysis` proves it, column by column.

use alloc::vec::Vec;

use crate::block::{MAX_LANES, Part};
use crate::constants::{Constants, digits_of};
use crate::limbs::{self, Limbs};
use crate::machine::Machine;
use crate::method::{Method, Reduction};
use crate::place::{COLUMNS, NUMBERS, Placed};
use crate::product::{Kind, Product, splits};
use crate::rows::Rows;
use crate::separate::Separate;
use crate::starts::Starts;
use crate::tiles::tiles;

/// The most digits of a number: columns are shown not to overflow up to here.
pub const MAX_DIGITS: usize = 400;

/// Bits that a half-reduced product needs free above the modulus: `R ≥ 32M`.
const HALF_TABLE_BITS: usize = 5;

/// A number in every lane: `L` digits.
pub type Number<M> = Placed<<M as crate::Lanes>::Digit>;

/// The working space of one batch: the moduli of its lanes, and the columns.
///
/// Fewer moduli than lanes are allowed: the lanes left over repeat the last one.
pub struct Frame<'a, M: Machine> {
    machine: M,
    lanes: Vec<&'a Constants>,
    digits: usize,
    /// Offset and width of the tiles of a number.
    tiles: Vec<(usize, usize)>,
    multiply: Product<M>,
    square: Product<M>,
    reduction: Reducer<M>,
    half: Option<Half>,
    columns: Placed<M::Column>,
}

/// What is added to a product to make it divisible by `R`.
enum Reducer<M: Machine> {
    Rows(Rows<M>),
    Separate(Separate<M>),
}

/// Almost-half-Montgomery multiplication: a factor's lower `low` digits, and what columns start at.
struct Half {
    low: usize,
    /// For the product, reduced by `L − low` rows.
    product: Vec<u64>,
    /// For `K`: one row and its reduction by `low` rows.
    entry: Vec<u64>,
}

impl<'a, M: Machine> Frame<'a, M> {
    /// Prepares a batch. `lanes` holds from 1 to `LANES` moduli of one digit count and one method; without a method, that
    /// which is fastest on the machine.
    ///
    /// # Panics
    /// If there are no moduli or too many, or if they differ in digit count, digit size or method from each other, or in
    /// digit size from the machine.
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
        assert!(lanes.iter().all(|c| c.method() == lanes[0].method()));
        let method = lanes[0].method().unwrap_or_else(|| Method::fastest::<M>(l)).fitting(l, M::DIGIT_BITS);
        let lanes: Vec<_> = (0..M::LANES).map(|i| lanes[i.min(lanes.len() - 1)]).collect();

        let product = |kind, levels| {
            let starts = Starts::<M>::new(2 * l).offset_if(M::SIGNED || splits(l, levels, Part::Full), 0);
            let starts = match method.reduction {
                Reduction::Rows => Rows::starts(starts, l, l),
                Reduction::Separate { .. } => starts,
            };
            Product::new(machine, l, levels, kind, Part::Full, &starts.finish())
        };
        let free = M::DIGIT_BITS as usize * l - lanes.iter().map(|c| c.bits()).max().unwrap_or(0);
        let rows = method.reduction == Reduction::Rows;
        let half = (method.half_table && rows && free >= HALF_TABLE_BITS).then(|| Half::new::<M>(l));
        let load =
            |count, digits: &dyn Fn(&'a Constants) -> &'a [u64]| load(machine, count, |lane| digits(lanes[lane]));
        let modulus = load(l, &|c| &c.modulus);
        let reduction = match method.reduction {
            Reduction::Rows => {
                Reducer::Rows(Rows::new(machine, modulus, load(l, &|c| &c.friendly), load(1, &|c| &c.mu)))
            }
            Reduction::Separate { levels, truncated } => {
                let inverse = load(l, &|c| &c.inverse);
                Reducer::Separate(Separate::new(machine, modulus, inverse, levels, truncated))
            }
        };
        Self {
            machine,
            digits: l,
            tiles: tiles(l, M::MAX_TILE).collect(),
            multiply: product(Kind::Product, method.multiply_levels),
            square: product(Kind::Square, method.square_levels),
            reduction,
            half,
            columns: Placed::new(machine.column_splat(0), 2 * l + 1, Some(COLUMNS)),
            lanes,
        }
    }

    /// `count` numbers, all 0, one after the other, where products like to find them.
    pub fn zeros(&self, count: usize) -> Number<M> {
        Placed::new(self.machine.digit_zero(), count * self.digits, Some(NUMBERS))
    }

    /// A number of `count` digits that some function of lane and constants names, to multiply with: digits as they are, in
    /// radix `2^w`, padded with zeros.
    pub fn load<'b>(&self, count: usize, digits: impl Fn(usize, &'a Constants) -> &'b [u64]) -> Number<M>
    where
        'a: 'b,
    {
        load(self.machine, count, |lane| digits(lane, self.lanes[lane]))
    }

    /// 1 in the domain.
    pub fn one(&self) -> Number<M> {
        let mut out = self.zeros(1);
        out.copy_from_slice(&self.load(self.digits, |_, c| &c.one));
        out
    }

    /// `x ← x·y·R^{−1} mod M`, almost: see the module's bounds. Cost: `2L²` products, or what the method says.
    pub fn amm(&mut self, x: &mut [M::Digit], y: &[M::Digit]) {
        self.multiply.run(&mut self.columns, x, y);
        self.reduction.reduce(&mut self.columns, x);
    }

    /// `x ← x²·R^{−1} mod M`, almost. Cost: `L(L+1)/2 + L²` products, or what the method says.
    pub fn ams(&mut self, x: &mut [M::Digit]) {
        self.square.square(&mut self.columns, x);
        self.reduction.reduce(&mut self.columns, x);
    }

    /// Digits of a table entry: of a number, and of its `K` where products with entries are half-reduced.
    pub fn entry_digits(&self) -> usize {
        if self.half.is_some() { 2 * self.digits } else { self.digits }
    }

    /// What [`multiply_entry`](Self::multiply_entry) costs, in products.
    pub(crate) fn entry_products(&self) -> usize {
        match &self.half {
            Some(half) => (2 * self.digits - half.low) * self.digits,
            None => 2 * self.digits * self.digits,
        }
    }

    /// What making a table entry costs, in products: a product or a square, and `K`.
    pub(crate) fn build_products(&self) -> usize {
        let l = self.digits;
        7 * l * l / 4 + self.half.as_ref().map_or(0, |half| (half.low + 1) * l)
    }

    /// Makes a table entry of the number in its first `L` digits: adds `K = B·2^{−w·low} mod M`, almost, where it is needed.
    ///
    /// `K < B/2^{w·low} + 2M`. Cost: `(low + 1)·L` products, or nothing.
    pub fn complete_entry(&mut self, entry: &mut [M::Digit]) {
        let (Some(half), Reducer::Rows(rows)) = (&self.half, &mut self.reduction) else { return };
        let m = self.machine;
        let (number, k) = entry.split_at_mut(self.digits);
        let one = load(m, 1, |_| &[1]);
        m.splat(&mut self.columns, &half.entry);
        for &(at, width) in &self.tiles {
            m.mac_rows(&mut self.columns[at..], &number[at..at + width], &one);
        }
        rows.reduce(&mut self.columns, half.low, k);
    }

    /// `x ← x·B·R^{−1} mod M`, almost, for a table entry of `B`: by [`amm`](Self::amm), or half-reduced.
    ///
    /// Almost-half-Montgomery multiplication (paper `ahmm`, section 2.3.1), with the lower part of `x = XL + 2^{w·low}·XH`
    /// of `low = ⌊L/2⌋` digits and the rest of `high = L − low`:
    /// `x·B·R^{−1} ≡ (XL·K + XH·B)·2^{−w·high}`, so that only `high` rows of reduction are left.
    ///
    /// Bound: for `x, B < 5M`, `K < 2M + M/8` and `R ≥ 32M`, with `XL < 2^{w·low} ≤ 2^{w·high}` and `XH < 5M/2^{w·low}`, the
    /// sum divided by `2^{w·high}` is below `K + 25M²/R < 3M`, and the result below `5M`.
    ///
    /// Cost: `L² + high·L` products.
    pub fn multiply_entry(&mut self, x: &mut [M::Digit], entry: &[M::Digit]) {
        let (Some(half), Reducer::Rows(rows)) = (&self.half, &mut self.reduction) else { return self.amm(x, entry) };
        let m = self.machine;
        let (number, k) = entry.split_at(self.digits);
        m.splat(&mut self.columns, &half.product);
        let (low, high) = x.split_at(half.low);
        for &(at, width) in &self.tiles {
            m.mac_rows(&mut self.columns[at..], &k[at..at + width], low);
            m.mac_rows(&mut self.columns[at..], &number[at..at + width], high);
        }
        let rows_left = self.digits - half.low;
        rows.reduce(&mut self.columns, rows_left, x);
    }

    /// Plain numbers into the domain, reduced: below `3M`. Lane `i` takes `numbers[i]`, of any length; lanes left over
    /// repeat the last. `bits` bounds the length of all of them and is public.
    ///
    /// A number longer than `L` digits is taken in by Horner's rule, `L − 1` digits at a time: `x ← x·2^{w(L−1)} + next`,
    /// which is below `3M + R/2^w < R`.
    pub fn enter(&mut self, numbers: &[&[u64]], bits: usize) -> Number<M> {
        let l = self.digits;
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
        let l = self.digits;
        let mut digits = limbs::zero(l * M::LANES);
        self.machine.scatter(&mut digits, x);
        self.lanes.iter().zip(digits.chunks(l)).map(|(c, digits)| c.canonical(digits)).collect()
    }

    /// Out of the domain: canonical limbs. Reducing `x·1` leaves at most `2M`.
    pub fn leave(&mut self, mut x: Number<M>) -> Vec<Limbs> {
        let one = self.load(self.digits, |_, _| &[1]);
        self.amm(&mut x, &one);
        self.canonical(&x)
    }

    /// The table entries that each lane's indices name, of [`WINDOWS`](crate::block::WINDOWS) windows at a time; `table` and `out` hold entries one
    /// after the other.
    pub(crate) fn select(&self, out: &mut [M::Digit], table: &[M::Digit], index: &[u64]) {
        let stride = self.entry_digits();
        for (at, width) in tiles(stride, M::MAX_SELECT) {
            let mut entries = out.chunks_exact_mut(stride);
            let out = core::array::from_fn(|_| &mut entries.next().expect("an entry for each window")[at..at + width]);
            self.machine.select_tile(out, &table[at..], stride, index);
        }
    }
}

impl<M: Machine> Reducer<M> {
    /// Reduces the columns and normalises what stands above them.
    fn reduce(&mut self, columns: &mut [M::Column], out: &mut [M::Digit]) {
        match self {
            Self::Rows(rows) => rows.reduce(columns, out.len(), out),
            Self::Separate(separate) => separate.reduce(columns, out),
        }
    }
}

impl Half {
    fn new<M: Machine>(l: usize) -> Self {
        let (low, high) = (l / 2, l - l / 2);
        let starts = |rows: usize| Rows::starts(Starts::<M>::new(l + rows + 1).offset_if(M::SIGNED, 0), rows, l);
        Self {
            low,
            product: starts(high).product(0, low, l).product(0, high, l).finish(),
            entry: starts(low).product(0, 1, l).finish(),
        }
    }
}

/// A number of `count` digits, lane by lane.
fn load<'b, M: Machine>(machine: M, count: usize, digits: impl Fn(usize) -> &'b [u64]) -> Number<M> {
    let mut out = Placed::new(machine.digit_zero(), count, None);
    let mut lanes: [&[u64]; MAX_LANES] = [&[]; MAX_LANES];
    for (i, lane) in lanes[..M::LANES].iter_mut().enumerate() {
        *lane = digits(i);
    }
    machine.gather(&mut out, &lanes[..M::LANES]);
    out
}
