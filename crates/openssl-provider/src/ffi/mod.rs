//! The interface between OpenSSL and a provider: types, function numbers, parameters, and functions of
//! libcrypto.

pub mod core;
pub mod functions;
pub mod libcrypto;
pub mod params;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a function that OpenSSL calls. On a panic, returns `panicked`: a panic must not unwind into C.
pub fn guard<R>(panicked: R, function: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(function)).unwrap_or(panicked)
}
