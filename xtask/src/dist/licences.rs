//! The licences of other people's code in what we give out.

use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::metadata::{Graph, Package};
use crate::process::{command, output, root};
use crate::target::TARGETS;
use crate::{arm, sbom};

/// How names of files with licences begin.
const NAMES: &[&str] = &["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// Each text once, with the names of the crates that have it: of all targets, so packages of libraries for
/// several of them have the same file.
pub fn of_dependencies(graph: &Graph, package: &[&str]) -> Result<String> {
    let mut crates_of = BTreeMap::<String, Vec<String>>::new();
    let trees = TARGETS.iter().map(|target| sbom::tree(target, package)).collect::<Result<Vec<_>>>()?;
    for (name, version) in trees.into_iter().flat_map(BTreeMap::into_keys).collect::<BTreeSet<_>>() {
        let is_it = |package: &&Package| package.name == name && package.version == version;
        let package =
            graph.0.values().find(is_it).with_context(|| format!("{name} {version} is not in the graph"))?;
        if package.source.is_none() {
            continue; // ours
        }
        for text in texts(package)? {
            let license = package.license.as_deref().unwrap_or("no licence stated");
            crates_of.entry(text).or_default().push(format!("{name} {version} ({license})"));
        }
    }
    let mut all = String::from("Code of these crates is in zariz, or helped to compile it.\n");
    for (text, crates) in crates_of {
        // Writing to a string cannot fail.
        let _ = write!(all, "\n{}\n{}\n\n{text}", "-".repeat(78), crates.join(",\n"));
    }
    Ok(all)
}

/// The texts that come with a crate. Where one may choose, Apache's are left out: they name nobody.
fn texts(package: &Package) -> Result<Vec<String>> {
    let list = || format!("cannot list {}", package.folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&package.folder).with_context(list)? {
        let entry = entry.with_context(list)?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if entry.path().is_file() && NAMES.iter().any(|start| name.starts_with(start)) {
            files.push((name.contains("APACHE"), entry.path()));
        }
    }
    if files.is_empty() {
        let license = package.license.as_deref().unwrap_or_default();
        ensure!(license.contains("Apache-2.0"), "{} has no text of its licence {license}", package.name);
        files.push((true, root().join("LICENSE-APACHE")));
    }
    if files.iter().any(|(apache, _)| !apache) {
        files.retain(|(apache, _)| !apache);
    }
    let read = |(_, file): &(bool, PathBuf)| {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(text.trim_matches('\n').to_owned() + "\n")
    };
    files.iter().map(read).collect()
}

/// Those of Rust's own library, as its makers list them. If the library for Arm is Debian's, what Debian says
/// of it comes at the end.
pub fn of_rust() -> Result<String> {
    let read =
        |file: &Path| fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()));
    let sysroot = output(command("rustc", &["--print", "sysroot"]))?;
    let file = Path::new(sysroot.trim()).join("share/doc/rust/COPYRIGHT-library.html");
    ensure!(file.exists(), "{} is missing: use a toolchain of rustup's", file.display());
    let mut all = read(&file)?;
    if let Some(compiler) = arm::compiler()? {
        let text = read(&compiler.join("usr/share/doc/libstd-rust-web-dev/copyright"))?;
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        all += &format!("<h1>Debian's library for 64-bit Arm</h1>\n<pre>\n{text}</pre>\n");
    }
    Ok(all)
}

/// The file `copyright` of Debian's packages.
pub fn debian() -> Result<String> {
    let mit = fs::read_to_string(root().join("LICENSE-MIT")).context("cannot read LICENSE-MIT")?;
    let (owner, terms) = mit.split_once("\n\n").context("LICENSE-MIT has no first paragraph")?;
    let owner = owner.trim_start_matches("Copyright (c) ");
    let terms: String = terms
        .lines()
        .map(|line| if line.is_empty() { " .\n".into() } else { format!(" {line}\n") })
        .collect();
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: zariz\n\
         Comment: the licences of the crates in it are in dependencies.txt beside this file, those of Rust's\n \
         own library in rust-library.html.\n\n\
         Files: *\nCopyright: {owner}\nLicense: Expat or Apache-2.0\n\n\
         License: Expat\n{terms}\n\
         License: Apache-2.0\n On Debian, its text is in /usr/share/common-licenses/Apache-2.0.\n"
    ))
}
