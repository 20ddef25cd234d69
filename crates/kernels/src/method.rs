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

/// More levels than any number has halves to split.
const MOST_LEVELS: u32 = 10;

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
        Self {
            square_levels: u32::from(digits >= M::KARATSUBA_FROM),
            half_table: digits >= M::HALF_TABLE_FROM,
            ..Self::AMM
        }
    }

    /// The method of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|&(_, method)| method)
    }

    /// The same with no more levels of Karatsuba's splitting than columns have room for.
    ///
    /// A level makes a middle column of three columns of half as many halves each, so `n` levels make columns up to
    /// `(3/2)^n` as large as those of `L` digits. Two such sums, of a product and of its reduction, fit a word with their
    /// offsets while `L·(3/2)^n ≤ 2^{61−w}`: for 52-bit digits 341 digits by one level, 227 by two. `analysis` proves it.
    pub fn fitting(self, digits: usize, digit_bits: u32) -> Self {
        let fits = |levels: u32| (digits * 3usize.pow(levels)) >> levels < 1 << (61 - digit_bits);
        let most = (1..MOST_LEVELS).take_while(|&levels| fits(levels)).last().unwrap_or(0);
        let reduction = match self.reduction {
            Reduction::Rows => Reduction::Rows,
            Reduction::Separate { levels, truncated } => Reduction::Separate { levels: levels.min(most), truncated },
        };
        let (multiply_levels, square_levels) = (self.multiply_levels.min(most), self.square_levels.min(most));
        Self { multiply_levels, square_levels, reduction, ..self }
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
