//! Shared by the tests of OpenSSL's interface: safe wrappers of its functions, the provider under test, keys.
#![allow(dead_code, unused_imports)] // Each test program uses a part of this.

pub mod compare;
pub mod counters;
pub mod failure;
pub mod ffi;
pub mod job;
pub mod key;
pub mod keys;
pub mod loops;
pub mod module;
pub mod operation;
pub mod params;
pub mod process;
pub mod random;
pub mod schemes;
pub mod signing;
pub mod soak;
pub mod stream;
pub mod threads;
pub mod world;

pub use compare::{Faults, stricter};
pub use counters::Counters;
pub use failure::Failure;
pub(crate) use failure::call;
pub use key::Key;
pub use module::is_zariz;
pub use operation::{Ctx, Operation};
pub use params::Params;
pub use stream::Stream;
pub use world::{Side, World, alone};
