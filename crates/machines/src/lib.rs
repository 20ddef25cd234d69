//! The machines of zariz: the only intrinsics and the only assembly of the project.
//!
//! Vector machines with a number in each lane ([`Portable`] and what needs AVX), and machines for numbers that come alone:
//! in limbs (`scalar`), across vectors (`across`), in a redundant radix (`rsaz`), by carry chains (`carry`); and the field of
//! [`bls12_381`].
//!
//! A value of a machine's type is proof that the processor has its instructions: it can be had from `new` alone, which
//! looks (but for tools that say `unsafe`). So every intrinsic below is sound to call through a method of the value.
//!
//! Operations are `#[inline(always)]` without `target_feature` (stable Rust does not allow both); the instruction set
//! comes from the one root per block that `roots!` writes for each machine.

#[cfg(target_arch = "x86_64")]
#[macro_use]
mod assembly;
#[macro_use]
mod roots;
#[macro_use]
mod across;
mod across_portable;
#[macro_use]
pub mod bls12_381;
#[macro_use]
mod carry_roots;
mod carry_costs;
mod carry_portable;
mod cycles;
mod portable;
mod rsaz;
mod scalar;

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
#[cfg(target_arch = "x86_64")]
mod carry_avx512;
#[cfg(target_arch = "x86_64")]
mod mxcsr;

pub use carry_costs::CarryCosts;
pub use carry_portable::CarryPortable;
pub use cycles::CycleCounter;
pub use portable::Portable;
pub use rsaz::RsazPortable;
pub use scalar::ScalarPortable;

#[cfg(target_arch = "x86_64")]
pub use {
    avx2_fma::Avx2Fma, avx512_fma::Avx512Fma, avx512_ifma::Avx512Ifma, carry_avx512::CarryAvx512, rsaz::RsazAvx2,
    scalar::ScalarAdx,
};
