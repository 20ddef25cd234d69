//! Carry chains over bounds: no carry is lost.
//!
//! A lane is the largest that it can be, a mask whether each lane can be set. Nothing is supposed of digits:
//! whatever comes from memory is any digit. An addition with carry keeps what it carries in a mask, so it
//! loses nothing. What could be lost, and is a finding:
//!
//! * a carry of [`add_high`](carry::Machine::add_high), whose addend may not be all ones;
//! * a carry of an addition under a mask, which has no mask for it: but quotients are meant modulo `2^32`,
//!   and in a lane that ripples the carry out is known beforehand;
//! * one of two carries out of a lane, where a lane that overflowed is all ones and is carried into: the
//!   precondition of [`ripple`](carry::tail::ripple).

use std::cell::RefCell;

use zariz_kernels::carry::{self, DIGITS, Digits, Machine as _, Modulus, SCRATCH, WIDEST};

/// The machine of bounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bound;

const MASK: u64 = u32::MAX as u64;

/// A lane.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    /// The largest it can be.
    most: u64,
    /// The largest it can be after it overflowed, if it can.
    overflowed: Option<u64>,
    /// Whether carries out of it are meant to go, or are found by other means.
    wraps: bool,
}

impl Lane {
    const ANY: Self = Self { most: MASK, overflowed: None, wraps: false };

    const fn at_most(most: u64) -> Self {
        Self { most, ..Self::ANY }
    }
}

/// What a run showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// The largest addend of [`carry::Machine::add_high`].
    pub high: u64,
    /// The largest sum under a mask that must not wrap.
    pub masked: u64,
    /// The largest that a lane can be after it overflowed, where carries ripple.
    pub overflowed: u64,
    /// Additions with carry.
    pub additions: u64,
    /// What is wrong: empty if the run is a proof. At most [`MOST_FINDINGS`] are kept.
    pub findings: Vec<String>,
}

/// Findings that are kept of a run.
pub const MOST_FINDINGS: usize = 20;

thread_local! {
    static OBSERVED: RefCell<Observed> = RefCell::default();
}

/// Runs kernels on [`Bound`] in this thread, and tells what it showed.
pub fn observe(run: impl FnOnce(Bound)) -> Observed {
    OBSERVED.take();
    run(Bound);
    OBSERVED.take()
}

/// Notes a value in one of the places of [`Observed`]; it must be below `limit`.
fn below(limit: u64, value: u64, place: impl FnOnce(&mut Observed) -> &mut u64, what: &str) {
    OBSERVED.with_borrow_mut(|observed| {
        if value >= limit && observed.findings.len() < MOST_FINDINGS {
            observed.findings.push(format!("{what}: {value:#x} can be reached, of {limit:#x}"));
        }
        let most = place(observed);
        *most = value.max(*most);
    });
}

type Vector = [Lane; DIGITS];
type Mask = [bool; DIGITS];

fn each(lane: impl Fn(usize) -> Lane) -> Vector {
    std::array::from_fn(lane)
}

impl carry::Machine for Bound {
    type Vector = Vector;
    type Factor = Vector;
    type Mask = Mask;

    fn load(self, _: &Digits) -> Vector {
        [Lane::ANY; DIGITS]
    }
    fn store(self, _: Vector, _: &mut Digits) {}
    fn constant(self, digit: u32) -> Vector {
        [Lane::at_most(digit.into()); DIGITS]
    }
    fn splat(self, _: u32) -> Vector {
        [Lane::ANY; DIGITS]
    }
    fn first(self, _: Vector) -> u32 {
        0
    }
    fn factor(self, vector: Vector) -> Vector {
        vector
    }
    fn multiply(self, a: Vector, b: Vector) -> (Vector, Vector) {
        let product = |i: usize| a[i].most * b[i].most;
        (each(|i| Lane::at_most(product(i).min(MASK))), each(|i| Lane::at_most(product(i) >> 32)))
    }
    fn multiply_first(self, _: Vector, _: Vector) -> Vector {
        [Lane { wraps: true, ..Lane::ANY }; DIGITS]
    }
    fn broadcast_first(self, vector: Vector) -> Vector {
        [Lane::at_most(vector[0].most); DIGITS]
    }
    fn add(self, a: Vector, carry: Mask, b: Vector) -> (Vector, Mask) {
        OBSERVED.with_borrow_mut(|observed| observed.additions += 1);
        let sum = |i: usize| a[i].most + u64::from(carry[i]) + b[i].most;
        let lane = |i| Lane { most: sum(i).min(MASK), overflowed: sum(i).checked_sub(MASK + 1), wraps: true };
        (each(lane), std::array::from_fn(|i| sum(i) > MASK))
    }
    fn add_high(self, a: Vector, carry: Mask, b: Vector) -> (Vector, Mask) {
        for b in b {
            below(MASK, b.most, |observed| &mut observed.high, "an addend that may not be all ones");
        }
        self.add(a, carry, b)
    }
    fn add_where(self, mask: Mask, a: Vector, b: Vector) -> Vector {
        each(|i| {
            let sum = a[i].most + if mask[i] { b[i].most } else { 0 };
            if !a[i].wraps {
                below(MASK + 1, sum, |observed| &mut observed.masked, "a sum without a mask for its carry");
            }
            Lane { most: sum.min(MASK), ..a[i] }
        })
    }
    fn shift_down(self, vector: Vector, above: Vector) -> Vector {
        each(|i| if i + 1 < DIGITS { vector[i + 1] } else { above[0] })
    }
    fn shift_up(self, vector: Vector, below: Vector) -> Vector {
        each(|i| if i > 0 { vector[i - 1] } else { below[DIGITS - 1] })
    }
    /// Any mask at all, except for the empty one, which kernels write where nothing is carried in.
    fn mask(self, bits: u16) -> Mask {
        [bits != 0; DIGITS]
    }
    fn bits(self, mask: Mask) -> u16 {
        mask.iter().rev().fold(0, |bits, &set| bits << 1 | u16::from(set))
    }
    /// Kernels ask this of lanes whose carries are about to ripple, and of no others.
    fn all_ones(self, vector: Vector) -> Mask {
        for most in vector.iter().filter_map(|lane| lane.overflowed) {
            below(
                MASK,
                most,
                |observed| &mut observed.overflowed,
                "a lane that overflowed and is carried into",
            );
        }
        vector.map(|lane| lane.most == MASK)
    }
    fn move_where(self, _: Mask, a: Vector, b: Vector) -> Vector {
        each(|i| if a[i].most > b[i].most { a[i] } else { b[i] })
    }
    fn equal(self, _: Vector, _: Vector) -> Mask {
        [true; DIGITS]
    }
}

/// Every count of vectors that a number of at most `bits` bits can have.
pub fn lengths(bits: usize) -> impl Iterator<Item = usize> {
    let most = carry::Constants::words_for(bits);
    std::iter::once(1).chain((WIDEST..=most).step_by(WIDEST))
}

/// A multiplication of numbers of `words` vectors, and the last subtraction, which is made.
pub fn prove(words: usize) -> Observed {
    let zeros = vec![[0; DIGITS]; words];
    let (mut out, mut scratch) = (zeros.clone(), [[0; DIGITS]; SCRATCH]);
    let modulus = Modulus { digits: &zeros, negated: &zeros, mu: 0 };
    observe(|m| match words {
        1 => {
            carry::amm::<Bound, 1>(m, &mut out, &mut scratch, &zeros, &zeros, modulus);
            carry::tail::add_if::<Bound, 1>(m, 1, &mut out, &zeros);
        }
        _ => {
            carry::amm::<Bound, WIDEST>(m, &mut out, &mut scratch, &zeros, &zeros, modulus);
            carry::tail::add_if::<Bound, WIDEST>(m, 1, &mut out, &zeros);
        }
    })
}

/// Adds digits that can overflow and be all ones afterwards, and lets their carries ripple: a breach of
/// [`ripple`](carry::tail::ripple)'s precondition, for tests.
pub fn breach(carried: bool) -> Observed {
    observe(|m| {
        let any = m.load(&[0; DIGITS]);
        let (sum, overflowed) = m.add(any, m.mask(u16::from(carried)), any);
        carry::tail::ripple::<Bound, 1>(m, &mut [sum], &[overflowed], 0);
    })
}
