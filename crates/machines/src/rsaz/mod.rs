//! The machines of RSAZ: one number, four of its digits in a vector.

#[macro_use]
mod entry_points;
mod portable;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub use neon::Neon;
pub use portable::Portable;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;

/// Whether RSAZ is fast on this processor, so that it may be chosen for single numbers: with AVX2, and by
/// LLVM's models on Neoverse N1 and on Apple's cores (docs/notes/arm.md).
#[allow(unreachable_code)] // where one of these returned
pub fn is_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return Avx2::new().is_some();
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    return crate::midr::is_neoverse_n1() || crate::midr::is_apples();
    false
}

/// Whether this is one of Apple's cores.
#[allow(unreachable_code)] // where one of these returned
pub fn is_apples() -> bool {
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    return crate::midr::is_apples();
    false
}
