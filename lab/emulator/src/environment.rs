//! The floating-point environment of a host program: the register MXCSR, which tests set to whatever a host
//! may have set.

use std::arch::asm;
use std::fmt::{Debug, Display};

/// The flags of exceptions that have occurred.
const FLAGS: u32 = 0x3f;
/// That of a rounded result.
const INEXACT: u32 = 0x20;
/// Denormal operands are taken as zeros.
const DENORMALS_ARE_ZEROS: u32 = 1 << 6;
/// The first of six bits: invalid, denormal, divide by zero, overflow, underflow, inexact. A masked exception
/// sets its flag, another raises SIGFPE.
const MASKS: u32 = 7;
const ALL_MASKED: u32 = 0x3f << MASKS;
/// The first of two bits: to nearest, down, up, toward zero.
const ROUNDING: u32 = 13;
/// Denormal results are written as zeros.
const FLUSH_TO_ZERO: u32 = 1 << 15;

/// Every rounding, with denormals as zeros and not, with every exception masked, none, and all but one; with
/// no flag set, with that of rounding, and with all.
pub fn environments() -> Vec<u32> {
    let mut all = Vec::new();
    for rounding in 0..4 {
        for denormals in [0, DENORMALS_ARE_ZEROS, FLUSH_TO_ZERO, DENORMALS_ARE_ZEROS | FLUSH_TO_ZERO] {
            let unmasked = (0..6).map(|exception| ALL_MASKED & !(1 << (MASKS + exception)));
            for masks in [ALL_MASKED, 0].into_iter().chain(unmasked) {
                all.extend([0, INEXACT, FLAGS].map(|flags| rounding << ROUNDING | denormals | masks | flags));
            }
        }
    }
    all
}

/// Does `work` in an environment: a value of the register MXCSR.
///
/// # Panics
/// If `work` left another environment than it found.
pub fn within<R>(environment: u32, work: impl FnOnce() -> R) -> R {
    /// Puts the test program's own back.
    struct Own(u32);
    impl Drop for Own {
        fn drop(&mut self) {
            write(self.0);
        }
    }
    let own = Own(read());
    write(environment);
    let result = work();
    let left = read();
    drop(own);
    assert_eq!(left, environment, "MXCSR, left {left:#06x}, was {environment:#06x}");
    result
}

fn read() -> u32 {
    let mut register = 0u32;
    // SAFETY: every x86-64 processor has the instruction; it writes the four bytes of `register`.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack)) };
    register
}

fn write(register: u32) {
    assert!(register >> 16 == 0);
    // SAFETY: every x86-64 processor has the instruction and all the low sixteen bits. No code here computes
    // with floating-point numbers, except for what is tested.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack)) };
}

/// Runs `work` in every environment.
///
/// # Panics
/// If its result in one of them is not `expected`, naming `who` computed it; or if it changed the
/// environment.
pub fn in_every_environment<R: PartialEq + Debug>(who: impl Display, expected: &R, work: impl Fn() -> R) {
    for environment in environments() {
        let found = within(environment, &work);
        assert!(
            found == *expected,
            "{who} computes {found:?} with MXCSR {environment:#06x}, not {expected:?}"
        );
    }
}
