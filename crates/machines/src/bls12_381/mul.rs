//! Montgomery multiplication in assembly: MULX, and two chains of carries by ADCX and ADOX.

use std::arch::naked_asm;

use super::{FRIENDLY, Fe, MODULUS, MU};

pub(super) static P: Fe = MODULUS;
pub(super) static F: Fe = FRIENDLY;

/// A product, its low half added in the chain of the carry flag and its high half in that of the overflow
/// flag.
macro_rules! step {
    ($factor:literal, $low:literal, $high:literal) => {
        concat!("mulx rbx, rax, ", $factor, "\n adcx ", $low, ", rax\n adox ", $high, ", rbx\n")
    };
}

/// `t += a·b[i]`, for `t` of seven registers, the lowest first. (Ending the chain by `adc t6, 0`, an
/// instruction less, is 4 % slower: measured.)
///
/// * Precondition: `t + a·b[i] < 2^448`; rsi points to `a` and rcx to `b`.
/// * Spoils: rax, rbx, rdx, flags.
macro_rules! product_row {
    ($i:literal, $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal $t6:literal) => {
        concat!(
            concat!("mov rdx, [rcx + 8*", $i, "]\n"),
            "xor eax, eax\n", // both flags are clear
            step!("[rsi]", $t0, $t1),
            step!("[rsi + 8]", $t1, $t2),
            step!("[rsi + 16]", $t2, $t3),
            step!("[rsi + 24]", $t3, $t4),
            step!("[rsi + 32]", $t4, $t5),
            step!("[rsi + 40]", $t5, $t6),
            concat!("mov eax, 0\n adcx ", $t6, ", rax\n"),
        )
    };
}

/// `t ← (t + t0·p')/2^64`, the friendly row: `t0` becomes the highest register, and `t1` the lowest.
///
/// * Precondition: `t < 2^448`. Result: below `2^448`.
/// * Spoils: rax, rbx, rdx, flags.
macro_rules! friendly_row {
    ($t0:literal $t0d:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal $t6:literal) => {
        concat!(
            concat!("mov rdx, ", $t0, "\n"),
            concat!("xor ", $t0d, ", ", $t0d, "\n"), // and both flags are clear
            step!("[rip + {f}]", $t1, $t2),
            step!("[rip + {f} + 8]", $t2, $t3),
            step!("[rip + {f} + 16]", $t3, $t4),
            step!("[rip + {f} + 24]", $t4, $t5),
            step!("[rip + {f} + 32]", $t5, $t6),
            step!("[rip + {f} + 40]", $t6, $t0),
            concat!("mov eax, 0\n adcx ", $t0, ", rax\n"),
        )
    };
}

/// `t ← (t + q·p)/2^64` with `q = μ·t0 mod 2^64`, Montgomery's row: the result is in `t1` to `t6`.
///
/// * Precondition: `t + q·p < 2^448`.
/// * Spoils: rax, rbx, rdx, `t0`, flags.
macro_rules! plain_row {
    ($t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal $t6:literal) => {
        concat!(
            concat!("mov rdx, {mu}\n imul rdx, ", $t0, "\n"),
            "xor eax, eax\n",
            step!("[rip + {p}]", $t0, $t1),
            step!("[rip + {p} + 8]", $t1, $t2),
            step!("[rip + {p} + 16]", $t2, $t3),
            step!("[rip + {p} + 24]", $t3, $t4),
            step!("[rip + {p} + 32]", $t4, $t5),
            step!("[rip + {p} + 40]", $t5, $t6),
            concat!("mov eax, 0\n adcx ", $t6, ", rax\n"),
        )
    };
}

/// Writes `t`, or `t − p` if that is not negative, to where rdi points: six moves under the borrow.
///
/// * Precondition: `t < 2p`.
/// * Spoils: the six registers `s`, flags.
macro_rules! corrected {
    ($t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal,
     $s0:literal $s1:literal $s2:literal $s3:literal $s4:literal $s5:literal) => {
        concat!(
            concat!("mov ", $s0, ", ", $t0, "\n sub ", $t0, ", [rip + {p}]\n"),
            concat!("mov ", $s1, ", ", $t1, "\n sbb ", $t1, ", [rip + {p} + 8]\n"),
            concat!("mov ", $s2, ", ", $t2, "\n sbb ", $t2, ", [rip + {p} + 16]\n"),
            concat!("mov ", $s3, ", ", $t3, "\n sbb ", $t3, ", [rip + {p} + 24]\n"),
            concat!("mov ", $s4, ", ", $t4, "\n sbb ", $t4, ", [rip + {p} + 32]\n"),
            concat!("mov ", $s5, ", ", $t5, "\n sbb ", $t5, ", [rip + {p} + 40]\n"),
            concat!("cmovc ", $t0, ", ", $s0, "\n mov [rdi], ", $t0, "\n"),
            concat!("cmovc ", $t1, ", ", $s1, "\n mov [rdi + 8], ", $t1, "\n"),
            concat!("cmovc ", $t2, ", ", $s2, "\n mov [rdi + 16], ", $t2, "\n"),
            concat!("cmovc ", $t3, ", ", $s3, "\n mov [rdi + 24], ", $t3, "\n"),
            concat!("cmovc ", $t4, ", ", $s4, "\n mov [rdi + 32], ", $t4, "\n"),
            concat!("cmovc ", $t5, ", ", $s5, "\n mov [rdi + 40], ", $t5, "\n"),
        )
    };
}

pub(super) use {corrected, friendly_row, plain_row, step};

/// `a·b/R mod p`.
///
/// * Precondition: `a, b < p`.
/// * Result: below `p`.
/// * Cost: 72 MULX, and one IMUL for the last quotient. Seven registers hold the sum; the rows rename them,
///   so that nothing is moved.
/// * Source: the paper, "Montgomery Multiplication in Assembly"; the friendly multiple is ours (see
///   [`zariz_kernels::bls12_381`]).
///
/// # Safety
/// The processor must have BMI2 and ADX. `out` must be writable; it may be one of the others.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul(out: *mut Fe, a: *const Fe, b: *const Fe) {
    naked_asm!(
        begin!(),
        push!("rbx" "rbp" "r12" "r13"),
        "mov rcx, rdx",
        // The first row has nothing to add to, and so one chain.
        "mov rdx, [rcx]",
        "mulx r9, r8, [rsi]",
        "mulx r10, rax, [rsi + 8]",
        "add r9, rax",
        "mulx r11, rax, [rsi + 16]",
        "adc r10, rax",
        "mulx r12, rax, [rsi + 24]",
        "adc r11, rax",
        "mulx r13, rax, [rsi + 32]",
        "adc r12, rax",
        "mulx rbp, rax, [rsi + 40]",
        "adc r13, rax",
        "adc rbp, 0",
        friendly_row!("r8" "r8d" "r9" "r10" "r11" "r12" "r13" "rbp"),
        product_row!("1", "r9" "r10" "r11" "r12" "r13" "rbp" "r8"),
        friendly_row!("r9" "r9d" "r10" "r11" "r12" "r13" "rbp" "r8"),
        product_row!("2", "r10" "r11" "r12" "r13" "rbp" "r8" "r9"),
        friendly_row!("r10" "r10d" "r11" "r12" "r13" "rbp" "r8" "r9"),
        product_row!("3", "r11" "r12" "r13" "rbp" "r8" "r9" "r10"),
        friendly_row!("r11" "r11d" "r12" "r13" "rbp" "r8" "r9" "r10"),
        product_row!("4", "r12" "r13" "rbp" "r8" "r9" "r10" "r11"),
        friendly_row!("r12" "r12d" "r13" "rbp" "r8" "r9" "r10" "r11"),
        product_row!("5", "r13" "rbp" "r8" "r9" "r10" "r11" "r12"),
        plain_row!("r13" "rbp" "r8" "r9" "r10" "r11" "r12"),
        corrected!("rbp" "r8" "r9" "r10" "r11" "r12", "rax" "rbx" "rcx" "rdx" "rsi" "r13"),
        pop!("r13" "r12" "rbp" "rbx"),
        end!(),
        p = sym P,
        f = sym F,
        mu = const MU,
    )
}
