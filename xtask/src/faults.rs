//! `cargo xtask faults`: whether a flipped bit in a private operation lets a result out that reveals the key.

use anyhow::{Context, Result};

use crate::process::{cargo, run};
use crate::processor;

/// Flips of the short form: without a check, one in about six of them reveals a key.
const FEW: [&str; 2] = ["--flips", "400"];
/// An engine for one signature, which every processor has.
const LONE: &str = "scalar";
/// An engine for several, whose numbers stay in lanes.
const IN_LANES: &str = "avx2-fma";

const FAILED: &str = "a result revealed its key, or no fault could be injected; the text above says where";

/// Runs `faults` of the crate `zariz-attacks` with these arguments, and keeps what it finds.
pub fn measure(arguments: &[&str]) -> Result<()> {
    // Each engine has files of its own, and so have several keys or batches, and operations that check
    // nothing.
    let value = |name: &str| arguments.chunks_exact(2).find(|words| words[0] == name).map(|words| words[1]);
    let mut part = format!("-{}", value("--engine").unwrap_or("avx2-fma"));
    for what in ["keys", "batches"] {
        if let Some(count) = value(&format!("--{what}")).filter(|count| *count != "1") {
            part += &format!("-{count}-{what}");
        }
    }
    if value("--unchecked") == Some("yes") {
        part += "-unchecked";
    }
    let results = processor::new_results("faults", &part)?;
    let mut faults = program();
    faults.args(arguments).arg("--results").arg(&results);
    run(faults).context(FAILED)?;
    println!("written: {}.json", results.display());
    Ok(())
}

/// A short form of it, with a number alone, with numbers that fill lanes, and with two batches of two keys;
/// and then one without a check, so that keys are revealed.
pub fn check() -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        println!("skipped: flips need the debugger's interface of Linux on x86-64");
        return Ok(());
    }
    few(LONE, &[]).context(FAILED)?;
    if has_avx2_fma() {
        few(IN_LANES, &[]).context(FAILED)?;
        few(IN_LANES, &["--keys", "2", "--batches", "2"]).context(FAILED)?;
    }
    few(LONE, &["--unchecked", "yes"])
        .context("without a check, no key was revealed: this campaign finds nothing")
}

fn few(engine: &str, more: &[&str]) -> Result<()> {
    let mut faults = program();
    faults.args(FEW).args(["--engine", engine]).args(more);
    run(faults)
}

fn has_avx2_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

fn program() -> std::process::Command {
    cargo(&["run", "--release", "--locked", "--package", "zariz-attacks", "--bin", "faults", "--"])
}
