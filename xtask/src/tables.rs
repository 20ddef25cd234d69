//! The tables that the `analysis` crate makes of the kernels.

use anyhow::{Context, Result};

use crate::process::{command, run};
use crate::suite::{self, Of, Which};

/// That crate, which takes minutes to compile, so its tests run here; and its folder.
pub const ANALYSIS: &str = "zariz-analysis";
pub const FOLDER: &str = "lab/analysis";

/// Writes them.
pub fn write() -> Result<()> {
    analysis(&[]).context("the tables could not be made")
}

/// Runs the crate's tests. Makes the tables in memory, and compares them with the files.
pub fn check() -> Result<()> {
    if !cfg!(target_arch = "x86_64") {
        println!("not checked: the tables are about machines that exist on x86-64 only");
        return Ok(());
    }
    suite::run(suite::programs(Of::Analysis, Which::All, None)?)?;
    analysis(&["--check"])
        .context("intervals find an overflow, or generated tables are out of date: see above")
}

fn analysis(arguments: &[&str]) -> Result<()> {
    run(command(&suite::program(ANALYSIS)?.to_string_lossy(), arguments))
}
