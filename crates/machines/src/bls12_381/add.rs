//! Addition and subtraction in assembly.

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

/// `a − b mod p`.
///
/// * Precondition: `a, b < p`.
/// * Result: below `p`.
/// * Cost: two chains of six additions, and six conditional moves, which choose the addend 0 or `p`.
///
/// # Safety
/// `out` must be writable; it may be one of the others.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn sub(out: *mut Fe, a: *const Fe, b: *const Fe) {
    naked_asm!(
        begin!(),
        push!("rbx" "rbp" "r12" "r13"),
        "mov r8, [rsi]",
        "mov r9, [rsi + 8]",
        "mov r10, [rsi + 16]",
        "mov r11, [rsi + 24]",
        "mov rax, [rsi + 32]",
        "mov rcx, [rsi + 40]",
        "mov rbx, [rip + {p}]",
        "mov rsi, [rip + {p} + 8]",
        "mov rbp, [rip + {p} + 16]",
        "mov r12, [rip + {p} + 24]",
        "mov r13, [rip + {p} + 32]",
        "sub r8, [rdx]",
        "sbb r9, [rdx + 8]",
        "sbb r10, [rdx + 16]",
        "sbb r11, [rdx + 24]",
        "sbb rax, [rdx + 32]",
        "sbb rcx, [rdx + 40]",
        // No borrow: nothing is added. A move keeps the flags.
        "mov edx, 0",
        "cmovnc rbx, rdx",
        "cmovnc rsi, rdx",
        "cmovnc rbp, rdx",
        "cmovnc r12, rdx",
        "cmovnc r13, rdx",
        "cmovc rdx, [rip + {p} + 40]",
        "add r8, rbx",
        "mov [rdi], r8",
        "adc r9, rsi",
        "mov [rdi + 8], r9",
        "adc r10, rbp",
        "mov [rdi + 16], r10",
        "adc r11, r12",
        "mov [rdi + 24], r11",
        "adc rax, r13",
        "mov [rdi + 32], rax",
        "adc rcx, rdx",
        "mov [rdi + 40], rcx",
        pop!("r13" "r12" "rbp" "rbx"),
        end!(),
        p = sym P,
    )
}
