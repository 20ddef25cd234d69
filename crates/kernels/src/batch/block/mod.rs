//! Micro-kernels. Each is `#[inline(always)]` and generic, so that it takes on the instruction set of the one
//! `#[target_feature]` root in `machines` that calls it.
//!
//! How they must be written to compile to registers and nothing else (see docs/notes/code-generation.md):
//!
//! * accumulators are a local array indexed by constants only; rows roll, columns are unrolled, by `each!`
//!   and not by a loop that the compiler may decide to keep;
//! * the shift of the window by one column is made by writing the sum for column `j` to accumulator `j − 1`,
//!   never by moving the array;
//! * digits of the tile are read from memory again in every row, where the first-level cache serves them for
//!   free. Left alone, the compiler reads them once, finds too few registers and spills them: `reread` stops
//!   it.

pub(crate) mod beside;
mod karatsuba;
mod lookup;
mod mac;
mod normalize;
mod prepared;
mod reduce;
mod select;
mod short;
mod split;
mod square;
#[cfg(feature = "papers")]
mod sum;
mod terms;
mod transpose;
#[cfg(feature = "papers")]
mod triangle;
mod whole;

pub use karatsuba::{Part, difference, karatsuba};
pub use lookup::{EIGHT, FEWEST_TURNED, LOOKUP_WINDOWS, lookup, turn};
pub use mac::{add_words, mac_rows, scale, splat};
pub use normalize::{add_digits, normalize, quotients, reduce_once};
pub use prepared::{PREPARED_TERM, prepared_modulus};
pub use reduce::{plain_rows, reduce_rows, rows_at_a_time};
pub use select::{WINDOWS, select_shared, select_tile};
pub use short::TERM;
pub use split::{SPLIT_COLUMNS, SPLIT_DIGITS, SPLIT_SPARE, split_powers};
pub use square::{square, square_onto};
#[cfg(feature = "papers")]
pub use sum::{normalize_sum, settle};
pub use terms::{
    FEWEST_TERMS, MOST_TERMS, TERMS_SPARE, has_terms, terms_multiply, terms_of, terms_reduce, terms_square,
};
pub use transpose::{MAX_LANES, gather, scatter};
#[cfg(feature = "papers")]
pub use triangle::{high_triangle, low_triangle};
pub use whole::{SHORTEST_WHOLE, WIDEST, fours, multiply, squarings};
