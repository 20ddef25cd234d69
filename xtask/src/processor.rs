//! How results are named: after the processor they are of, the day, and the commit.

use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

use crate::process::{command, output, root};

/// The newest data of each processor and subject.
pub const RESULTS: &str = "lab/results";
/// Pages and charts that are made of them.
pub const PAGES: &str = "docs/benchmarks";

/// What processors are called, by the name that their results have.
const KNOWN: [(&str, &str); 6] = [
    ("epyc-17-1-2", "Zen"),
    ("epyc-19-1-1", "Zen 3"),
    ("epyc-19-11-1", "Zen 4"),
    ("epyc-1a-2-1", "Zen 5"),
    ("xeon-6-cf-2", "Emerald Rapids"),
    ("xeon-6-a7-1", "Granite Rapids"),
];

/// A processor's place among those that are known, and what it is called.
pub fn known(slug: &str) -> (usize, String) {
    let at = KNOWN.iter().position(|(known, _)| *known == slug).unwrap_or(KNOWN.len());
    (at, KNOWN.get(at).map_or(slug, |(_, name)| name).to_owned())
}

/// Makers' names that tell something, as the brand string has them.
const NAMES: [&str; 2] = ["Xeon", "EPYC"];

/// The processor's name, family, model and stepping, numbers in hexadecimal, such as `xeon-6-cf-2`.
pub fn slug() -> Result<String> {
    let text = fs::read_to_string("/proc/cpuinfo").context("cannot read /proc/cpuinfo")?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name));
        line.map(|(_, value)| value.trim()).with_context(|| format!("/proc/cpuinfo has no {name}"))
    };
    let number = |name| {
        field(name)?.parse::<u32>().with_context(|| format!("the {name} of /proc/cpuinfo is not a number"))
    };
    let brand = field("model name")?;
    let name = NAMES.iter().find(|name| brand.contains(**name)).unwrap_or(&"cpu").to_lowercase();
    Ok(format!("{name}-{:x}-{:x}-{:x}", number("cpu family")?, number("model")?, number("stepping")?))
}

/// The commit, with `-dirty` where files differ from it other than results and their pages.
pub fn commit() -> Result<String> {
    let of = |words: &[&str]| output(command("git", words)).map(|text| text.trim().to_owned());
    let dirty = if of(&["status", "--porcelain", "--", ".", &format!(":!{RESULTS}"), &format!(":!{PAGES}")])?
        .is_empty()
    {
        ""
    } else {
        "-dirty"
    };
    Ok(of(&["rev-parse", "--short", "HEAD"])? + dirty)
}

/// Like [`results`], with a number at the end where there is such a result already: none is lost.
pub fn new_results(subject: &str, end: &str) -> Result<PathBuf> {
    let first = results(subject, end)?;
    let another = |n: usize| PathBuf::from(format!("{}-{n}", first.display()));
    let is_new = |path: &PathBuf| !PathBuf::from(format!("{}.json", path.display())).exists();
    Ok(std::iter::once(first.clone()).chain((2..).map(another)).find(is_new).unwrap_or(first))
}

/// The file of a result of today and of this commit, such as
/// `lab/results/2026-11-23-timing-epyc-19-1-1-50b9402.md`; `end` is what follows the commit.
pub fn results(subject: &str, end: &str) -> Result<PathBuf> {
    let date = output(command("date", &["-u", "+%F"]))?;
    Ok(root().join(RESULTS).join(format!("{}-{subject}-{}-{}{end}", date.trim(), slug()?, commit()?)))
}
