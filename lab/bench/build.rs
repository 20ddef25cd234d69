//! Tells the program what it was built from: the versions of the peers (from `Cargo.lock`), zariz's commit
//! and the compiler. The values arrive as environment variables read with `env!`.

use std::path::Path;
use std::process::Command;

/// Peers whose crate version is shown, by crate name.
const PEERS: [&str; 9] =
    ["openssl", "aws-lc-rs", "ring", "graviola", "rsa", "rug", "blst", "ark-bls12-381", "num-bigint"];

/// What decides the measured code; results and documents do not.
const SOURCES: [&str; 7] = [
    "crates",
    "Cargo.toml",
    "Cargo.lock",
    "lab/bench/src",
    "lab/bench/build.rs",
    "lab/bench/Cargo.toml",
    "lab/bench/Cargo.lock",
];
/// The root of the repository, where these are.
const ROOT: &str = "../..";

fn main() {
    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    for peer in PEERS {
        let variable = peer.replace('-', "_").to_uppercase();
        let version = locked_version(&lock, peer).unwrap_or_else(|| "unknown".into());
        println!("cargo::rustc-env=VERSION_OF_{variable}={version}");
    }
    println!("cargo::rustc-env=ZARIZ_COMMIT={}", commit());
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let compiler = output(Command::new(rustc).arg("--version")).unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=COMPILER={compiler}");

    // A path that is not there would make Cargo run this script every time.
    for path in SOURCES.into_iter().chain([".git/HEAD", ".git/index", ".git/logs/HEAD"]) {
        let path = Path::new(ROOT).join(path);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}

/// The version of this package's own dependency `name`. Two versions of a crate may be locked; then the list
/// of our own dependencies says which one is ours, as `"name version"`.
fn locked_version(lock: &str, name: &str) -> Option<String> {
    let ours = lock.split("[[package]]").find(|package| package.contains("name = \"zariz-bench\""))?;
    let quoted = |line: &str| Some(line.trim().trim_end_matches(',').trim_matches('"').to_owned());
    let dependency = ours.lines().filter_map(quoted).find(|line| line.split(' ').next() == Some(name))?;
    if let Some((_, version)) = dependency.split_once(' ') {
        return Some(version.to_owned());
    }
    let package =
        lock.split("[[package]]").find(|package| package.contains(&format!("name = \"{name}\"\n")))?;
    let version = package.lines().find_map(|line| line.strip_prefix("version = "))?;
    Some(version.trim_matches('"').to_owned())
}

/// Short commit of the measured sources, with "-dirty" when they differ from it.
fn commit() -> String {
    let Some(commit) = output(Command::new("git").args(["rev-parse", "--short", "HEAD"])) else {
        return "unknown".into();
    };
    let mut status = Command::new("git");
    status.current_dir(ROOT).args(["status", "--porcelain", "--"]).args(SOURCES);
    match output(&mut status) {
        Some(changes) if changes.is_empty() => commit,
        _ => commit + "-dirty",
    }
}

/// Standard output of a command that succeeded.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
