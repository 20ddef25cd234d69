//! The tests as other processors run them: again, with instructions of this one hidden (`ZARIZ_HIDE`).

use anyhow::{Context, Result};

use crate::python;
use crate::suite::{self, Job, Of, Which};

const HIDE: &str = "ZARIZ_HIDE";

/// Crates whose tests use engines.
const CRATES: &[&str] = &[
    "crates/machines",
    "crates/zariz",
    "crates/bls12-381",
    "crates/rustls",
    "crates/crypto-mb",
    "crates/openssl-provider",
    "crates/cli",
    "lab/papers",
];

/// AVX2, as most processors before 2022 have it; where this processor has no more itself, no vectors. Without
/// the slow tests, most of which use each engine by its name: they have computed with AVX2 already.
pub fn narrower() -> Result<()> {
    let hide = if has_more_than_avx2() { "avx512,ifma" } else { "avx2,adx" };
    let mut tests = python::package_tests();
    tests.env(HIDE, hide);
    with(hide, Which::Quick, vec![("the Python package".into(), tests)])
}

/// Every other kind.
pub fn every() -> Result<()> {
    let kinds = ["ifma", "avx512,ifma", "adx", "avx2", "avx2,adx"];
    kinds.into_iter().try_for_each(|hide| with(hide, Which::All, Vec::new()))
}

/// Runs these jobs, and the tests of [`CRATES`], with these instructions hidden.
fn with(hide: &str, which: Which, mut jobs: Vec<Job>) -> Result<()> {
    println!("-- with {HIDE}={hide}");
    jobs.extend(suite::programs(Of::These(CRATES), which, Some((HIDE, hide)))?);
    suite::run(jobs).with_context(|| format!("with {HIDE}={hide} in the environment"))
}

#[cfg(target_arch = "x86_64")]
fn has_more_than_avx2() -> bool {
    is_x86_feature_detected!("avx512f") || is_x86_feature_detected!("avxifma")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_more_than_avx2() -> bool {
    false
}
