//! Products.

use core::arch::naked_asm;

use super::rows::{accumulators, enter, leave, rows, zero_blocks};

/// `t ← a·b`, for `a` and `b` of `8k` limbs, `t` of `16k`. Cost: `64k²` products.
///
/// Eight limbs of `b` at a time, times all blocks of `a`: the accumulators that the rows of a block leave go
/// on into the next block.
///
/// # Safety
/// The processor has BMI2 and ADX; `a` and `b` are valid for `8k` limbs, `t` for `16k`, `k > 0`, and `t`
/// overlaps neither `a` nor `b`.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul(t: *mut u64, a: *const u64, b: *const u64, k: usize) {
    // The stack: a, k, t[8j], the rest of j, the rest of i.
    naked_asm!(
        enter!("40"),
        "mov [rsp], rsi",
        "mov [rsp + 8], rcx",
        "mov [rsp + 16], rdi",
        "mov [rsp + 24], rcx",
        "mov rax, rcx",
        "mov rcx, rdx",
        zero_blocks!(),
        "3:",
        "mov rdi, [rsp + 16]",
        "mov rsi, [rsp]",
        "mov rax, [rsp + 8]",
        "mov [rsp + 32], rax",
        accumulators!(clear),
        "4:",
        "call {rows}",
        "add rdi, 64",
        "add rsi, 64",
        "dec qword ptr [rsp + 32]",
        "jnz 4b",
        accumulators!(store),
        "add rcx, 64",
        "add qword ptr [rsp + 16], 64",
        "dec qword ptr [rsp + 24]",
        "jnz 3b",
        leave!("40"),
        rows = sym rows,
    )
}
