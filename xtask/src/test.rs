//! `cargo xtask test`: what must hold before a change goes in, in order, up to the first failure. What takes
//! long and rarely finds anything new is apart: `cargo xtask test long`.

use anyhow::{Context, Result};
use std::time::Instant;

use crate::process::{cargo, run as run_command};
use crate::{
    api, archives, codegen, dependencies, dist, emulated, faults, fuzz, hidden, java, layers, msrv, newest,
    packages, proof, python, secrets, servers, site, soak, suite, supply, tables,
};

/// One step.
pub struct Step {
    pub name: &'static str,
    what: &'static str,
    /// Whether it is among the long ones.
    long: bool,
    run: fn() -> Result<()>,
}

/// All steps, cheap ones first.
pub const STEPS: &[Step] = &[
    Step { name: "packages", what: "programs that tests call", long: false, run: packages::install },
    Step { name: "format", what: "cargo fmt --check", long: false, run: format },
    Step { name: "clippy", what: "clippy, warnings as errors", long: false, run: clippy },
    Step { name: "docs", what: "cargo doc, warnings as errors", long: false, run: docs },
    Step { name: "msrv", what: "the oldest compiler promised", long: false, run: msrv::check },
    Step {
        name: "layers",
        what: "who may depend on whom, and where unsafe may be",
        long: false,
        run: layers::check,
    },
    Step {
        name: "dependencies",
        what: "docs/dependencies.md lists them all; their licences and sources",
        long: false,
        run: || dependencies::check().and_then(|()| supply::check()),
    },
    Step { name: "api", what: "the public API is the one in docs/api", long: false, run: api::check },
    Step { name: "site", what: "the documentation site and its links", long: true, run: site::build },
    Step { name: "features", what: "the library with fewer features", long: true, run: features },
    Step { name: "tests", what: "unit, property, vector, CLI and doc tests", long: false, run: tests },
    Step {
        name: "commands",
        what: "docs/commands.md is the program's help",
        long: false,
        run: site::check_commands,
    },
    Step { name: "fuzz", what: "the fuzz targets on their small corpus", long: true, run: fuzz::replay },
    Step { name: "servers", what: "the servers of examples/servers", long: true, run: servers::check },
    Step { name: "newest", what: "the provider in the newest OpenSSL", long: true, run: newest::tests },
    Step {
        name: "emulated",
        what: "the code for AVX512-IFMA and AVX-IFMA, emulated",
        long: true,
        run: emulated::tests,
    },
    Step {
        name: "python",
        what: "the Python package: its wheel, tests and types",
        long: false,
        run: python::tests,
    },
    Step {
        name: "java",
        what: "the package for Java, on each Java that is installed",
        long: false,
        run: java::tests,
    },
    Step {
        name: "narrower",
        what: "tests again, as on a processor with AVX2 or without vectors",
        long: false,
        run: hidden::narrower,
    },
    Step {
        name: "processors",
        what: "tests again, as on every other kind of processor",
        long: true,
        run: hidden::every,
    },
    Step {
        name: "cluster",
        what: "the Python package on a cluster, its archives, and PyJWT's own tests with it",
        long: true,
        run: python::cluster,
    },
    Step {
        name: "soak",
        what: "haproxy, asynchronous jobs and requests, for some minutes",
        long: true,
        run: soak::check,
    },
    Step { name: "proof", what: "the assembly, proved for all inputs", long: true, run: proof::check },
    Step {
        name: "archives",
        what: "published crates, built from what crates.io would get",
        long: true,
        run: archives::check,
    },
    Step {
        name: "dist",
        what: "what people install, made, and used on systems without Rust",
        long: true,
        run: dist::check,
    },
    Step { name: "faults", what: "flipped bits reveal no key", long: true, run: faults::check },
    Step {
        name: "tables",
        what: "intervals, counts, and the tables made of them",
        long: false,
        run: tables::check,
    },
    Step {
        name: "secrets",
        what: "no branch or address that depends on a secret",
        long: false,
        run: secrets::check,
    },
    Step { name: "codegen", what: "what the kernels compile to", long: false, run: codegen::check },
    Step {
        name: "avx512",
        what: "nothing depends on secrets in code for a processor with AVX-512",
        long: true,
        run: || codegen::for_processors(&["sapphirerapids"]),
    },
];

/// The name of all long steps together.
pub const LONG: &str = "long";

/// The steps, a line for each.
pub fn list() -> String {
    let line = |step: &Step| {
        format!("  {:<12} {}{}\n", step.name, step.what, if step.long { " (long)" } else { "" })
    };
    STEPS.iter().map(line).collect()
}

/// Runs the named steps, or all short ones if none is named.
pub fn run(names: &[&str]) -> Result<()> {
    let is_chosen = |step: &&Step| names.contains(&step.name) || names.contains(&LONG) && step.long;
    let chosen = || STEPS.iter().filter(|step| if names.is_empty() { !step.long } else { is_chosen(step) });
    let (count, start) = (chosen().count(), Instant::now());
    for (i, step) in chosen().enumerate() {
        println!("== {}/{count} {}: {}", i + 1, step.name, step.what);
        let start = Instant::now();
        let result = (step.run)();
        let outcome = if result.is_ok() { "passed" } else { "FAILED" };
        println!("== {} {outcome} in {}\n", step.name, seconds(start));
        result.with_context(|| {
            format!(
                "step {}/{count}, {}, failed (`cargo xtask test {}` repeats only this step)",
                i + 1,
                step.name,
                step.name
            )
        })?;
    }
    println!("== all {count} steps passed in {}", seconds(start));
    Ok(())
}

fn seconds(start: Instant) -> String {
    format!("{:.1} s", start.elapsed().as_secs_f64())
}

fn format() -> Result<()> {
    run_command(cargo(&["fmt", "--all", "--check"])).context(
        "the code is not formatted (`cargo fmt --all` does it), or rustfmt is missing (`rustup component add rustfmt`)",
    )
}

fn clippy() -> Result<()> {
    run_command(cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))
        .context("clippy found errors, or is missing (`rustup component add clippy`)")
}

fn docs() -> Result<()> {
    let mut cargo = cargo(&["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
    cargo.env("RUSTDOCFLAGS", "-D warnings");
    run_command(cargo).context("the documentation has errors")
}

/// The library compiles with each smaller set of features, and works with none; the step `tests` has them
/// all.
fn features() -> Result<()> {
    let set = ["--locked", "-p", "zariz", "--no-default-features"];
    for features in ["", "primes", "rsa"] {
        let mut clippy = cargo(&["clippy", "--all-targets"]);
        clippy.args(set).args(["--features", features, "--", "-D", "warnings"]);
        run_command(clippy)?;
    }
    let mut tests = cargo(&["test", "--lib"]);
    tests.args(set);
    run_command(tests)
}

fn tests() -> Result<()> {
    packages::check()?;
    suite::run(suite::programs(&[], None)?)?;
    run_command(cargo(&["test", "--workspace", "--locked", "--doc"]))
}
