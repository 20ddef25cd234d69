//! Other interpretations of the kernels of zariz.
//!
//! The kernels are generic over [`batch::Machine`](zariz_kernels::batch::Machine), and `batch::Machine` does
//! not say that a digit is a number. So the very code that multiplies on a processor can be run over other
//! things, and tells facts about itself:
//!
//! * [`interval`]: every digit is a range. One run shows, for all data at once, that no column overflows:
//!   what a kernel does never depends on data, so one run takes every path there is.
//! * [`count`]: every digit is nothing, and operations are counted.
//! * [`exact`]: columns are integers that never wrap, and every block is checked against its banner.
//!
//! Other vocabularies have interpretations of their own: [`rsaz`] has bounds and counts for the kernels of
//! that paper, [`pair`] bounds of numbers laid across vectors, [`chains`] bounds of carry chains, and
//! [`carry`] their counts. [`results`] has no kernel: it is about how large numbers become.
//!
//! Each interpretation is of a machine, by its [`Model`]: digit size, biases, signs and tile widths are read
//! from the machine's own type. [`tables`] writes what was found to docs/generated.
#![forbid(unsafe_code)]

pub mod call;
pub mod carry;
pub mod chains;
pub mod count;
pub mod exact;
pub mod interval;
pub mod model;
pub mod operation;
pub mod pair;
pub mod results;
pub mod rsaz;
pub mod tables;

pub use model::Model;

/// The code in the README of the repository, as a test: no published crate can reach that file.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
