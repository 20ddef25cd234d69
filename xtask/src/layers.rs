//! The layers: who may depend on whom, where each crate is, and what it may contain.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

use crate::metadata::{Dependency, Graph, Package};
use crate::process::root;
use crate::source::{lines_with, strip};

/// What is shipped, all of it in `crates`: a crate may depend on those to its left.
pub const SHIPPED: &[&str] = &[
    "zariz-kernels",
    "zariz-machines",
    "zariz-process",
    "zariz",
    "zariz-bls12-381",
    "zariz-rustls",
    "zariz-capi",
    "zariz-crypto-mb",
    "zariz-openssl-provider",
    "zariz-jni",
    "zariz-peers",
    "zariz-cli",
];
/// What is loaded and never linked.
const PROVIDER: &str = "zariz-openssl-provider";
/// Folders of crates that are not shipped: nothing shipped depends on these, except its tests.
const LABORATORY: &[&str] = &["lab", "xtask"];
/// The crate without `std`, and without a word about any processor.
const KERNELS: &str = "zariz-kernels";
/// Shipped crates that forbid `unsafe` to themselves.
const SAFE: &[&str] =
    &["zariz-kernels", "zariz", "zariz-bls12-381", "zariz-rustls", "zariz-jni", "zariz-cli"];
/// The only folders and files that may have `unsafe`.
const UNSAFE_FOLDERS: &[&str] = &[
    "crates/machines",
    "crates/process",
    "crates/capi",
    "crates/crypto-mb",
    "crates/openssl-provider",
    "crates/peers",
    "lab/emulator",
    "lab/attacks/src/faults/linux/raw.rs",
    "lab/attacks/src/timing/clock.rs",
    "lab/bench/src/blst",
    "lab/fuzz/src/evp.rs",
    "lab/fuzz/src/interface.rs",
];

/// Where the program gives files their names, after the syncs that this needs: see there.
const PLACE: &str = "crates/cli/src/place.rs";
/// Functions that give a file its name, and so may be called only there.
const NAMING: &[&str] = &["persist", "persist_noclobber", "keep", "rename", "hard_link"];

/// Checks all of it, and names every breach.
pub fn check() -> Result<()> {
    let mut breaches = Vec::new();
    dependencies(&mut breaches)?;
    let files = unsafe_words(&mut breaches)?;
    names_of_files(&mut breaches)?;
    if !breaches.is_empty() {
        bail!("{}\nThe rules are in xtask/src/layers.rs and ARCHITECTURE.md.", breaches.join("\n"));
    }
    println!("{}, and `unsafe` in {} alone ({files} files)", SHIPPED.join(" <- "), UNSAFE_FOLDERS.join(", "));
    Ok(())
}

fn dependencies(breaches: &mut Vec<String>) -> Result<()> {
    let graph = Graph::read()?;
    let place = |name: &str| SHIPPED.iter().position(|&shipped| shipped == name);
    for package in graph.0.values().filter(|package| package.member) {
        let name = package.name.as_str();
        let Some(layer) = place(name) else {
            if !is_in(package, LABORATORY) {
                breaches.push(format!(
                    "{name}: has no layer; give it its place in xtask/src/layers.rs, or move it to lab"
                ));
            }
            continue;
        };
        if !is_in(package, &["crates"]) {
            breaches.push(format!("{name}: is shipped, but not in crates"));
        }
        for Dependency { id, dev_only } in &package.dependencies {
            let dependency = &graph.0[id];
            let is_left = place(&dependency.name).is_some_and(|other| other < layer);
            // Tests may use our tools, and the provider as OpenSSL does: nothing of ours is built on it.
            let is_provider = dependency.name == PROVIDER;
            let for_tests = is_provider || is_in(dependency, LABORATORY);
            let allowed = if for_tests { *dev_only } else { is_left };
            if dependency.member && !allowed {
                breaches
                    .push(format!("{name}: may not depend on {}, which is not to its left", dependency.name));
            }
        }
        for path in &package.crate_roots {
            let text = strip(&read(path)?);
            let mut attribute = |wanted: &str| {
                if !text.contains(wanted) {
                    breaches.push(format!("{}: must begin with {wanted}", shown(path)));
                }
            };
            if SAFE.contains(&name) {
                attribute("#![forbid(unsafe_code)]");
            }
            if name == KERNELS {
                attribute("#![no_std]");
                let folder = path.parent().with_context(|| format!("{} has no folder", path.display()))?;
                for path in rust_files(folder)? {
                    for line in lines_with(&strip(&read(&path)?), "target_arch") {
                        breaches.push(format!(
                            "{}:{line}: target_arch, but kernels are for every processor",
                            shown(&path)
                        ));
                    }
                }
            }
        }
    }
    for name in SHIPPED {
        if !graph.0.values().any(|package| package.member && package.name == *name) {
            breaches.push(format!("{name}: is not in the workspace"));
        }
    }
    Ok(())
}

/// Whether all of a package is in these folders.
fn is_in(package: &Package, folders: &[&str]) -> bool {
    let is_there = |path: &PathBuf| folders.iter().any(|folder| path.starts_with(root().join(folder)));
    !package.crate_roots.is_empty() && package.crate_roots.iter().all(is_there)
}

/// Looks for `unsafe` in every Rust file but those that may have it; returns how many were read.
fn unsafe_words(breaches: &mut Vec<String>) -> Result<usize> {
    let files = rust_files(root())?;
    for path in &files {
        if UNSAFE_FOLDERS.iter().any(|folder| path.starts_with(root().join(folder))) {
            continue;
        }
        for line in lines_with(&strip(&read(path)?), "unsafe") {
            breaches.push(format!(
                "{}:{line}: unsafe; it is allowed only in {}",
                shown(path),
                UNSAFE_FOLDERS.join(", ")
            ));
        }
    }
    Ok(files.len())
}

/// Looks for files that the program gives their names without [`PLACE`].
fn names_of_files(breaches: &mut Vec<String>) -> Result<()> {
    let files = rust_files(&root().join("crates/cli/src"))?;
    let place = root().join(PLACE);
    if !files.contains(&place) {
        breaches.push(format!("{PLACE}: is not there; correct its path in xtask/src/layers.rs"));
    }
    for path in files.iter().filter(|path| **path != place) {
        for (line, word) in naming_words(&read(path)?) {
            breaches.push(format!("{}:{line}: {word}; only {PLACE} gives files their names", shown(path)));
        }
    }
    Ok(())
}

/// The lines of a source on which a function is that gives a file its name.
fn naming_words(source: &str) -> Vec<(usize, &'static str)> {
    let stripped = strip(source);
    NAMING
        .iter()
        .flat_map(|word| lines_with(&stripped, word).into_iter().map(move |line| (line, *word)))
        .collect()
}

/// All Rust files under a folder, build outputs and hidden folders aside.
fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
            let (path, name) = (entry.path(), entry.file_name());
            let kind = entry.file_type().with_context(|| format!("cannot look at {}", path.display()))?;
            if kind.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_name_files_are_found_and_words_are_not() {
        let source = "// rename\nfs::rename(a, b);\nlet text = \"keep\";\nlet keeper = file.keep();\n";
        assert_eq!(naming_words(source), [(4, "keep"), (2, "rename")]);
        assert!(!naming_words(&read(&root().join(PLACE)).expect("readable")).is_empty());
    }
}
