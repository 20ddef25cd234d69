//! The machine code for AVX512-IFMA and AVX-IFMA with its multiplications emulated, so that the emulator is
//! tested on processors that need none, and what it counts shows that every one of these instructions is
//! reached.
//!
//! Where the processor lacks the instructions, the step `tests` has emulated them already.

use anyhow::{Context, Result};

use crate::process::{cargo, run};

/// What the processor has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Processor {
    /// No vectors to emulate with.
    WithoutVectors,
    /// Vectors alone.
    WithoutIfma,
    /// AVX512-IFMA or AVX-IFMA too.
    WithIfma,
}

/// Test programs that go through the emulator: those that are written for it, with fewer cases where a trap
/// for every few multiplications takes long.
const PROGRAMS: &[&str] =
    &["emulated", "forms", "signals", "threads", "differential", "methods", "pair", "digests", "wycheproof"];

/// Runs them, where they say something new.
pub fn tests() -> Result<()> {
    match processor() {
        Processor::WithoutVectors => {
            println!("skipped: emulation needs Linux on x86-64 with AVX2, or AVX-512F and DQ");
            Ok(())
        }
        Processor::WithoutIfma => {
            println!(
                "nothing to do: this processor lacks AVX512-IFMA and AVX-IFMA, so the step `tests` has emulated what it can"
            );
            Ok(())
        }
        Processor::WithIfma => {
            // Of the whole workspace, as in the step `tests`: what is compiled there serves here.
            let mut cargo = cargo(&["test", "--workspace", "--locked"]);
            cargo
                .args(PROGRAMS.iter().flat_map(|program| ["--test", program]))
                .env("ZARIZ_EMULATE_IFMA", "1");
            run(cargo).context("with ZARIZ_EMULATE_IFMA=1 in the environment")
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn processor() -> Processor {
    let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
    let narrow = is_x86_feature_detected!("avx2");
    if wide && is_x86_feature_detected!("avx512ifma") || narrow && is_x86_feature_detected!("avxifma") {
        Processor::WithIfma
    } else if wide || narrow {
        Processor::WithoutIfma
    } else {
        Processor::WithoutVectors
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn processor() -> Processor {
    Processor::WithoutVectors
}
