//! zariz: modular exponentiation and RSA, eight at once, in constant time.
//!
//! * [`Modulus`] raises numbers to powers, one or many at a time; [`pow_many`] mixes moduli.
//! * [`rsa`] loads keys, signs, decrypts, verifies and encrypts, one message or a batch.
//! * [`Residues`] keeps numbers in Montgomery's domain for many products; [`Method`] names the ways of multiplying and reducing.
//! * [`Engine`] names a way to do the arithmetic. By default ([`Dispatch::Auto`]), keys and moduli use the engines that
//!   are cheapest for the number of requests in a call; `_with` constructors take another choice.
//!
//! ```
//! use zariz::rsa::{Algorithm, PrivateKey};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let key = PrivateKey::generate(2048)?;
//! let messages: [&[u8]; 2] = [b"first", b"second"];
//! for (message, signature) in messages.iter().zip(key.sign_batch(Algorithm::RS256, &messages)) {
//!     key.public_key().verify(Algorithm::RS256, message, &signature?)?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Functions without `_vartime` in their name take time that depends on lengths alone, never on the values of bases,
//! exponents or private keys.
#![forbid(unsafe_code)]

mod backend;
mod cost;
mod dispatch;
mod engine;
mod jobs;
mod method;
mod modulus;
mod prepared;
mod residues;
#[cfg(feature = "rsa")]
pub mod rsa;

pub use dispatch::Dispatch;
pub use engine::{Engine, EngineError, Layout};
pub use method::{Method, UnknownMethod};
pub use modulus::{Modulus, ModulusError, PowJob, pow_many, pow_many_vartime};
#[cfg(feature = "papers")]
pub use residues::TableEntry;
pub use residues::{Residues, ResiduesError};
