//! Whether time can depend on a secret: kernels and RSA under valgrind's memcheck, told that secrets are
//! undefined.

use anyhow::{Context, Result};

use crate::metadata::target_directory;
use crate::process::{cargo, command, run};
use crate::suite;

/// A program that calls what must not depend on secrets.
struct Program {
    example: &'static str,
    /// Its arguments that plant a leak.
    leaks: &'static [&'static str],
}

const PROGRAMS: &[Program] = &[
    Program { example: "secrets", leaks: &["leak"] },
    Program { example: "rsa_secrets", leaks: &["leak", "leak-signature"] },
];

/// Builds them all at once, so that the machines are compiled once.
#[rustfmt::skip]
const BUILD: &[&str] = &[
    "build", "--release", "--locked", "--package", "zariz-machines", "--package", "zariz",
    "--features", "zariz-machines/papers,zariz-machines/bls12-381,zariz/memcheck", "--example", "secrets", "--example", "rsa_secrets",
];

/// What memcheck finds in dependencies and may stay, each with its reason.
const SUPPRESSIONS: &str = "--suppressions=xtask/secrets.supp";

/// Runs the programs under memcheck; then shows that leaks would be found.
pub fn check() -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        println!("skipped: only where valgrind's client requests are known here, on Linux on x86-64");
        return Ok(());
    }
    run(cargo(BUILD))?;
    let target = target_directory()?;
    let mut jobs = Vec::new();
    for Program { example, leaks } in PROGRAMS {
        let program = target.join("release/examples").join(example);
        let program = program.to_str().context("the path of the repository is not UTF-8")?;
        let valgrind =
            ["valgrind", "--quiet", "--error-exitcode=99", "--track-origins=no", SUPPRESSIONS, program];
        jobs.push((format!("{example}, in which memcheck must find nothing"), command("env", &valgrind)));
        jobs.extend(leaks.iter().map(|leak| {
            // It fails where memcheck finds nothing, and where something else is wrong.
            let found = ["-c", "\"$@\" >/dev/null 2>&1; test $? = 99", "sh"];
            let command = command("sh", &[&found[..], &valgrind, &[leak]].concat());
            (format!("the planted {leak} of {example}, which memcheck must find"), command)
        }));
    }
    suite::run(jobs).context("a branch or an address depends on a secret, or memcheck finds none that does")
}
