//! Micro-kernels. Each is `#[inline(always)]` and generic. It is compiled into an entry point of `machines`,
//! for the instruction set in its `#[target_feature]`.
//!
//! Accumulators must stay in registers. So blocks are written like this (see docs/notes/code-generation.md):
//!
//! * accumulators are a local array indexed by constants only; rows roll, columns are unrolled, by `each!`
//!   and not by a loop that the compiler may decide to keep;
//! * the shift of the window by one column is made by writing the sum for column `j` to accumulator `j − 1`,
//!   never by moving the array;
//! * digits of the tile are loaded again in every row, from the first-level cache, which costs nothing.
//!   Without `reload`, the compiler would load them once, find too few registers and spill them.

mod amm_registers;
pub(crate) mod beside;
mod karatsuba;
mod karatsuba_terms;
mod karatsuba_two_terms;
mod lookup;
mod mac;
mod normalize;
mod reduce;
mod select;
mod square;
mod term;
mod transpose;
#[cfg(feature = "papers")]
mod triangle;

pub use amm_registers::{FEWEST_IN_REGISTERS, WIDEST, amm_registers, ams_registers, fours};
pub use karatsuba::{Part, difference, karatsuba};
pub use karatsuba_terms::{
    FEWEST_TERMS, MOST_TERMS, TERMS_SCRATCH, has_terms, karatsuba_terms_multiply, karatsuba_terms_reduce,
    karatsuba_terms_square, terms_of,
};
pub use karatsuba_two_terms::{TWO_TERMS_COLUMNS, TWO_TERMS_DIGITS, TWO_TERMS_SCRATCH, karatsuba_two_terms};
pub use lookup::{EIGHT, FEWEST_TURNED, LOOKUP_WINDOWS, lookup, turn};
pub use mac::{add_words, mac_rows, scale, splat};
pub use normalize::{add_digits, normalize, quotients, reduce_once};
#[cfg(feature = "papers")]
pub use normalize::{normalize_sum, settle};
pub use reduce::{plain_rows, reduce_rows, rows_at_a_time};
pub use select::{WINDOWS, select_shared, select_tile};
pub use square::{square, square_onto};
pub use term::{PREPARED_TERM, TERM, prepared_modulus};
pub use transpose::{MAX_LANES, gather, scatter};
#[cfg(feature = "papers")]
pub use triangle::{high_triangle, low_triangle};
