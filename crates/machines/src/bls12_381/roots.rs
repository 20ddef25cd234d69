//! The field on the machines of batches, one element in each lane: the compiled roots of each machine.

use crate::batch::Portable;
#[cfg(target_arch = "x86_64")]
use crate::batch::{Avx2Fma, Avx512Fma, Avx512Ifma, AvxIfma};

/// Implements [`zariz_kernels::bls12_381::lanes::Field`] for a machine of batches: for each kernel, a root
/// function with the machine's target features.
///
/// `$features` is the list for `#[target_feature]`, empty for a machine that needs none.
macro_rules! field_roots {
    ($module:ident, $machine:ty, features: $features:tt) => {
        mod $module {
            use super::*;

            mod root {
                #![allow(unused_unsafe)] // a root without target features is safe to call
                use super::*;
                use zariz_kernels::bls12_381::Fe;
                use zariz_kernels::bls12_381::lanes::{self, Field, Element};
                type This = $machine;

                field_roots! { @kernels $features
                    fe_mul mul(a: &mut Element<This>, b: &Element<This>);
                    fe_sqr sqr(a: &mut Element<This>, times: usize);
                    fe_add add(a: &mut Element<This>, b: &Element<This>);
                    fe_sub sub(a: &mut Element<This>, b: &Element<This>);
                    fe_enter enter(out: &mut Element<This>, a: &[Fe]);
                    fe_leave leave(out: &mut [Fe], a: &Element<This>);
                    fe_mul_scalars mul_scalars(out: &mut [Fe], a: &[Fe], b: &[Fe]);
                    fe_sqr_scalars sqr_scalars(out: &mut [Fe], a: &[Fe]);
                }
            }
        }
    };

    (@kernels $features:tt $($root:ident $kernel:ident($($argument:ident: $type:ty),*);)*) => {
        $(field_roots!(@function $features $root $kernel($($argument: $type),*));)*

        impl Field for This {
            $(fn $root(self, $($argument: $type),*) {
                // SAFETY: `self` proves that the processor has the target features of this machine's roots.
                unsafe { $root(self, $($argument),*) }
            })*
        }
    };

    (@function [$($features:literal)?] $root:ident $kernel:ident($($argument:ident: $type:ty),*)) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $root(m: This, $($argument: $type),*) {
            lanes::$kernel::<This>(m, $($argument),*)
        }
    };
}

field_roots!(portable_one, Portable<1>, features: []);
field_roots!(portable_eight, Portable<8>, features: []);
#[cfg(target_arch = "x86_64")]
field_roots!(avx2_fma, Avx2Fma, features: ["avx2,fma"]);
#[cfg(target_arch = "x86_64")]
field_roots!(avx_ifma, AvxIfma, features: ["avx2,avxifma"]);
#[cfg(target_arch = "x86_64")]
field_roots!(avx512_fma, Avx512Fma, features: ["avx512f,avx512dq"]);
#[cfg(target_arch = "x86_64")]
field_roots!(avx512_ifma, Avx512Ifma, features: ["avx512f,avx512dq,avx512ifma"]);
