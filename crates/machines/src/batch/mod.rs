//! The machines of batches: a number in each lane.

#[macro_use]
mod entry_points;
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
#[cfg(target_arch = "x86_64")]
mod avx512_row;

#[cfg(target_arch = "x86_64")]
use zariz_kernels::batch::Machine;
use zariz_kernels::batch::Method;

pub use portable::Portable;

#[cfg(target_arch = "x86_64")]
pub use {avx_ifma::AvxIfma, avx2_fma::Avx2Fma, avx512_fma::Avx512Fma, avx512_ifma::Avx512Ifma};

/// How many digits of `digit_bits` bits numbers have on this processor's machines: at least `needed`, as the
/// caller's method or the fastest one asks. All machines with such digits have the same count, since they
/// share the precomputed constants of a modulus.
pub fn digits(method: Option<Method>, needed: usize, digit_bits: u32) -> usize {
    #[cfg(target_arch = "x86_64")]
    if digit_bits == Avx512Ifma::DIGIT_BITS
        && let Some(machine) = Avx512Ifma::new()
    {
        return Method::digits_on(machine, method, needed);
    }
    let _ = digit_bits; // elsewhere
    method.map_or(needed, |method| method.digits(needed))
}
