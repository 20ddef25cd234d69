//! zariz behind the C interface of Intel's crypto_mb: its functions for RSA and modular exponentiation. A
//! program that calls crypto_mb calls zariz after a change of the library that it is linked with
//! (docs/crypto-mb.md). The headers are in `include`.
//!
//! A call has eight *lanes*. For each argument it gets an array of eight pointers, one for each lane, and it
//! returns a status for each lane, in four bits. Lanes with null pointers, or with numbers that fit no key,
//! fail on their own; their outputs are not touched.
//!
//! The interface hands over a key's numbers with each call. They are checked and prepared once, and found
//! again in a cache: preparing takes longer than the operation. So every private operation is zariz's own,
//! blinded and checked with the public exponent.

mod bignum;
mod cache;
mod exp;
mod info;
mod lanes;
mod rsa;

pub use exp::*;
pub use info::*;
pub use rsa::*;

/// Declared by OpenSSL; only its pointers matter here.
pub use bignum::Bignum;
/// An array of pointers that are read, and of pointers that are written: one for each lane.
pub use lanes::{Input, LANES, Output};
