//! The emulator on Linux, x86-64.

use std::arch::x86_64::{_mm512_madd52lo_epu64, _mm512_set1_epi64};
use std::hint::black_box;

use zariz_machines::batch::Avx512Ifma;

pub use crate::handler::{Statistics, statistics};
use crate::mode::{Mode, Plan, hidden, plan};
use crate::{handler, patch, scan, sites};

/// Decides and installs, once in a process.
pub fn install(asked: bool) -> Mode {
    let vectors = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
    let ifma = is_x86_feature_detected!("avx512ifma") && !hidden();
    let plan = plan(vectors, ifma, asked);
    let result = match plan {
        Plan::Native => return Mode::Native,
        Plan::NoVectors => Err("the processor lacks AVX-512F or AVX-512DQ, which are not emulated".into()),
        Plan::Overwritten => overwrite(),
        Plan::Refused => emulate_traps(),
    };
    match result {
        Ok(()) => Mode::Emulated,
        Err(reason) => Mode::Unavailable(reason),
    }
}

/// Makes the program's own instructions trap, on a processor that has them.
fn overwrite() -> Result<(), String> {
    sites::add(patch::sites(scan::running_program()?));
    handler::install()?;
    // SAFETY: the sites come from this program's file (and are compared with memory), and the handler is
    // installed.
    unsafe { patch::overwrite() }
}

/// Emulates the traps of a processor without the instructions.
fn emulate_traps() -> Result<(), String> {
    // The sites serve to count; without them the emulation is the same.
    match scan::running_program() {
        Ok(found) => sites::add(patch::sites(found)),
        Err(reason) => eprintln!("emulated instructions are not counted: {reason}"),
    }
    handler::install()?;
    if !traps() {
        // The processor has the instructions, and only its flags do not say so, as in some virtual machines.
        // SAFETY: the sites come from this program's file (and are compared with memory), and the handler is
        // installed.
        unsafe { patch::overwrite() }?;
    }
    // SAFETY: the handler is installed, and executes VPMADD52 in every thread.
    unsafe { Avx512Ifma::assume_vpmadd52() };
    Ok(())
}

/// Whether the processor refuses VPMADD52, or this program's are overwritten: tried, with the handler
/// installed.
fn traps() -> bool {
    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline(never)]
    fn multiply() {
        let three = _mm512_set1_epi64(black_box(3));
        black_box(_mm512_madd52lo_epu64(three, three, three));
    }
    let before = statistics().traps;
    // SAFETY: AVX-512F was detected; VPMADD52 is executed by the processor or by the handler.
    unsafe { multiply() };
    statistics().traps > before
}
