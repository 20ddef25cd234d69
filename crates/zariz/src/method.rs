//! Methods of multiplication and reduction.

use std::fmt;
use std::str::FromStr;

use zariz_kernels::batch;

/// How an engine with lanes multiplies, squares and reduces. All methods give the same results in different
/// times.
///
/// By default, a modulus or key uses the method that was measured to be fastest for its length on its engine;
/// the others are for comparison, and for processors on which they are faster. Engines without lanes have one
/// method, [`Self::AMM`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Method(pub(crate) batch::Method);

impl Method {
    /// Almost-Montgomery multiplication, digit by digit.
    pub const AMM: Self = Self(batch::Method::AMM);
    /// AMM, with almost-half-Montgomery multiplication by the table entries of a power: it reduces half of
    /// the digits (Ozturk, Kantecki, Yap 2024).
    pub const AHMM: Self = Self(batch::Method::AHMM);
    /// AHMM, with squares by one level of Karatsuba's splitting.
    pub const AHMM_KARATSUBA_SQUARES: Self = Self(batch::Method::AHMM_KARATSUBA_SQUARES);
    /// AMM, with squares by one level of Karatsuba's splitting.
    pub const KARATSUBA_SQUARES: Self = Self(batch::Method::KARATSUBA_SQUARES);
    /// AMM, with products and squares by one level of Karatsuba's splitting. With AVX512-IFMA, where a
    /// modulus needs 20 digits of 52 bits (1024 bits do), three quarters of each reduction are split, too.
    /// Where it needs 30 to 160 digits, a multiple of ten, products, squares and reductions are made in terms
    /// of ten digits; a modulus gets up to a twentieth more digits for that.
    pub const KARATSUBA_PRODUCTS: Self = Self(batch::Method::KARATSUBA_PRODUCTS);
    /// AMM, reduced by seven digits at a time, whose quotients come from one carry chain.
    pub const TILED: Self = Self(batch::Method::TILED);
    /// That reduction, with AHMM.
    pub const TILED_AHMM: Self = Self(batch::Method::TILED_AHMM);
    /// That reduction, with AHMM and squares by one level of Karatsuba's splitting.
    pub const TILED_AHMM_KARATSUBA_SQUARES: Self = Self(batch::Method::TILED_AHMM_KARATSUBA_SQUARES);

    /// Every method.
    pub const ALL: &'static [Self] = &{
        let named = batch::Method::NAMED;
        let mut all = [Self::AMM; batch::Method::NAMED.len()];
        let mut i = 0;
        while i < named.len() {
            all[i] = Self(named[i].1);
            i += 1;
        }
        all
    };
}

/// Reduction apart from the product, as Montgomery wrote it (Didier, El Mrabet, Glandus, Robert 2024).
#[cfg(feature = "papers")]
impl Method {
    /// Schoolbook products, the whole of `q·N`.
    pub const SCHOOLBOOK: Self = Self(batch::Method::SCHOOLBOOK);
    /// Schoolbook products, the upper half of `q·N`.
    pub const TRUNCATED_SCHOOLBOOK: Self = Self(batch::Method::TRUNCATED_SCHOOLBOOK);
    /// Karatsuba products, the whole of `q·N`.
    pub const KARATSUBA: Self = Self(batch::Method::KARATSUBA);
    /// Karatsuba products, the upper half of `q·N`.
    pub const TRUNCATED_KARATSUBA: Self = Self(batch::Method::TRUNCATED_KARATSUBA);
    /// Two levels of Karatsuba, the whole of `q·N`.
    pub const KARATSUBA2: Self = Self(batch::Method::KARATSUBA2);
    /// Two levels of Karatsuba, the upper half of `q·N`.
    pub const TRUNCATED_KARATSUBA2: Self = Self(batch::Method::TRUNCATED_KARATSUBA2);
}

impl fmt::Display for Method {
    /// Writes the method's name.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    /// The method of that name.
    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        batch::Method::by_name(name).map(Self).ok_or_else(|| UnknownMethod(name.to_owned()))
    }
}

/// The error for a name that no method has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMethod(String);

impl std::error::Error for UnknownMethod {}

impl fmt::Display for UnknownMethod {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let known: Vec<_> = Method::ALL.iter().map(Method::to_string).collect();
        write!(f, "there is no method named {:?}; choose one of {}", self.0, known.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for method in Method::ALL {
            assert_eq!(method.to_string().parse(), Ok(*method));
        }
        let error = "magic".parse::<Method>().expect_err("no such method").to_string();
        assert!(error.contains("magic") && error.contains("amm, ahmm"), "{error}");
    }
}
