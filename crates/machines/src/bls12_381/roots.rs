//! The compiled roots of one field: eight digits, a modulus that is a compile-time constant.

/// Implements [`zariz_kernels::bls12_381::lanes::Field`] for the machine in whose module it is called: for
/// each kernel, a root function with the machine's target features.
macro_rules! field_roots {
    ([$($features:literal)?]) => {
        use zariz_kernels::bls12_381::{Fe, lanes::{self, Field, Number}};

        field_roots!(@root [$($features)?] fe_mul mul(a: &mut Number<This>, b: &Number<This>));
        field_roots!(@root [$($features)?] fe_sqr sqr(a: &mut Number<This>, times: usize));
        field_roots!(@root [$($features)?] fe_add add(a: &mut Number<This>, b: &Number<This>));
        field_roots!(@root [$($features)?] fe_sub sub(a: &mut Number<This>, b: &Number<This>));
        field_roots!(@root [$($features)?] fe_enter enter(out: &mut Number<This>, a: &[Fe]));
        field_roots!(@root [$($features)?] fe_leave leave(out: &mut [Fe], a: &Number<This>));
        field_roots!(@root [$($features)?] fe_mul_scalars mul_scalars(out: &mut [Fe], a: &[Fe], b: &[Fe]));
        field_roots!(@root [$($features)?] fe_sqr_scalars sqr_scalars(out: &mut [Fe], a: &[Fe]));

        impl Field for This {
            roots!(@plain fe_mul fe_mul(a: &mut Number<This>, b: &Number<This>));
            roots!(@plain fe_sqr fe_sqr(a: &mut Number<This>, times: usize));
            roots!(@plain fe_add fe_add(a: &mut Number<This>, b: &Number<This>));
            roots!(@plain fe_sub fe_sub(a: &mut Number<This>, b: &Number<This>));
            roots!(@plain fe_enter fe_enter(out: &mut Number<This>, a: &[Fe]));
            roots!(@plain fe_leave fe_leave(out: &mut [Fe], a: &Number<This>));
            roots!(@plain fe_mul_scalars fe_mul_scalars(out: &mut [Fe], a: &[Fe], b: &[Fe]));
            roots!(@plain fe_sqr_scalars fe_sqr_scalars(out: &mut [Fe], a: &[Fe]));
        }
    };

    (@root [$($features:literal)?] $root:ident $kernel:ident($($arg:ident: $type:ty),*)) => {
        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        fn $root(m: This, $($arg: $type),*) {
            lanes::$kernel::<This>(m, $($arg),*)
        }
    };
}
