//! `libzariz`: zariz for C, and for every language that calls C. `include/zariz.h` is generated from this
//! crate.
//!
//! Every function that can fail returns a status, and leaves a message for its thread ([`zariz_last_error`]).
//! No panic leaves a function. Handles begin with a tag, so a handle of another kind is an error.

// The header says once what every function asks of its caller.
#![allow(clippy::missing_safety_doc)]

mod algorithm;
mod async_requests;
mod batcher;
mod completions;
mod failure;
mod handle;
mod jobs;
mod keys;
mod memory;
mod numbers;
mod operations;

use std::ffi::{CString, c_char};
use std::sync::OnceLock;

pub use algorithm::*;
pub use async_requests::*;
pub use batcher::*;
pub use completions::*;
pub use failure::*;
pub use keys::*;
pub use memory::*;
pub use numbers::*;
pub use operations::*;

/// The version of this header.
pub const ZARIZ_VERSION_MAJOR: u32 = 0;
/// The version of this header.
pub const ZARIZ_VERSION_MINOR: u32 = 1;

/// Returns the version of the library, such as "0.1.0". A program runs with it if it was compiled with a
/// header of the same major version, and before 1.0 also of the same minor version.
#[unsafe(no_mangle)]
pub extern "C" fn zariz_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the name of the engine that computes full batches on this processor, such as "avx512-ifma".
#[unsafe(no_mangle)]
pub extern "C" fn zariz_engine() -> *const c_char {
    static NAME: OnceLock<CString> = OnceLock::new();
    NAME.get_or_init(|| CString::new(zariz::Dispatch::Auto.main().name()).unwrap_or_default()).as_ptr()
}

/// Returns how many numbers that engine computes at once: 8, 4 or 1. Batches are fastest if their size is a
/// multiple of it.
#[unsafe(no_mangle)]
pub extern "C" fn zariz_lanes() -> usize {
    zariz::Dispatch::Auto.main().lanes()
}

/// Returns how many private results of this process failed the check with the public exponent. Each was
/// computed again, or withheld. If it is not 0, the processor or memory is faulty or attacked, or a key is
/// wrong.
#[unsafe(no_mangle)]
pub extern "C" fn zariz_check_failures() -> u64 {
    zariz::rsa::check_failures()
}
