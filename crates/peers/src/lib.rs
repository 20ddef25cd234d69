//! GMP and OpenSSL, to measure zariz against: loaded at run time where they are installed, never linked.
//!
//! [`Gmp`] and [`OpenSsl`] compute what the papers compare with: one modular multiplication or squaring, and
//! one constant-time exponentiation. Numbers are big-endian bytes. A library that is missing, broken or too
//! old is [`NotFound`], with the reason; every result can be read back and checked.
//!
//! [`Provider`] is a module for OpenSSL 3 that is loaded, with its parameters.
//!
//! A library that was loaded stays until the process ends: OpenSSL cannot be unloaded safely.
//!
//! `unsafe` is used here for calls of C functions, with the types that `gmp.h` and OpenSSL's headers
//! declare.

mod error;
mod gmp;
mod library;
mod openssl;
mod provider;

pub use error::{Error, NotFound};
pub use gmp::{Gmp, GmpPower, GmpProduct};
pub use openssl::{OpenSsl, OpenSslPower, OpenSslPowerPair, OpenSslProduct};
pub use provider::{ParamValue, Provider, ProviderError, Section};
