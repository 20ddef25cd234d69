//! Whether time can depend on a secret: kernels under valgrind's memcheck, told that secrets are undefined.

use anyhow::{Context, Result, bail};

use crate::process::{cargo, command, root, run, works};

/// Runs the example `secrets` of `zariz-machines` under memcheck; then shows that a leak would be found.
pub fn check() -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        println!("skipped: only where valgrind's client requests are known here, on Linux on x86-64");
        return Ok(());
    }
    let example = ["--package", "zariz-machines", "--features", "papers", "--example", "secrets"];
    run(cargo(&[&["build", "--release", "--locked"], &example[..]].concat()))?;
    let program = root().join("target/release/examples/secrets");
    let program = program.to_str().context("the path of the repository is not UTF-8")?;
    let valgrind = ["--quiet", "--error-exitcode=1", "--track-origins=no", program];
    run(command("valgrind", &valgrind)).context("a branch or an address depends on a secret")?;
    if works("valgrind", &[&valgrind[..], &["leak"]].concat()) {
        bail!("memcheck did not find the branch that depends on a secret: this check finds nothing");
    }
    Ok(())
}
