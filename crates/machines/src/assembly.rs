//! The frames of functions in assembly, with the unwind tables that debuggers, profilers and crash handlers
//! use.
//!
//! The compiler writes no unwind tables for naked functions. So they have directives of their own (CFI).
//! These say where the caller's frame is after each instruction that moves the stack pointer, and where the
//! caller's registers are saved. The macros below are the only place that moves it; `cargo xtask codegen`
//! follows the stack pointer through every function and compares.
//!
//! A function is `begin!()`, its code, `end!()`. On x86-64, it pops registers in the opposite order of its
//! pushes. On Arm, the frame is made at once (`scalar/a64/rows.rs`).

/// A directive for unwind tables. Windows has tables of another kind; its assembler gets no directives.
#[cfg(not(windows))]
macro_rules! cfi {
    ($($part:literal)*) => {
        concat!(".cfi_", $($part,)* "\n")
    };
}

/// Nothing.
#[cfg(windows)]
macro_rules! cfi {
    ($($part:literal)*) => {
        ""
    };
}

/// Begins a function.
macro_rules! begin {
    () => {
        cfi!("startproc")
    };
}

/// Returns to the caller, and ends the function.
macro_rules! end {
    () => {
        concat!("ret\n", cfi!("endproc"))
    };
}

/// Saves registers on the stack, in order.
#[cfg(target_arch = "x86_64")]
macro_rules! push {
    ($($register:literal)*) => {
        concat!($("push ", $register, "\n", cfi!("adjust_cfa_offset 8"), cfi!("rel_offset " $register ", 0"),)*)
    };
}

/// Restores registers, in order: that of [`push`] backwards.
#[cfg(target_arch = "x86_64")]
macro_rules! pop {
    ($($register:literal)*) => {
        concat!($("pop ", $register, "\n", cfi!("adjust_cfa_offset -8"), cfi!("restore " $register),)*)
    };
}

/// Makes room for `$bytes` bytes on the stack.
#[cfg(target_arch = "x86_64")]
macro_rules! reserve {
    ($bytes:literal) => {
        concat!("sub rsp, ", $bytes, "\n", cfi!("adjust_cfa_offset " $bytes))
    };
}

/// Undoes [`reserve`].
#[cfg(target_arch = "x86_64")]
macro_rules! release {
    ($bytes:literal) => {
        concat!("add rsp, ", $bytes, "\n", cfi!("adjust_cfa_offset -" $bytes))
    };
}
