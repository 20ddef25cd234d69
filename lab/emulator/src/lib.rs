//! Runs AVX512-IFMA and AVX-IFMA machine code on processors without it. For tests alone: nothing that is
//! shipped depends on this.
//!
//! # What it is for
//!
//! The kernels of the machines `avx512-ifma` and `avx-ifma` must be tested where the processor at hand has
//! their vectors (AVX-512F and DQ; AVX2) but no VPMADD52. There the instruction raises SIGILL; [`install`]
//! puts a handler in place that decodes it, applies it to the registers that the kernel saved in the signal
//! frame, and lets the thread go on behind it. So the machine code that is shipped runs, with its loops,
//! addresses and register allocation; only the result of the one instruction comes from [`model`], a plain
//! sum of 128-bit products.
//!
//! The instruction has two [`Form`]s, one for each machine. Each is emulated or not, by itself.
//!
//! Where the processor has the instruction, the environment variable `ZARIZ_EMULATE_IFMA=1` (or [`emulate`])
//! requests emulation too: every VPMADD52 in this program is then overwritten by UD2, which traps, and the
//! handler emulates the instruction that was there. That tests the emulator itself, and shows by [`coverage`]
//! which instructions the tests have reached.
//!
//! # How to use it
//!
//! A test program writes [`install_before_main!`] once, at its top level. Then emulation is decided before
//! any code looks at the processor. [`install`] returns what was decided.
//!
//! # What it does not do
//!
//! * It needs Linux on x86-64, and the vectors of the form. Elsewhere [`install`] says so.
//! * It is slow: a trap costs a microsecond or more. The handler executes all following instructions that it
//!   supports in one trap (VPMADD52 and plain moves, within a page).
//! * Only the program itself is overwritten, not its shared libraries.
//! * A memory operand that may not be read faults inside the handler: SIGSEGV with the right address, but not
//!   the right instruction pointer.
//! * A thread that blocks SIGILL is killed at its first VPMADD52, as it would be at any instruction that it
//!   cannot execute.
//! * An earlier handler is called as a function for signals that are not ours; its `sa_mask`, `SA_NODEFER`,
//!   `SA_RESETHAND` and `SA_ONSTACK` are not honoured.
//!
//! # What is here besides
//!
//! [`environment`] sets the floating-point environment, which safe code cannot, for tests of the whole
//! library.
//!
//! # Where to look
//!
//! `form` is the two encodings, `model` the arithmetic, `operation` the instructions and their operands,
//! `frame` the saved registers, `execute` what is done to them, `handler` the signal, `scan` and `patch` the
//! program's own text, `sites` the table of it.

mod coverage;
#[cfg(target_arch = "x86_64")]
pub mod environment;
mod form;
mod mode;
pub mod model;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod execute;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod frame;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod handler;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod operation;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod patch;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod scan;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod sites;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod elsewhere;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
use elsewhere as platform;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use linux as platform;

pub use coverage::{Function, coverage, missed};
pub use form::Form;
pub use mode::{Mode, Modes, VARIABLE};
pub use platform::{Statistics, statistics};

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use patch::trap;

use std::sync::OnceLock;

static MODES: OnceLock<Modes> = OnceLock::new();

/// Emulates each form that the processor lacks, or both where `ZARIZ_EMULATE_IFMA=1` requests it; returns
/// what was decided. The first call decides, for the life of the process; threads that call meanwhile wait
/// for it.
///
/// `zariz_machines::batch::Avx512Ifma::new` and that of `AvxIfma` give the machine from then on, natively or
/// emulated. Code that called them before may have cached that there was none: use [`install_before_main!`].
pub fn install() -> &'static Modes {
    MODES.get_or_init(|| platform::install(mode::asked()))
}

/// Like [`install`], but emulates wherever it can, without regard to the environment.
pub fn emulate() -> &'static Modes {
    MODES.get_or_init(|| platform::install(true))
}

/// What was decided; `None` before the first call of [`install`] or [`emulate`].
pub fn mode(form: Form) -> Option<&'static Mode> {
    MODES.get().map(|modes| modes.of(form))
}

/// Whether VPMADD52 of this form is emulated in this process.
pub fn is_emulating(form: Form) -> bool {
    mode(form) == Some(&Mode::Emulated)
}

/// [`install`]s before `main` of the test program in which it is written, so before any test and any thread.
#[macro_export]
macro_rules! install_before_main {
    () => {
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        #[used]
        // The C library calls the functions named in this section before `main`.
        #[unsafe(link_section = ".init_array")]
        static INSTALL_BEFORE_MAIN: extern "C" fn() = {
            extern "C" fn install() {
                $crate::install();
            }
            install
        };
    };
}
