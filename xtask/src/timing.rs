//! `cargo xtask timing`: whether the time of powers and of RSA tells anything of their secrets.

mod table;

use anyhow::{Context, Result};

use self::table::Tables;
use crate::process::{cargo, run};
use crate::processor;

/// Runs `timing` of the crate `zariz-attacks` with these arguments, and keeps what it finds.
pub fn measure(arguments: &[&str]) -> Result<()> {
    // What is measured alone has files of its own: "-powers" or "-avx2-fma".
    let parts = arguments.chunks(2).filter(|words| ["--only", "--engine"].contains(&words[0]));
    let part: String = parts.flat_map(|words| &words[1..]).map(|part| format!("-{part}")).collect();
    let results = processor::new_results("timing", &part)?;
    let mut timing =
        cargo(&["run", "--release", "--locked", "--package", "zariz-attacks", "--bin", "timing", "--"]);
    timing.args(arguments).arg("--results").arg(&results);
    let measured = run(timing);
    let tabulated = tabulate();
    measured.context("times differ, or could not be measured; the table shows which row does not pass")?;
    println!("written: {}.json", results.display());
    tabulated
}

/// Writes the page of all data, and shows the one that SOUNDNESS.md must have.
pub fn tabulate() -> Result<()> {
    let tables = Tables::read()?;
    tables.write()?;
    print!("SOUNDNESS.md must have this table:\n\n{}", tables.summary());
    Ok(())
}
