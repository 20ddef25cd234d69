//! MULX, ADCX and ADOX: two carry chains at once, in assembly.
//!
//! Numbers are cut into blocks of eight limbs. A *row* adds one limb times a block of eight to eight
//! accumulators that stay in registers ([`rows`]); products, squares and reductions are rows by rows, and one
//! code of eight rows serves them all.
//!
//! # Registers
//!
//! Within an operation `rdi` is where the rows' lowest limb goes, `rsi` the block that is multiplied, `rcx`
//! the address of the multipliers; `r8` to `r15` are the accumulators, `rbp` is 0; `rax`, `rbx` and `rdx`
//! belong to the products. Anything else that an operation needs is on its stack.
//!
//! # Hazards
//!
//! * The code follows the System V convention on every operating system (`extern "sysv64"`), restores `rbx`,
//!   `rbp` and `r12` to `r15`, and does not change the direction flag.
//! * Only the macros of [`crate::assembly`] make its frame; they write the unwind tables too.
//! * It uses the stack below its return address only after moving the stack pointer.
//! * Flags do not survive a row; chains longer than a block carry through a register.

mod mul;
mod reduce;
mod rows;
mod sqr;
mod steps;

use zariz_kernels::scalar::Kernels;

pub use steps::Steps;
pub(crate) use steps::{List, Running};
#[cfg(feature = "proof")]
pub use steps::{Lists, lists};

use super::select::select;

/// Limbs in a block.
const BLOCK: usize = 8;

/// The scalar machine of processors with BMI2 and ADX (Intel since 2014, AMD since 2017).
#[derive(Clone, Copy, Debug)]
pub struct Adx(());

impl Adx {
    /// The machine, if this processor has the instructions.
    pub fn new() -> Option<Self> {
        crate::cpu::has_bmi2_adx().then_some(Self(()))
    }

    /// The machine, for tools that run the instructions without announcing them.
    ///
    /// # Safety
    /// The processor, or an emulator in its place, has BMI2 and ADX.
    #[doc(hidden)]
    pub unsafe fn assume() -> Self {
        Self(())
    }
}

impl Kernels for Adx {
    const STEP: usize = BLOCK;

    fn mul(self, t: &mut [u64], a: &[u64], b: &[u64]) {
        let n = a.len();
        assert!(n > 0 && n.is_multiple_of(BLOCK) && t.len() == 2 * n && b.len() == n);
        // SAFETY: `self` proves that the processor has BMI2 and ADX; the lengths are those that the function
        // asks for.
        unsafe { mul::mul(t.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n / BLOCK) }
    }

    fn sqr(self, t: &mut [u64], a: &[u64]) {
        let n = a.len();
        assert!(n > 0 && n.is_multiple_of(BLOCK) && t.len() == 2 * n);
        // SAFETY: as above.
        unsafe { sqr::sqr(t.as_mut_ptr(), a.as_ptr(), n / BLOCK) }
    }

    fn reduce(self, out: &mut [u64], t: &mut [u64], m: &[u64], mu: u64) {
        let n = m.len();
        assert!(n > 0 && n.is_multiple_of(BLOCK) && t.len() == 2 * n && out.len() == n);
        // SAFETY: as above.
        unsafe { reduce::reduce(out.as_mut_ptr(), t.as_mut_ptr(), m.as_ptr(), mu, n / BLOCK) }
    }

    fn select(self, out: &mut [u64], table: &[u64], index: u64) {
        if crate::cpu::has_avx2() {
            // SAFETY: the processor has AVX2.
            unsafe { select_avx2(out, table, index) }
        } else {
            select(out, table, index);
        }
    }
}

/// [`select`], four limbs at a time.
#[target_feature(enable = "avx2")]
#[inline(never)]
fn select_avx2(out: &mut [u64], table: &[u64], index: u64) {
    select(out, table, index);
}
