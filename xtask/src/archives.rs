//! What crates.io would get: the archives of all published crates, each built from its archive and those of the others.

use anyhow::{Context, Result, bail};

use crate::layers::SHIPPED;
use crate::metadata::Graph;
use crate::process::{cargo, run};

/// Packs and builds them.
pub fn check() -> Result<()> {
    let graph = Graph::read()?;
    let ours = || graph.0.values().filter(|package| package.member);
    let published: Vec<&str> =
        ours().filter(|package| package.published).map(|package| package.name.as_str()).collect();
    let lacking: Vec<String> = ours()
        .filter(|package| package.published)
        .flat_map(|package| package.lacking.iter().map(|what| format!("{}: has no {what}", package.name)))
        .chain(published.iter().filter(|name| !SHIPPED.contains(name)).map(|name| format!("{name}: is not shipped")))
        .collect();
    if !lacking.is_empty() {
        bail!("Cargo.toml of published crates:\n{}", lacking.join("\n"));
    }
    let mut package = cargo(&["package", "--locked", "--allow-dirty", "--quiet", "--target-dir", "target/archives"]);
    package.args(published.iter().flat_map(|name| ["-p", name]));
    run(package).context("the archives do not build (this needs cargo 1.90 or later)")?;
    println!("{}: each builds from its archive", published.join(", "));
    Ok(())
}
