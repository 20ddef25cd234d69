//! The tables that the `analysis` crate makes of the kernels.

use anyhow::{Context, Result};

use crate::process::{cargo, run};

const RUN: [&str; 5] = ["run", "--quiet", "--locked", "-p", "zariz-analysis"];

/// Writes them.
pub fn write() -> Result<()> {
    run(cargo(&RUN)).context("the tables could not be made")
}

/// Makes them in memory, and compares them with the files.
pub fn check() -> Result<()> {
    if !cfg!(target_arch = "x86_64") {
        println!("not checked: the tables are about machines that exist on x86-64 only");
        return Ok(());
    }
    run(cargo(&[&RUN[..], &["--", "--check"]].concat()))
        .context("intervals find an overflow, or generated tables are out of date: see above")
}
