//! Many numbers at once, one in each lane of the vectors; digit `i` of all of them is one vector.
//!
//! * [`Machine`]: the operations of a vector machine, in arithmetic words.
//! * [`block`]: micro-kernels over these: tiny loops whose accumulators are in registers.
//! * [`Kernels`]: the blocks, compiled for one machine by the crate `machines`.
//! * [`product`], [`interleaved`], [`tiled`], `separated`, [`ahmm`], [`doubling`]: whole products and
//!   reductions, arranged from blocks for any digit count, by any [`Method`]; [`bias`] has the initial values
//!   of their columns, [`tiles`] cuts numbers.
//! * [`Constants`]: the precomputed constants of a modulus. [`Context`]: the arithmetic of a batch.
//!   `arithmetic` chooses how it multiplies.

pub mod ahmm;
mod arithmetic;
pub mod bias;
pub mod block;
mod constants;
pub mod context;
pub mod doubling;
pub mod interleaved;
mod kernels;
mod machine;
mod method;
pub mod product;
mod reducer;
#[cfg(feature = "papers")]
pub mod separated;
pub mod tiled;
pub mod tiles;

pub use constants::Constants;
pub use context::{Context, MAX_DIGITS};
pub use kernels::{Kernels, Number};
pub use machine::{Column, Digit, Machine};
pub use method::{Method, MethodChoice, Reduction};
