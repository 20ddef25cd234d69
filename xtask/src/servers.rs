//! The servers of `examples/servers`: a workspace of its own, so that axum, tokio and aws-lc-rs are no
//! dependencies of the library.

use anyhow::{Context, Result};

use crate::process::{cargo, run};

const MANIFEST: &str = "--manifest-path=examples/servers/Cargo.toml";
const BUILD: &str = "the servers cannot be built, or clippy found errors; aws-lc-rs needs a C compiler";

/// Format, clippy and tests.
pub fn check() -> Result<()> {
    let set = [MANIFEST, "--locked", "--target-dir", "target/servers"];
    run(cargo(&["fmt", MANIFEST, "--check"])).context("the servers are not formatted")?;
    let clippy = ["clippy", "--all-targets"].iter().chain(&set).chain(&["--", "-D", "warnings"]);
    run(cargo(&clippy.copied().collect::<Vec<_>>())).context(BUILD)?;
    run(cargo(&["test"].iter().chain(&set).copied().collect::<Vec<_>>()))
        .context("a server does what it must not")
}
