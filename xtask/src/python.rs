//! The Python package (`python/`): its wheel, installed in a virtual environment of its own, and its tests.
//!
//! It is a workspace of its own, which nothing else needs. Its results are in target/python, the environment
//! in target/python-venv.

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::process::Command;

use crate::dist::MATURIN;
use crate::process::{cargo, command, empty_folder, output, root, run, works};
use crate::{suite, supply};

/// The oldest version that the package promises.
const IS_NEW_ENOUGH: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
const PYTHON: &str = "target/python-venv/bin/python";
const WHEELS: &str = "target/python/wheels";

/// Builds the wheel, installs it and runs its tests, but for those of clusters.
pub fn tests() -> Result<()> {
    supply::check_manifest("python/Cargo.toml", "python/deny.toml")?;
    run(in_python(&["fmt", "--check"]))
        .context("the code of python/ is not formatted (`cargo fmt` there does it)")?;
    run(in_python(&["clippy", "--all-targets", "--locked", "--", "-D", "warnings"]))?;
    install("test")?;
    let types = command(PYTHON, &["-m", "mypy", "--strict", "-p", "zariz"]);
    let stubs = ["-m", "mypy.stubtest", "zariz", "--allowlist", "python/tests/stubtest-allowed.txt"];
    suite::run(vec![
        ("the Python package".into(), package_tests()),
        ("its types".into(), types),
        ("its stubs".into(), command(PYTHON, &stubs)),
    ])
}

/// The package's tests, without those of clusters. The wheel must be installed.
pub fn package_tests() -> Command {
    pytest(&["--ignore=python/tests/test_cluster.py", "python/tests"])
}

/// The programs of docs/cluster.md on a cluster of this machine, columns of other libraries, and PyJWT's own
/// tests; and what is published: the wheel's platform, and the source archive.
pub fn cluster() -> Result<()> {
    // Where it is missing, pytest skips the test of Spark.
    ensure!(
        works("java", &["-version"]),
        "Spark needs Java (on Debian: apt-get install -y default-jre-headless)"
    );
    let wheel = install("test,cluster")?;
    run(pytest(&["python/tests/test_cluster.py", "python/tests/test_arrow.py"]))?;
    pyjwts_own()?;
    if cfg!(target_os = "linux") {
        run(command(PYTHON, &["-m", "auditwheel", "show", &wheel]))?;
    }
    source_archive()
}

/// Makes a virtual environment there, of a Python that is new enough for the package.
pub fn environment(folder: &str) -> Result<()> {
    let names = ["python3.11", "python3.12", "python3.13", "python3.14", "python3"];
    let Some(python) = names.into_iter().find(|name| works(name, &["-c", IS_NEW_ENOUGH])) else {
        bail!("there is no Python of version 3.11 or newer with venv (on Debian: python3-venv)");
    };
    run(command(python, &["-m", "venv", folder]))
}

/// Builds the wheel, and installs it with what the extras name, in an environment of its own: the wheel's
/// place.
fn install(extras: &str) -> Result<String> {
    environment("target/python-venv")?;
    if !pip(&[MATURIN]) {
        bail!("maturin cannot be installed, as pip says above");
    }
    let wheel = build(&["build", "--release"], ".whl")?;
    if !pip(&["--force-reinstall", "--no-deps", &wheel]) {
        bail!("pip does not install {wheel}");
    }
    if !pip(&[&format!("{wheel}[{extras}]")]) {
        bail!("what the tests need cannot be installed, as pip says above; the wheel was built, not tested");
    }
    Ok(wheel)
}

/// Runs `pip install`; whether it could.
fn pip(arguments: &[&str]) -> bool {
    let install = [&["-m", "pip", "install", "--quiet"], arguments].concat();
    command(PYTHON, &install).status().is_ok_and(|status| status.success())
}

/// These tests. Not from python/: there, `import zariz` would find the source.
fn pytest(arguments: &[&str]) -> Command {
    let start = ["-X", "dev", "-m", "pytest", "-q", "-c", "python/pyproject.toml", "--rootdir", "python"];
    command(PYTHON, &[&start[..], arguments].concat())
}

/// PyJWT's own tests, which are in its source archive, on zariz's algorithms.
fn pyjwts_own() -> Result<()> {
    let version = output(command(PYTHON, &["-c", "import jwt; print(jwt.__version__, end='')"]))?;
    let (folder, wanted) = ("target/python/pyjwt", format!("PyJWT=={version}"));
    let download =
        ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "PyJWT", "--dest", folder, &wanted];
    run(command(PYTHON, &download))?;
    let name = format!("{folder}/pyjwt-{version}");
    run(command(PYTHON, &["-m", "tarfile", "-e", &format!("{name}.tar.gz"), folder]))?;
    let tests = format!("{name}/tests");
    let mut pytest = command(PYTHON, &["-m", "pytest", "-q", "--rootdir", &name, "-p", "pyjwts_own", &tests]);
    pytest.env("PYTHONPATH", "python/tests");
    run(pytest)
}

/// Installs the package from its source archive, as pip does where there is no wheel, and runs the documents'
/// examples.
fn source_archive() -> Result<()> {
    let archive = build(&["sdist"], ".tar.gz")?;
    let mut install =
        command(PYTHON, &["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", &archive]);
    install.env("CARGO_TARGET_DIR", root().join("target/python/sdist"));
    run(install).with_context(|| format!("pip does not install {archive}"))?;
    run(pytest(&["python/tests/test_docs.py"]))
}

/// Runs maturin; the newest file with that ending that it leaves.
fn build(arguments: &[&str], ending: &str) -> Result<String> {
    let wheels = root().join(WHEELS);
    empty_folder(&wheels)?;
    let mut maturin = command(PYTHON, &["-m", "maturin"]);
    maturin.args(arguments).args(["--manifest-path", "python/Cargo.toml", "--out", WHEELS]);
    if ending == ".whl" {
        maturin.args(["--target-dir", "target/python"]);
    }
    run(maturin)?;
    let files = fs::read_dir(&wheels).with_context(|| format!("cannot read {WHEELS}"))?;
    let names: Vec<String> = files
        .filter_map(|file| Some(file.ok()?.file_name().to_string_lossy().into_owned()))
        .filter(|name| name.ends_with(ending))
        .collect();
    ensure!(names.len() == 1, "maturin left {names:?} in {WHEELS}, not one file that ends with {ending}");
    Ok(format!("{WHEELS}/{}", names[0]))
}

fn in_python(arguments: &[&str]) -> Command {
    let (name, rest) = arguments.split_first().unwrap_or((&"help", &[]));
    let mut cargo = cargo(&[name, "--manifest-path=python/Cargo.toml"]);
    cargo.args(rest);
    if *name != "fmt" {
        cargo.env("CARGO_TARGET_DIR", root().join("target/python"));
    }
    cargo
}
