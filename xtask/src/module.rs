//! The module for OpenSSL, built alone: together with the program, cargo would give its dependencies the
//! features of both.

use anyhow::Result;
use std::path::{Path, PathBuf};

use crate::metadata::target_directory;
use crate::process::{command, run};

/// The command of docs/openssl.md.
pub const BUILD: &str = "cargo build --release --locked -p zariz-openssl-provider";

/// Where it leaves the module.
pub fn in_target(target: &Path) -> PathBuf {
    target.join("release/libzariz_provider.so")
}

/// Builds the module from the files as they are, and tells where it is.
pub fn build() -> Result<PathBuf> {
    run(command("bash", &["-c", BUILD]))?;
    Ok(in_target(&target_directory()?))
}
