//! The public API of the libraries that people build on, as lists in docs/api: a change of it shows in a
//! diff. So does one of libzariz's header, which `crates/capi/tests/header.rs` compares.

use anyhow::{Context, Result, bail};
use public_api::{Builder, MINIMUM_NIGHTLY_RUST_VERSION};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::process::{cargo, root, run};

/// The libraries, and the features that are not on by default and belong to their API.
const LIBRARIES: [(&str, &str); 2] = [("zariz", "encryption"), ("zariz-bls12-381", "")];
/// The format of rustdoc's JSON that `public-api` reads.
const FORMAT: u64 = 57;

/// Compares the lists with the code.
pub fn check() -> Result<()> {
    let mut changes = Vec::new();
    for (library, features) in LIBRARIES {
        let Some(now) = list(library, features)? else { return Ok(()) };
        let before = fs::read_to_string(file(library)).unwrap_or_default();
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<String>>();
        let (old, new) = (lines(&before), lines(&now));
        changes.extend(old.difference(&new).map(|line| format!("- {line}")));
        changes.extend(new.difference(&old).map(|line| format!("+ {line}")));
        println!("{library}: {} public items", new.len());
    }
    if !changes.is_empty() {
        bail!(
            "the public API has changed:\n{}\nIf that is meant, `cargo xtask api` writes docs/api again; say so in CHANGELOG.md.",
            changes.join("\n")
        );
    }
    Ok(())
}

/// Writes the lists and the header.
pub fn write() -> Result<()> {
    let mut header = cargo(&["test", "--locked", "-p", "zariz-capi", "--test", "header"]);
    run({
        header.env("ZARIZ_BLESS", "1");
        header
    })?;
    let copy = "go/zariz.h";
    fs::copy(root().join("crates/capi/include/zariz.h"), root().join(copy))
        .with_context(|| format!("cannot write {copy}"))?;
    for (library, features) in LIBRARIES {
        let Some(now) = list(library, features)? else { bail!("docs/api is unchanged") };
        let path = file(library);
        fs::write(&path, now).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn file(library: &str) -> PathBuf {
    root().join("docs/api").join(library).with_extension("txt")
}

/// The public items of a library, one on each line, or `None` where this compiler's rustdoc writes another
/// format than the one that can be read.
fn list(library: &str, features: &str) -> Result<Option<String>> {
    const TARGET: &str = "target/api";
    let mut rustdoc =
        cargo(&["rustdoc", "--quiet", "--locked", "--lib", "--target-dir", TARGET, "-p", library]);
    rustdoc.args(["--features", features, "--", "-Z", "unstable-options", "--output-format", "json"]);
    // JSON is unstable: a stable compiler writes it only with this variable.
    run({
        rustdoc.env("RUSTC_BOOTSTRAP", "1");
        rustdoc
    })?;
    let path = root().join(TARGET).join("doc").join(library.replace('-', "_")).with_extension("json");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let json: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
    let format = json["format_version"].as_u64().unwrap_or(0);
    if format != FORMAT {
        println!(
            "not compared: this compiler's rustdoc writes format {format}, and format {FORMAT} is needed (Rust 1.95, or \
             {MINIMUM_NIGHTLY_RUST_VERSION})"
        );
        return Ok(None);
    }
    let api = Builder::from_rustdoc_json(path)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .build()
        .with_context(|| format!("cannot list the API of {library}"))?;
    Ok(Some(api.to_string()))
}
