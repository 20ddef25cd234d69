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
    run(cargo(&page)).context("zariz-bench cannot make pages (it needs a C compiler, make, perl and m4)")?;
    let path = root().join(PAGES).join(INDEX);
    fs::write(&path, index()?).with_context(|| format!("cannot write {}", path.display()))
}

/// The pages that need no other program: where they are, and what they say.
fn pages() -> Result<[(PathBuf, String); 2]> {
    let path = |name| root().join(PAGES).join(name);
    Ok([(path("faults.md"), faults()?), (path("papers.md"), papers()?)])
}

/// The page that lists the others.
const INDEX: &str = "README.md";

const METHOD: &str = "\
# Benchmarks

`cargo xtask results` writes this list and all its pages from the data in lab/results.

**Method.** zariz and the other libraries run in one process, on one thread that is bound to one processor.
They take turns in short rounds, with the same keys and messages. A ratio is the median of the ratios of
single rounds: what slows the machine for longer than a round slows all of them, and cancels. Before anything
is timed, all libraries must make equal signatures. A *batch* of N is N signatures in one call. The machines
are virtual, so their clock and their neighbours are not ours: trust ratios more than rates. [How to repeat
it](../../lab/bench/README.md).

*IFMA* are AVX512-IFMA, instructions for products of 52-bit integers. OpenSSL and AWS-LC use them too, unless
they were hidden: then OpenSSL computes as on a processor without them.

## Signatures

| page | processor | IFMA | day | libraries |
|---|---|---|---|---|
";

const OTHER_PAGES: &str = "
Pages with `alone` measure one signature at a time.

## Other subjects

| page | subject |
|---|---|
| [Zen 4](bulk-epyc-19-11-1.md), [2048-bit keys](bulk-epyc-19-11-1-keys-2048.md), [Zen 3](bulk-epyc-19-1-1.md) | primes, \
keys, and powers of one base |
| [Emerald Rapids](bls12-381-xeon-6-cf-2.md) | the field of BLS12-381 |
| [papers](papers.md) | the figures of the papers beside ours |
| [timing](timing.md) | whether times depend on secrets |
| [faults](faults.md) | flipped bits |
| [Zen 5](../../lab/results/handshakes-epyc-1a-2-1.md), \
[Emerald Rapids](../../lab/results/handshakes-xeon-6-cf-2.md) | handshakes of haproxy |
";

/// A line for each comparison of signatures, by the heads of the pages.
fn index() -> Result<String> {
    let mut rows = BTreeMap::new();
    for entry in fs::read_dir(root().join(PAGES)).with_context(|| format!("cannot read {PAGES}"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".md") else { continue };
        let path = root().join(PAGES).join(&name);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let Some((_, head)) = text.split_once("# zariz and other RSA libraries, ") else { continue };
        let lines = head.lines().take_while(|line| !line.starts_with("## "));
        let fields: Vec<_> = lines.filter_map(|line| line.strip_prefix("- ")?.split_once(": ")).collect();
        let field = |name| fields.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| *value);
        let told = ["Processor", "AVX512-IFMA", "Compiler", "Method", "Note"];
        let libraries = fields.iter().filter(|(key, _)| !told.contains(key));
        let libraries: Vec<_> = libraries.map(|(name, version)| format!("{name} {version}")).collect();
        let parts: Vec<_> = stem.splitn(5, '-').collect();
        let processor = processor::known(&parts[..parts.len().min(4)].join("-"));
        let row = format!(
            "| [{stem}]({name}) | {} | {} | {} | {} |\n",
            processor.1,
            field("AVX512-IFMA"),
            head.lines().next().unwrap_or_default(),
            libraries.join(", ")
        );
        rows.insert((processor, name), row);
    }
    Ok(METHOD.to_owned() + &rows.into_values().collect::<String>() + OTHER_PAGES)
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
        let index = (root().join(PAGES).join(INDEX), index().expect("the pages"));
        for (path, text) in pages().expect("the data").into_iter().chain([index]) {
            assert_eq!(
                fs::read_to_string(&path).expect("the page"),
                text,
                "{}: cargo xtask results",
                path.display()
            );
        }
    }
}
