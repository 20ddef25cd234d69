//! The oldest compiler promised (`rust-version` of the workspace) is enough for what we ship and what that
//! depends on.
//!
//! Our own code is held to it by clippy's `incompatible_msrv`, which the workspace denies.

use anyhow::{Context, Result, bail};

use crate::layers::SHIPPED;
use crate::metadata::Graph;
use crate::process::{command, output, run, works};

/// Checks the dependencies' own promises, and builds with the promised compiler where it is installed.
pub fn check() -> Result<()> {
    let graph = Graph::read()?;
    let shipped =
        graph.0.values().find(|p| p.name == "zariz").context("the workspace has no package zariz")?;
    let promise = shipped.rust_version.clone().context("zariz states no rust-version")?;
    let promised = parse(&promise)?;

    let mut too_new = Vec::new();
    let (normal, dev) =
        (graph.closure(|p| SHIPPED.contains(&p.name.as_str()), false), graph.closure(|_| true, true));
    let mut silent = 0;
    for id in &dev {
        let package = &graph.0[*id];
        let Some(version) = &package.rust_version else {
            silent += usize::from(normal.contains(id));
            continue;
        };
        if parse(version).with_context(|| format!("rust-version of {}", package.name))? > promised {
            let line = format!("{} {} needs Rust {version}", package.name, package.version);
            if normal.contains(id) {
                too_new.push(line)
            } else {
                println!("for tests and tools only: {line}")
            }
        }
    }
    if !too_new.is_empty() {
        bail!(
            "we promise Rust {promise}, but:\n  {}\nTake an older version (`cargo update -p NAME --precise VERSION`), or raise \
             rust-version in Cargo.toml and say so in CHANGELOG.md.",
            too_new.join("\n  ")
        );
    }
    println!(
        "Rust {promise} is enough for the {} packages that are shipped, by their rust-version ({silent} have none)",
        normal.len()
    );
    match installed(promised)? {
        Some(toolchain) => {
            println!("building with {toolchain}");
            let target = "--target-dir=target/msrv";
            run(command("rustup", &["run", &toolchain, "cargo", "check", "--workspace", "--locked", target]))
        }
        None => {
            println!("not built with Rust {promise}: not installed (`rustup toolchain install {promise}`)");
            Ok(())
        }
    }
}

/// The name of an installed toolchain of exactly this version.
fn installed(version: [u64; 3]) -> Result<Option<String>> {
    if !works("rustup", &["--version"]) {
        return Ok(None);
    }
    let list = output(command("rustup", &["toolchain", "list"]))?;
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    Ok(names
        .into_iter()
        .find(|name| parse(name.split('-').next().unwrap_or("")).is_ok_and(|v| v == version))
        .map(str::to_owned))
}

/// `1.89` and `1.89.0` are the same.
fn parse(version: &str) -> Result<[u64; 3]> {
    let mut out = [0; 3];
    let mut parts = version.split('.');
    for (out, part) in out.iter_mut().zip(&mut parts) {
        *out = part.parse().with_context(|| format!("{version:?} is not a version"))?;
    }
    if parts.next().is_some() {
        bail!("{version:?} is not a version");
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert_eq!(parse("1.89").unwrap(), parse("1.89.0").unwrap());
        assert!(parse("1.9").unwrap() < parse("1.89").unwrap());
        assert!(parse("stable").is_err() && parse("").is_err() && parse("1.2.3.4").is_err());
    }
}
