//! The machines of carry chains: one number across a vector, carries in masks.

#[macro_use]
mod roots;
mod costs;
mod portable;

#[cfg(target_arch = "x86_64")]
mod avx512;

pub use costs::Costs;
pub use portable::Portable;

#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
