//! The base field of BLS12-381 with the instructions of a processor: MULX, ADCX and ADOX for one element at a
//! time, and a vector machine for one in each lane.
//!
//! The parts that need no instructions of their own are in [`zariz_kernels::bls12_381`], with all bounds.

pub use zariz_kernels::bls12_381::*;

mod entry_points;

#[cfg(target_arch = "x86_64")]
mod add;
#[cfg(target_arch = "x86_64")]
mod intrinsics;
#[cfg(target_arch = "x86_64")]
mod mul;
#[cfg(target_arch = "x86_64")]
mod sqr;
#[cfg(target_arch = "x86_64")]
pub use adx::{Adx, Mulx, add_assign, sub_assign};

/// `a ← a + b mod p`. Precondition: `a, b < p`. Result: below `p`.
#[cfg(not(target_arch = "x86_64"))]
pub fn add_assign(a: &mut Fe, b: &Fe) {
    *a = add(a, b);
}

/// `a ← a − b mod p`. Precondition: `a, b < p`. Result: below `p`.
#[cfg(not(target_arch = "x86_64"))]
pub fn sub_assign(a: &mut Fe, b: &Fe) {
    *a = sub(a, b);
}

#[cfg(target_arch = "x86_64")]
mod adx {
    use super::{Fe, LIMBS, add, intrinsics, mul, sqr};
    use std::mem::MaybeUninit;

    /// Proof that the processor has BMI2, and so MULX.
    #[derive(Clone, Copy, Debug)]
    pub struct Mulx(());

    impl Mulx {
        /// The instructions, if the processor has them.
        #[inline]
        pub fn new() -> Option<Self> {
            crate::cpu::has_bmi2().then_some(Self(()))
        }

        /// `a·b/R mod p` by intrinsics, the paper's sixth row. Precondition: `a, b < p`. Result: below `p`.
        #[inline]
        pub fn mul(self, a: &Fe, b: &Fe) -> Fe {
            // SAFETY: `self` proves BMI2.
            unsafe { intrinsics::mul(a, b) }
        }
    }

    /// Proof that the processor has BMI2 and ADX, and so MULX, ADCX and ADOX.
    #[derive(Clone, Copy, Debug)]
    pub struct Adx(());

    impl Adx {
        /// The instructions, if the processor has them.
        #[inline]
        pub fn new() -> Option<Self> {
            crate::cpu::has_bmi2_adx().then_some(Self(()))
        }

        /// The instructions, for tools that run them without announcing them.
        ///
        /// # Safety
        /// The processor, or an emulator in its place, has BMI2 and ADX.
        #[doc(hidden)]
        pub unsafe fn assume() -> Self {
            Self(())
        }

        /// `a·b/R mod p` in assembly, the paper's seventh row. Precondition: `a, b < p`. Result: below `p`.
        #[inline(always)]
        pub fn mul(self, a: &Fe, b: &Fe) -> Fe {
            // SAFETY: `self` proves BMI2 and ADX.
            written(|out| unsafe { mul::mul(out, a, b) })
        }

        /// Like [`mul`](Self::mul), in place: nothing is copied.
        #[inline(always)]
        pub fn mul_assign(self, a: &mut Fe, b: &Fe) {
            let a: *mut Fe = a;
            // SAFETY: `self` proves BMI2 and ADX; the result may overwrite a factor.
            unsafe { mul::mul(a, a, b) }
        }

        /// `a²/R mod p` in assembly. Precondition: `a < p`. Result: below `p`.
        #[inline(always)]
        pub fn sqr(self, a: &Fe) -> Fe {
            // SAFETY: `self` proves BMI2 and ADX.
            written(|out| unsafe { sqr::sqr(out, a) })
        }

        /// Like [`sqr`](Self::sqr), in place: nothing is copied.
        #[inline(always)]
        pub fn sqr_assign(self, a: &mut Fe) {
            let a: *mut Fe = a;
            // SAFETY: `self` proves BMI2 and ADX; the result may overwrite a factor.
            unsafe { sqr::sqr(a, a) }
        }
    }

    /// `a ← a + b mod p` in assembly, the paper's first row. Precondition: `a, b < p`. Result: below `p`.
    #[inline(always)]
    pub fn add_assign(a: &mut Fe, b: &Fe) {
        let a: *mut Fe = a;
        // SAFETY: every x86-64 processor has the instructions; the result may overwrite a summand.
        unsafe { add::add(a, a, b) }
    }

    /// `a ← a − b mod p` in assembly, the paper's second row. Precondition: `a, b < p`. Result: below `p`.
    #[inline(always)]
    pub fn sub_assign(a: &mut Fe, b: &Fe) {
        let a: *mut Fe = a;
        // SAFETY: every x86-64 processor has the instructions; the result may overwrite the minuend.
        unsafe { add::sub(a, a, b) }
    }

    /// The result of a function in assembly that writes it.
    #[inline(always)]
    fn written(write: impl FnOnce(*mut Fe)) -> Fe {
        let mut out = MaybeUninit::<[u64; LIMBS]>::uninit();
        write(out.as_mut_ptr());
        // SAFETY: every function that is called here writes all six limbs of its result.
        unsafe { out.assume_init() }
    }
}
