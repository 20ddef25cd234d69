//! Micro-kernels. Each is `#[inline(always)]` and generic, so that it takes on the instruction set of the one
//! `#[target_feature]` root in `machines` that calls it.
//!
//! How they must be written to compile to registers and nothing else (see docs/notes/code-generation.md): accumulators
//! are a local array indexed by constants only; rows roll, columns are unrolled; the shift of the window by one column
//! is made by writing the sum for column `j` to accumulator `j − 1`, never by moving the array; digits of the tile are
//! re-read from memory, where the first-level cache serves them for free.

mod mac;
mod normalize;
mod reduce;
mod select;
mod transpose;
mod triangle;

pub use mac::{mac_rows, splat};
pub use normalize::{add, normalize};
pub use reduce::reduce_rows;
pub use select::select_tile;
pub use transpose::{MAX_LANES, gather, scatter};
pub use triangle::{square_finish, triangle};
