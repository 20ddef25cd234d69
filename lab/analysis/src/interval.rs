//! Intervals: every digit is a range, and one run is a proof for all data.
//!
//! A [`Digit`] is a range within `0..2^w`; a [`Column`] is a range of 64-bit words, that goes round at `2^64`
//! as the words themselves do. So biases and negative parts need no care: they move a range, and moving it
//! back is exact. A range may go round while it is only added to. Where a machine looks at the whole word (in
//! a [`carry`](zariz_kernels::batch::Machine::carry), a comparison, a store) it must not: a word in a range
//! that goes round could be a sum that overflowed, or a difference below 0. What breaks this is a
//! [`Finding`].
//!
//! [`digit`](zariz_kernels::batch::Machine::digit) and `operand` look at the lowest `w` bits only, which
//! wrapping does not change, so they need no check; where a range holds more than they can tell, the result
//! is any digit.
//!
//! A value from outside (`column_from`) is taken as any digit, so one run with any modulus is a proof for
//! every modulus.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use zariz_kernels::batch;

use crate::Model;
use crate::call::{Call, interpret};

/// The machine of intervals for the machine of the model `P`.
#[derive(Clone, Copy, Debug)]
pub struct Interval<P>(PhantomData<P>);

impl<P: Model> Default for Interval<P> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// Digits from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Digit {
    /// The least.
    pub low: u64,
    /// The greatest.
    pub high: u64,
}

/// The words `low + i` modulo `2^64`, for `0 ≤ i ≤ width`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Where the range begins.
    pub low: u64,
    /// The last of it, counted from there. `u64::MAX` is any word.
    pub width: u64,
}

impl Column {
    /// The words from `low` to `high`, of which both may be negative.
    const fn between(low: i64, high: i64) -> Self {
        Self { low: low as u64, width: high.wrapping_sub(low) as u64 }
    }

    /// `−c` of each.
    fn negated(self) -> Self {
        Self { low: self.low.wrapping_add(self.width).wrapping_neg(), ..self }
    }

    /// The shortest range that holds both.
    fn join(self, other: Self) -> Self {
        let from = |a: Self, b: Self| {
            let end = b.low.wrapping_sub(a.low).saturating_add(b.width);
            Self { low: a.low, width: end.max(a.width) }
        };
        let (here, there) = (from(self, other), from(other, self));
        if here.width <= there.width { here } else { there }
    }

    /// Whether a word is one of these.
    pub fn contains(self, word: u64) -> bool {
        word.wrapping_sub(self.low) <= self.width
    }
}

/// What a truth value can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    /// It can be true.
    pub set: bool,
    /// It can be false.
    pub clear: bool,
}

/// The words that a block looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The least.
    pub low: u64,
    /// The greatest.
    pub high: u64,
}

impl Extent {
    /// The hull of both.
    pub fn join(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

/// A column that a machine could misread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The block that was running.
    pub block: &'static str,
    /// The operation that looked at the column.
    pub operation: &'static str,
    /// What the column can be.
    pub column: Column,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Column { low, width } = self.column;
        let (block, operation) = (self.block, self.operation);
        write!(f, "{block}: {operation} of a column that can overflow 2^64 or be negative: ")?;
        match width {
            u64::MAX => write!(f, "it can be anything"),
            _ => write!(f, "it is {low:#x} to {width:#x} more"),
        }
    }
}

/// What a run showed.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// By block: the words it looked at.
    pub extents: BTreeMap<&'static str, Extent>,
    /// What is wrong: empty if the run is a proof. At most [`MOST_FINDINGS`] are kept.
    pub findings: Vec<Finding>,
    /// The block that is running.
    block: &'static str,
}

impl Observed {
    /// The words that any block looked at.
    pub fn extent(&self) -> Option<Extent> {
        self.extents.values().copied().reduce(Extent::join)
    }
}

/// Findings that are kept of a run; one breach tends to bring thousands.
pub const MOST_FINDINGS: usize = 20;

thread_local! {
    static OBSERVED: RefCell<Observed> = RefCell::default();
}

/// Runs kernels on machines of intervals in this thread, and tells what it showed.
pub fn observe(run: impl FnOnce()) -> Observed {
    OBSERVED.take();
    run();
    OBSERVED.take()
}

impl<P: Model> Interval<P> {
    const MAX: u64 = (1 << P::DIGIT_BITS) - 1;
    /// Any digit.
    pub const ANY: Digit = Digit { low: 0, high: Self::MAX };
    /// The split of a product of any two digits: nearly all of them are.
    const ANY_SPLIT: (Column, Column) = Self::split(Self::ANY, Self::ANY);

    fn call(self, call: Call<Self>) {
        OBSERVED.with_borrow_mut(|observed| observed.block = call.name());
        call.run(self);
    }

    /// The word of a column, for an `operation` that depends on all of it.
    fn word(self, column: Column, operation: &'static str) -> Extent {
        // The sum of wide ranges is kept as any word, which says nothing of how often it went round.
        let high = column.low.checked_add(column.width).filter(|_| column.width < u64::MAX);
        let word =
            Extent { low: if high.is_some() { column.low } else { 0 }, high: high.unwrap_or(u64::MAX) };
        OBSERVED.with_borrow_mut(|observed| {
            let block = observed.block;
            observed.extents.entry(block).and_modify(|extent| *extent = extent.join(word)).or_insert(word);
            if high.is_none() && observed.findings.len() < MOST_FINDINGS {
                observed.findings.push(Finding { block, operation, column });
            }
        });
        word
    }

    /// The ranges of `l` and `h` with `h·2^w + l = a·b`, as the machine splits the product: `h = ⌊ab/2^w⌋`,
    /// or on a signed machine the integer nearest to `ab/2^w`.
    pub const fn split(a: Digit, b: Digit) -> (Column, Column) {
        let w = P::DIGIT_BITS;
        assert!(a.high <= Self::MAX && b.high <= Self::MAX, "a factor has more bits than a digit");
        let (low, high) = (a.low as u128 * b.low as u128, a.high as u128 * b.high as u128);
        let (size, half) = (1u128 << w, 1u128 << (w - 1));
        if P::SIGNED {
            let l = if high <= half {
                Column::between(low as i64, high as i64)
            } else {
                Column::between(-(half as i64), half as i64)
            };
            // At the lower end a tie may be rounded down.
            (l, Column::between(((low + half - 1) >> w) as i64, ((high + half) >> w) as i64))
        } else {
            let l = if high < size {
                Column::between(low as i64, high as i64)
            } else {
                Column::between(0, (size - 1) as i64)
            };
            (l, Column::between((low >> w) as i64, (high >> w) as i64))
        }
    }
}

impl<P: Model> batch::Machine for Interval<P> {
    const LANES: usize = 1;
    const DIGIT_BITS: u32 = P::DIGIT_BITS;
    const BIAS_LO: u64 = P::BIAS_LO;
    const BIAS_HI: u64 = P::BIAS_HI;
    const SIGNED: bool = P::SIGNED;
    const TWO_ROWS: bool = P::TWO_ROWS;
    const FOUR_ROWS: bool = P::FOUR_ROWS;

    type Digit = Digit;
    type Column = Column;
    type Mask = Mask;

    fn digit_zero(self) -> Digit {
        Digit { low: 0, high: 0 }
    }
    fn column_splat(self, value: u64) -> Column {
        Column { low: value, width: 0 }
    }
    fn column_from(self, _values: &[u64]) -> Column {
        self.column(Self::ANY)
    }
    /// Writes 0, for every value.
    fn column_store(self, column: Column, values: &mut [u64]) {
        self.word(column, "store");
        values.fill(0);
    }

    #[inline(never)] // blocks write it hundreds of times
    fn mac(self, lo: Column, hi: Column, a: Digit, b: Digit) -> (Column, Column) {
        let (l, h) = if a == Self::ANY && b == Self::ANY { Self::ANY_SPLIT } else { Self::split(a, b) };
        let biased = |c: Column, bias: u64| Column { low: c.low.wrapping_add(bias), ..c };
        (self.add(lo, biased(l, P::BIAS_LO)), self.add(hi, biased(h, P::BIAS_HI)))
    }
    fn add(self, a: Column, b: Column) -> Column {
        Column { low: a.low.wrapping_add(b.low), width: a.width.saturating_add(b.width) }
    }
    fn sub(self, a: Column, b: Column) -> Column {
        self.add(a, b.negated())
    }
    fn negate(self, mask: Mask, c: Column) -> Column {
        match mask {
            Mask { set: false, .. } => c,
            Mask { clear: false, .. } => c.negated(),
            _ => c.join(c.negated()),
        }
    }
    fn carry(self, c: Column) -> Column {
        let Extent { low, high } = self.word(c, "carry");
        Column { low: low >> P::DIGIT_BITS, width: (high >> P::DIGIT_BITS) - (low >> P::DIGIT_BITS) }
    }
    fn digit(self, c: Column) -> Digit {
        let low = c.low & Self::MAX;
        match low.checked_add(c.width) {
            Some(high) if high <= Self::MAX => Digit { low, high },
            _ => Self::ANY,
        }
    }
    fn column(self, d: Digit) -> Column {
        Column { low: d.low, width: d.high - d.low }
    }
    fn equals(self, a: Column, value: u64) -> Mask {
        let word = self.word(a, "comparison");
        let set = word.low <= value && value <= word.high;
        Mask { set, clear: !set || word.low < word.high }
    }
    fn select(self, mask: Mask, a: Digit, b: Digit) -> Digit {
        match mask {
            Mask { set: false, .. } => a,
            Mask { clear: false, .. } => b,
            _ => Digit { low: a.low.min(b.low), high: a.high.max(b.high) },
        }
    }
    fn select_column(self, mask: Mask, a: Column, b: Column) -> Column {
        match mask {
            Mask { set: false, .. } => a,
            Mask { clear: false, .. } => b,
            _ => a.join(b),
        }
    }
}

interpret!(Interval);
