//! The machines of RSAZ: one number, four of its digits in a vector.

#[macro_use]
mod entry_points;
mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;

pub use portable::Portable;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
