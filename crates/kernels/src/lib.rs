//! The algorithms of zariz, written once over an abstract vector machine.
//!
//! A *batch* holds `LANES` independent numbers, word-sliced: digit `i` of every lane stands in one vector. The layers,
//! from the bottom:
//!
//! * [`lanes`]: the vocabulary of a vector machine, its operations in arithmetic words.
//! * [`block`]: micro-kernels over that vocabulary: tiny loops whose accumulators live in registers.
//! * [`machine`]: the compiled micro-kernels of one machine, as the `machines` crate provides them.
//! * [`product`], [`rows`], [`separate`], [`ahmm`]: whole products and reductions, arranged from blocks for any digit count.
//! * [`frame`]: multiplication and squaring in Montgomery's domain, by any [`method`].
//! * [`domain`]: what an exponentiation needs of the arithmetic below it: a [`frame`], or another.
//! * [`across`]: the same for one number or two, laid across vectors.
//! * [`pow`] and [`mul`]: whole operations, numbers in and numbers out.
//! * [`constants`] and [`limbs`]: what is computed once per modulus, in scalar code.
//!
//! Nothing here is `unsafe`, names an instruction set, or branches on, indexes by or addresses with a secret.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod across;
pub mod ahmm;
pub mod block;
pub mod constants;
pub mod domain;
pub mod frame;
pub mod lanes;
pub mod limbs;
pub mod machine;
pub mod method;
pub mod mul;
pub mod place;
pub mod pow;
pub mod product;
pub mod rows;
pub mod separate;
pub mod starts;
pub mod tiles;

pub use constants::Constants;
pub use domain::Domain;
pub use frame::Frame;
pub use lanes::Lanes;
pub use machine::Machine;
pub use method::{Method, Reduction};
