//! The module for OpenSSL, built alone: together with the program, cargo would give its dependencies the features of both.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

use crate::process::{cargo, command, output, run};

/// The command of docs/openssl.md.
pub const BUILD: &str = "cargo build --release --locked -p zariz-openssl-provider";

/// Where it leaves the module.
pub fn in_target(target: &Path) -> PathBuf {
    target.join("release/libzariz_provider.so")
}

/// Builds the module from the files as they are, and tells where it is.
pub fn build() -> Result<PathBuf> {
    run(command("bash", &["-c", BUILD]))?;
    let metadata = output(cargo(&["metadata", "--format-version=1", "--no-deps", "--locked"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).context("`cargo metadata` did not print JSON")?;
    let target = metadata["target_directory"].as_str().context("`cargo metadata` names no target_directory")?;
    Ok(in_target(Path::new(target)))
}
