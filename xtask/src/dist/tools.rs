//! The tools that make and check what people install, each at one version, in target/tools.

use anyhow::{Context, Result};
use std::env;
use std::process::Command;

use crate::process::{cargo, command, output, root, run};
use crate::python;

/// Builds the Python package. Its tests use it too.
pub const MATURIN: &str = "maturin==1.16.0";
/// zig links with an old glibc, for cargo by cargo-zigbuild; auditwheel tells which systems a wheel is for.
const FROM_PYTHON: &[&str] = &[MATURIN, "ziglang==0.17.1", "cargo-zigbuild==0.24.1", "auditwheel==6.8.2"];
/// Makes Debian packages.
const CARGO_DEB: &str = "3.8.0";
/// Checks workflows; a program in Go.
const ACTIONLINT: &str = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12";

const FOLDER: &str = "target/tools";
const ENVIRONMENT: &str = "target/tools/python";

/// Installs those of other versions than these, or none.
pub fn install() -> Result<()> {
    python::environment(ENVIRONMENT)?;
    let pip = ["-m", "pip", "install", "--quiet"];
    run(tool("python", &[&pip, FROM_PYTHON].concat())?)?;
    // Does nothing where that version is there.
    run(cargo(&["install", "--quiet", "--locked", "--root", FOLDER, "cargo-deb", "--version", CARGO_DEB]))
}

/// One of them, with the others to be found by it.
pub fn tool(name: &str, arguments: &[&str]) -> Result<Command> {
    let ours = [ENVIRONMENT, FOLDER].map(|folder| root().join(folder).join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(ours.iter().cloned().chain(env::split_paths(&path)))
        .context("the name of this folder must have no colon")?;
    let file = ours.iter().map(|folder| folder.join(name)).find(|file| file.exists());
    let mut tool = command(&file.unwrap_or_else(|| name.into()).to_string_lossy(), arguments);
    tool.env("PATH", path);
    Ok(tool)
}

/// Checks .github/workflows.
pub fn actionlint() -> Result<()> {
    run(command("go", &["run", ACTIONLINT])).context(
        "actionlint says above what is wrong with .github/workflows, or there is no Go that can build it",
    )
}

/// The platform of a wheel, in auditwheel's words.
pub fn auditwheel(wheel: &str) -> Result<String> {
    output(tool("auditwheel", &["show", wheel])?)
}
