//! The algorithms of zariz, each written once over an abstract machine.
//!
//! Each of these folders is an arithmetic. In each except `scalar`, `Machine` is the operations of a machine
//! (its vectors, in arithmetic words). `Kernels` is the compiled kernels of one machine (the crate `machines`
//! provides them), `Constants` the precomputed constants of a modulus, and `Context` its implementation of
//! [`Montgomery`]: the arithmetic on numbers in Montgomery form, with its working memory.
//!
//! * [`batch`]: many numbers, one in each lane of the vectors.
//! * [`pair`]: one or two numbers, laid across vectors.
//! * [`scalar`]: one number, in limbs of 64 bits.
//! * [`rsaz`]: one number, four of its digits in a vector.
//! * [`mixed`]: two numbers, one as by `rsaz` and one as by `scalar`, at the same time.
//! * `carry`: one number, its digits across a vector, by carry chains in masks (with the feature `papers`).
//! * `bls12_381`: a field in which the modulus is known, one number at a time and one in each lane (with the
//!   feature `bls12-381`).
//!
//! What they share:
//!
//! * [`Montgomery`]: what an exponentiation needs of an arithmetic.
//! * [`pow`], [`multi_pow`], [`fixed_base`], [`mul`] and [`invert`]: whole operations over any
//!   [`Montgomery`], numbers in and numbers out.
//! * [`bounds`]: how large numbers in Montgomery form can be.
//! * [`OddModulus`]: a modulus; Montgomery's method needs an odd one.
//! * [`limbs`]: big integers in scalar code, for work done once per modulus and at the ends of a batch.
//! * [`place`]: memory for numbers, placed in pages and wiped.
//!
//! Nothing here is `unsafe`, names an instruction set, or branches on, indexes by or addresses with a secret.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

#[macro_use]
mod unroll;

pub mod batch;
#[cfg(feature = "bls12-381")]
pub mod bls12_381;
pub mod bounds;
#[cfg(feature = "papers")]
pub mod carry;
pub mod fixed_base;
pub mod invert;
pub mod limbs;
pub mod mixed;
mod modulus;
mod montgomery;
pub mod mul;
pub mod multi_pow;
pub mod pair;
pub mod place;
pub mod pow;
pub mod rsaz;
pub mod scalar;
pub mod sieve;
pub mod wheel;

pub use modulus::OddModulus;
pub use montgomery::{Costs, Layout, Montgomery};
