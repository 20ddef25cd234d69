//! zariz behind the C interface of Intel's crypto_mb: its functions for RSA and modular exponentiation. A
//! program that is written for crypto_mb uses zariz if this library is linked or loaded instead
//! (docs/crypto-mb.md). The headers are in `include`.
//!
//! A call has eight *lanes*. For each argument it gets an array of eight pointers, one for each lane, and it
//! returns a status for each lane, in four bits. A lane with a null pointer, or with numbers that do not form
//! a key, fails on its own; its output is not touched.
//!
//! Each call brings its keys as numbers. They are checked and prepared once, and then kept in a cache,
//! because preparing takes longer than the operation. Every private operation is zariz's own: blinded, and
//! checked with the public exponent.

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
