//! The machines of zariz: the only intrinsics and the only assembly of the project.
//!
//! There is a folder for each arithmetic, as in `zariz_kernels`, with a file for each machine: [`batch`],
//! with a number in each lane; [`pair`], [`scalar`], [`rsaz`] and `carry` (with the feature `papers`), for
//! single numbers; `mixed`, with two of those at once; and the field of `bls12_381` (with the feature
//! `bls12-381`).
//!
//! A value of a machine's type is proof that the processor has its instructions: only `new` returns one,
//! after a check (except for `unsafe` tools). So every intrinsic below is sound to call through a method of
//! the value.
//!
//! Operations are `#[inline(always)]` without `target_feature` (stable Rust does not allow both); the
//! instruction set comes from the one entry point per block that `entry_points!` writes for each machine.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[macro_use]
mod assembly;
#[cfg(target_arch = "x86_64")]
mod cpu;
mod cycles;
mod hidden;
pub mod mxcsr;

pub mod batch;
#[cfg(feature = "bls12-381")]
pub mod bls12_381;
#[cfg(feature = "papers")]
pub mod carry;
pub mod memcheck;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod midr;
#[cfg(target_arch = "x86_64")]
pub mod mixed;
pub mod pair;
pub mod registers;
pub mod rsaz;
pub mod scalar;

#[cfg(target_arch = "x86_64")]
pub use cpu::{features, halves_256_bit_vectors, has_avx2, has_avx512dq, has_avx512ifma, has_avxifma};
pub use cycles::CycleCounter;
pub use hidden::{HIDE, HIDEABLE, hidden, is_hidden};

/// None: this crate uses features on x86-64 only.
#[cfg(not(target_arch = "x86_64"))]
pub fn features() -> Vec<(&'static str, bool)> {
    Vec::new()
}

/// Always `false`: this crate uses vectors of 256 bits on x86-64 only.
#[cfg(not(target_arch = "x86_64"))]
pub fn halves_256_bit_vectors() -> bool {
    false
}
