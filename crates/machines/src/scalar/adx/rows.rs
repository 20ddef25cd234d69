//! Rows: one limb times a block of eight, added to eight accumulators.

use core::arch::naked_asm;

/// One row: `t[at] ← low limb of S`, `accumulators ← ⌊S/2^64⌋`, with `S = accumulators + t[at] + block·rdx`.
///
/// `S < 2^512 + 2^64 − 1 + (2^512 − 1)(2^64 − 1) ≤ 2^576 − 1`: nothing is carried out of nine limbs. The
/// chain of the carry flag takes the products' low halves, that of the overflow flag `t[at]` and the high
/// halves. The accumulator that becomes free takes the highest limb: the next row names them one further.
///
/// Precondition: `rdx` is the multiplier, `rbp` is 0, the carry flag is clear, and `t[at]` is added to the
/// lowest accumulator, with its carry in the overflow flag. Cost: 8 products, 18 additions with carry, that
/// of `t[at]` included (two a cycle: 9 cycles).
macro_rules! products {
    ($at:literal, $h0:literal $h1:literal $h2:literal $h3:literal $h4:literal $h5:literal $h6:literal $h7:literal) => {
        concat!(
            "mulx rbx, rax, [rsi]\n adcx ",
            $h0,
            ", rax\n adox ",
            $h1,
            ", rbx\n",
            "mulx rbx, rax, [rsi + 8]\n adcx ",
            $h1,
            ", rax\n adox ",
            $h2,
            ", rbx\n",
            "mulx rbx, rax, [rsi + 16]\n adcx ",
            $h2,
            ", rax\n adox ",
            $h3,
            ", rbx\n",
            "mulx rbx, rax, [rsi + 24]\n adcx ",
            $h3,
            ", rax\n adox ",
            $h4,
            ", rbx\n",
            "mulx rbx, rax, [rsi + 32]\n adcx ",
            $h4,
            ", rax\n adox ",
            $h5,
            ", rbx\n",
            "mulx rbx, rax, [rsi + 40]\n adcx ",
            $h5,
            ", rax\n adox ",
            $h6,
            ", rbx\n",
            "mulx rbx, rax, [rsi + 48]\n adcx ",
            $h6,
            ", rax\n adox ",
            $h7,
            ", rbx\n",
            "mov [rdi + ",
            $at,
            "], ",
            $h0,
            "\n",
            "mulx ",
            $h0,
            ", rax, [rsi + 56]\n adcx ",
            $h7,
            ", rax\n",
            "adox ",
            $h0,
            ", rbp\n adcx ",
            $h0,
            ", rbp\n",
        )
    };
}
pub(super) use products;

/// Eight rows: a macro for each, with its offset and its accumulators in order.
macro_rules! eight {
    ($row:ident) => {
        concat!(
            $row!("0", "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
            $row!("8", "r9" "r10" "r11" "r12" "r13" "r14" "r15" "r8"),
            $row!("16", "r10" "r11" "r12" "r13" "r14" "r15" "r8" "r9"),
            $row!("24", "r11" "r12" "r13" "r14" "r15" "r8" "r9" "r10"),
            $row!("32", "r12" "r13" "r14" "r15" "r8" "r9" "r10" "r11"),
            $row!("40", "r13" "r14" "r15" "r8" "r9" "r10" "r11" "r12"),
            $row!("48", "r14" "r15" "r8" "r9" "r10" "r11" "r12" "r13"),
            $row!("56", "r15" "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        )
    };
}
pub(super) use eight;

macro_rules! row {
    ($at:literal, $h0:literal $($h:literal)*) => {
        concat!(
            "mov rdx, [rcx + ", $at, "]\n",
            "xor eax, eax\n", // clears both flags
            "adox ", $h0, ", [rdi + ", $at, "]\n",
            products!($at, $h0 $($h)*),
        )
    };
}

/// Saves what an operation must restore, and makes room for `$bytes` bytes.
macro_rules! enter {
    ($bytes:literal) => {
        concat!(
            begin!(),
            push!("rbx" "rbp" "r12" "r13" "r14" "r15"),
            reserve!($bytes),
            "xor ebp, ebp\n",
        )
    };
}
pub(super) use enter;

/// Undoes [`enter`], and returns.
macro_rules! leave {
    ($bytes:literal) => {
        concat!(release!($bytes), pop!("r15" "r14" "r13" "r12" "rbp" "rbx"), end!())
    };
}
pub(super) use leave;

/// The accumulators, from the lowest limb: with an instruction in front, and a place of memory behind.
macro_rules! accumulators {
    (clear) => {
        "xor r8d, r8d\n xor r9d, r9d\n xor r10d, r10d\n xor r11d, r11d\n\
         xor r12d, r12d\n xor r13d, r13d\n xor r14d, r14d\n xor r15d, r15d\n"
    };
    (store) => {
        "mov [rdi], r8\n mov [rdi + 8], r9\n mov [rdi + 16], r10\n mov [rdi + 24], r11\n\
         mov [rdi + 32], r12\n mov [rdi + 40], r13\n mov [rdi + 48], r14\n mov [rdi + 56], r15\n"
    };
    (add) => {
        "adc r8, [rdi]\n adc r9, [rdi + 8]\n adc r10, [rdi + 16]\n adc r11, [rdi + 24]\n\
         adc r12, [rdi + 32]\n adc r13, [rdi + 40]\n adc r14, [rdi + 48]\n adc r15, [rdi + 56]\n"
    };
}
pub(super) use accumulators;

/// Writes zeros to the `rax` blocks at `rdi`, above 0, and moves `rdi` behind them.
macro_rules! zero_blocks {
    () => {
        "2:\n mov [rdi], rbp\n mov [rdi + 8], rbp\n mov [rdi + 16], rbp\n mov [rdi + 24], rbp\n\
         mov [rdi + 32], rbp\n mov [rdi + 40], rbp\n mov [rdi + 48], rbp\n mov [rdi + 56], rbp\n\
         add rdi, 64\n dec rax\n jnz 2b\n"
    };
}
pub(super) use zero_blocks;

/// Eight rows: `t[0..8] ←` the low limbs of `accumulators + t[0..8] + block·multipliers`, `accumulators ←`
/// its high limbs.
///
/// A part of the operations, not a function: its registers are those of [`super`].
///
/// # Safety
/// Only the operations may call it, with `rdi`, `rsi` and `rcx` each at eight limbs.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn rows() {
    naked_asm!(begin!(), eight!(row), end!())
}
