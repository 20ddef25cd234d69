//! GMP, OpenSSL and crypto_mb, to measure zariz against: loaded at run time, never linked.
//!
//! [`Gmp`] and [`OpenSsl`] compute what the papers compare with: one modular multiplication or squaring, and
//! one constant-time exponentiation. Numbers are big-endian bytes. A library that is missing, broken or too
//! old is [`NotFound`], with the reason; every result can be read back and checked.
//!
//! [`CryptoMb`] does what zariz does, for eight numbers at once: RSA's primitives, and powers. It is loaded
//! from the file that the user names.
//!
//! [`Provider`] is a module for OpenSSL 3 that is loaded, with its parameters.
//!
//! A library that was loaded stays until the process ends: OpenSSL cannot be unloaded safely.
//!
//! `unsafe` is used here for calls of C functions, with the types that `gmp.h` and the headers of OpenSSL
//! and crypto_mb declare.

mod crypto_mb;
mod error;
mod gmp;
mod library;
mod limbs;
mod openssl;
mod provider;

pub use crypto_mb::{CrtKey, CryptoMb, CryptoMbPowers, CryptoMbPrivate, CryptoMbPublic, PowerJob};
pub use error::{Error, NotFound};
pub use gmp::{Gmp, GmpPower, GmpProduct};
pub use openssl::{OpenSsl, OpenSslPower, OpenSslPowerPair, OpenSslProduct};
pub use provider::{ParamValue, Programs, Provider, ProviderError, Section};
