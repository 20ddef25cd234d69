//! The floating-point environment, for machines that compute in double precision.
//!
//! The control and status register of SSE and AVX, MXCSR, belongs to the host program. It may have unmasked
//! exceptions, so that a rounded sum raises SIGFPE; it may have another rounding mode, or take or write
//! denormal numbers as zeros. Kernels are proved and compiled for the default environment. They run in that,
//! and the host gets its own back afterwards, exception flags included.
//!
//! `crates/zariz/tests/environment.rs` runs the library in 384 environments.
//!
//! Source: Intel SDM volume 1, section 10.2.3.

use std::arch::asm;

/// Every exception masked (bits 7 to 12), rounding to nearest (13 and 14), denormals as they are (6 and 15),
/// no flag set.
const DEFAULT: u32 = 0x1f80;
/// The flags of exceptions that have occurred.
const FLAGS: u32 = 0x3f;
/// The flag of a rounded result, the only one that a kernel raises.
const INEXACT: u32 = 0x20;

/// The bits that decide whether the register must be restored: all except flags that no kernel raises.
const DECIDES: u32 = !FLAGS | INEXACT;

/// Runs `work` in the default environment, and leaves MXCSR as it was, even where `work` panics.
///
/// Cost: one read of the register where the host has the default and has rounded before. Else another read,
/// and a write if the host's control bits differ or `work` raises the flag.
#[inline(always)]
pub(crate) fn held<R>(work: impl FnOnce() -> R) -> R {
    let host = read();
    let _back = (host & DECIDES != DEFAULT | INEXACT).then(|| {
        if host & !FLAGS != DEFAULT {
            // SAFETY: it is the environment that the compiler assumes.
            unsafe { write(DEFAULT) };
        }
        Host(host)
    });
    work()
}

/// The host's register, which is restored on drop.
struct Host(u32);

impl Drop for Host {
    #[inline(always)]
    fn drop(&mut self) {
        if read() != self.0 {
            // SAFETY: the environment is that in which we were called.
            unsafe { write(self.0) };
        }
    }
}

#[inline(always)]
fn read() -> u32 {
    let mut register = 0u32;
    // SAFETY: every x86-64 processor has the instruction; it writes the four bytes of `register`.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack, preserves_flags)) };
    register
}

/// Writes the register. Setting a flag by this write raises no exception. The compiler takes the instruction
/// for one that reads and writes any memory, and so moves no call of a kernel, which writes memory, from one
/// side to the other.
///
/// # Safety
/// Until the host's value is back, the code that follows must be right in that environment.
#[inline(always)]
unsafe fn write(register: u32) {
    // SAFETY: every x86-64 processor has the instruction; it reads the four bytes of `register`, which is a
    // value that was read or the default: no reserved bit is set.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack)) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    /// Toward zero, denormals as zeros both ways, all exceptions masked but set.
    const STRANGE: u32 = 0xffff;

    #[test]
    fn the_hosts_environment_comes_back_after_a_panic() {
        let before = read();
        // SAFETY: what runs until the register is written again is `held`, and the unwinding of a panic.
        unsafe { write(STRANGE) };
        let result = catch_unwind(|| held(|| panic!("{:#x}", read())));
        let after = read();
        // SAFETY: the environment is that in which we were called.
        unsafe { write(before) };
        assert_eq!(after, STRANGE);
        let seen = result.expect_err("a panic");
        assert_eq!(seen.downcast_ref::<String>().map(String::as_str), Some("0x1f80"), "what the work saw");
    }
}
