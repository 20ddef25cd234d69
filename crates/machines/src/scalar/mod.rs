//! The scalar machines: numbers one at a time.

mod portable;
mod select;

#[cfg(target_arch = "aarch64")]
mod a64;
#[cfg(target_arch = "x86_64")]
mod adx;

pub use portable::Portable;

#[cfg(target_arch = "aarch64")]
pub use a64::A64;
/// The machine that every processor of this architecture can run.
#[cfg(target_arch = "aarch64")]
pub use a64::A64 as Baseline;
#[cfg(target_arch = "x86_64")]
pub use adx::{Adx, Steps};
#[cfg(target_arch = "x86_64")]
pub(crate) use adx::{List, Running};
#[cfg(all(target_arch = "x86_64", feature = "proof"))]
pub use adx::{Lists, lists};
/// The machine that every processor of this architecture can run.
#[cfg(not(target_arch = "aarch64"))]
pub use portable::Portable as Baseline;
