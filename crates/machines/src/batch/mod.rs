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
use zariz_kernels::batch::{Kernels, Method};

pub use portable::Portable;

#[cfg(target_arch = "x86_64")]
pub use {avx_ifma::AvxIfma, avx2_fma::Avx2Fma, avx512_fma::Avx512Fma, avx512_ifma::Avx512Ifma};

/// A machine that this processor may have.
pub trait Find: Kernels {
    /// The name of its engine.
    const NAME: &'static str;

    /// The machine, if the processor (and the operating system) has it.
    fn find() -> Option<Self>;
}

/// Calls a macro with the list of machines: `for_each_machine!((callback) first)` is
/// `callback! { first …rows… }`. A row has the module of the machine's entry points, the name of its engine's
/// variant, its type, the engine's name, and its target features.
#[macro_export]
macro_rules! for_each_machine {
    (($($callback:tt)+) $($first:tt)*) => {
        $($callback)+! {
            $($first)*
            portable_one Portable: $crate::batch::Portable<1>, "portable", [];
            #[cfg(target_arch = "x86_64")]
            avx2_fma Avx2Fma: $crate::batch::Avx2Fma, "avx2-fma", ["avx2,fma"];
            #[cfg(target_arch = "x86_64")]
            avx_ifma AvxIfma: $crate::batch::AvxIfma, "avx-ifma", ["avx2,avxifma"];
            #[cfg(target_arch = "x86_64")]
            avx512_fma Avx512Fma: $crate::batch::Avx512Fma, "avx512-fma", ["avx512f,avx512dq"];
            #[cfg(target_arch = "x86_64")]
            avx512_ifma Avx512Ifma: $crate::batch::Avx512Ifma, "avx512-ifma", ["avx512f,avx512dq,avx512ifma"];
        }
    };
}

/// Calls a generic function for every machine, which need not be there: `on_each_machine!(f(a))` is
/// `f::<Portable<1>>(a); f::<Avx2Fma>(a); …`.
#[macro_export]
macro_rules! on_each_machine {
    ($function:ident $arguments:tt) => {
        $crate::for_each_machine! { ($crate::on_each_machine) @rows $function $arguments }
    };
    (@rows $function:ident $arguments:tt $(
        $(#[$cfg:meta])? $module:ident $engine:ident: $machine:ty, $name:literal, $features:tt;
    )*) => {$(
        $(#[$cfg])?
        $function::<$machine> $arguments;
    )*};
}

macro_rules! find {
    ($($(#[$cfg:meta])? $module:ident $engine:ident: $machine:ty, $name:literal, $features:tt;)*) => {
        /// The names of all machines.
        pub const NAMES: &[&str] = &[$($(#[$cfg])? $name),*];

        $(
            $(#[$cfg])?
            impl Find for $machine {
                const NAME: &'static str = $name;

                #[inline]
                fn find() -> Option<Self> {
                    Self::new().into()
                }
            }
        )*
    };
}
for_each_machine!((find));

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
