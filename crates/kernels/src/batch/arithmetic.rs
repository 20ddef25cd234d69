//! How a batch multiplies, squares and reduces. Its method and the length of its numbers decide.

use alloc::boxed::Box;

use super::ahmm::Ahmm;
use super::bias::Bias;
use super::block::{FEWEST_IN_REGISTERS, Part, TERM, TERMS_SCRATCH, TWO_TERMS_COLUMNS, TWO_TERMS_SCRATCH};
use super::constants::Constants;
use super::kernels::{Kernels, load_into};
use super::method::{Method, in_terms};
use super::product::{Kind, Product, splits};
use super::reducer::Reducer;
use crate::place::{AlignedBuf, COLUMNS, behind_numbers};

// Where arrays start within a page. On Zen 4, we measured each line of a page, with physical pages that all
// clash (see "Places in memory" in docs/notes/performance.md). At these places, few loads come soon after a
// store to the same line of another page. For numbers of two terms, the reduction was then an older one, with
// more stores.

/// Columns of numbers in terms.
const COLUMNS_PLACE: usize = behind_numbers(42);
/// Precomputed constants of a modulus for them.
const MODULUS_PLACE: usize = behind_numbers(24);
/// Scratch of products of two terms.
const TWO_TERMS_SCRATCH_PLACE: usize = behind_numbers(24);
/// Scratch of products and reductions of more terms.
const TERMS_SCRATCH_PLACE: usize = behind_numbers(28);

/// How products are made and reduced. Parts are in boxes, as in [`Reducer`].
pub(super) enum Arithmetic<M: Kernels> {
    /// Columns fit registers: product and reduction are one block.
    InRegisters(Box<InRegisters<M>>),
    /// Two terms: product and reduction are one block.
    TwoTerms(Box<Terms<M>>),
    /// More terms: a block for the product, and one for the reduction.
    Terms(Box<Terms<M>>),
    /// Products and reductions are arranged from blocks.
    Parts(Box<Parts<M>>),
}

/// Numbers whose columns fit registers.
pub(super) struct InRegisters<M: Kernels> {
    /// The constants of the moduli that the block reads: see
    /// [`amm_registers`](crate::batch::block::amm_registers()).
    modulus: AlignedBuf<M::Digit>,
}

/// Numbers in terms, of ten digits each.
pub(super) struct Terms<M: Kernels> {
    modulus: AlignedBuf<M::Digit>,
    /// The constants of the moduli that reductions read: see
    /// [`prepared_modulus`](crate::batch::block::prepared_modulus).
    prepared: AlignedBuf<M::Digit>,
    /// Scratch of the blocks.
    scratch: AlignedBuf<M::Digit>,
}

/// Products and reductions from blocks.
pub(super) struct Parts<M: Kernels> {
    multiply: Product<M>,
    square: Product<M>,
    reduction: Reducer<M>,
    ahmm: Option<Box<Ahmm<M>>>,
}

impl<M: Kernels> Arithmetic<M> {
    /// For a modulus in each lane, as `method` says.
    pub fn new(machine: M, method: Method, lanes: &[&Constants]) -> Self {
        let l = lanes[0].digits();
        match method {
            Method::AMM if (FEWEST_IN_REGISTERS..=M::MAX_IN_REGISTERS).contains(&l) => {
                Self::InRegisters(Box::new(InRegisters::new(machine, lanes)))
            }
            Method::KARATSUBA_PRODUCTS if l == M::MAX_TWO_TERMS => Self::TwoTerms(Box::new(Terms::new(
                machine,
                lanes,
                TWO_TERMS_SCRATCH,
                TWO_TERMS_SCRATCH_PLACE,
            ))),
            Method::KARATSUBA_PRODUCTS if in_terms::<M>(l) => {
                Self::Terms(Box::new(Terms::new(machine, lanes, TERMS_SCRATCH, TERMS_SCRATCH_PLACE)))
            }
            _ => Self::Parts(Box::new(Parts::new(machine, method, lanes))),
        }
    }

    /// New columns for numbers of `l` digits.
    pub fn columns(&self, machine: M, l: usize) -> AlignedBuf<M::Column> {
        let (len, place) = match self {
            Self::TwoTerms(_) => (TWO_TERMS_COLUMNS, COLUMNS_PLACE),
            Self::Terms(_) => (2 * l + 2, COLUMNS_PLACE),
            Self::InRegisters(_) | Self::Parts(_) => (2 * l + 2, COLUMNS),
        };
        AlignedBuf::new(machine.column_splat(0), len, Some(place))
    }

    /// The moduli, of `l` digits.
    pub fn modulus(&self, l: usize) -> &[M::Digit] {
        match self {
            Self::InRegisters(registers) => &registers.modulus[2 * l..3 * l],
            Self::TwoTerms(terms) | Self::Terms(terms) => &terms.modulus,
            Self::Parts(parts) => parts.reduction.modulus(),
        }
    }

    /// Whether products with table entries are half-reduced.
    pub fn has_ahmm(&self) -> bool {
        matches!(self, Self::Parts(parts) if parts.ahmm.is_some())
    }

    /// What half-reduced products with table entries need, where the method has them.
    pub fn ahmm(&mut self) -> Option<(&Ahmm<M>, &mut Reducer<M>)> {
        match self {
            Self::Parts(parts) => parts.ahmm.as_deref().map(|ahmm| (ahmm, &mut parts.reduction)),
            Self::InRegisters(_) | Self::TwoTerms(_) | Self::Terms(_) => None,
        }
    }

    /// `X ← (X·Y + Q·M)/R`.
    pub fn multiply(&mut self, m: M, columns: &mut [M::Column], x: &mut [M::Digit], y: &[M::Digit]) {
        match self {
            Self::InRegisters(registers) => m.amm_registers(x, y, &registers.modulus),
            Self::TwoTerms(terms) => {
                m.karatsuba_two_terms(x, 0, y, &terms.prepared, columns, &mut terms.scratch)
            }
            Self::Terms(terms) => {
                m.karatsuba_terms_multiply(columns, x, y, &mut terms.scratch);
                m.karatsuba_terms_reduce(x, columns, &terms.prepared, &mut terms.scratch);
            }
            Self::Parts(parts) => {
                parts.multiply.run(columns, x, y);
                parts.reduction.reduce(columns, x.len(), x);
            }
        }
    }

    /// `times` times `X ← (X² + Q·M)/R`.
    pub fn square(&mut self, m: M, columns: &mut [M::Column], x: &mut [M::Digit], times: usize) {
        match self {
            Self::TwoTerms(terms) => {
                m.karatsuba_two_terms(x, times, &[], &terms.prepared, columns, &mut terms.scratch)
            }
            Self::InRegisters(registers) => m.ams_registers(x, times, &registers.modulus, columns),
            Self::Terms(terms) => {
                for _ in 0..times {
                    m.karatsuba_terms_square(columns, x, &mut terms.scratch);
                    m.karatsuba_terms_reduce(x, columns, &terms.prepared, &mut terms.scratch);
                }
            }
            Self::Parts(parts) => {
                for _ in 0..times {
                    parts.square.square(columns, x);
                    parts.reduction.reduce(columns, x.len(), x);
                }
            }
        }
    }

    /// [`multiply`](Self::multiply) by a table entry: a half-reduced product, where the method says so.
    pub fn multiply_entry(
        &mut self,
        m: M,
        columns: &mut [M::Column],
        x: &mut [M::Digit],
        entry: &[M::Digit],
    ) {
        match self.ahmm() {
            Some((ahmm, reduction)) => {
                let (number, k) = entry.split_at(x.len());
                ahmm.multiply(reduction, columns, x, number, k);
            }
            None => self.multiply(m, columns, x, entry),
        }
    }
}

/// The bits of the longest modulus.
pub(super) fn longest(lanes: &[&Constants]) -> usize {
    lanes.iter().map(|c| c.modulus().bits()).max().unwrap_or(0)
}

/// Some precomputed constants of the modulus in each lane, one after the other; at a place in a page, or
/// anywhere.
fn load_parts<M: Kernels>(
    machine: M,
    lanes: &[&Constants],
    place: Option<usize>,
    parts: &[fn(&Constants) -> &[u64]],
) -> AlignedBuf<M::Digit> {
    let words = parts.iter().map(|part| part(lanes[0]).len()).sum();
    let mut out = AlignedBuf::new(machine.digit_zero(), words, place);
    let mut rest = &mut out[..];
    for part in parts {
        let (digits, behind) = rest.split_at_mut(part(lanes[0]).len());
        load_into(machine, digits, |lane| part(lanes[lane]));
        rest = behind;
    }
    out
}

impl<M: Kernels> InRegisters<M> {
    /// For a modulus in each lane.
    fn new(machine: M, lanes: &[&Constants]) -> Self {
        let parts: [fn(&Constants) -> &[u64]; 4] =
            [|c| &c.friendly_four, |c| &c.friendly_pair, |c| &c.digits, |c| &c.mu[..1]];
        Self { modulus: load_parts(machine, lanes, None, &parts) }
    }
}

impl<M: Kernels> Terms<M> {
    /// For a modulus in each lane. `scratch` is in digits, `place` is where it starts in a page.
    fn new(machine: M, lanes: &[&Constants], scratch: usize, place: usize) -> Self {
        let modulus = load_parts(machine, lanes, None, &[|c| &c.digits]);
        let prepared = load_parts(
            machine,
            lanes,
            Some(MODULUS_PLACE),
            &[|c| &c.friendly_terms, |c| &c.modulus_terms, |c| &c.mu[..TERM]],
        );
        Self { modulus, prepared, scratch: AlignedBuf::new(machine.digit_zero(), scratch, Some(place)) }
    }
}

impl<M: Kernels> Parts<M> {
    /// For a modulus in each lane, as `method` says.
    fn new(machine: M, method: Method, lanes: &[&Constants]) -> Self {
        let l = lanes[0].digits();
        let product = |kind, levels| {
            let bias = Bias::<M>::new(2 * l).offset_if(M::SIGNED || splits(l, levels, Part::Full), 0);
            let bias = Reducer::bias(method.reduction, bias, l, l);
            Product::new(machine, l, levels, kind, Part::Full, &bias.initial())
        };
        let ahmm = method.ahmm && !method.is_separated() && Ahmm::<M>::fits(l, longest(lanes));
        Self {
            multiply: product(Kind::Product, method.multiply_levels),
            square: product(Kind::Square, method.square_levels),
            reduction: Reducer::new(machine, method.reduction, lanes),
            ahmm: ahmm.then(|| Box::new(Ahmm::new(machine, method.reduction, l))),
        }
    }
}
