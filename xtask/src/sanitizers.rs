//! The provider's concurrent tests under the sanitizers of a nightly compiler; and under valgrind, the
//! provider's loading, signing and unloading, and the C programs of libzariz.
//!
//! OpenSSL itself is the system's, without instruments: what goes wrong in our code and in how we use memory
//! that is OpenSSL's is found, and what OpenSSL does between its own threads is not judged.

use anyhow::{Context, Result, bail};

use crate::process::{cargo, command, nightly, output, root, run, works};

const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Programs with threads, jobs and processes. Their own tests of memory growth judge the sanitizer's memory
/// as well, so these are left out.
const PROGRAMS: &[&str] = &["threads", "jobs", "kinds", "processes", "loading"];
const LEFT_OUT: &[&str] = &["memory_is_flat", "loaded_and_unloaded_200_times"];

/// Runs all of them, or those that are named.
pub fn check(names: &[&str]) -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        bail!("the sanitizers run on Linux on x86-64 only");
    }
    let chosen = |name| names.is_empty() || names.contains(&name);
    if chosen("address") {
        sanitizer(
            "address",
            PROGRAMS,
            &[("ASAN_OPTIONS", "detect_leaks=0:detect_stack_use_after_return=0")],
        )?;
    }
    if chosen("thread") {
        // Jobs have stacks of their own, between which OpenSSL jumps unseen by ThreadSanitizer, which cannot
        // follow; and it allows no threads after a fork.
        println!("thread: without jobs and forks, which ThreadSanitizer cannot follow");
        // libcrypto's locks are those of the C library, which the sanitizer sees.
        sanitizer("thread", &["threads", "loading"], &[("TSAN_OPTIONS", "halt_on_error=0")])?;
    }
    if chosen("valgrind") {
        valgrind()?;
    }
    Ok(())
}

fn sanitizer(name: &str, programs: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    if !works("rustup", &["run", "nightly", "rustc", "--version"]) {
        bail!(
            "no nightly compiler, which the sanitizers need (`rustup toolchain install nightly --component rust-src`)"
        );
    }
    let components =
        output(command("rustup", &["component", "list", "--toolchain", "nightly", "--installed"]))?;
    if !components.lines().any(|line| line.starts_with("rust-src")) {
        bail!(
            "the standard library's source is missing, which must be compiled with the sanitizer too \
             (`rustup component add rust-src --toolchain nightly`)"
        );
    }
    println!("== {name}: {}", programs.join(", "));
    let folder = format!("target/sanitizers/{name}");
    let mut cargo = nightly(&["test", "--package", "zariz-openssl-provider", "--locked", "-Zbuild-std"]);
    cargo.args(["--target", TARGET, "--target-dir", &folder, "--no-fail-fast"]);
    cargo.args(programs.iter().flat_map(|program| ["--test", program]));
    cargo.arg("--").args(LEFT_OUT.iter().flat_map(|test| ["--skip", test]));
    cargo.env("RUSTFLAGS", format!("-Zsanitizer={name} -Cforce-frame-pointers=yes"));
    cargo.envs(environment.iter().copied());
    run(cargo).with_context(|| format!("under the sanitizer for {name}"))
}

/// Loading, signing and unloading by memcheck, on the engine whose instructions valgrind supports; beside it
/// OpenSSL's own provider, which may not lose less.
fn valgrind() -> Result<()> {
    println!("== valgrind: the C programs of libzariz");
    run(cargo(&[
        "test",
        "-p",
        "zariz-capi",
        "--locked",
        "--test",
        "programs",
        "--",
        "--ignored",
        "valgrind",
    ]))?;
    println!("== valgrind: cycle");
    let build =
        cargo(&["test", "--package", "zariz-openssl-provider", "--locked", "--test", "cycle", "--no-run"]);
    run(build)?;
    let mut lost = Vec::new();
    for subject in ["default", "zariz"] {
        // Cargo runs the test program by valgrind.
        let mut cargo =
            cargo(&["test", "--package", "zariz-openssl-provider", "--locked", "--test", "cycle"]);
        let log = root().join(format!("target/valgrind-{subject}.txt"));
        let valgrind = format!(
            "valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=none \
             --log-file={}",
            log.display()
        );
        cargo.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", valgrind).env("ZARIZ_SUBJECT", subject);
        // OpenSSL must not use what valgrind does not support.
        cargo.env("OPENSSL_ia32cap", "~0x200000000000000:~0xffffffffffffffff");
        run(cargo).with_context(|| format!("by valgrind; what it found is in {}", log.display()))?;
        let found = std::fs::read_to_string(&log).with_context(|| format!("{}", log.display()))?;
        let blocks = found.lines().filter(|line| line.contains("definitely lost in loss record")).count();
        println!("{subject}: {blocks} places where memory is definitely lost ({})", log.display());
        lost.push(blocks);
    }
    if lost[1] > lost[0] {
        bail!("zariz loses memory where OpenSSL's own provider does not");
    }
    Ok(())
}
