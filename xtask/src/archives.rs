//! What crates.io would get: the archives of all published crates, each built from its archive and those of the others.

use anyhow::{Context, Result, bail};
use std::fs;

use crate::layers::SHIPPED;
use crate::metadata::{Graph, Package};
use crate::process::{cargo, root, run};

const TARGET: &str = "target/archives";

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
    let mut package = cargo(&["package", "--locked", "--allow-dirty", "--quiet", "--target-dir", TARGET]);
    package.args(published.iter().flat_map(|name| ["-p", name]));
    run(package).context("the archives do not build (this needs cargo 1.90 or later)")?;
    println!("{}: each builds from its archive", published.join(", "));
    ours().filter(|package| package.published).try_for_each(|package| examples(package, &published))
}

/// Runs the examples in a package's archive, on the archives of the others.
fn examples(package: &Package, published: &[&str]) -> Result<()> {
    let folder = |name: &str| root().join(TARGET).join("package").join(format!("{name}-{}", package.version));
    let files = fs::read_dir(folder(&package.name).join("examples")).into_iter().flatten();
    for file in files {
        let file = file.context("cannot list the examples")?.path();
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        println!("{}, example {name}:", package.name);
        let mut example = cargo(&["run", "--release", "--quiet", "--all-features", "--example", &name]);
        example.current_dir(folder(&package.name)).arg("--target-dir").arg(root().join(TARGET));
        for other in published {
            example.arg("--config").arg(format!("patch.crates-io.{other}.path={:?}", folder(other)));
        }
        run(example).with_context(|| format!("example {name} of {} fails", package.name))?;
    }
    Ok(())
}
