//! The tests as other processors run them: again, with instructions of this one hidden (`ZARIZ_HIDE`).

use anyhow::{Context, Result};
use std::fs;

use crate::process::{cargo, root, run};
use crate::python;

const HIDE: &str = "ZARIZ_HIDE";

/// Crates whose tests use engines.
const CRATES: &[&str] = &[
    "crates/machines",
    "crates/zariz",
    "crates/bls12-381",
    "crates/rustls",
    "crates/openssl-provider",
    "crates/cli",
    "lab/papers",
];

/// AVX2, as most processors before 2022 have it; where this processor has no more itself, no vectors.
pub fn narrower() -> Result<()> {
    let hide = if has_more_than_avx2() { "avx512,ifma" } else { "avx2,adx" };
    with(hide)?;
    let mut tests = python::package_tests();
    tests.env(HIDE, hide);
    run(tests)
}

/// Every other kind.
pub fn every() -> Result<()> {
    ["ifma", "avx512,ifma", "adx", "avx2", "avx2,adx"].into_iter().try_for_each(with)
}

/// Runs the tests of the library, the provider and the program with these instructions hidden. They are
/// chosen among those of the whole workspace, as the step `tests` compiled them: nothing is compiled again.
fn with(hide: &str) -> Result<()> {
    println!("-- with {HIDE}={hide}");
    let mut cargo = cargo(&["test", "--workspace", "--locked", "--lib"]);
    for name in programs()? {
        cargo.args(["--test", &name]);
    }
    cargo.env(HIDE, hide);
    run(cargo).with_context(|| format!("with {HIDE}={hide} in the environment"))
}

/// The names of the test programs of [`CRATES`].
fn programs() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for krate in CRATES {
        let folder = root().join(krate).join("tests");
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            let is_program =
                path.extension().is_some_and(|ending| ending == "rs") || path.join("main.rs").exists();
            names.extend(
                path.file_stem().filter(|_| is_program).map(|stem| stem.to_string_lossy().into_owned()),
            );
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}

#[cfg(target_arch = "x86_64")]
fn has_more_than_avx2() -> bool {
    is_x86_feature_detected!("avx512f") || is_x86_feature_detected!("avxifma")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_more_than_avx2() -> bool {
    false
}
