//! The machines of RSAZ: one number, four of its digits in a vector.

#[macro_use]
mod entry_points;
mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;

#[cfg(target_arch = "aarch64")]
pub use neon::Neon;
pub use portable::Portable;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;

/// Whether RSAZ is fast on this processor, so that it may be chosen for single numbers.
pub fn is_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return Avx2::new().is_some();
    #[cfg(target_arch = "aarch64")]
    return crate::midr::vectors_multiply_faster();
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return false;
}
