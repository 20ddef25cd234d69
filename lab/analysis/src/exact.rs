//! Exact integers: columns never wrap, and every block is checked against its banner.
//!
//! A column is an `i128`, which holds any sum that a kernel makes; a product is split as the machine splits
//! it, and there is no bias. Before and after each block, the value `Σ C[k]·2^{wk}` of what it works on is
//! computed with big integers, and compared with what the block says it does. What differs is a finding, in
//! words.
//!
//! What this shows, it shows for the numbers it was run with; [`interval`](crate::interval) is for all of
//! them.

use num_bigint::BigInt;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::marker::PhantomData;

use zariz_kernels::batch;

use crate::Model;
use crate::call::{Call, interpret};

pub mod banner;

/// The machine of exact integers that splits products as the machine of the model `P` does.
#[derive(Clone, Copy, Debug)]
pub struct Exact<P>(PhantomData<P>);

impl<P: Model> Default for Exact<P> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// What runs showed.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Blocks that were checked.
    pub blocks: u64,
    /// Their names.
    pub names: BTreeSet<&'static str>,
    /// Blocks that did not do what their banners say: the first [`MOST_FINDINGS`].
    pub findings: Vec<String>,
}

/// Findings that are kept.
pub const MOST_FINDINGS: usize = 20;

thread_local! {
    static OBSERVED: RefCell<Observed> = RefCell::default();
}

/// Runs kernels on exact machines in this thread, and tells what it showed.
pub fn observe<T>(run: impl FnOnce() -> T) -> (T, Observed) {
    OBSERVED.take();
    let result = run();
    (result, OBSERVED.take())
}

fn find(finding: String) {
    OBSERVED.with_borrow_mut(|observed| {
        if observed.findings.len() < MOST_FINDINGS {
            observed.findings.push(finding);
        }
    });
}

/// The initial value of a column: a negative number where the sign bit of the word is set.
fn signed(word: u64) -> i128 {
    i128::from(word as i64)
}

/// `Σ columns[k]·2^{wk}`.
pub fn value_of_columns(columns: &[i128], w: u32) -> BigInt {
    columns.iter().rev().fold(BigInt::ZERO, |value, &column| (value << w) + column)
}

/// `Σ digits[k]·2^{wk}`.
pub fn value_of_digits(digits: &[u64], w: u32) -> BigInt {
    digits.iter().rev().fold(BigInt::ZERO, |value, &digit| (value << w) + digit)
}

impl<P: Model> Exact<P> {
    const MAX: u64 = (1 << P::DIGIT_BITS) - 1;

    fn call(self, call: Call<Self>) {
        let name = call.name();
        OBSERVED.with_borrow_mut(|observed| {
            observed.blocks += 1;
            observed.names.insert(name);
        });
        if let Err(what) = banner::check::<P>(self, call) {
            find(format!("{name}: {what}"));
        }
    }

    /// `(l, h)` with `h·2^w + l = a·b`: `h = ⌊ab/2^w⌋`, or on a signed machine the nearest integer, ties to
    /// even.
    pub fn split(a: u64, b: u64) -> (i128, i128) {
        let w = P::DIGIT_BITS;
        assert!(a <= Self::MAX && b <= Self::MAX, "a factor of {a:#x} and {b:#x} is no {w}-bit digit");
        let product = (u128::from(a) * u128::from(b)) as i128;
        let (mut h, mut l) = (product >> w, product & i128::from(Self::MAX));
        let half = 1i128 << (w - 1);
        if P::SIGNED && (l > half || l == half && h % 2 == 1) {
            h += 1;
            l -= 1 << w;
        }
        (l, h)
    }
}

impl<P: Model> batch::Machine for Exact<P> {
    const LANES: usize = 1;
    const DIGIT_BITS: u32 = P::DIGIT_BITS;
    const BIAS_LO: u64 = 0;
    const BIAS_HI: u64 = 0;
    const SIGNED: bool = P::SIGNED;
    const TWO_ROWS: bool = P::TWO_ROWS;
    const FOUR_ROWS: bool = P::FOUR_ROWS;

    type Digit = u64;
    type Column = i128;
    type Mask = bool;

    fn digit_zero(self) -> u64 {
        0
    }
    fn column_splat(self, value: u64) -> i128 {
        signed(value)
    }
    fn column_from(self, values: &[u64]) -> i128 {
        i128::from(values[0])
    }
    fn column_store(self, column: i128, values: &mut [u64]) {
        values[0] = u64::try_from(column).expect("a column that is stored fits a word");
    }
    #[inline(never)] // blocks write it hundreds of times
    fn mac(self, lo: i128, hi: i128, a: u64, b: u64) -> (i128, i128) {
        let (l, h) = Self::split(a, b);
        (lo + l, hi + h)
    }
    fn add(self, a: i128, b: i128) -> i128 {
        a + b
    }
    fn sub(self, a: i128, b: i128) -> i128 {
        a - b
    }
    fn negate(self, mask: bool, c: i128) -> i128 {
        if mask { -c } else { c }
    }
    fn carry(self, c: i128) -> i128 {
        if u64::try_from(c).is_err() {
            find(format!("carry of a column that is not from 0 to 2^64: {c:#x}"));
        }
        c >> P::DIGIT_BITS
    }
    fn digit(self, c: i128) -> u64 {
        c as u64 & Self::MAX
    }
    fn column(self, d: u64) -> i128 {
        i128::from(d)
    }
    fn equals(self, a: i128, value: u64) -> bool {
        a == i128::from(value)
    }
    fn select(self, mask: bool, a: u64, b: u64) -> u64 {
        if mask { b } else { a }
    }
    fn select_column(self, mask: bool, a: i128, b: i128) -> i128 {
        if mask { b } else { a }
    }
}

interpret!(Exact);
