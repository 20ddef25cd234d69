//! Squares.

use core::arch::naked_asm;

use super::rows::{accumulators, enter, leave, rows, zero_blocks};

/// A row of the triangle above the diagonal: `[rsi + at]` multiplies only the limbs above it in its block. As
/// in [`super::rows`], the lowest limb goes to memory (`[rsp + …]`, behind the operation's own words), and
/// the accumulator that becomes free takes the highest. `products` are offsets in the block, and the
/// accumulators of the low and the high half.
macro_rules! triangle_row {
    ($at:literal, $to:literal, $h0:literal, products: $(($offset:literal $low:literal $high:literal))*, last: $top:literal) => {
        concat!(
            "mov rdx, [rsi + ", $at, "]\n",
            "xor eax, eax\n",
            "mov [rsp + ", $to, "], ", $h0, "\n",
            $("mulx rbx, rax, [rsi + ", $offset, "]\n adcx ", $low, ", rax\n adox ", $high, ", rbx\n",)*
            "mulx ", $h0, ", rax, [rsi + 56]\n adcx ", $top, ", rax\n",
            "adox ", $h0, ", rbp\n adcx ", $h0, ", rbp\n",
        )
    };
}

/// A limb of a block's triangle, added to one of `t`. Keeps the chain of the carry flag going.
macro_rules! merge {
    ($at:literal, $from:literal) => {
        concat!("mov rax, [rsp + ", $from, "]\n adcx rax, [rdi + ", $at, "]\n mov [rdi + ", $at, "], rax\n")
    };
}

/// One limb of `a`, squared and added to two doubled limbs of `t`. Keeps both chains going.
macro_rules! diagonal {
    ($at:literal, $low:literal, $high:literal) => {
        concat!(
            "mov rdx, [rsi + ",
            $at,
            "]\n mulx rbx, rax, rdx\n",
            "mov r8, [rdi + ",
            $low,
            "]\n adcx r8, r8\n adox r8, rax\n mov [rdi + ",
            $low,
            "], r8\n",
            "mov r9, [rdi + ",
            $high,
            "]\n adcx r9, r9\n adox r9, rbx\n mov [rdi + ",
            $high,
            "], r9\n",
        )
    };
}

/// `t ← a²`, for `a` of `8k` limbs, `t` of `16k`. Cost: `4k(8k + 1)` products.
///
/// The products above the diagonal, each block's triangle and then its rows by the blocks above it; at the
/// end they are doubled and the squares on the diagonal added.
///
/// # Safety
/// The processor has BMI2 and ADX; `a` is valid for `8k` limbs, `t` for `16k`, `k > 0`, and `t` does not
/// overlap `a`.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn sqr(t: *mut u64, a: *const u64, k: usize) {
    // The stack: a[8j], t[16j], the rest of j, the rest of i; a, t and k; the low limbs of a triangle.
    naked_asm!(
        enter!("120"),
        "mov [rsp], rsi",
        "mov [rsp + 8], rdi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 32], rsi",
        "mov [rsp + 40], rdi",
        "mov [rsp + 48], rdx",
        "mov rax, rdx",
        zero_blocks!(),
        "3:",
        "mov rsi, [rsp]",
        "mov rcx, rsi",
        "mov rdi, [rsp + 8]",
        accumulators!(clear),
        triangle_row!("0", "56", "r8", products: ("8" "r9" "r10") ("16" "r10" "r11") ("24" "r11" "r12")
            ("32" "r12" "r13") ("40" "r13" "r14") ("48" "r14" "r15"), last: "r15"),
        triangle_row!("8", "64", "r9", products: ("16" "r11" "r12") ("24" "r12" "r13") ("32" "r13" "r14")
            ("40" "r14" "r15") ("48" "r15" "r8"), last: "r8"),
        triangle_row!("16", "72", "r10", products: ("24" "r13" "r14") ("32" "r14" "r15") ("40" "r15" "r8")
            ("48" "r8" "r9"), last: "r9"),
        triangle_row!("24", "80", "r11", products: ("32" "r15" "r8") ("40" "r8" "r9") ("48" "r9" "r10"), last: "r10"),
        triangle_row!("32", "88", "r12", products: ("40" "r9" "r10") ("48" "r10" "r11"), last: "r11"),
        triangle_row!("40", "96", "r13", products: ("48" "r11" "r12"), last: "r12"),
        triangle_row!("48", "104", "r14", products: , last: "r13"),
        // The block's last limb has nothing above it.
        "mov [rsp + 112], r15",
        "xor r15d, r15d", // clears both flags
        merge!("0", "56"),
        merge!("8", "64"),
        merge!("16", "72"),
        merge!("24", "80"),
        merge!("32", "88"),
        merge!("40", "96"),
        merge!("48", "104"),
        merge!("56", "112"),
        "adcx r8, rbp\n adcx r9, rbp\n adcx r10, rbp\n adcx r11, rbp",
        "adcx r12, rbp\n adcx r13, rbp\n adcx r14, rbp",
        "mov rax, [rsp + 16]",
        "mov [rsp + 24], rax",
        "jmp 5f",
        "4:",
        "call {rows}",
        "5:",
        "add rdi, 64",
        "add rsi, 64",
        "dec qword ptr [rsp + 24]",
        "jnz 4b",
        accumulators!(store),
        "add qword ptr [rsp], 64",
        "add qword ptr [rsp + 8], 128",
        "dec qword ptr [rsp + 16]",
        "jnz 3b",
        "mov rsi, [rsp + 32]",
        "mov rdi, [rsp + 40]",
        "mov rcx, [rsp + 48]",
        "xor eax, eax",
        "6:",
        diagonal!("0", "0", "8"),
        diagonal!("8", "16", "24"),
        diagonal!("16", "32", "40"),
        diagonal!("24", "48", "56"),
        diagonal!("32", "64", "72"),
        diagonal!("40", "80", "88"),
        diagonal!("48", "96", "104"),
        diagonal!("56", "112", "120"),
        // These keep the flags.
        "lea rsi, [rsi + 64]",
        "lea rdi, [rdi + 128]",
        "lea rcx, [rcx - 1]",
        "jrcxz 7f",
        "jmp 6b",
        "7:",
        // The triangle's limbs are secret.
        "mov [rsp + 56], rbp\n mov [rsp + 64], rbp\n mov [rsp + 72], rbp\n mov [rsp + 80], rbp",
        "mov [rsp + 88], rbp\n mov [rsp + 96], rbp\n mov [rsp + 104], rbp\n mov [rsp + 112], rbp",
        leave!("120"),
        rows = sym rows,
    )
}
