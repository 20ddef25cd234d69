//! One table of all times that were measured, made of the data in `bench/results`, and what SOUNDNESS.md shows of it.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::process::root;

/// What processors are called, by the name that their results have.
const PROCESSORS: [(&str, &str); 5] = [
    ("epyc-17-1-2", "Zen"),
    ("epyc-19-1-1", "Zen 3"),
    ("epyc-19-11-1", "Zen 4"),
    ("epyc-1a-2-1", "Zen 5"),
    ("xeon-6-a7-1", "Granite Rapids"),
];

const HEAD: &str = "\
# Times of secrets: all results

`cargo xtask timing` writes this file from the data beside it. A row is one operation of one run. Each class of secrets is
compared with random ones, and a control compares random ones with random ones. The largest |t| of the classes is in
bold where it is 4.5 or more: then the times differ, and the last column has those classes, with the difference of their
means. Errors are the standard errors of these differences. Differences, errors and the median are in cycles of the time
stamp counter, for a whole batch. Samples are those of two classes together. SOUNDNESS.md says what they mean.

| processor | engine | operation | day | commit | thousand samples | largest \\|t\\| | in the control | errors | median | what differs |
|---|---|---|---|---|---:|---:|---:|---:|---:|---|
";

/// The head of the table that SOUNDNESS.md has: the largest |t| of all runs.
const SUMMARY: &str = "\
| processor | engine | powers | RSA: numbers and keys | RSA: decryption |
|---|---|---:|---:|---:|
";

/// From here on, times differ.
const DIFFERS: f64 = 4.5;

/// The columns of the table that SOUNDNESS.md has, by parts of the operations' names. Others are not in it.
const COLUMNS: [&str; 3] = ["power,", "x^d", "decryption"];

/// What orders a table: processor, engine, operation, page.
type Place = (Processor, String, String, String);

/// A processor: its place among those that are known, and its name.
type Processor = (usize, String);

/// The rows of both tables.
#[derive(Default)]
struct Tables {
    all: BTreeMap<Place, String>,
    /// The largest |t| of a processor and an engine, in each column.
    largest: BTreeMap<(Processor, String), [f64; COLUMNS.len()]>,
}

fn path() -> PathBuf {
    root().join("bench/results/timing.md")
}

/// Writes the table.
pub fn write() -> Result<()> {
    fs::write(path(), table()?).with_context(|| format!("cannot write {}", path().display()))
}

fn table() -> Result<String> {
    Ok(HEAD.to_owned() + &tables()?.all.into_values().collect::<String>())
}

/// The table that SOUNDNESS.md has.
pub fn summary() -> Result<String> {
    let mut out = SUMMARY.to_owned();
    for (((_, processor), engine), largest) in tables()?.largest {
        let cells = largest.map(|t| match t {
            0.0 => String::new(),
            t if t < DIFFERS => format!("{t:.2}"),
            t => format!("**{t:.2}**"),
        });
        out += &format!("| {processor} | {engine} | {} |\n", cells.join(" | "));
    }
    Ok(out)
}

/// Of all pages.
fn tables() -> Result<Tables> {
    let mut tables = Tables::default();
    for entry in fs::read_dir(root().join("bench/results")).context("cannot read bench/results")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some((day, rest)) = name.strip_suffix(".json").and_then(|name| name.split_once("-timing-")) {
            page(&name, day, rest, &mut tables).with_context(|| format!("bench/results/{name}"))?;
        }
    }
    Ok(tables)
}

/// The rows of one page. `rest` is its name after the day: four parts of the processor's name, the commit, and what was
/// measured.
fn page(name: &str, day: &str, rest: &str, tables: &mut Tables) -> Result<()> {
    let parts: Vec<_> = rest.split('-').collect();
    let (processor, commit) = (parts[..parts.len().min(4)].join("-"), *parts.get(4).context("its name has no commit")?);
    let at = PROCESSORS.iter().position(|(slug, _)| *slug == processor).unwrap_or(PROCESSORS.len());
    let processor = PROCESSORS.get(at).map_or(&*processor, |(_, known)| known);
    let place = (at, processor.to_owned());
    let data: Value = serde_json::from_slice(&fs::read(root().join("bench/results").join(name))?)?;
    let text = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let mut groups: BTreeMap<(String, String), Vec<&Value>> = BTreeMap::new();
    for row in data["rows"].as_array().context("it has no rows")? {
        let operation = text(row, "operation");
        if !operation.starts_with("self-test") {
            groups.entry((text(row, "engine"), operation)).or_default().push(row);
        }
    }
    for ((engine, operation), group) in groups {
        let (line, t) = line(&group)?;
        let line = format!("| {processor} | {engine} | {operation} | {day} | {commit} | {line} |\n");
        if let Some(column) = COLUMNS.iter().position(|part| operation.contains(part)) {
            let largest = &mut tables.largest.entry((place.clone(), engine.clone())).or_default()[column];
            *largest = largest.max(t);
        }
        tables.all.insert((place.clone(), engine, operation, name.to_owned()), line);
    }
    Ok(())
}

/// From the samples on: what the classes of one operation have together. With it goes their largest |t|.
fn line(group: &[&Value]) -> Result<(String, f64)> {
    let number = |row: &Value, field: &str| row[field].as_f64().with_context(|| format!("a row has no {field}"));
    let t = |row: &Value| number(row, "t").map(f64::abs);
    let (controls, classes): (Vec<&Value>, Vec<_>) =
        group.iter().partition(|row| row["class"].as_str().is_some_and(|class| class.ends_with("(control)")));
    let largest =
        |rows: &[&Value]| rows.iter().try_fold(0.0, |most: f64, row| Ok::<_, anyhow::Error>(most.max(t(row)?)));
    let (worst, control) = (largest(&classes)?, largest(&controls)?);
    let errors = classes.iter().map(|row| number(row, "standard_error_cycles")).collect::<Result<Vec<_>>>()?;
    let (least, most) = errors.iter().fold((f64::MAX, 0.0), |(least, most), &e| (e.min(least), e.max(most)));
    let [least, most] = [least, most].map(|error| format!("{error:.1}"));
    let errors = if least == most { least } else { format!("{least} to {most}") };
    let first = group.first().context("no rows")?;
    let thousands = number(first, "samples")? / 1000.0;
    let mut differ = Vec::new();
    for row in classes.iter().filter(|row| row["passes"] == false) {
        let class = row["class"].as_str().unwrap_or_default();
        differ.push(format!(
            "{class}: {:+.1} ± {:.1}",
            number(row, "difference_cycles")?,
            number(row, "standard_error_cycles")?
        ));
    }
    let bold = if differ.is_empty() { "" } else { "**" };
    let median = number(first, "median_cycles")?;
    let line = format!(
        "{thousands:.0} | {bold}{worst:.2}{bold} | {control:.2} | {errors} | {median:.0} | {}",
        differ.join("; ")
    );
    Ok((line, worst))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soundness_shows_the_largest() {
        let written = fs::read_to_string(root().join("SOUNDNESS.md")).expect("SOUNDNESS.md");
        let summary = summary().expect("a table");
        assert!(written.contains(&summary), "SOUNDNESS.md does not have this table:\n\n{summary}");
    }

    #[test]
    fn the_table_is_that_of_the_data() {
        let written = fs::read_to_string(path()).expect("the table");
        assert_eq!(written, table().expect("a table"), "cargo xtask timing --table writes it anew");
    }
}
