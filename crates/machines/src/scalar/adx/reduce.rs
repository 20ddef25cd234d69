//! Montgomery's reduction.

use core::arch::naked_asm;

use super::rows::{accumulators, eight, enter, leave, products, rows};

/// A row whose multiplier makes its own lowest limb 0: `q = S·μ mod 2^64`, written in that limb's place.
/// `rcx` is `μ`.
macro_rules! quotient_row {
    ($at:literal, $h0:literal $($h:literal)*) => {
        concat!(
            "xor eax, eax\n",
            "adox ", $h0, ", [rdi + ", $at, "]\n",
            "mov rdx, ", $h0, "\n",
            "mulx rax, rdx, rcx\n",
            products!($at, $h0 $($h)*),
            "mov [rdi + ", $at, "], rdx\n",
        )
    };
}

/// `out ← (t + q·m)/R`, less `m` if that reaches `R = 2^{512k}`; `out` and `m` of `8k` limbs, `t` of `16k`,
/// overwritten; `mu = −m^{−1} mod 2^64`. Bound: see [`zariz_kernels::scalar::Kernels::reduce`]. Cost:
/// `64k² + 8k` products.
///
/// Eight quotients at a time, found in the rows of the lowest block of `m`, then rows of those by the other
/// blocks.
///
/// # Safety
/// The processor has BMI2 and ADX; `out` and `m` are valid for `8k` limbs, `t` for `16k`, `k > 0`, and `t`
/// overlaps neither of the others.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn reduce(out: *mut u64, t: *mut u64, m: *const u64, mu: u64, k: usize) {
    // The stack: out, m, μ, k, t[8j], the rest of j, the rest of i, the carry.
    naked_asm!(
        enter!("64"),
        "mov [rsp], rdi",
        "mov [rsp + 8], rdx",
        "mov [rsp + 16], rcx",
        "mov [rsp + 24], r8",
        "mov [rsp + 32], rsi",
        "mov [rsp + 40], r8",
        "mov [rsp + 56], rbp",
        "3:",
        "mov rdi, [rsp + 32]",
        "mov rsi, [rsp + 8]",
        "mov rcx, [rsp + 16]",
        accumulators!(clear),
        eight!(quotient_row),
        "mov rcx, rdi",
        "mov rax, [rsp + 24]",
        "mov [rsp + 48], rax",
        "jmp 5f",
        "4:",
        "call {rows}",
        "5:",
        "add rdi, 64",
        "add rsi, 64",
        "dec qword ptr [rsp + 48]",
        "jnz 4b",
        // The carry of the eight limbs before these.
        "mov rax, [rsp + 56]",
        "neg rax",
        accumulators!(add),
        accumulators!(store),
        "setc al",
        "movzx eax, al",
        "mov [rsp + 56], rax",
        "add qword ptr [rsp + 32], 64",
        "dec qword ptr [rsp + 40]",
        "jnz 3b",
        // out ← t[8k..] − m, masked; rax: all ones, or 0.
        "neg rax",
        "mov rsi, [rsp + 8]",
        "mov rdi, [rsp + 32]",
        "mov rdx, [rsp]",
        "mov rcx, [rsp + 24]",
        "xor ebx, ebx", // all ones after a borrow
        "6:",
        "mov r8, [rsi]\n and r8, rax\n mov r9, [rsi + 8]\n and r9, rax",
        "mov r10, [rsi + 16]\n and r10, rax\n mov r11, [rsi + 24]\n and r11, rax",
        "mov r12, [rsi + 32]\n and r12, rax\n mov r13, [rsi + 40]\n and r13, rax",
        "mov r14, [rsi + 48]\n and r14, rax\n mov r15, [rsi + 56]\n and r15, rax",
        "add rbx, rbx",
        "mov rbx, [rdi]\n sbb rbx, r8\n mov [rdx], rbx",
        "mov rbx, [rdi + 8]\n sbb rbx, r9\n mov [rdx + 8], rbx",
        "mov rbx, [rdi + 16]\n sbb rbx, r10\n mov [rdx + 16], rbx",
        "mov rbx, [rdi + 24]\n sbb rbx, r11\n mov [rdx + 24], rbx",
        "mov rbx, [rdi + 32]\n sbb rbx, r12\n mov [rdx + 32], rbx",
        "mov rbx, [rdi + 40]\n sbb rbx, r13\n mov [rdx + 40], rbx",
        "mov rbx, [rdi + 48]\n sbb rbx, r14\n mov [rdx + 48], rbx",
        "mov rbx, [rdi + 56]\n sbb rbx, r15\n mov [rdx + 56], rbx",
        "sbb rbx, rbx",
        "add rsi, 64",
        "add rdi, 64",
        "add rdx, 64",
        "dec rcx",
        "jnz 6b",
        // μ and the carry depend on the modulus.
        "mov [rsp + 16], rbp",
        "mov [rsp + 56], rbp",
        leave!("64"),
        rows = sym rows,
    )
}
