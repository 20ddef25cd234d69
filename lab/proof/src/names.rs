//! A machine of batches over names: kernels run on it as they are written, and leave equations.
//!
//! What is shown holds for all numbers for which columns do not overflow, which `analysis` proves. No bound
//! is used, so it holds whether the lower half of a product can be negative or not. The machine has no
//! biases: they are constants that a column's initial value takes away.

use std::cell::{Cell, RefCell};
use zariz_kernels::batch;

use crate::facts::Facts;
use crate::form::Id;

/// The machine, with digits of `W` bits, on which two rows are added at a time or not.
#[derive(Clone, Copy)]
pub struct Names<const W: u32, const TWO_ROWS: bool = false>;

thread_local! {
    static FACTS: RefCell<Facts> = RefCell::new(Facts::new());
    static SKIPPED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// For tests: the addition with this number, from now on in this thread, returns its first argument. Returns
/// how many more additions were to come before the last one that was to be skipped, if it has not come.
pub fn skip_addition(number: usize) -> Option<usize> {
    SKIPPED.replace(Some(number))
}

/// Forgets all equations of this thread, runs kernels, and returns theirs.
pub fn observe<R>(run: impl FnOnce() -> R) -> (R, Facts) {
    FACTS.replace(Facts::new());
    let out = run();
    (out, FACTS.replace(Facts::new()))
}

/// New names for any digits or columns.
pub fn any(count: usize) -> Vec<Id> {
    FACTS.with_borrow_mut(|facts| facts.number(count, None))
}

/// Supposes `a·b ≡ −1` modulo `2^W`.
pub fn suppose_inverse(a: Id, b: Id) {
    FACTS.with_borrow_mut(|facts| facts.suppose_inverse(a, b));
}

fn sum(terms: Vec<((Id, Id), i128)>) -> Id {
    FACTS.with_borrow_mut(|facts| facts.define(terms, (u64::MAX, None), false, false).0)
}

impl<const W: u32, const TWO_ROWS: bool> Names<W, TWO_ROWS> {
    fn cut(self, a: Id, b: Id) -> (Id, Id) {
        FACTS.with_borrow_mut(|facts| facts.cut((a.min(b), a.max(b)), W))
    }
}

impl<const W: u32, const TWO_ROWS: bool> batch::Machine for Names<W, TWO_ROWS> {
    const LANES: usize = 1;
    const DIGIT_BITS: u32 = W;
    const BIAS_LO: u64 = 0;
    const BIAS_HI: u64 = 0;
    const TWO_ROWS: bool = TWO_ROWS;

    type Digit = Id;
    type Column = Id;
    type Mask = ();

    fn digit_zero(self) -> Id {
        self.column_splat(0)
    }
    fn column_splat(self, value: u64) -> Id {
        sum(vec![((0, 0), value.into())])
    }
    fn column_from(self, _: &[u64]) -> Id {
        any(1)[0]
    }
    fn column_store(self, _: Id, _: &mut [u64]) {
        unreachable!("names are no numbers: blocks that store them cannot run here");
    }
    #[inline(never)] // blocks write it hundreds of times
    fn mac(self, lo: Id, hi: Id, a: Id, b: Id) -> (Id, Id) {
        let (low, high) = self.cut(a, b);
        (self.add(lo, low), self.add(hi, high))
    }
    #[inline(never)]
    fn add(self, a: Id, b: Id) -> Id {
        let left = SKIPPED.get();
        SKIPPED.set(left.and_then(|left| left.checked_sub(1)));
        if left == Some(0) {
            return a;
        }
        sum(vec![((0, a), 1), ((0, b), 1)])
    }
    fn sub(self, a: Id, b: Id) -> Id {
        sum(vec![((0, a), 1), ((0, b), -1)])
    }
    fn negate(self, (): (), _: Id) -> Id {
        unreachable!("blocks that compare cannot run here");
    }
    fn carry(self, c: Id) -> Id {
        self.cut(0, c).1
    }
    fn digit(self, c: Id) -> Id {
        self.cut(0, c).0
    }
    fn column(self, d: Id) -> Id {
        d
    }
    fn equals(self, _: Id, _: u64) {
        unreachable!("blocks that compare cannot run here");
    }
    fn select(self, (): (), _: Id, _: Id) -> Id {
        unreachable!("blocks that compare cannot run here");
    }
    fn select_column(self, (): (), _: Id, _: Id) -> Id {
        unreachable!("blocks that compare cannot run here");
    }
}
