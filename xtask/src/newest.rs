//! The newest OpenSSL: the tests through its interface, with the libcrypto that the crate openssl-src builds.
//!
//! It is a workspace of its own (crates/openssl-provider/newest), built once into target/openssl-newest:
//! nothing that we ship depends on it, and only this step needs a C compiler.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::process::{cargo, output, root, run, works};

const MANIFEST: &str = "--manifest-path=crates/openssl-provider/newest/Cargo.toml";

/// The test programs that go through libcrypto's functions, and so can be given another one: all that are one
/// file. Those in folders run other programs, which have a libcrypto of their own.
fn programs() -> Result<Vec<String>> {
    let folder = root().join("crates/openssl-provider/tests");
    let mut programs = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            programs.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    programs.sort_unstable();
    anyhow::ensure!(!programs.is_empty(), "there are no tests in {}", folder.display());
    Ok(programs)
}

/// Builds it where that has not been done, and runs the tests with it.
pub fn tests() -> Result<()> {
    if !cfg!(target_os = "linux") {
        println!("skipped: its shared library is linked here on Linux only");
        return Ok(());
    }
    for tool in ["perl", "make", "cc"] {
        if !works(tool, &["--version"]) {
            anyhow::bail!(
                "building OpenSSL needs {tool} (on Debian: apt-get install -y perl make gcc libc6-dev)"
            );
        }
    }
    let start = Instant::now();
    let mut build = cargo(&["run", "--locked", MANIFEST]);
    build.args(["--target-dir", "target/openssl-newest"]);
    let printed = output(build).context("the newest OpenSSL cannot be built")?;
    let library = printed.lines().last().unwrap_or_default().trim();
    anyhow::ensure!(Path::new(library).is_file(), "its build did not say where it is, but {printed:?}");
    println!("OpenSSL is built, in {:.1} s: {library}", start.elapsed().as_secs_f64());
    let mut tests = cargo(&["test", "--package", "zariz-openssl-provider", "--locked", "--no-fail-fast"]);
    tests.args(programs()?.iter().flat_map(|program| ["--test", program])).env("ZARIZ_LIBCRYPTO", library);
    run(tests).context("with the newest OpenSSL (ZARIZ_LIBCRYPTO in the environment)")
}
