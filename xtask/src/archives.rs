//! What crates.io would get: the archives of all published crates, each built from its archive and those of
//! the others.

use anyhow::{Context, Result, bail};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::layers::SHIPPED;
use crate::metadata::{Graph, Package};
use crate::process::{cargo, root, run};

const TARGET: &str = "target/archives";
/// Between quick to build and quick to run; one for all, so that dependencies are built once.
const OPTIMISATION: (&str, &str) = ("CARGO_PROFILE_DEV_OPT_LEVEL", "1");

/// Packs and builds them.
pub fn check() -> Result<()> {
    let graph = Graph::read()?;
    let ours = || graph.0.values().filter(|package| package.member);
    let published: Vec<&str> =
        ours().filter(|package| package.published).map(|package| package.name.as_str()).collect();
    let lacking: Vec<String> = ours()
        .filter(|package| package.published)
        .flat_map(|package| package.lacking.iter().map(|what| format!("{}: has no {what}", package.name)))
        .chain(
            published
                .iter()
                .filter(|name| !SHIPPED.contains(name))
                .map(|name| format!("{name}: is not shipped")),
        )
        .collect();
    if !lacking.is_empty() {
        bail!("Cargo.toml of published crates:\n{}", lacking.join("\n"));
    }
    forget(&published)?;
    let mut package = cargo(&["package", "--locked", "--allow-dirty", "--quiet", "--target-dir", TARGET]);
    package.args(published.iter().flat_map(|name| ["-p", name]));
    package.env(OPTIMISATION.0, OPTIMISATION.1);
    run(package).context("the archives do not build (this needs cargo 1.90 or later)")?;
    println!("{}: each builds from its archive", published.join(", "));
    ours().filter(|package| package.published).try_for_each(|package| examples(package, &published))
}

/// Removes what an earlier run has left: cargo takes a package of the same name and version for unchanged,
/// here and where it unpacks the packages of a local registry, whose names begin with a dash.
fn forget(published: &[&str]) -> Result<()> {
    let remove = |path: &Path| match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    };
    remove(&root().join(TARGET))?;
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let registries =
        home.and_then(|home| fs::read_dir(home.join("registry/src")).ok()).into_iter().flatten().flatten();
    for registry in registries.filter(|registry| registry.file_name().to_string_lossy().starts_with('-')) {
        for package in fs::read_dir(registry.path()).into_iter().flatten().flatten() {
            let name = package.file_name().to_string_lossy().into_owned();
            let is_ours = |ours: &&str| name.strip_prefix(*ours).is_some_and(|rest| rest.starts_with('-'));
            if published.iter().any(is_ours) {
                remove(&package.path())?;
            }
        }
    }
    Ok(())
}

/// Runs the examples in a package's archive, on the archives of the others.
fn examples(package: &Package, published: &[&str]) -> Result<()> {
    let folder = |name: &str| root().join(TARGET).join("package").join(format!("{name}-{}", package.version));
    let files = fs::read_dir(folder(&package.name).join("examples")).into_iter().flatten();
    for file in files {
        let file = file.context("cannot list the examples")?.path();
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        println!("{}, example {name}:", package.name);
        let mut example = cargo(&["run", "--quiet", "--all-features", "--example", &name]);
        example
            .env(OPTIMISATION.0, OPTIMISATION.1)
            .current_dir(folder(&package.name))
            .arg("--target-dir")
            .arg(root().join(TARGET));
        for other in published {
            example.arg("--config").arg(format!("patch.crates-io.{other}.path={:?}", folder(other)));
        }
        run(example).with_context(|| format!("example {name} of {} fails", package.name))?;
    }
    Ok(())
}
