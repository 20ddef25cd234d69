//! zariz: modular exponentiation and RSA, eight at once, in constant time.
//!
//! * [`Modulus`] raises numbers to powers, one or many at a time; [`pow_many`] mixes moduli.
//! * [`FixedBase`] makes many powers of one base, by a table; [`multi_pow_many`] makes products of several
//!   powers.
//! * [`mul_many`] multiplies and [`invert_many`] inverts, for one modulus ([`Modulus::mul_batch`],
//!   [`Modulus::invert_batch`]) or many.
//! * [`Residues`] keeps numbers in Montgomery form for many products.
#![cfg_attr(
    feature = "rsa",
    doc = "* [`rsa`] loads keys, signs, decrypts, verifies and encrypts, one message or a batch."
)]
#![cfg_attr(feature = "batcher", doc = "* [`batcher`] computes the requests of many callers in batches.")]
#![cfg_attr(
    feature = "primes",
    doc = "* [`primes`] searches for primes, one or many at a time, and tests numbers."
)]
//! * [`Engine`] names a way to do the arithmetic. By default ([`Dispatch::Auto`]), keys and moduli use the
//!   engines that are cheapest for the number of requests in a call; `with_engine` takes another choice.
//! * The environment variable `ZARIZ_HIDE` ([`HIDE`]) hides instructions of the processor from all engines.
//!
//! Features: `rsa` (default) adds RSA, `batcher` (default) batches of the requests of many callers, `primes`
//! (default) the search for primes, `keygen` (default) new RSA keys, `encryption` keys that are encrypted
//! with a password.
//!
//! ```
//! use zariz::Modulus;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let modulus = Modulus::new(&[0xff; 128])?; // odd, big-endian
//! let powers = modulus.pow_batch(&[&[2], &[3]], &[0xa5; 128]);
//! assert_eq!(powers[0], modulus.pow(&[2], &[0xa5; 128]));
//! # Ok(())
//! # }
//! ```
//!
//! Names follow three rules. `with_x` returns the same object with another x. `_batch` is one key or modulus
//! with many items, `_many` has a key or modulus for each item. Functions without `_vartime` in their name
//! take time that depends only on lengths and public keys, not on secret exponents, bases or private keys.
//! Exceptions: searches for primes reveal how many candidates they tried, tests of primality which numbers
//! are composite, and inversions which numbers have no inverse.
//!
//! Errors, and enumerations of engines, algorithms and the like, may get further variants. The structs for
//! requests, such as [`PowJob`], may be built by literal: they get no further field before a new major
//! version.
#![forbid(unsafe_code)]
#![deny(clippy::missing_errors_doc, clippy::missing_panics_doc)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod backend;
#[cfg(feature = "batcher")]
pub mod batcher;
mod cost;
mod counts;
#[cfg(not(feature = "memcheck"))]
mod declassify;
#[cfg(feature = "memcheck")]
#[doc(hidden)]
pub mod declassify;
mod dispatch;
mod engine;
mod fixed_base;
#[cfg(all(test, feature = "primes"))]
mod forks;
mod inverse;
mod jobs;
mod method;
#[cfg(any(feature = "rsa", feature = "primes"))]
mod miller_rabin;
mod modulus;
mod multi_pow;
mod prepared;
#[cfg(feature = "primes")]
pub mod primes;
mod product;
mod residues;
#[cfg(feature = "rsa")]
pub mod rsa;
mod zeroize_stack;

pub use dispatch::Dispatch;
pub use engine::{Engine, EngineError};
pub use fixed_base::{FixedBase, FixedBaseError};
pub use inverse::{InvertJob, invert_many};
pub use modulus::{Modulus, ModulusError, PowJob, pow_many, pow_many_vartime};
pub use multi_pow::{MultiPowError, MultiPowJob, multi_pow_many, multi_pow_many_vartime};
pub use product::{MulJob, mul_many};
pub use residues::{Residues, ResiduesError};
pub use zariz_machines::{HIDE, HIDEABLE, hidden};

// For comparing engines and methods.
#[doc(hidden)]
pub use engine::Layout;
#[doc(hidden)]
pub use method::{Method, UnknownMethod};
#[cfg(feature = "papers")]
#[doc(hidden)]
pub use residues::TableEntry;

/// Runs the example of the readme.
#[cfg(all(doctest, feature = "keygen"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the examples of the guides.
#[cfg(all(doctest, feature = "keygen", feature = "batcher"))]
#[doc = include_str!("../../../docs/rust.md")]
#[doc = include_str!("../../../docs/moving.md")]
struct Guides;
