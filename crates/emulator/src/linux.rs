//! The emulator on Linux, x86-64.

use zariz_machines::Avx512Ifma;

pub use crate::handler::{Statistics, statistics};
use crate::mode::{Mode, Plan, plan};
use crate::{handler, patch, scan, sites};

/// Does what is to be done, once in a process.
pub fn install(asked: bool) -> Mode {
    let vectors = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
    let plan = plan(vectors, is_x86_feature_detected!("avx512ifma"), asked);
    let result = match plan {
        Plan::Native => return Mode::Native,
        Plan::NoVectors => Err("the processor lacks AVX-512F or AVX-512DQ, which are not emulated".into()),
        Plan::Overwritten => overwrite(),
        Plan::Refused => answer(),
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
    // SAFETY: the sites come from this program's file (and are compared with memory), and the handler stands.
    unsafe { patch::overwrite() }
}

/// Answers the traps of a processor without the instructions.
fn answer() -> Result<(), String> {
    // The sites serve to count; without them the emulation is the same.
    match scan::running_program() {
        Ok(found) => sites::add(patch::sites(found)),
        Err(reason) => eprintln!("emulated instructions are not counted: {reason}"),
    }
    handler::install()?;
    // SAFETY: the handler stands, and executes VPMADD52 in every thread.
    unsafe { Avx512Ifma::assume_vpmadd52() };
    Ok(())
}
