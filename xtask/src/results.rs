//! `cargo xtask results`: pages and charts of what was measured, from the data in `lab/results`.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use crate::process::{cargo, root, run};
use crate::processor::{self, PAGES, RESULTS};
use crate::timing;

/// Writes all of them.
pub fn write() -> Result<()> {
    for (path, text) in pages()? {
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    timing::tabulate()?;
    let page = [
        "run",
        "--release",
        "--locked",
        "--quiet",
        "--manifest-path=lab/bench/Cargo.toml",
        "--",
        "pages",
        PAGES,
    ];
    run(cargo(&page)).context("zariz-bench cannot make pages (it needs a C compiler, make, perl and m4)")
}

/// The pages that need no other program: where they are, and what they say.
fn pages() -> Result<[(PathBuf, String); 2]> {
    let path = |name| root().join(PAGES).join(name);
    Ok([(path("faults.md"), faults()?), (path("papers.md"), papers()?)])
}

/// A processor: its place among those that are known, and its name.
type Processor = (usize, String);

/// The data of a subject, by processor and what follows the commit; with day and commit.
fn data(subject: &str) -> Result<BTreeMap<(Processor, String), (String, Value)>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root().join(RESULTS)).with_context(|| format!("cannot read {RESULTS}"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let Some((day, rest)) = name.strip_suffix(".json").and_then(|name| name.split_once(subject)) else {
            continue;
        };
        let read =
            || Ok::<_, anyhow::Error>(serde_json::from_slice(&fs::read(root().join(RESULTS).join(&name))?)?);
        let data = read().with_context(|| format!("{RESULTS}/{name}"))?;
        let parts: Vec<_> = rest.splitn(6, '-').collect();
        let part = |at| parts.get(at).copied().unwrap_or_default();
        let processor = processor::known(&parts[..parts.len().min(4)].join("-"));
        found.insert((processor, part(5).to_owned()), (format!("{day} | {}", part(4)), data));
    }
    Ok(found)
}

const FAULTS: &str = "\
# Flipped bits: the newest campaigns

`cargo xtask results` writes this page from the data of `cargo xtask faults`, which has each step and place. A row is
one engine. *Caught* are wrong results that the check found: computed again, or withheld. *Ended* are errors, panics,
signals and operations that did not end. *Wrong* are all wrong results that left. *Revealed* are those of them that
reveal a factor of `n`. Data without that figure is older: it is of an earlier design, which kept and compared numbers
twice, and had flips before the entry of the padded number too (SOUNDNESS.md).

| processor | engine | day | commit | keys | batches | flips | right | caught | ended | wrong | revealed |
|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|
";

fn faults() -> Result<String> {
    let mut page = FAULTS.to_owned();
    for (((_, processor), _), (run, data)) in data("-faults-")? {
        let of = |outcomes: &[&str]| -> u64 {
            let counts = data["counts"].as_array().into_iter().flatten();
            let mine = counts.filter(|row| row["outcome"].as_str().is_some_and(|it| outcomes.contains(&it)));
            mine.filter_map(|row| row["count"].as_u64()).sum()
        };
        let revealed = data["revealed"].as_array().map_or_else(String::new, |flips| flips.len().to_string());
        let number = |field: &str| data[field].as_u64().unwrap_or(1);
        let (right, caught) = (of(&["right"]), of(&["recomputed", "withheld"]));
        let ended = of(&["crash", "panic", "hang", "other error"]);
        let wrong = of(&["wrong", "damaged", "key revealed"]);
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| {processor} | {} | {run} | {} | {} | {} | {right} | {caught} | {ended} | {wrong} | {revealed} |",
            data["engine"].as_str().context("a campaign names no engine")?,
            number("keys"),
            number("batches"),
            number("flips"),
        );
    }
    Ok(page)
}

fn papers() -> Result<String> {
    let mut page =
        "# The papers' figures beside ours\n\n`cargo xtask results` writes this page from the data of \
                    `zariz-papers --json`, which has the spread of each figure.\n"
            .to_owned();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let figure = |value: &Value| value.as_f64().map_or_else(String::new, |figure| figure.to_string());
    for (((_, processor), _), (_, data)) in data("papers-")? {
        for paper in list(&data) {
            let _ = write!(
                page,
                "\n## {}, on {processor}\n\n{}. ",
                text(&paper["paper"]),
                text(&paper["citation"])
            );
            let _ = writeln!(page, "Published on: {}.", text(&paper["published_on"]));
            for table in list(&paper["tables"]) {
                let _ = writeln!(page, "\n### {}\n\n{}.\n", text(&table["title"]), text(&table["source"]));
                page += "| | size | unit | published | ours |\n|---|---:|---|---:|---:|\n";
                for row in list(&table["rows"]) {
                    let [published, measured] = [&row["published"], &row["measured"]].map(figure);
                    let [name, unit] = [&row["row"], &row["unit"]].map(text);
                    let _ = writeln!(
                        page,
                        "| {name} | {} | {unit} | {published} | {measured} |",
                        figure(&row["size"])
                    );
                }
            }
        }
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_those_of_the_data() {
        for (path, text) in pages().expect("the data") {
            assert_eq!(
                fs::read_to_string(&path).expect("the page"),
                text,
                "{}: cargo xtask results",
                path.display()
            );
        }
    }
}
