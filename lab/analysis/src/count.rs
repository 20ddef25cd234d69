//! Counts: every digit is nothing, and what is done with it is counted.
//!
//! Operations are counted as the kernels' code makes them, in vectors: one multiply-accumulate is one for all
//! lanes. Loads and stores are not operations of the vocabulary but indexed slices; [`traffic`] derives them
//! from the structure of each block that is called, with its tile width and rows.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ops::{Add, Sub};

use zariz_kernels::batch;
use zariz_kernels::batch::block::{Part, TERM, TWO_TERMS_DIGITS, fours, plain_rows, rows_at_a_time};

use crate::Model;
use crate::call::{Call, interpret};

/// The machine that counts what the machine of the model `P` would do.
#[derive(Clone, Copy, Debug)]
pub struct Count<P>(PhantomData<P>);

impl<P: Model> Default for Count<P> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// Declares the counts, with what goes for all of them.
macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// How often each operation was made.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counts {
            /// Nothing done.
            pub const ZERO: Self = Self { $($name: 0,)* };
        }

        impl Add for Counts {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self { $($name: self.$name + other.$name,)* }
            }
        }

        impl Sub for Counts {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self { $($name: self.$name - other.$name,)* }
            }
        }
    };
}

counts! {
    /// `mac`: both halves of a product.
    products,
    /// Low halves alone.
    low,
    /// High halves alone.
    high,
    /// `add` of columns.
    additions,
    /// `sub` of columns.
    subtractions,
    /// `negate`: a masked subtraction.
    negations,
    /// `carry`: a shift.
    carries,
    /// `digit` and `operand`: a column's low bits prepared for multiplication.
    to_digit,
    /// `column`: a digit as a column again.
    to_column,
    /// `column_splat` and `column_from`.
    splats,
    /// `equals`.
    comparisons,
    /// `select`: a masked move.
    selects,
    /// Columns read from memory.
    column_loads,
    /// Columns written to memory.
    column_stores,
    /// Digits read from memory.
    digit_loads,
    /// Digits written to memory.
    digit_stores,
}

impl Counts {
    /// Additions, subtractions and masked negations of columns.
    pub fn sums(&self) -> u64 {
        self.additions + self.subtractions + self.negations
    }

    /// Products of digits, in halves.
    pub fn half_products(&self) -> u64 {
        2 * self.products + self.low + self.high
    }

    /// Vectors read from memory.
    pub fn loads(&self) -> u64 {
        self.column_loads + self.digit_loads
    }

    /// Vectors written to memory.
    pub fn stores(&self) -> u64 {
        self.column_stores + self.digit_stores
    }
}

thread_local! {
    static COUNTS: RefCell<Counts> = const { RefCell::new(Counts::ZERO) };
    static AT_REDUCTION: Cell<Option<Counts>> = const { Cell::new(None) };
}

/// What this thread has counted so far; the difference of two calls is what was done between them.
pub fn so_far() -> Counts {
    COUNTS.with_borrow(|counts| *counts)
}

/// What kernels run in this thread count.
pub fn count(run: impl FnOnce()) -> Counts {
    let before = so_far();
    run();
    so_far() - before
}

/// What this thread had counted when it first began to reduce a product, since this was last asked; `None` if
/// no reduction was apart from its product.
pub fn at_reduction() -> Option<Counts> {
    AT_REDUCTION.take()
}

#[inline(never)] // else it would be in a block hundreds of times
fn bump(one: impl FnOnce(&mut Counts)) {
    COUNTS.with_borrow_mut(one);
}

/// The loads and stores of a block, derived from its code in `zariz_kernels::batch::block`: digits of a tile
/// are read again in every row, columns of a tile stay in registers from its first row to its last.
pub fn traffic<M: zariz_kernels::batch::Kernels>(call: &Call<M>) -> Counts {
    let n = |len: usize| len as u64;
    let [mut column_loads, mut column_stores, mut digit_loads, mut digit_stores] = [0; 4];
    match call {
        Call::MacRows { a, b, .. } => {
            // A row reads its digit, the tile's (or two rows once), and the column that enters; it writes the
            // column that leaves.
            let (t, rows) = (n(a.len()), n(b.len()));
            (column_loads, column_stores) = (t + rows, t + rows);
            digit_loads = rows + t * if M::TWO_ROWS { rows.div_ceil(2) } else { rows };
        }
        Call::Square { a, .. } => {
            let t = n(a.len());
            column_stores = 2 * t;
            digit_loads = t + t * (t - 1) / 2;
        }
        Call::SquareOnto { a, .. } => {
            let t = n(a.len());
            (column_loads, column_stores) = (2 * t, 2 * t);
            digit_loads = t + t * (t - 1) / 2;
        }
        Call::LowTriangle { a, .. } => {
            let t = n(a.len());
            (column_loads, column_stores) = (t, t);
            digit_loads = t + t * (t + 1) / 2;
        }
        Call::HighTriangle { a, b, .. } => {
            let t = n(a.len());
            (column_loads, column_stores) = (t + 1, t + 1);
            // Each row's digits and those of its high half for the guard; the row below has nothing but that.
            digit_loads = t + t * (t + 1) / 2 + (t - 1) + 2 * (n(b.len()) - t);
        }
        Call::ReduceRows { friendly, q, last, .. } => {
            let (t, plain) = (n(friendly.len()), n(last.map_or(0, |_| plain_rows::<M>(q.len()))));
            let rows = n(q.len()) - plain;
            let at_a_time = n(rows_at_a_time::<M>());
            // Friendly rows read the columns that enter; those that leave are not written, their quotients
            // are.
            let held = if M::TWO_ROWS && rows == 0 { 0 } else { t + at_a_time };
            column_loads = held + rows;
            column_stores = held;
            digit_loads = rows / at_a_time * t;
            digit_stores = rows;
            // A plain row works on memory: T + 1 columns, of which the lowest is not written; the modulus
            // and μ.
            column_loads += plain * (t + 1);
            column_stores += plain * t;
            digit_loads += plain * (t + 1);
            digit_stores += plain;
        }
        Call::Scale { x, .. } => {
            digit_loads = n(x.len());
            digit_stores = digit_loads;
        }
        Call::Splat { c, initial } => column_stores = n(c.len().min(initial.len())),
        Call::AddWords { words, .. } => (column_loads, column_stores) = (n(words.len()), n(words.len())),
        Call::Quotients { q, .. } => {
            digit_stores = n(q.len());
            (column_loads, column_stores) = (digit_stores + 1, 1);
        }
        Call::Normalize { out, c } => {
            digit_stores = n(out.len().min(c.len()));
            column_loads = digit_stores;
        }
        Call::Settle { out, .. } => {
            digit_stores = n(out.len());
            (column_loads, column_stores) = (digit_stores + 1, 1);
        }
        Call::NormalizeSum { out, low, .. } => {
            digit_stores = n(out.len());
            digit_loads = n(low.len());
            column_loads = digit_loads + 2 * digit_stores;
        }
        Call::Difference { a, b, .. } => {
            // Both differences are written, then one of them chosen.
            let t = n(a.len());
            digit_loads = t + n(b.len()) + 2 * t;
            digit_stores = 2 * t + t;
            column_stores = 1;
        }
        Call::Karatsuba { c, middle, signs, part, .. } => {
            let h = n(middle.len()) / 2;
            let lower = if *part == Part::High { 1 } else { h };
            let upper = if *part == Part::Low { 0 } else { h };
            // The upper half's own uppermost columns may be missing.
            let missing = if upper == 0 { 0 } else { 4 * h - n(c.len()) };
            column_loads = n(signs.len()) + 2 * h + 2 * lower + 2 * upper - missing;
            column_stores = lower + upper;
        }
        Call::ReduceOnce { out, .. } => {
            // The difference is written, then it or the number chosen.
            let t = n(out.len());
            (digit_loads, digit_stores) = (2 * t + 2 * t, 2 * t);
        }
        Call::AddDigits { out, .. } => {
            digit_stores = n(out.len());
            digit_loads = 2 * digit_stores;
        }
        Call::AmmRegisters { x, .. } => {
            let t = n(x.len());
            // Two rows read the tile once, and their own digits; so does a last row of its own.
            digit_loads = t.div_ceil(2) * t + t + whole_reduction(t, 0);
            digit_stores = t;
        }
        Call::AmsRegisters { x, times, .. } => {
            let t = n(x.len());
            let each = |count: u64| count * n(*times);
            let fours = if M::FOUR_ROWS { n(fours(x.len())) } else { 0 };
            column_stores = each(2 * t);
            // A window of four rows takes in one or two columns that the square does not reach.
            column_loads = each(2 * t + if fours > 0 { 2 - t % 2 } else { 0 });
            // Two rows read their own digits, and those above them.
            let rows: u64 = (0..t).step_by(2).map(|row| t - row).sum();
            digit_loads = each(rows + whole_reduction(t, fours));
            digit_stores = each(t);
        }
        Call::KaratsubaTwoTerms { times, y, .. } => {
            return split(n(*times), 1) + split((!y.is_empty()).into(), 2);
        }
        Call::KaratsubaTermsMultiply { a, .. } => return terms(n(a.len()), 2),
        Call::KaratsubaTermsSquare { a, .. } => return terms(n(a.len()), 1),
        Call::KaratsubaTermsReduce { x, .. } => return terms_reduction(n(x.len())),
        Call::SelectTile { out, table, stride, .. } => {
            let t = n(out[0].len());
            digit_stores = n(out.len()) * t;
            digit_loads = n(table.len().div_ceil(*stride)) * t;
        }
        Call::SelectShared { out, table, stride, .. } => {
            // Words of one number, each brought to all lanes.
            let t = n(out.len());
            digit_stores = t;
            digit_loads = n(table.len().div_ceil(*stride)) * t;
        }
        // No interpretation has lookups.
        Call::Turn { .. } | Call::Lookup { .. } => {}
        Call::Gather { out, .. } => digit_stores = n(out.len()),
        Call::Scatter { digits, .. } => digit_loads = n(digits.len()),
    }
    Counts { column_loads, column_stores, digit_loads, digit_stores, ..Counts::default() }
}

/// The digits that a product of `h × h` digits of two factors reads, or a square: two rows of a product read
/// the tile once, and their own digits; of a square their own digits, and those above.
fn rows(h: u64, factors: u64) -> u64 {
    if factors == 2 { h / 2 * (h + 2) } else { (0..h).step_by(2).map(|row| h - row).sum() }
}

/// A product of numbers of `l` digits in terms, of two factors, or of one with itself.
fn terms(l: u64, factors: u64) -> Counts {
    let t = TERM as u64;
    let n = l / t;
    let (pairs, rows) = (n * (n - 1) / 2, rows(t, factors));
    // Differences of terms, the first pair's and one beside each product.
    let differences = factors * (1 + pairs) * t;
    Counts {
        // Products of equal places; all sums; products of differences, each with one column above.
        column_loads: n * 2 * t + n * 2 * t + 1 - (n - 1) * t + pairs * (2 * t + 1),
        column_stores: t + n * 2 * t + n * t + 1 + pairs * (2 * t + 1),
        digit_loads: (n + pairs) * rows + pairs * factors * t + 2 * differences,
        digit_stores: differences,
        ..Counts::default()
    }
}

/// The reduction of such a product.
fn terms_reduction(l: u64) -> Counts {
    let t = TERM as u64;
    let (n, k) = (l / t, t / 2);
    // A product of a quotient and a term: three products of halves, and corrections by two differences, with
    // a digit that says where that of the term borrows. One column is changed twice.
    let (multiples, multiple_digits, multiple_columns) = (n * n, 3 * (3 * k + k) + 2 * k + 1, 2 * t + 1);
    // Carries of a term: the first quotient, those beside products, and two at the end. The carries of all
    // but these two are added to the column above.
    let moving = 1 + 2 * (n - 1);
    let carries = moving + 2;
    // Differences of a quotient's halves.
    let differences = (n + 1) * k;
    let last = t * (t + 1) / 2 + t + t;
    Counts {
        column_loads: multiples * multiple_columns + carries * t + moving,
        column_stores: multiples * multiple_columns + moving + t,
        digit_loads: multiples * multiple_digits + 2 * differences + last,
        digit_stores: differences + carries * t + t,
        ..Counts::default()
    }
}

/// Products of numbers of two terms, of two factors, or of one with itself.
fn split(times: u64, factors: u64) -> Counts {
    let t = TWO_TERMS_DIGITS as u64;
    let (h, k) = (t / 2, t / 4);
    let rows = rows(h, factors);
    let quarter = 3 * k + k;
    // A difference reads two digits for each that it writes. Those of both quotients' halves are among them.
    let differences = factors * h + 2 * k;
    // The quotient takes part in the middle's columns; so do the differences, of which a square has one. So
    // do those of a quotient's halves and of a term's, three times.
    let corrections = h + factors * h + 3 * 2 * k;
    // Ten rows by the lower term, each with μ.
    let reduction = h * (h + 1);
    // The product reads its ten uppermost columns for sums, and one again. The reduction reads all thirty,
    // and the borrow.
    let column_loads = h + 1 + 6 * k + 1;
    // Ten upper columns, twenty sums, one again, and the borrow.
    let column_stores = h + t + 2;
    let digit_loads = 3 * rows + 9 * quarter + 2 * differences + corrections + reduction;
    // Differences, two quotients, the result.
    let digit_stores = differences + 2 * h + t;
    let each = |count: u64| count * times;
    Counts {
        column_loads: each(column_loads),
        column_stores: each(column_stores),
        digit_loads: each(digit_loads),
        digit_stores: each(digit_stores),
        ..Counts::default()
    }
}

/// The digits that the reduction of a whole number reads: two friendly rows, or four, the multiple once; each
/// of the last two rows, or three, the modulus and `μ`.
fn whole_reduction(t: u64, fours: u64) -> u64 {
    ((t - 2) / 2 - fours) * t + (2 + t % 2) * (t + 1)
}

impl<P: Model> Count<P> {
    fn call(self, call: Call<Self>) {
        match call {
            // A reduction calls such a block for each tile.
            Call::ReduceRows { .. } | Call::Quotients { .. } | Call::Settle { .. }
                if AT_REDUCTION.get().is_none() =>
            {
                AT_REDUCTION.set(Some(so_far()))
            }
            _ => {}
        }
        let traffic = traffic(&call);
        bump(|counts| *counts = *counts + traffic);
        call.run(self);
    }
}

impl<P: Model> batch::Machine for Count<P> {
    const LANES: usize = 1;
    const DIGIT_BITS: u32 = P::DIGIT_BITS;
    const BIAS_LO: u64 = P::BIAS_LO;
    const BIAS_HI: u64 = P::BIAS_HI;
    const SIGNED: bool = P::SIGNED;
    const TWO_ROWS: bool = P::TWO_ROWS;
    const FOUR_ROWS: bool = P::FOUR_ROWS;

    /// Its value does not matter.
    type Digit = u64;
    type Column = ();
    type Mask = ();

    fn digit_zero(self) -> u64 {
        0
    }
    fn column_splat(self, _value: u64) {
        bump(|counts| counts.splats += 1);
    }
    fn column_from(self, _values: &[u64]) {
        bump(|counts| counts.splats += 1);
    }
    fn column_store(self, (): (), values: &mut [u64]) {
        values.fill(0);
    }
    fn mac(self, (): (), (): (), _: u64, _: u64) -> ((), ()) {
        bump(|counts| counts.products += 1);
        ((), ())
    }
    fn mac_low(self, (): (), _: u64, _: u64) {
        bump(|counts| counts.low += 1);
    }
    fn mac_high(self, (): (), _: u64, _: u64) {
        bump(|counts| counts.high += 1);
    }
    fn add(self, (): (), (): ()) {
        bump(|counts| counts.additions += 1);
    }
    fn sub(self, (): (), (): ()) {
        bump(|counts| counts.subtractions += 1);
    }
    fn negate(self, (): (), (): ()) {
        bump(|counts| counts.negations += 1);
    }
    fn carry(self, (): ()) {
        bump(|counts| counts.carries += 1);
    }
    fn digit(self, (): ()) -> u64 {
        bump(|counts| counts.to_digit += 1);
        0
    }
    fn column(self, _: u64) {
        bump(|counts| counts.to_column += 1);
    }
    fn equals(self, (): (), _value: u64) {
        bump(|counts| counts.comparisons += 1);
    }
    fn select(self, (): (), a: u64, _: u64) -> u64 {
        bump(|counts| counts.selects += 1);
        a
    }
    fn select_column(self, (): (), (): (), (): ()) {
        bump(|counts| counts.selects += 1);
    }
}

interpret!(Count);
