//! docs/dependencies.md names every crate of other people that a shipped crate depends on, and no other.

use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::layers::SHIPPED;
use crate::metadata::Graph;
use crate::process::root;

const LIST: &str = "docs/dependencies.md";
/// What comes before the names of our crates, which the list leaves out.
const PREFIX: &str = "zariz-";

/// For each crate of other people, the crates of ours that name it.
type Users = BTreeMap<String, BTreeSet<String>>;

/// Compares the list with `cargo metadata`.
pub fn check() -> Result<()> {
    let text = fs::read_to_string(root().join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    let (found, listed) = (direct(&Graph::read()?), listed(&text)?);
    let differences = differences(&found, &listed);
    if !differences.is_empty() {
        bail!("{LIST} is wrong:\n  {}", differences.join("\n  "));
    }
    println!("{LIST} has all {} direct dependencies of what is shipped", found.len());
    Ok(())
}

fn direct(graph: &Graph) -> Users {
    let mut users = Users::new();
    for package in graph.0.values().filter(|package| SHIPPED.contains(&package.name.as_str())) {
        let needed = package.dependencies.iter().filter(|dependency| !dependency.dev_only);
        for dependency in
            needed.map(|dependency| &graph.0[&dependency.id]).filter(|dependency| !dependency.member)
        {
            let name = package.name.strip_prefix(PREFIX).unwrap_or(&package.name);
            users.entry(dependency.name.clone()).or_default().insert(name.to_owned());
        }
    }
    users
}

/// The rows of the table; each has six cells that say something.
fn listed(text: &str) -> Result<Users> {
    let mut users = Users::new();
    for line in text.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if cells.len() != 6 || cells.iter().any(|cell| cell.is_empty()) {
            bail!("{LIST}: this row does not have six cells with text: {line}");
        }
        let names = cells[1].split(", ").map(str::to_owned).collect();
        if users.insert(cells[0].to_owned(), names).is_some() {
            bail!("{LIST}: {} has two rows", cells[0]);
        }
    }
    Ok(users)
}

fn differences(found: &Users, listed: &Users) -> Vec<String> {
    let names: BTreeSet<&String> = found.keys().chain(listed.keys()).collect();
    let difference = |name: &String| match (found.get(name), listed.get(name)) {
        (Some(users), None) => Some(format!("{name} is missing; {users:?} depend on it")),
        (None, Some(_)) => Some(format!("{name} is no direct dependency; remove its row")),
        (Some(users), Some(listed)) if users != listed => {
            Some(format!("{name}: {users:?} use it, not {listed:?}"))
        }
        _ => None,
    };
    names.into_iter().filter_map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Users> {
        listed(&format!("| crate | used by | for | kept by | why | secrets |\n|---|\n{text}"))
    }

    #[test]
    fn every_kind_of_difference_is_found() {
        let found = rows("| a | x, y | f | k | w | no |\n| b | x | f | k | w | no |").unwrap();
        assert_eq!(differences(&found, &found), [""; 0]);
        let other = rows("| a | x | f | k | w | no |\n| c | x | f | k | w | no |").unwrap();
        let told = differences(&found, &other).join("\n");
        for part in ["a: {\"x\", \"y\"} use it", "b is missing", "c is no direct dependency"] {
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn rows_without_a_word_or_twice_are_refused() {
        assert!(rows("| a | x | f | k |  | no |").is_err() && rows("| a | x | f | k | no |").is_err());
        assert!(rows("| a | x | f | k | w | no |\n| a | x | f | k | w | no |").is_err());
    }
}
