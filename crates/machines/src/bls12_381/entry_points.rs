//! The field on the machines of batches, one element in each lane: the compiled entry points of each machine.

/// Implements [`zariz_kernels::bls12_381::lanes::Field`] for a machine of batches: for each kernel, an entry
/// point with the machine's target features.
///
/// `$features` is the list for `#[target_feature]`, empty for a machine that needs none.
macro_rules! field_entry_points {
    ($module:ident, $machine:ty, features: $features:tt) => {
        mod $module {
            mod entry_points {
                #![allow(unused_unsafe)] // an entry point without target features is safe to call
                use zariz_kernels::bls12_381::Fe;
                use zariz_kernels::bls12_381::lanes::{self, Field, Element};
                type This = $machine;

                field_entry_points! { @kernels $features
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

    (@kernels $features:tt $($entry_point:ident $kernel:ident($($argument:ident: $type:ty),*);)*) => {
        $(field_entry_points!(@function $features $entry_point $kernel($($argument: $type),*));)*

        impl Field for This {
            $(fn $entry_point(self, $($argument: $type),*) {
                // SAFETY: `self` proves that the processor has the target features of this machine's entry
                // points.
                unsafe { $entry_point(self, $($argument),*) }
            })*
        }
    };

    (@function [$($features:literal)?] $entry_point:ident $kernel:ident($($argument:ident: $type:ty),*)) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $entry_point(m: This, $($argument: $type),*) {
            lanes::$kernel::<This>(m, $($argument),*)
        }
    };
}

macro_rules! on_machines {
    ($($(#[$cfg:meta])? $module:ident $engine:ident: $machine:ty, $name:literal, $features:tt;)*) => {$(
        $(#[$cfg])?
        field_entry_points!($module, $machine, features: $features);
    )*};
}
crate::for_each_machine!((on_machines));
field_entry_points!(portable_eight, crate::batch::Portable<8>, features: []);
