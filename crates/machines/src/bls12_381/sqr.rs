//! Montgomery squaring in assembly: MULX, and two chains of carries by ADCX and ADOX.

use std::arch::naked_asm;

use super::mul::{F, P, corrected, friendly_row, plain_row, step};
use super::{Fe, MU};

/// `a²/R mod p`.
///
/// * Precondition: `a < p`.
/// * Result: below `p`: the low half of the square is reduced by itself, to less than `(μ/2^64 + 1)·p`, and
///   the high half added to that.
/// * Cost: 57 MULX, and one IMUL for the last quotient.
///
/// # Safety
/// The processor must have BMI2 and ADX. `out` must be writable; it may be `a`.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn sqr(out: *mut Fe, a: *const Fe) {
    naked_asm!(
        begin!(),
        push!("rbx" "rbp" "r12" "r13" "r14" "r15" "rdi"),
        reserve!("48"),
        // t0 to t11: rcx r8 r9 r10 r11 r12, r13 r14 r15 rbp rdi rsi; rsi points to a until its last limb is
        // read. a0 · (a1 … a5)
        "mov rdx, [rsi]",
        "mulx r9, r8, [rsi + 8]",
        "mulx r10, rax, [rsi + 16]",
        "add r9, rax",
        "mulx r11, rax, [rsi + 24]",
        "adc r10, rax",
        "mulx r12, rax, [rsi + 32]",
        "adc r11, rax",
        "mulx r13, rax, [rsi + 40]",
        "adc r12, rax",
        "adc r13, 0",
        // a1 · (a2 … a5)
        "mov rdx, [rsi + 8]",
        "xor r14d, r14d",
        step!("[rsi + 16]", "r10", "r11"),
        step!("[rsi + 24]", "r11", "r12"),
        step!("[rsi + 32]", "r12", "r13"),
        step!("[rsi + 40]", "r13", "r14"),
        "mov eax, 0",
        "adcx r14, rax",
        // a2 · (a3 … a5)
        "mov rdx, [rsi + 16]",
        "xor r15d, r15d",
        step!("[rsi + 24]", "r12", "r13"),
        step!("[rsi + 32]", "r13", "r14"),
        step!("[rsi + 40]", "r14", "r15"),
        "mov eax, 0",
        "adcx r15, rax",
        // a3 · (a4, a5)
        "mov rdx, [rsi + 24]",
        "xor ebp, ebp",
        step!("[rsi + 32]", "r14", "r15"),
        step!("[rsi + 40]", "r15", "rbp"),
        "mov eax, 0",
        "adcx rbp, rax",
        // a4 · a5
        "mov rdx, [rsi + 32]",
        "mulx rdi, rax, [rsi + 40]",
        "add rbp, rax",
        "adc rdi, 0",
        // Doubled in one chain, the squares of limbs added in the other.
        "mov rdx, [rsi]",
        "xor eax, eax",
        "mulx rbx, rcx, rdx",
        "adox r8, r8",
        "adcx r8, rbx",
        "mov rdx, [rsi + 8]",
        "mulx rbx, rax, rdx",
        "adox r9, r9",
        "adcx r9, rax",
        "adox r10, r10",
        "adcx r10, rbx",
        "mov rdx, [rsi + 16]",
        "mulx rbx, rax, rdx",
        "adox r11, r11",
        "adcx r11, rax",
        "adox r12, r12",
        "adcx r12, rbx",
        "mov rdx, [rsi + 24]",
        "mulx rbx, rax, rdx",
        "adox r13, r13",
        "adcx r13, rax",
        "adox r14, r14",
        "adcx r14, rbx",
        "mov rdx, [rsi + 32]",
        "mulx rbx, rax, rdx",
        "adox r15, r15",
        "adcx r15, rax",
        "adox rbp, rbp",
        "adcx rbp, rbx",
        "mov rdx, [rsi + 40]",
        "mov esi, 0",
        "mulx rbx, rax, rdx",
        "adox rdi, rdi",
        "adcx rdi, rax",
        "adox rsi, rsi",
        "adcx rsi, rbx",
        // The high half waits on the stack.
        "mov [rsp], r13",
        "mov [rsp + 8], r14",
        "mov [rsp + 16], r15",
        "mov [rsp + 24], rbp",
        "mov [rsp + 32], rdi",
        "mov [rsp + 40], rsi",
        "xor r13d, r13d",
        friendly_row!("rcx" "ecx" "r8" "r9" "r10" "r11" "r12" "r13"),
        friendly_row!("r8" "r8d" "r9" "r10" "r11" "r12" "r13" "rcx"),
        friendly_row!("r9" "r9d" "r10" "r11" "r12" "r13" "rcx" "r8"),
        friendly_row!("r10" "r10d" "r11" "r12" "r13" "rcx" "r8" "r9"),
        friendly_row!("r11" "r11d" "r12" "r13" "rcx" "r8" "r9" "r10"),
        plain_row!("r12" "r13" "rcx" "r8" "r9" "r10" "r11"),
        "add r13, [rsp]",
        "adc rcx, [rsp + 8]",
        "adc r8, [rsp + 16]",
        "adc r9, [rsp + 24]",
        "adc r10, [rsp + 32]",
        "adc r11, [rsp + 40]",
        // It is secret.
        "mov qword ptr [rsp], 0\n mov qword ptr [rsp + 8], 0\n mov qword ptr [rsp + 16], 0",
        "mov qword ptr [rsp + 24], 0\n mov qword ptr [rsp + 32], 0\n mov qword ptr [rsp + 40], 0",
        release!("48"),
        pop!("rdi"),
        corrected!("r13" "rcx" "r8" "r9" "r10" "r11", "rax" "rbx" "rdx" "rsi" "r12" "r14"),
        pop!("r15" "r14" "r13" "r12" "rbp" "rbx"),
        end!(),
        p = sym P,
        f = sym F,
        mu = const MU,
    )
}
