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
#[cfg(target_arch = "x86_64")]
pub use adx::Adx;
