//! Where dependencies come from, by deny.toml: cargo-deny checks all of it where it is installed; licences
//! and sources, the part that needs nothing but `cargo metadata`, are checked without it too.

use anyhow::{Context, Result, bail, ensure};
use spdx::{Expression, Licensee, ParseMode};
use std::fs;

use crate::metadata::{Graph, Package};
use crate::process::{cargo, root, run, works};

const RULES: &str = "deny.toml";
const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Licences and sources of everything in Cargo.lock.
pub fn check() -> Result<()> {
    check_graph(&Graph::read()?, RULES)
}

/// Licences and sources of another workspace, by its own rules.
pub fn check_manifest(manifest: &str, rules: &str) -> Result<()> {
    check_graph(&Graph::read_of(&["--manifest-path", manifest])?, rules)
}

fn check_graph(graph: &Graph, rules: &str) -> Result<()> {
    let text = fs::read_to_string(root().join(rules)).with_context(|| format!("cannot read {rules}"))?;
    let rules_of = |name: &str| allowed(&text, name).with_context(|| format!("in {rules}"));
    // Folders of this repository are ours, whichever workspace they belong to.
    let others = || graph.0.values().filter(|package| !package.member && !package.is_here());
    let breaches: Vec<String> = others()
        .filter_map(|package| {
            let breach = rules_of(&package.name).map(|allowed| breach(package, &allowed)).transpose()?;
            Some(breach.map(|breach| format!("{} {}: {breach}", package.name, package.version)))
        })
        .collect::<Result<_>>()?;
    ensure!(breaches.is_empty(), "{}\nWhat is allowed is in {rules}.", breaches.join("\n"));
    println!("{} crates, all from crates.io, with licences that ours may stand beside", others().count());
    Ok(())
}

/// All of that; and versions, and known vulnerabilities.
pub fn check_all() -> Result<()> {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    if !works(&program, &["deny", "--version"]) {
        check()?;
        bail!(
            "cargo-deny is not installed (`cargo install cargo-deny --locked`): nobody looked for known vulnerabilities, \
             yanked versions and duplicates"
        );
    }
    let deny = |what: &[&str]| run(cargo(&[&["deny", "--workspace", "--locked", "check"], what].concat()));
    deny(&["bans", "licenses", "sources"]).context("cargo-deny says above what is against deny.toml")?;
    // Apart: without the database, cargo-deny checks nothing.
    deny(&["advisories"])
        .context("cargo-deny found something, or could not have RustSec's database; it says above which")
}

/// The licences that the rules allow a crate: those of the list, and those of its exceptions.
fn allowed(rules: &str, krate: &str) -> Result<Vec<Licensee>> {
    let rules: toml::Table = rules.parse().context("this is not TOML")?;
    let array = |table: &toml::Table, name: &str| table.get(name).and_then(|list| list.as_array().cloned());
    let licenses =
        rules.get("licenses").and_then(toml::Value::as_table).context("there is no table licenses")?;
    let exceptions = array(licenses, "exceptions").unwrap_or_default();
    let exceptions = exceptions.iter().filter_map(toml::Value::as_table);
    let own =
        exceptions.filter(|exception| exception.get("crate").and_then(toml::Value::as_str) == Some(krate));
    let lists = [array(licenses, "allow")].into_iter().chain(own.map(|exception| array(exception, "allow")));
    let names = lists.collect::<Option<Vec<_>>>().map(|lists| lists.concat());
    let licensee = |name: &toml::Value| {
        let name = name.as_str().with_context(|| format!("{name:?} is not a text"))?;
        Licensee::parse(name).with_context(|| format!("{name:?} is no licence of SPDX's list"))
    };
    names.context("there is no list licenses.allow")?.iter().map(licensee).collect()
}

/// What the rules forbid of this package.
fn breach(package: &Package, allowed: &[Licensee]) -> Option<String> {
    if package.source.as_deref() != Some(SOURCE) {
        return Some(format!("comes from {:?}, not from crates.io", package.source));
    }
    let Some(license) = &package.license else { return Some("states no licence".into()) };
    // Old crates write `MIT/Apache-2.0`.
    match Expression::parse_mode(license, ParseMode::LAX) {
        Err(error) => Some(format!("its licence, {license:?}, is no expression: {}", error.reason)),
        Ok(expression) if expression.evaluate(|needed| allowed.iter().any(|one| one.satisfies(needed))) => {
            None
        }
        Ok(_) => Some(format!("its licence is {license}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_rules_do_not_allow_is_found() {
        let rules = "[licenses]\nallow = [\"MIT\", \"ISC\"]\nexceptions = [{ crate = \"tool\", allow = [\"MPL-2.0\"] }]\n";
        assert_eq!(allowed(rules, "tool").unwrap().len(), 3);
        let allowed = allowed(rules, "other").unwrap();
        let of = |license: &str, source: &str| {
            let package = Package {
                license: (!license.is_empty()).then(|| license.to_owned()),
                source: Some(source.to_owned()),
                ..Package::default()
            };
            breach(&package, &allowed)
        };
        for good in ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR MIT", "(MIT OR GPL-3.0-only) AND ISC"] {
            assert_eq!(of(good, SOURCE), None, "{good}");
            assert!(of(good, "git+https://example.org/a").is_some(), "{good}");
        }
        for bad in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "MIT WITH GCC-exception-3.1",
            "",
            "MIT OR",
            "MIT MIT",
            "(MIT",
        ] {
            assert!(of(bad, SOURCE).is_some(), "{bad}");
        }
    }

    #[test]
    fn rules_without_a_list_of_licences_are_refused() {
        for bad in ["", "[licenses]", "[licenses]\nallow = [\"X\"]", "[licenses]\nallow = [1]", "licenses"] {
            assert!(allowed(bad, "other").is_err(), "{bad}");
        }
    }
}
