//! Intervals: every digit is a range, and one run speaks for all data.
//!
//! A [`Digit`] is a range within `0..2^w`; a [`Column`] is a range of *exact* integers, standing for 64-bit words modulo
//! `2^64`. Machines with a bias start columns at a word that is "minus so many biases"; here it is the positive integer
//! that the word is, sums grow beyond `2^64` as they please, and the word is looked at only where a machine looks at it:
//! in a [`carry`](zariz_kernels::Lanes::carry), a comparison, a store. There the range must lie within one window
//! `[k·2^64, (k+1)·2^64)`, or the word could be anything; and within the window it must be below `2^63`, as the heads of
//! the kernels claim. What breaks this is a [`Finding`].
//!
//! [`digit`](zariz_kernels::Lanes::digit) and `operand` look at the lowest `w` bits only, which wrapping does not change,
//! so they ask for nothing: where a range holds more than they can tell, the result is any digit.
//!
//! What comes from outside (`column_from`) is taken as any digit whatever its value, so that one run with any modulus
//! speaks for every modulus.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use zariz_kernels::Lanes;

use crate::Model;
use crate::call::{Call, machine};

/// The machine of intervals that stands for the machine of the model `P`.
#[derive(Clone, Copy, Debug)]
pub struct Interval<P>(PhantomData<P>);

impl<P: Model> Default for Interval<P> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// Digits from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// The least.
    pub low: u64,
    /// The greatest.
    pub high: u64,
}

/// Columns from `low` to `high`: exact integers, not words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The least.
    pub low: i128,
    /// The greatest.
    pub high: i128,
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
        let Column { low, high } = self.column;
        write!(f, "{}: {} of a column in {low}..={high}: ", self.block, self.operation)?;
        if low >> 64 == high >> 64 {
            write!(f, "its word can be 2^63 or more")
        } else {
            write!(f, "it does not lie between two multiples of 2^64")
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

/// No column may reach this where it is looked at.
const LIMIT: u64 = 1 << 63;

impl<P: Model> Interval<P> {
    const MAX: u64 = (1 << P::DIGIT_BITS) - 1;
    /// Any digit.
    pub const ANY: Digit = Digit { low: 0, high: Self::MAX };

    fn call(self, call: Call<Self>) {
        OBSERVED.with_borrow_mut(|observed| observed.block = call.name());
        call.run(self);
    }

    /// The word of a column, for an `operation` that depends on all of it.
    fn word(self, column: Column, operation: &'static str) -> Extent {
        let window = column.low >> 64;
        let inside = column.high >> 64 == window;
        // The casts keep the word: what is above 2^64 is the window's number.
        let word = if inside {
            Extent { low: column.low as u64, high: column.high as u64 }
        } else {
            Extent { low: 0, high: u64::MAX }
        };
        OBSERVED.with_borrow_mut(|observed| {
            let block = observed.block;
            observed.extents.entry(block).and_modify(|extent| *extent = extent.join(word)).or_insert(word);
            if word.high >= LIMIT && observed.findings.len() < MOST_FINDINGS {
                observed.findings.push(Finding { block, operation, column });
            }
        });
        word
    }

    /// The ranges of `l` and `h` with `h·2^w + l = a·b`, as the machine splits the product: `h = ⌊ab/2^w⌋`, or on a
    /// signed machine the integer nearest to `ab/2^w`.
    pub fn split(a: Digit, b: Digit) -> (Column, Column) {
        let w = P::DIGIT_BITS;
        assert!(a.high <= Self::MAX && b.high <= Self::MAX, "a factor of {a:?} and {b:?} is no {w}-bit digit");
        let low = (u128::from(a.low) * u128::from(b.low)) as i128;
        let high = (u128::from(a.high) * u128::from(b.high)) as i128;
        let (size, half) = (1i128 << w, 1i128 << (w - 1));
        if P::SIGNED {
            let l = if high <= half { Column { low, high } } else { Column { low: -half, high: half } };
            // Rounded up at the lower end, so that either direction of a tie is within.
            let h = Column { low: (low + half - 1) >> w, high: (high + half) >> w };
            (l, h)
        } else {
            let l = if high < size { Column { low, high } } else { Column { low: 0, high: size - 1 } };
            (l, Column { low: low >> w, high: high >> w })
        }
    }
}

impl<P: Model> Lanes for Interval<P> {
    const LANES: usize = 1;
    const DIGIT_BITS: u32 = P::DIGIT_BITS;
    const BIAS_LO: u64 = P::BIAS_LO;
    const BIAS_HI: u64 = P::BIAS_HI;
    const SIGNED: bool = P::SIGNED;

    type Digit = Digit;
    type Column = Column;
    /// Either, always.
    type Mask = ();

    fn digit_zero(self) -> Digit {
        Digit { low: 0, high: 0 }
    }
    fn column_splat(self, value: u64) -> Column {
        Column { low: i128::from(value), high: i128::from(value) }
    }
    fn column_from(self, _values: &[u64]) -> Column {
        self.column(Self::ANY)
    }
    /// Writes 0, which stands for everything.
    fn column_store(self, column: Column, values: &mut [u64]) {
        self.word(column, "store");
        values.fill(0);
    }

    fn mac(self, lo: Column, hi: Column, a: Digit, b: Digit) -> (Column, Column) {
        let (l, h) = Self::split(a, b);
        let biased = |c: Column, d: Column, bias: u64| {
            let bias = i128::from(bias);
            Column { low: c.low + d.low + bias, high: c.high + d.high + bias }
        };
        (biased(lo, l, P::BIAS_LO), biased(hi, h, P::BIAS_HI))
    }
    fn add(self, a: Column, b: Column) -> Column {
        Column { low: a.low + b.low, high: a.high + b.high }
    }
    fn carry(self, c: Column) -> Column {
        let word = self.word(c, "carry");
        Column { low: i128::from(word.low >> P::DIGIT_BITS), high: i128::from(word.high >> P::DIGIT_BITS) }
    }
    fn digit(self, c: Column) -> Digit {
        // Shifts round down, so this holds for negative columns too.
        if c.low >> P::DIGIT_BITS == c.high >> P::DIGIT_BITS {
            Digit { low: c.low as u64 & Self::MAX, high: c.high as u64 & Self::MAX }
        } else {
            Self::ANY
        }
    }
    fn column(self, d: Digit) -> Column {
        Column { low: i128::from(d.low), high: i128::from(d.high) }
    }
    fn equals(self, a: Column, _value: u64) {
        self.word(a, "comparison");
    }
    fn select(self, (): (), a: Digit, b: Digit) -> Digit {
        Digit { low: a.low.min(b.low), high: a.high.max(b.high) }
    }
}

machine!(Interval);
