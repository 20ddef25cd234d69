//! `cargo xtask test`: the tests, in order, up to the first failure. `cargo xtask test ci` has all that must
//! hold before a change goes in. What takes long and rarely finds anything new is apart: `cargo xtask test
//! long`.

use anyhow::{Context, Result};
use std::panic::resume_unwind;
use std::thread;
use std::time::Instant;

use crate::process::{cargo, run as run_command};
use crate::{
    api, archives, arm, codegen, dependencies, dist, emulated, faults, fuzz, go, hidden, java, layers, msrv,
    newest, packages, proof, python, secrets, servers, site, soak, suite, supply, tables,
};
use suite::{Of, Which};

/// One step.
pub struct Step {
    pub name: &'static str,
    what: &'static str,
    when: When,
    run: fn() -> Result<()>,
}

/// When a step runs, if it is not named.
#[derive(Clone, Copy, PartialEq)]
enum When {
    /// Always.
    Always,
    /// Before a change goes in.
    Ci,
    /// Before a release.
    Long,
}

/// All steps, cheap ones first.
pub const STEPS: &[Step] = &[
    Step { name: "packages", what: "programs that tests call", when: When::Always, run: packages::install },
    Step { name: "format", what: "cargo fmt --check", when: When::Always, run: format },
    Step { name: "clippy", what: "clippy, warnings as errors", when: When::Always, run: clippy },
    Step { name: "docs", what: "cargo doc, warnings as errors", when: When::Always, run: docs },
    Step { name: "msrv", what: "the oldest compiler promised", when: When::Always, run: msrv::check },
    Step {
        name: "layers",
        what: "who may depend on whom, and where unsafe may be",
        when: When::Always,
        run: layers::check,
    },
    Step {
        name: "dependencies",
        what: "docs/dependencies.md lists them all; their licences and sources",
        when: When::Always,
        run: || dependencies::check().and_then(|()| supply::check()),
    },
    Step { name: "api", what: "the public API is the one in docs/api", when: When::Always, run: api::check },
    Step { name: "site", what: "the documentation site and its links", when: When::Long, run: site::build },
    Step { name: "features", what: "the library with fewer features", when: When::Ci, run: features },
    Step {
        name: "python",
        what: "the Python package: its wheel, tests and types",
        when: When::Ci,
        run: python::tests,
    },
    Step { name: "tests", what: "unit, property, CLI and doc tests", when: When::Always, run: tests },
    Step {
        name: "slow",
        what: "tests that take a minute or more: each engine on each vector, servers, papers",
        when: When::Ci,
        run: slow,
    },
    Step {
        name: "commands",
        what: "docs/commands.md is the program's help",
        when: When::Ci,
        run: site::check_commands,
    },
    Step {
        name: "fuzz",
        what: "the fuzz targets on their small corpus",
        when: When::Long,
        run: fuzz::replay,
    },
    Step { name: "servers", what: "the servers of examples/servers", when: When::Long, run: servers::check },
    Step { name: "newest", what: "the provider in the newest OpenSSL", when: When::Long, run: newest::tests },
    Step {
        name: "emulated",
        what: "the code for AVX512-IFMA and AVX-IFMA, emulated",
        when: When::Long,
        run: emulated::tests,
    },
    Step {
        name: "arm",
        what: "on 64-bit Arm, under qemu; the assembly for it is proved",
        when: When::Long,
        run: arm::tests,
    },
    Step { name: "go", what: "the Go module, with the engine and without", when: When::Ci, run: go::tests },
    Step {
        name: "java",
        what: "the package for Java, on each Java that is installed",
        when: When::Ci,
        run: java::tests,
    },
    Step {
        name: "narrower",
        what: "tests again, as on a processor with AVX2 or without vectors",
        when: When::Ci,
        run: hidden::narrower,
    },
    Step {
        name: "processors",
        what: "tests again, as on every other kind of processor",
        when: When::Long,
        run: hidden::every,
    },
    Step {
        name: "cluster",
        what: "the Python package on a cluster, its archives, and PyJWT's own tests with it",
        when: When::Long,
        run: python::cluster,
    },
    Step {
        name: "soak",
        what: "haproxy, asynchronous jobs and requests, for some minutes",
        when: When::Long,
        run: soak::check,
    },
    Step { name: "proof", what: "the assembly, proved for all inputs", when: When::Long, run: proof::check },
    Step {
        name: "archives",
        what: "published crates, built from what crates.io would get",
        when: When::Long,
        run: archives::check,
    },
    Step {
        name: "dist",
        what: "what people install, made, and used on systems without Rust",
        when: When::Long,
        run: dist::check,
    },
    Step { name: "faults", what: "flipped bits reveal no key", when: When::Long, run: faults::check },
    Step {
        name: "tables",
        what: "intervals, counts, and the tables made of them",
        when: When::Ci,
        run: tables::check,
    },
    Step {
        name: "secrets",
        what: "no branch or address that depends on a secret",
        when: When::Ci,
        run: secrets::check,
    },
    Step { name: "codegen", what: "what the kernels compile to", when: When::Ci, run: codegen::check },
    Step {
        name: "avx512",
        what: "nothing depends on secrets in code for a processor with AVX-512",
        when: When::Long,
        run: || codegen::for_processors(&["sapphirerapids"]),
    },
];

/// Steps that run side by side, if both are chosen: each compiles, in a folder of its own, a crate or two that
/// occupy one processor for a minute.
const SIDE_BY_SIDE: &[[&str; 2]] = &[["features", "python"], ["secrets", "codegen"]];

/// The names of steps together: those before a change goes in, and the long ones.
pub const CI: &str = "ci";
pub const LONG: &str = "long";

/// The steps, a line for each.
pub fn list() -> String {
    let line = |step: &Step| {
        let when = match step.when {
            When::Always => "",
            When::Ci => " (ci)",
            When::Long => " (long)",
        };
        format!("  {:<12} {}{when}\n", step.name, step.what)
    };
    STEPS.iter().map(line).collect()
}

/// Runs the named steps, or those that always run if none is named.
pub fn run(names: &[&str]) -> Result<()> {
    let has = |name| names.contains(&name);
    let is_chosen = |step: &&Step| match step.when {
        _ if has(step.name) => true,
        When::Always => names.is_empty() || has(CI),
        When::Ci => has(CI),
        When::Long => has(LONG),
    };
    let chosen: Vec<_> = STEPS.iter().filter(is_chosen).enumerate().collect();
    let (count, start) = (chosen.len(), Instant::now());
    for together in chosen.chunk_by(|(_, a), (_, b)| SIDE_BY_SIDE.contains(&[a.name, b.name])) {
        let results: Vec<Result<()>> = thread::scope(|scope| {
            let running: Vec<_> =
                together.iter().map(|&(i, step)| scope.spawn(move || run_one(step, i + 1, count))).collect();
            running.into_iter().map(|it| it.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        let mut errors = results.into_iter().filter_map(Result::err);
        if let Some(first) = errors.next() {
            errors.for_each(|error| eprintln!("xtask: {error:#}"));
            return Err(first);
        }
    }
    println!("== all {count} steps passed in {}", seconds(start));
    Ok(())
}

fn run_one(step: &Step, number: usize, count: usize) -> Result<()> {
    let Step { name, what, .. } = step;
    println!("== {number}/{count} {name}: {what}");
    let start = Instant::now();
    let result = (step.run)();
    let outcome = if result.is_ok() { "passed" } else { "FAILED" };
    println!("== {name} {outcome} in {}\n", seconds(start));
    result.with_context(|| {
        format!("step {number}/{count}, {name}, failed (`cargo xtask test {name}` repeats only this step)")
    })
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
    suite::run(suite::programs(Of::All, Which::Quick, None)?)?;
    run_command(cargo(&["test", "--workspace", "--locked", "--exclude", tables::ANALYSIS, "--doc"]))
}

fn slow() -> Result<()> {
    packages::check()?;
    suite::run(suite::programs(Of::All, Which::Slow, None)?)
}
