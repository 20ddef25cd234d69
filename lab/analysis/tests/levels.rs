//! What the table of intervals does not show: Karatsuba's splitting to any depth, at the digit counts about
//! which `Method::fitting` decides.

use zariz_analysis::interval::{Interval, observe};
use zariz_analysis::model::Model;
use zariz_analysis::operation::Operation;
use zariz_kernels::batch::MAX_DIGITS;
use zariz_kernels::batch::block::{FEWEST_TERMS, MOST_TERMS, TERM};
use zariz_kernels::batch::{Method, Reduction};
use zariz_machines::on_each_machine;

/// The most levels that `fitting` leaves to a method.
fn levels_left(digits: usize, w: u32) -> u32 {
    Method { multiply_levels: u32::MAX, ..Method::AMM }.fitting(digits, w).multiply_levels
}

/// Methods of `levels` levels everywhere, or in the square alone.
fn methods(levels: u32) -> Vec<Method> {
    let rows = Method { multiply_levels: levels, square_levels: levels, ..Method::AMM };
    let separate = |truncated| Method { reduction: Reduction::Separated { levels, truncated }, ..rows };
    let schoolbook = Method { reduction: Reduction::Separated { levels: 0, truncated: true }, ..rows };
    vec![rows, separate(false), separate(true), schoolbook]
}

#[test]
fn no_column_overflows_at_any_depth() {
    fn check<P: Model>() {
        let w = P::DIGIT_BITS;
        for levels in 1..=6 {
            // Where one more digit loses a level, and the largest number that can be halved as often as that.
            let most = (2..=MAX_DIGITS)
                .rev()
                .find(|&l| levels_left(l, w) >= levels)
                .expect("small numbers split deep");
            let even = most >> levels << levels;
            for l in [most, most - 1, even.max(2), even / 2 + 2] {
                for method in methods(levels) {
                    for operation in [Operation::Amm, Operation::Ams] {
                        let observed = observe(|| operation.run(Interval::<P>::default(), method, l, || {}));
                        let what = format!("{}: {} of {l} digits by {method}", P::NAME, operation.name());
                        assert!(observed.findings.is_empty(), "{what}: {}", observed.findings[0]);
                    }
                }
            }
        }
    }
    on_each_machine!(check());
}

/// Numbers in terms: the fewest, and the most.
#[test]
fn no_column_overflows_in_terms() {
    fn check<P: Model>() {
        for l in [FEWEST_TERMS, FEWEST_TERMS + 1, MOST_TERMS].map(|terms| terms * TERM) {
            for operation in [Operation::Amm, Operation::Ams] {
                let observed =
                    observe(|| operation.run(Interval::<P>::default(), Method::KARATSUBA_PRODUCTS, l, || {}));
                let what = format!("{}: {} of {l} digits", P::NAME, operation.name());
                assert!(observed.findings.is_empty(), "{what}: {}", observed.findings[0]);
                let product = if operation == Operation::Amm {
                    "karatsuba_terms_multiply"
                } else {
                    "karatsuba_terms_square"
                };
                for block in [product, "karatsuba_terms_reduce"] {
                    assert_eq!(observed.extents.contains_key(block), P::MAX_TERMS > 0, "{what}");
                }
            }
        }
    }
    on_each_machine!(check());
}

#[test]
fn every_modulus_that_the_library_takes_is_covered() {
    assert_eq!(zariz_analysis::operation::MAX_BITS, zariz::Modulus::MAX_BITS);
}

#[test]
fn levels_are_cut_where_columns_have_no_room() {
    assert_eq!([341, 342, 227, 228, 151, 152].map(|l| levels_left(l, 52)), [1, 0, 2, 1, 3, 2]);
    assert_eq!(Method::KARATSUBA2.fitting(316, 52), Method::KARATSUBA);
    assert_eq!(Method::TRUNCATED_KARATSUBA2.fitting(160, 52), Method::TRUNCATED_KARATSUBA2);
    assert_eq!(Method::KARATSUBA2.fitting(324, 51), Method::KARATSUBA2);
}
