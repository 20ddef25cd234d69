//! The module for OpenSSL is the same file, bit for bit, wherever it is built: two clones of the last commit,
//! in folders whose names differ in length, and with cargo's own folder at two places.
//!
//! Both run the commands of docs/openssl.md. Panic messages name source files: those of our crates are
//! relative to the repository, those of the standard library are of its makers, and those of other crates
//! begin with cargo's folder. So the page gives the compiler another name for that, by an option that a
//! stable cargo takes from nowhere but the environment: its configuration cannot name a user's folder. Cargo
//! leaves the option out of the hashes that become part of symbols.

use anyhow::{Context, Result, bail, ensure};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::module;
use crate::process::{command, empty_folder, output, root, run};

/// The names of the two folders.
const FOLDERS: [&str; 2] = ["a", "another-folder"];
/// The page that says how to build the module.
const PAGE: &str = "docs/openssl.md";
/// What would change the module, and is not in the repository.
const FOREIGN: [&str; 5] =
    ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTC_WRAPPER"];

/// Builds both and compares them.
pub fn check() -> Result<()> {
    let base = root().join("target/reproducible");
    empty_folder(&base)?;
    if !output(command("git", &["status", "--porcelain"]))?.is_empty() {
        println!("changes that are not committed are not in what is built");
    }
    let home = cargo_home()?;
    let other = base.join("home");
    mirror(&home, &other)?;
    let folders = FOLDERS.map(|name| base.join(name));
    // Both before the first is built: a commit in the meantime must not come between them.
    for folder in &folders {
        run(command("git", &["clone", "--quiet", &root().to_string_lossy(), &folder.to_string_lossy()]))
            .context("cannot copy the repository")?;
    }
    let (first, second) = (build(&folders[0], &home)?, build(&folders[1], &other)?);
    for module in [&first, &second] {
        print!("{}", output(command("sha256sum", &[&module.to_string_lossy()]))?);
    }
    let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let modules = [read(&first)?, read(&second)?];
    if let Some(place) = [&home, &other, &base.to_path_buf()].into_iter().find(|place| names(&modules, place))
    {
        bail!(
            "the module names {}, a folder of this machine: the compiler needs another name for it",
            place.display()
        );
    }
    if modules[0] != modules[1] {
        let at = modules[0].iter().zip(&modules[1]).position(|(a, b)| a != b);
        bail!(
            "they differ, first at byte {at:?} (`diffoscope {} {}` shows how)",
            first.display(),
            second.display()
        );
    }
    println!("the same file, of {} bytes", modules[0].len());
    Ok(())
}

/// Where cargo keeps the sources of other crates.
pub fn cargo_home() -> Result<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    home.context("there is no home directory; CARGO_HOME can name cargo's folder")
}

/// Another folder with the same contents.
fn mirror(home: &Path, other: &Path) -> Result<()> {
    fs::create_dir(other)?;
    for entry in fs::read_dir(home).with_context(|| format!("cannot list {}", home.display()))? {
        let entry = entry?;
        symlink(entry.path(), other.join(entry.file_name()))?;
    }
    Ok(())
}

/// Builds the module in a folder, by the page in it, and tells where it is.
fn build(folder: &Path, home: &Path) -> Result<PathBuf> {
    let page = fs::read_to_string(folder.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let mut build = command("bash", &["-exc", &documented(&page)?]);
    FOREIGN.iter().for_each(|name| _ = build.env_remove(name));
    build.current_dir(folder).env("CARGO_HOME", home).env_remove("CARGO_TARGET_DIR");
    run(build)?;
    Ok(module::in_target(&folder.join("target")))
}

/// The lines of the page that build the module, and the one before, which sets what the compiler is told.
fn documented(page: &str) -> Result<String> {
    let before = page.lines().zip(page.lines().skip(1)).find(|(_, line)| *line == module::BUILD);
    let (flags, build) = before.with_context(|| format!("{PAGE} has no line `{}`", module::BUILD))?;
    ensure!(
        flags.starts_with("export RUSTFLAGS="),
        "{PAGE} sets no flags before `{build}`, but has {flags:?}"
    );
    Ok(format!("{flags}\n{build}"))
}

/// Whether one of the modules has the path in it.
fn names(modules: &[Vec<u8>; 2], place: &Path) -> bool {
    let place = place.as_os_str().as_encoded_bytes();
    modules.iter().any(|module| module.windows(place.len()).any(|window| window == place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_how_to_build() {
        let page = fs::read_to_string(root().join(PAGE)).unwrap();
        assert!(documented(&page).unwrap().lines().eq([
            "export RUSTFLAGS=\"--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo\"",
            module::BUILD
        ]));
        assert!(documented("").is_err() && documented(&format!("```sh\n{}", module::BUILD)).is_err());
    }
}
