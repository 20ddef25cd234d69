//! Which of several ways a batch multiplies, squares and reduces.

use core::fmt;

use crate::machine::Machine;

/// How numbers are multiplied and reduced. All methods give the same numbers; they differ in what they cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Method {
    /// Levels of Karatsuba's splitting in a product of two numbers.
    pub multiply_levels: u32,
    /// Levels of Karatsuba's splitting in a square.
    pub square_levels: u32,
    /// How a product is reduced.
    pub reduction: Reduction,
    /// Whether products with a table entry reduce only half of their digits (AHMM, paper `ahmm`). Where the modulus leaves
    /// less than five bits of its digits free, they are ordinary products instead.
    pub half_table: bool,
}

/// How a product is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reduction {
    /// Digit by digit, by the friendly multiple (see [`crate::block::reduce_rows`]).
    Rows,
    /// As Montgomery wrote it: `q = T·N' mod R`, then `(T + q·N)/R` (paper `truncated`).
    Separate {
        /// Levels of Karatsuba's splitting in these two products.
        levels: u32,
        /// Whether only the upper half of `q·N` is computed.
        truncated: bool,
    },
}

const fn separate(levels: u32, truncated: bool) -> Method {
    Method {
        multiply_levels: levels,
        square_levels: levels,
        reduction: Reduction::Separate { levels, truncated },
        half_table: false,
    }
}

impl Method {
    /// Almost-Montgomery multiplication, digit by digit.
    pub const AMM: Self = Self { multiply_levels: 0, square_levels: 0, reduction: Reduction::Rows, half_table: false };
    /// The same with almost-half-Montgomery multiplication by table entries (paper `ahmm`).
    pub const AHMM: Self = Self { half_table: true, ..Self::AMM };
    /// AMM with squares by one level of Karatsuba.
    pub const KARATSUBA_SQUARES: Self = Self { square_levels: 1, ..Self::AMM };
    /// Paper `truncated`: schoolbook products, the whole of `q·N`.
    pub const SCHOOLBOOK: Self = separate(0, false);
    /// Paper `truncated`: schoolbook products, the upper half of `q·N`.
    pub const TRUNCATED_SCHOOLBOOK: Self = separate(0, true);
    /// Paper `truncated`: Karatsuba products, the whole of `q·N`.
    pub const KARATSUBA: Self = separate(1, false);
    /// Paper `truncated`: Karatsuba products, the upper half of `q·N`.
    pub const TRUNCATED_KARATSUBA: Self = separate(1, true);
    /// Paper `truncated`: two levels of Karatsuba, the whole of `q·N`.
    pub const KARATSUBA2: Self = separate(2, false);
    /// Paper `truncated`: two levels of Karatsuba, the upper half of `q·N`.
    pub const TRUNCATED_KARATSUBA2: Self = separate(2, true);

    /// Every method that has a name, with it.
    pub const NAMED: &'static [(&'static str, Self)] = &[
        ("amm", Self::AMM),
        ("ahmm", Self::AHMM),
        ("karatsuba-squares", Self::KARATSUBA_SQUARES),
        ("schoolbook", Self::SCHOOLBOOK),
        ("truncated-schoolbook", Self::TRUNCATED_SCHOOLBOOK),
        ("karatsuba", Self::KARATSUBA),
        ("truncated-karatsuba", Self::TRUNCATED_KARATSUBA),
        ("karatsuba2", Self::KARATSUBA2),
        ("truncated-karatsuba2", Self::TRUNCATED_KARATSUBA2),
    ];

    /// The fastest known method for numbers of `digits` digits on a machine: a decision table made by measurement (see
    /// docs/notes/performance.md).
    pub fn fastest<M: Machine>(digits: usize) -> Self {
        let square_levels = u32::from(digits >= M::KARATSUBA_SQUARES);
        Self { square_levels, ..Self::AMM }
    }

    /// The method of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|&(_, method)| method)
    }

    /// The digit count to use where at least `digits` are needed: one that splits, where splitting needs it.
    pub fn digits(&self, digits: usize) -> usize {
        match self.reduction {
            Reduction::Separate { levels, .. } => digits.next_multiple_of(1 << levels.min(4)),
            Reduction::Rows => digits,
        }
    }
}

impl fmt::Display for Method {
    /// The method's name, or what it is made of.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match Self::NAMED.iter().find(|(_, method)| method == self) {
            Some((name, _)) => f.pad(name),
            None => fmt::Debug::fmt(self, f),
        }
    }
}
