//! Products.

use core::arch::naked_asm;

use super::rows::{
    accumulators, eight, enter, first_row, leave, load_block, other_blocks, products, rows, zero_blocks,
};

/// `t ← a·b`, for `a` and `b` of `8k` limbs, `t` of `16k`. Cost: `64k²` products.
///
/// Eight limbs of `b` at a time, times all blocks of `a`: the accumulators that the rows of a block leave go
/// on into the next block.
///
/// # Safety
/// `a` and `b` are valid for `8k` limbs, `t` for `16k`, `k > 0`, and `t` overlaps neither `a` nor `b`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mul(t: *mut u64, a: *const u64, b: *const u64, k: usize) {
    // The stack: a, k, t[8j], the rest of j.
    naked_asm!(
        enter!(),
        "stp x1, x3, [sp]",
        "stp x0, x3, [sp, 16]",
        "mov x4, x3",
        "mov x5, x0",
        zero_blocks!(),
        "3:",
        "ldp x1, x3, [sp]",
        accumulators!(load),
        load_block!(),
        eight!(first_row),
        other_blocks!(),
        accumulators!(store),
        "ldp x0, x3, [sp, 16]",
        "add x2, x2, 64",
        "add x0, x0, 64",
        "sub x3, x3, 1",
        "stp x0, x3, [sp, 16]",
        "cbnz x3, 3b",
        leave!(),
        rows = sym rows,
    )
}
