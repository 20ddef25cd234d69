//! MUL and UMULH, with chains of ADCS, in assembly: 64-bit Arm.
//!
//! Numbers are cut into blocks of eight limbs, and products, squares and reductions are rows by rows, as in
//! the machine for ADX. A block that is multiplied stays in registers for its eight rows. There is one carry
//! flag, so the high halves of a row are one chain, and then the low halves are another; products keep the
//! flags.
//!
//! # Registers
//!
//! Within an operation `x0` is where the rows' lowest limb goes, `x1` the address of the block that is
//! multiplied, `x2` that of the multipliers; `x4` to `x11` are the block, `x12` to `x17`, `x19` and `x20` the
//! accumulators; `x21` to `x28` belong to the products. `x3` counts blocks. Anything else that an operation
//! needs is on its stack.
//!
//! # Hazards
//!
//! * The code follows the procedure call standard (AAPCS64), restores `x19` to `x28` and `x30`, and leaves
//!   alone `x18`, which some operating systems keep, and `x29`, the frame pointer.
//! * Only `enter!` and `leave!` make its frame; they write the unwind tables too. The stack pointer stays a
//!   multiple of 16.
//! * Counting (SUB, CBNZ) keeps the flags. Flags do not survive a row; chains longer than a block carry
//!   through a register, but for the last subtraction of a reduction.
//! * C is a borrow's opposite: SBCS subtracts one more where it is clear.

mod mul;
mod reduce;
mod rows;
mod sqr;

use zariz_kernels::scalar::Kernels;

use super::portable::Portable;
use super::select::select;

/// Limbs in a block.
const BLOCK: usize = 8;

/// The scalar machine of 64-bit Arm processors: all have its instructions.
#[derive(Clone, Copy, Debug, Default)]
pub struct A64(());

impl A64 {
    /// The machine; every 64-bit Arm processor has it.
    pub fn new() -> Self {
        Self(())
    }
}

/// Numbers that are no whole blocks are not padded, since products by zeros cost most on processors whose
/// multiplier is slow: those are computed without assembly.
impl Kernels for A64 {
    const STEP: usize = 1;

    fn mul(self, t: &mut [u64], a: &[u64], b: &[u64]) {
        let n = a.len();
        if !n.is_multiple_of(BLOCK) {
            return Portable::new().mul(t, a, b);
        }
        assert!(n > 0 && t.len() == 2 * n && b.len() == n);
        // SAFETY: the lengths are what the function asks for.
        unsafe { mul::mul(t.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n / BLOCK) }
    }

    fn sqr(self, t: &mut [u64], a: &[u64]) {
        let n = a.len();
        if !n.is_multiple_of(BLOCK) {
            return Portable::new().sqr(t, a);
        }
        assert!(n > 0 && t.len() == 2 * n);
        // SAFETY: as above.
        unsafe { sqr::sqr(t.as_mut_ptr(), a.as_ptr(), n / BLOCK) }
    }

    fn reduce(self, out: &mut [u64], t: &mut [u64], m: &[u64], mu: u64) {
        let n = m.len();
        if !n.is_multiple_of(BLOCK) {
            return Portable::new().reduce(out, t, m, mu);
        }
        assert!(n > 0 && t.len() == 2 * n && out.len() == n);
        // SAFETY: as above.
        unsafe { reduce::reduce(out.as_mut_ptr(), t.as_mut_ptr(), m.as_ptr(), mu, n / BLOCK) }
    }

    fn select(self, out: &mut [u64], table: &[u64], index: u64) {
        select(out, table, index);
    }
}
