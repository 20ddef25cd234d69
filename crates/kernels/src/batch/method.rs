//! Which of several ways a batch multiplies, squares and reduces.

use core::fmt;

use super::block::{TERM, terms_of};
use super::kernels::Kernels;

/// How numbers are multiplied and reduced. All methods give the same numbers; they differ in what they cost.
///
/// By default, a modulus or key uses the method that was measured to be fastest for its length on its engine;
/// others are for comparison, or for processors on which they are faster. Levels of splitting are lowered as
/// far as a number's digits require: halves need two digits, half products an even number of them, and sums
/// of columns must fit in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Method {
    /// Levels of Karatsuba's splitting in a product of two numbers.
    pub multiply_levels: u32,
    /// Levels of Karatsuba's splitting in a square.
    pub square_levels: u32,
    /// How a product is reduced.
    pub reduction: Reduction,
    /// Whether products with a table entry reduce only half of their digits (almost-half-Montgomery
    /// multiplication: Ozturk, Kantecki, Yap 2024, section 2.3.1). With separated reduction, or where the
    /// modulus leaves less than five bits of its digits free, they are ordinary products instead.
    pub ahmm: bool,
}

/// How a product is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reduction {
    /// Digit by digit, by a multiple of the modulus that is −1 modulo a digit's radix, so that a digit's
    /// quotient needs no multiplication.
    Interleaved,
    /// Several digits at a time, by a multiple of the modulus that is −1 modulo that power of the radix, so
    /// that their quotients need no multiplications and wait only for carries.
    Tiled,
    /// As Montgomery wrote it: `q = T·N' mod R`, then `(T + q·N)/R`, in two products (Didier, El Mrabet,
    /// Glandus, Robert 2024).
    #[cfg(feature = "papers")]
    Separated {
        /// Levels of Karatsuba's splitting in these two products.
        levels: u32,
        /// Whether only the upper half of `q·N` is computed.
        truncated: bool,
    },
}

#[cfg(feature = "papers")]
const fn separated(levels: u32, truncated: bool) -> Method {
    Method {
        multiply_levels: levels,
        square_levels: levels,
        reduction: Reduction::Separated { levels, truncated },
        ahmm: false,
    }
}

/// Numbers get at most one digit more for this many, to become a multiple of [`TERM`]. That costs at most a
/// tenth more time; terms save a seventh to a fifth (docs/notes/performance.md).
const DIGITS_PER_EXTRA: usize = 20;

/// More levels than any number can be split into.
const MOST_LEVELS: u32 = 10;

impl Method {
    /// Almost-Montgomery multiplication, digit by digit.
    pub const AMM: Self =
        Self { multiply_levels: 0, square_levels: 0, reduction: Reduction::Interleaved, ahmm: false };
    /// [`AMM`](Self::AMM), reduced by several digits at a time.
    pub const TILED: Self = Self { reduction: Reduction::Tiled, ..Self::AMM };
    /// [`TILED`](Self::TILED), with products with table entries as in [`AHMM`](Self::AHMM).
    pub const TILED_AHMM: Self = Self { ahmm: true, ..Self::TILED };
    /// [`TILED_AHMM`](Self::TILED_AHMM) with squares by one level of Karatsuba.
    pub const TILED_AHMM_KARATSUBA_SQUARES: Self = Self { square_levels: 1, ..Self::TILED_AHMM };
    /// AMM with almost-half-Montgomery multiplication by table entries (AHMM).
    pub const AHMM: Self = Self { ahmm: true, ..Self::AMM };
    /// AHMM with squares by one level of Karatsuba.
    pub const AHMM_KARATSUBA_SQUARES: Self = Self { square_levels: 1, ..Self::AHMM };
    /// AMM with squares by one level of Karatsuba.
    pub const KARATSUBA_SQUARES: Self = Self { square_levels: 1, ..Self::AMM };
    /// AMM with products and squares by one level of Karatsuba. On machines that have
    /// [`karatsuba_two_terms`](super::block::karatsuba_two_terms()), that block makes the products and
    /// squares of numbers of its length, and splits three quarters of the reduction too. Numbers of 30 to 160
    /// digits, a multiple of ten, are multiplied, squared and reduced in terms of ten digits
    /// ([`karatsuba_terms_multiply`](super::block::karatsuba_terms_multiply)), whatever `reduction` says.
    pub const KARATSUBA_PRODUCTS: Self = Self { multiply_levels: 1, ..Self::KARATSUBA_SQUARES };
    /// Separated reduction: schoolbook products, the whole of `q·N`.
    #[cfg(feature = "papers")]
    pub const SCHOOLBOOK: Self = separated(0, false);
    /// Separated reduction: schoolbook products, the upper half of `q·N`.
    #[cfg(feature = "papers")]
    pub const TRUNCATED_SCHOOLBOOK: Self = separated(0, true);
    /// Separated reduction: Karatsuba products, the whole of `q·N`.
    #[cfg(feature = "papers")]
    pub const KARATSUBA: Self = separated(1, false);
    /// Separated reduction: Karatsuba products, the upper half of `q·N`.
    #[cfg(feature = "papers")]
    pub const TRUNCATED_KARATSUBA: Self = separated(1, true);
    /// Separated reduction: two levels of Karatsuba, the whole of `q·N`.
    #[cfg(feature = "papers")]
    pub const KARATSUBA2: Self = separated(2, false);
    /// Separated reduction: two levels of Karatsuba, the upper half of `q·N`.
    #[cfg(feature = "papers")]
    pub const TRUNCATED_KARATSUBA2: Self = separated(2, true);

    /// Every named method, with its name.
    pub const NAMED: &'static [(&'static str, Self)] = &[
        ("amm", Self::AMM),
        ("ahmm", Self::AHMM),
        ("ahmm-karatsuba-squares", Self::AHMM_KARATSUBA_SQUARES),
        ("karatsuba-squares", Self::KARATSUBA_SQUARES),
        ("karatsuba-products", Self::KARATSUBA_PRODUCTS),
        ("tiled", Self::TILED),
        ("tiled-ahmm", Self::TILED_AHMM),
        ("tiled-ahmm-squares", Self::TILED_AHMM_KARATSUBA_SQUARES),
        #[cfg(feature = "papers")]
        ("schoolbook", Self::SCHOOLBOOK),
        #[cfg(feature = "papers")]
        ("truncated-schoolbook", Self::TRUNCATED_SCHOOLBOOK),
        #[cfg(feature = "papers")]
        ("karatsuba", Self::KARATSUBA),
        #[cfg(feature = "papers")]
        ("truncated-karatsuba", Self::TRUNCATED_KARATSUBA),
        #[cfg(feature = "papers")]
        ("karatsuba2", Self::KARATSUBA2),
        #[cfg(feature = "papers")]
        ("truncated-karatsuba2", Self::TRUNCATED_KARATSUBA2),
    ];

    /// The fastest known method for numbers of `digits` digits on a machine: a decision table made by
    /// measurement (see docs/notes/performance.md).
    #[doc(hidden)]
    pub fn fastest<M: Kernels>(machine: M, digits: usize) -> Self {
        if (digits == M::MAX_TWO_TERMS || in_terms::<M>(digits)) && machine.adds_beside_products() {
            return Self::KARATSUBA_PRODUCTS;
        }
        Self {
            square_levels: u32::from(digits >= M::KARATSUBA_FROM),
            reduction: if digits >= M::TILED_FROM { Reduction::Tiled } else { Reduction::Interleaved },
            ahmm: digits >= M::AHMM_FROM,
            ..Self::AMM
        }
    }

    /// The method of that name; `None` for an unknown name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|&(_, method)| method)
    }

    /// This method, with only as many levels of Karatsuba's splitting as columns have room for.
    ///
    /// A level makes a middle column of three columns of half as many halves each, so `n` levels make columns
    /// up to `(3/2)^n` as large as those of `L` digits. Two such sums, of a product and of its reduction, fit
    /// a word with their offsets while `L·(3/2)^n ≤ 2^{61−w}`: for 52-bit digits 341 digits by one level, 227
    /// by two. `analysis` proves it.
    #[doc(hidden)]
    pub fn fitting(self, digits: usize, digit_bits: u32) -> Self {
        let fits = |levels: u32| (digits * 3usize.pow(levels)) >> levels < 1 << (61 - digit_bits);
        let most = (1..MOST_LEVELS).take_while(|&levels| fits(levels)).last().unwrap_or(0);
        let reduction = match self.reduction {
            reduction @ (Reduction::Interleaved | Reduction::Tiled) => reduction,
            #[cfg(feature = "papers")]
            Reduction::Separated { levels, truncated } => {
                Reduction::Separated { levels: levels.min(most), truncated }
            }
        };
        let (multiply_levels, square_levels) = (self.multiply_levels.min(most), self.square_levels.min(most));
        Self { multiply_levels, square_levels, reduction, ..self }
    }

    /// Whether its reduction is separate from the product, and always by all digits.
    pub(crate) fn is_separated(&self) -> bool {
        !matches!(self.reduction, Reduction::Interleaved | Reduction::Tiled)
    }

    /// [`digits`](Self::digits) on a machine, by the method of the caller's choice or the fastest: a few more
    /// where numbers can then be cut into terms.
    #[doc(hidden)]
    pub fn digits_on<M: Kernels>(machine: M, choice: Option<Self>, digits: usize) -> usize {
        let rounded = digits.next_multiple_of(TERM);
        let method = choice.unwrap_or_else(|| Self::fastest(machine, rounded));
        let few = (rounded - digits) * DIGITS_PER_EXTRA <= digits;
        if method == Self::KARATSUBA_PRODUCTS && few && in_terms::<M>(rounded) {
            return rounded;
        }
        choice.map_or(digits, |method| method.digits(digits))
    }

    /// The digit count to use where at least `digits` are needed: one that splits, where splitting needs it.
    #[doc(hidden)]
    pub fn digits(&self, digits: usize) -> usize {
        match self.reduction {
            #[cfg(feature = "papers")]
            Reduction::Separated { levels, .. } => digits.next_multiple_of(1 << levels.min(4)),
            Reduction::Interleaved | Reduction::Tiled => digits,
        }
    }
}

/// Whether a machine has blocks for numbers of so many digits, in terms.
pub(super) fn in_terms<M: Kernels>(digits: usize) -> bool {
    terms_of(digits).is_some_and(|terms| terms <= M::MAX_TERMS)
}

impl fmt::Display for Method {
    /// Writes the method's name, or its parts if it has none.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match Self::NAMED.iter().find(|(_, method)| method == self) {
            Some((name, _)) => f.pad(name),
            None => fmt::Debug::fmt(self, f),
        }
    }
}

/// An optional [`Method`] in whole words. `None::<Method>` leaves its payload uninitialised, and a move to
/// the heap copies what the stack held there: perhaps a digit of a secret, which nothing overwrites.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodChoice {
    multiply_levels: u32,
    square_levels: u32,
    /// One of the constants below.
    reduction: u32,
    reduction_levels: u32,
    ahmm: u32,
}

impl MethodChoice {
    const NONE: u32 = 0;
    const INTERLEAVED: u32 = 1;
    const TILED: u32 = 2;
    #[cfg(feature = "papers")]
    const SEPARATED: u32 = 3;
    #[cfg(feature = "papers")]
    const TRUNCATED: u32 = 4;
}

impl From<Option<Method>> for MethodChoice {
    fn from(method: Option<Method>) -> Self {
        let Some(Method { multiply_levels, square_levels, reduction, ahmm }) = method else {
            let reduction = Self::NONE;
            return Self { multiply_levels: 0, square_levels: 0, reduction, reduction_levels: 0, ahmm: 0 };
        };
        let (reduction, reduction_levels) = match reduction {
            Reduction::Interleaved => (Self::INTERLEAVED, 0),
            Reduction::Tiled => (Self::TILED, 0),
            #[cfg(feature = "papers")]
            Reduction::Separated { levels, truncated: false } => (Self::SEPARATED, levels),
            #[cfg(feature = "papers")]
            Reduction::Separated { levels, truncated: true } => (Self::TRUNCATED, levels),
        };
        Self { multiply_levels, square_levels, reduction, reduction_levels, ahmm: ahmm.into() }
    }
}

impl From<MethodChoice> for Option<Method> {
    fn from(choice: MethodChoice) -> Self {
        let MethodChoice { multiply_levels, square_levels, reduction, ahmm, .. } = choice;
        let reduction = match reduction {
            MethodChoice::INTERLEAVED => Reduction::Interleaved,
            MethodChoice::TILED => Reduction::Tiled,
            #[cfg(feature = "papers")]
            MethodChoice::SEPARATED | MethodChoice::TRUNCATED => Reduction::Separated {
                levels: choice.reduction_levels,
                truncated: reduction == MethodChoice::TRUNCATED,
            },
            _ => return None,
        };
        Some(Method { multiply_levels, square_levels, reduction, ahmm: ahmm != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_that_of_its_own_method() {
        for &(name, method) in Method::NAMED {
            assert_eq!(Method::by_name(name), Some(method));
            assert_eq!(alloc::format!("{method}"), name);
        }
    }

    #[test]
    fn choices_are_methods() {
        let there_and_back = |method: Option<Method>| Option::<Method>::from(MethodChoice::from(method));
        assert_eq!(there_and_back(None), None);
        for &(name, method) in Method::NAMED {
            let levels = Method { multiply_levels: u32::MAX, square_levels: 5, ..method };
            [method, levels]
                .into_iter()
                .for_each(|method| assert_eq!(there_and_back(Some(method)), Some(method), "{name}"));
        }
    }
}
