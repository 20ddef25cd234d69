//! The floating-point environment, for machines that compute in double precision.
//!
//! The control and status register of SSE and AVX, MXCSR, belongs to the host program. It may have unmasked
//! exceptions, so that a rounded sum raises SIGFPE; it may have another rounding mode, or take or write
//! denormal numbers as zeros. Kernels are proved and compiled for the default environment. They run in it;
//! afterwards the host gets back its own, exception flags included.
//!
//! `crates/zariz/tests/environment.rs` runs the library in 384 environments.
//!
//! Source: Intel SDM volume 1, section 10.2.3.

#[cfg(target_arch = "x86_64")]
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

/// The default environment, until it is dropped: then MXCSR is as it was, even after a panic.
#[must_use]
#[derive(Debug)]
pub struct DefaultMxcsr {
    /// The host's register, if it must be restored.
    host: Option<u32>,
}

impl DefaultMxcsr {
    /// Sets the default environment, if products round: see
    /// [`Machine::ROUNDS`](zariz_kernels::batch::Machine::ROUNDS). Keep it around all batches of a call.
    ///
    /// Cost: one read of the register where the host has the default and has rounded before. Else another
    /// read at the end, and a write if the host's control bits differ or the flag is raised.
    #[inline]
    pub fn if_needed(rounds: bool) -> Self {
        if !rounds {
            return Self { host: None };
        }
        let host = read();
        let host = (host & DECIDES != DEFAULT | INEXACT).then_some(host);
        if host.is_some_and(|host| host & !FLAGS != DEFAULT) {
            // SAFETY: it is the environment that the compiler assumes.
            unsafe { write(DEFAULT) };
        }
        Self { host }
    }
}

impl Drop for DefaultMxcsr {
    #[inline]
    fn drop(&mut self) {
        if let Some(host) = self.host.filter(|&host| read() != host) {
            // SAFETY: the environment is that in which we were called.
            unsafe { write(host) };
        }
    }
}

/// Other processors have no such register, and no machine that needs it.
#[cfg(not(target_arch = "x86_64"))]
fn read() -> u32 {
    DEFAULT | INEXACT
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn write(_: u32) {}

#[cfg(target_arch = "x86_64")]
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
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn write(register: u32) {
    // SAFETY: every x86-64 processor has the instruction; it reads the four bytes of `register`, which is a
    // value that was read or the default: no reserved bit is set.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack)) };
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    /// Toward zero, denormals as zeros both ways, all exceptions masked but set.
    const STRANGE: u32 = 0xffff;

    #[test]
    fn the_hosts_environment_comes_back_after_a_panic() {
        let before = read();
        // SAFETY: what runs until the register is written again is the guard, and the unwinding of a panic.
        unsafe { write(STRANGE) };
        let result: Result<(), _> = catch_unwind(|| {
            let _default = DefaultMxcsr::if_needed(true);
            panic!("{:#x}", read())
        });
        let after = read();
        // SAFETY: the environment is that in which we were called.
        unsafe { write(before) };
        assert_eq!(after, STRANGE);
        let seen = result.expect_err("a panic");
        assert_eq!(seen.downcast_ref::<String>().map(String::as_str), Some("0x1f80"), "what the work saw");
    }
}
