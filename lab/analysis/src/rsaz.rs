//! RSAZ over bounds and counts: one machine that does both.
//!
//! Columns of RSAZ are never negative and have no bias, so a range is its largest value. Sums do not wrap: a
//! sum that reaches `2^64` is a finding. The caller gives the largest digit that comes from outside.
//! Everything that a machine computes from digits is monotone, so one run with the largest is a proof for all
//! numbers. Each column of a vector has its own bound.

use std::cell::RefCell;

use zariz_kernels::rsaz::{self, Quotients, SHIFTED, Workspace};

/// The machine of bounds and counts; `HALVED` as the kernels have it.
#[derive(Clone, Copy, Debug, Default)]
struct Bound<const HALVED: bool>;

/// What a run showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// The largest column.
    pub largest: u64,
    /// What is wrong: empty if the run is a proof. At most [`MOST_FINDINGS`] are kept.
    pub findings: Vec<String>,
    /// Vector multiply-accumulates: four products of digits each.
    pub macs: u64,
    /// Scalar products.
    pub products: u64,
    /// Vector sums, shifts, masks and moves between columns.
    pub others: u64,
    /// Columns cleaned up, in vectors.
    pub cleaned: u64,
}

impl Observed {
    /// Products of two digits, in vectors or scalars.
    pub fn digit_products(&self) -> u64 {
        4 * self.macs + self.products
    }
}

/// Findings that are kept of a run.
pub const MOST_FINDINGS: usize = 20;

thread_local! {
    static OBSERVED: RefCell<Observed> = RefCell::default();
}

fn with(note: impl FnOnce(&mut Observed)) {
    OBSERVED.with_borrow_mut(note);
}

/// A value that must be below `limit`.
fn below(limit: u128, value: u128, what: &str) -> u64 {
    if value >= limit {
        with(|observed| {
            if observed.findings.len() < MOST_FINDINGS {
                observed.findings.push(format!("{what}: {value:#x} can be reached, of {limit:#x}"));
            }
        });
    }
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// A column.
fn column(value: u128, what: &str) -> u64 {
    let value = below(1 << 64, value, what);
    with(|observed| observed.largest = observed.largest.max(value));
    value
}

fn low<const M: u32>(a: u64) -> u64 {
    a.min((1 << M) - 1)
}

fn mac(sum: u64, a: u64, b: u64, what: &str) -> u64 {
    for factor in [a, b] {
        below(1 << 32, factor.into(), "a factor");
    }
    column(u128::from(sum) + u128::from(a) * u128::from(b), what)
}

/// Factors of which two must be 0, those from `at` on.
fn zeros(a: [u64; 4], at: usize) -> [u64; 4] {
    a[at..at + 2].iter().for_each(|&a| _ = below(1, a.into(), "a half of zeros"));
    a
}

fn other<T>(value: T) -> T {
    with(|observed| observed.others += 1);
    value
}

impl<const HALVED: bool> rsaz::Machine for Bound<HALVED> {
    type Digit = u32;
    type Word = u64;
    type Vector = [u64; 4];
    type Factors = [u64; 4];
    type Packed = [u32; 8];
    const HALVED: bool = HALVED;

    fn digit(self, value: u32) -> u32 {
        value
    }
    fn value(self, digit: u32) -> u32 {
        digit
    }

    fn word(self, digit: u32) -> u64 {
        digit.into()
    }
    fn word_add(self, a: u64, b: u64) -> u64 {
        column(u128::from(a) + u128::from(b), "a scalar sum")
    }
    fn word_mac(self, sum: u64, a: u64, b: u64) -> u64 {
        with(|observed| observed.products += 1);
        mac(sum, a, b, "a scalar product's sum")
    }
    fn word_low<const M: u32>(self, a: u64) -> u32 {
        low::<M>(a) as u32
    }
    fn word_carry<const M: u32>(self, a: u64) -> u64 {
        a >> M
    }
    fn word_quotient<const M: u32>(self, _: u64, _: u64) -> u32 {
        with(|observed| observed.products += 1);
        (1 << M) - 1
    }

    fn zero(self) -> [u64; 4] {
        [0; 4]
    }
    fn load(self, words: &[u64]) -> [u64; 4] {
        *words.first_chunk().expect("four words")
    }
    fn store(self, words: &mut [u64], v: [u64; 4]) {
        words[..4].copy_from_slice(&v);
    }
    fn factors(self, digits: &[u32]) -> [u64; 4] {
        let digits: &[u32; 4] = digits.first_chunk().expect("four digits");
        digits.map(u64::from)
    }
    fn narrow(self, digits: &mut [u32], v: [u64; 4]) {
        digits[..4].copy_from_slice(&v.map(|column| below(1 << 32, column.into(), "a stored digit") as u32));
    }
    fn broadcast(self, digit: &u32) -> [u64; 4] {
        [u64::from(*digit); 4]
    }
    fn no_factors(self) -> [u64; 4] {
        [0; 4]
    }
    fn double(self, a: [u64; 4]) -> [u64; 4] {
        self.add(a, a)
    }
    fn shift(self, words: &mut [u64], a: [u64; 4], below: [u64; 4]) {
        words[..SHIFTED].copy_from_slice(self.ups(a, below).as_flattened());
    }
    fn shifted(self, words: &[u64; SHIFTED]) -> [[u64; 4]; 4] {
        std::array::from_fn(|i| self.load(&words[4 * i..]))
    }
    fn lowest(self, word: u64) -> [u64; 4] {
        [word, 0, 0, 0]
    }
    fn add(self, a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        other(std::array::from_fn(|i| column(u128::from(a[i]) + u128::from(b[i]), "a sum")))
    }
    fn mac(self, sum: [u64; 4], a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        with(|observed| observed.macs += 1);
        std::array::from_fn(|i| mac(sum[i], a[i], b[i], "a product's sum"))
    }
    fn mac_upper(self, sum: [u64; 4], a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        self.mac(sum, zeros(a, 0), b)
    }
    fn mac_lower(self, sum: [u64; 4], a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
        self.mac(sum, zeros(a, 2), b)
    }
    fn low<const M: u32>(self, a: [u64; 4]) -> [u64; 4] {
        other(a.map(low::<M>))
    }
    fn low_of_last<const M: u32>(self, a: [u64; 4]) -> [u64; 4] {
        with(|observed| observed.cleaned += 1);
        other([a[0], a[1], a[2], low::<M>(a[3])])
    }
    fn carry<const M: u32>(self, a: [u64; 4]) -> [u64; 4] {
        other(a.map(|a| a >> M))
    }
    fn up(self, a: [u64; 4], below: [u64; 4]) -> [u64; 4] {
        other([below[3], a[0], a[1], a[2]])
    }
    fn ups(self, a: [u64; 4], below: [u64; 4]) -> [[u64; 4]; 4] {
        with(|observed| observed.others += 3);
        let b = below;
        [a, [b[3], a[0], a[1], a[2]], [b[2], b[3], a[0], a[1]], [b[1], b[2], b[3], a[0]]]
    }

    fn packed_zero(self) -> [u32; 8] {
        [0; 8]
    }
    fn packed_pick(self, sum: [u32; 8], digits: &[u32], _: u64, _: u64) -> [u32; 8] {
        std::array::from_fn(|i| sum[i].max(digits[i]))
    }
    fn packed_store(self, digits: &mut [u32], v: [u32; 8]) {
        digits[..8].copy_from_slice(&v);
    }
}

impl<const HALVED: bool> rsaz::Kernels for Bound<HALVED> {
    const MAC_TENTHS: u32 = 1;

    fn multiply(self, space: &mut Workspace<Self>, x: &mut [u32], y: &[u32]) {
        match (space.digit_bits(), space.quotients()) {
            (28, Quotients::Chained) => rsaz::multiply::<Self, 28, false, 0>(self, space, x, y, &mut ()),
            (28, Quotients::Friendly) => rsaz::multiply::<Self, 28, true, 0>(self, space, x, y, &mut ()),
            (_, Quotients::Chained) => rsaz::multiply::<Self, 29, false, 0>(self, space, x, y, &mut ()),
            (_, Quotients::Friendly) => rsaz::multiply::<Self, 29, true, 0>(self, space, x, y, &mut ()),
        }
    }
    fn square(self, space: &mut Workspace<Self>, x: &mut [u32], times: usize) {
        match (space.digit_bits(), space.quotients()) {
            (28, Quotients::Chained) => rsaz::square::<Self, 28, false, 0>(self, space, x, times, &mut ()),
            (28, Quotients::Friendly) => rsaz::square::<Self, 28, true, 0>(self, space, x, times, &mut ()),
            (_, Quotients::Chained) => rsaz::square::<Self, 29, false, 0>(self, space, x, times, &mut ()),
            (_, Quotients::Friendly) => rsaz::square::<Self, 29, true, 0>(self, space, x, times, &mut ()),
        }
    }
    fn select(self, out: &mut [u32], table: &[u32], index: u64) {
        rsaz::select(self, out, table, index);
    }
}

/// A product, or else a square, of numbers of `digits` digits in radix `2^m`, each `digit` at most, modulo
/// any modulus, by a machine of whole vectors.
///
/// A digit of the result that can be above `2^m` is a finding, too.
pub fn observe(m: u32, digits: usize, quotients: Quotients, square: bool, digit: u32) -> Observed {
    run(Bound::<false>, m, digits, quotients, square, digit)
}

/// Like [`observe`], by a machine of halved vectors. A product of two columns counts as one of four.
pub fn observe_halved(m: u32, digits: usize, quotients: Quotients, square: bool, digit: u32) -> Observed {
    run(Bound::<true>, m, digits, quotients, square, digit)
}

fn run<W: rsaz::Kernels<Digit = u32>>(
    w: W,
    m: u32,
    digits: usize,
    quotients: Quotients,
    square: bool,
    digit: u32,
) -> Observed {
    let modulus = vec![(1 << m) - 1; digits];
    let mut space = Workspace::new(w, m, &modulus, (1 << m) - 1, &modulus, quotients);
    OBSERVED.take();
    let mut x = vec![digit; digits];
    if square {
        w.square(&mut space, &mut x, 1);
    } else {
        let y = x.clone();
        w.multiply(&mut space, &mut x, &y);
    }
    for x in x {
        below((1 << m) + 1, x.into(), "a digit of the result");
    }
    OBSERVED.take()
}
