//! The vector machines of zariz: one file per instruction set, the only intrinsics of the project.
//!
//! A value of a machine's type is proof that the processor has its instructions: it can be had from `new` alone, which
//! looks. So every intrinsic below is sound to call through a method of the value.
//!
//! Operations are `#[inline(always)]` without `target_feature` (stable Rust does not allow both); the instruction set
//! comes from the one root per block that `roots!` writes for each machine.

#[macro_use]
mod roots;
#[macro_use]
mod across;
mod across_portable;
mod cycles;
mod portable;

#[cfg(target_arch = "x86_64")]
#[macro_use]
mod across_avx512;
#[cfg(target_arch = "x86_64")]
mod across_fma;
#[cfg(target_arch = "x86_64")]
mod across_ifma;
#[cfg(target_arch = "x86_64")]
mod avx2_fma;
#[cfg(target_arch = "x86_64")]
#[macro_use]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_fma;
#[cfg(target_arch = "x86_64")]
mod avx512_ifma;

pub use cycles::CycleCounter;
pub use portable::Portable;

#[cfg(target_arch = "x86_64")]
pub use {avx2_fma::Avx2Fma, avx512_fma::Avx512Fma, avx512_ifma::Avx512Ifma};
