//! Addition in assembly.

use std::arch::naked_asm;

use super::Fe;
use super::mul::{P, corrected};

/// `a + b mod p`.
///
/// * Precondition: `a, b < p`.
/// * Result: below `p`.
/// * Cost: two chains of six additions, and six conditional moves.
///
/// # Safety
/// `out` must be writable; it may be equal to `a` or `b`.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn add(out: *mut Fe, a: *const Fe, b: *const Fe) {
    naked_asm!(
        begin!(),
        push!("rbx" "rbp" "r12" "r13"),
        "mov r8, [rsi]",
        "mov r9, [rsi + 8]",
        "mov r10, [rsi + 16]",
        "mov r11, [rsi + 24]",
        "mov rax, [rsi + 32]",
        "mov rcx, [rsi + 40]",
        "add r8, [rdx]",
        "adc r9, [rdx + 8]",
        "adc r10, [rdx + 16]",
        "adc r11, [rdx + 24]",
        "adc rax, [rdx + 32]",
        "adc rcx, [rdx + 40]",
        corrected!("r8" "r9" "r10" "r11" "rax" "rcx", "rsi" "rdx" "rbx" "rbp" "r12" "r13"),
        pop!("r13" "r12" "rbp" "rbx"),
        end!(),
        p = sym P,
    )
}
