//! Proofs of the assembly, by the crate `proof`.

use anyhow::{Context, Result};

use crate::process::{cargo, run};

/// Proves the code that this compiler makes of the assembly, every function at every length, and rows of the
/// generic kernels, with a line for each; then shows that wrong code is not proved, and that no assembly is
/// without a claim or a reason.
pub fn check() -> Result<()> {
    run(cargo(&["run", "--quiet", "--locked", "-p", "zariz-proof"]))
        .context("a function in assembly is not proved: its line says how far the proof got")?;
    run(cargo(&["test", "--quiet", "--locked", "-p", "zariz-proof", "--", "--include-ignored"]))
        .context("the proofs do not find every fault that the tests plant")
}
