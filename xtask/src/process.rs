//! Running other programs from the root of the repository.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the root")
}

/// A program to be run in the root of the repository.
pub fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Makes a folder without anything that an earlier run has left.
pub fn empty_folder(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// The cargo that runs us. It compiles no test as ignored because a program is missing: see `lab/needs`.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()), arguments);
    cargo.env("ZARIZ_REQUIRE_TOOLS", "1");
    cargo
}

/// A cargo of the nightly toolchain.
pub fn nightly(arguments: &[&str]) -> Command {
    let mut cargo = command("rustup", &["run", "nightly", "cargo"]);
    // Not those of the toolchain that runs us.
    cargo
        .args(arguments)
        .env_remove("RUSTC")
        .env_remove("RUSTDOC")
        .env_remove("CARGO")
        .env_remove("RUSTUP_TOOLCHAIN");
    cargo
}

/// A program of which nothing runs on: not past so many seconds (status 124), nor beside a child of its, nor
/// when the reader interrupts us. bash gives it a process group (`set -m`), and kills what is left of that.
pub fn limited(seconds: u32, program: &str, arguments: &[&str]) -> Command {
    const SCRIPT: &str = r#"set -m
        timeout --foreground --kill-after=10 "$@" & group=$!
        trap 'kill -KILL -- "-$group" 2>/dev/null' EXIT
        trap 'exit 130' INT TERM
        wait "$group""#;
    let mut bash = command("bash", &["-c", SCRIPT, "bash", &seconds.to_string(), program]);
    bash.args(arguments);
    bash
}

/// Runs a command whose output the reader shall see.
pub fn run(mut command: Command) -> Result<()> {
    let shown = show(&command);
    let status = command.status().with_context(|| format!("cannot run `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Runs a command for its standard output.
pub fn output(mut command: Command) -> Result<String> {
    let shown = show(&command);
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed ({})", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` printed something that is not UTF-8"))
}

/// Whether a program is there and answers.
pub fn works(program: &str, arguments: &[&str]) -> bool {
    command(program, arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn show(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program()).to_string_lossy().into_owned();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(program).chain(arguments).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output ends when nobody can write to it any more.
    #[test]
    fn no_child_of_a_limited_program_runs_on() {
        for (seconds, then, status) in [(600, "exit 3", 3), (1, "sleep 60", 124)] {
            let script = format!("echo begun; (sleep 60; echo survived) & {then}");
            let output = limited(seconds, "sh", &["-c", &script]).stdin(Stdio::null()).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), "begun\n");
            assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
