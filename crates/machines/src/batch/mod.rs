//! The machines of batches: a number in each lane.

#[macro_use]
mod roots;
mod portable;

#[cfg(target_arch = "x86_64")]
#[macro_use]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2_fma;
#[cfg(target_arch = "x86_64")]
mod avx2_row;
#[cfg(target_arch = "x86_64")]
mod avx_ifma;
#[cfg(target_arch = "x86_64")]
#[macro_use]
pub(crate) mod avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512_fma;
#[cfg(target_arch = "x86_64")]
mod avx512_ifma;

pub use portable::Portable;

#[cfg(target_arch = "x86_64")]
pub use {avx_ifma::AvxIfma, avx2_fma::Avx2Fma, avx512_fma::Avx512Fma, avx512_ifma::Avx512Ifma};
