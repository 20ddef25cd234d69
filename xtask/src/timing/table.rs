//! One table of all times that were measured, made of the data in `lab/results`, and what SOUNDNESS.md shows
//! of it.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::process::root;
use crate::processor::{self, PAGES, RESULTS};

const HEAD: &str = "\
# Times of secrets

`cargo xtask timing --table` writes this page from the data in lab/results. A row is one operation of the newest run. Each class of
inputs is compared with a first one, and in the control with that one again. |t| is the largest of 36 tests: on
means and on variances, of all samples and of parts. From 4.5 on, in bold, the times differ. The last column has
the classes that do, with the difference of their means (less slow noise, without the 10 % farthest away) and its
standard error: a |t| of another test can be large where this difference is not. Differences, errors and the median
are in cycles of the time stamp counter, for a whole batch. Samples are those of two classes together. SOUNDNESS.md
says what they mean.

| processor | engine | operation | day | commit | thousand samples | largest \\|t\\| | in the control | errors | median | what differs |
|---|---|---|---|---|---:|---:|---:|---:|---:|---|
";

/// The head of the table that SOUNDNESS.md has: the largest |t|.
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
pub struct Tables {
    all: BTreeMap<Place, String>,
    /// The largest |t| of a processor and an engine, in each column.
    largest: BTreeMap<(Processor, String), [Option<f64>; COLUMNS.len()]>,
}

fn folder() -> PathBuf {
    root().join(RESULTS)
}

fn path() -> PathBuf {
    root().join(PAGES).join("timing.md")
}

impl Tables {
    /// Of all data.
    pub fn read() -> Result<Self> {
        let mut tables = Self::default();
        for entry in fs::read_dir(folder()).with_context(|| format!("cannot read {RESULTS}"))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if let Some((day, rest)) = name.strip_suffix(".json").and_then(|name| name.split_once("-timing-"))
            {
                page(&name, day, rest, &mut tables).with_context(|| format!("{RESULTS}/{name}"))?;
            }
        }
        Ok(tables)
    }

    /// Writes the table of all results.
    pub fn write(&self) -> Result<()> {
        fs::write(path(), self.all()).with_context(|| format!("cannot write {}", path().display()))
    }

    fn all(&self) -> String {
        HEAD.to_owned() + &self.all.values().map(String::as_str).collect::<String>()
    }

    /// The table that SOUNDNESS.md has.
    pub fn summary(&self) -> String {
        let mut out = SUMMARY.to_owned();
        for (((_, processor), engine), largest) in &self.largest {
            let cells = largest.map(|t| t.map_or_else(String::new, shown));
            out += &format!("| {processor} | {engine} | {} |\n", cells.join(" | "));
        }
        out
    }
}

/// The rows of one page. `rest` is its name after the day: four parts of the processor's name, the commit,
/// and what was measured.
fn page(name: &str, day: &str, rest: &str, tables: &mut Tables) -> Result<()> {
    let parts: Vec<_> = rest.split('-').collect();
    let (processor, commit) =
        (parts[..parts.len().min(4)].join("-"), *parts.get(4).context("its name has no commit")?);
    let commit = if parts.get(5) == Some(&"dirty") { format!("{commit}-dirty") } else { commit.to_owned() };
    let place = processor::known(&processor);
    let processor = place.1.clone();
    let data: Value = serde_json::from_slice(&fs::read(folder().join(name))?)?;
    ensure!(data["complete"] == true, "the run was stopped early: repeat it, or remove the file");
    ensure!(data["threshold"] == DIFFERS, "times differ from another |t| on");
    let mut groups: BTreeMap<(String, String), Vec<&Value>> = BTreeMap::new();
    for row in data["rows"].as_array().context("it has no rows")? {
        let operation = text(row, "operation")?;
        if operation.starts_with("self-test") {
            ensure!(row["passes"] == true, "the test of the measurement itself does not pass");
        } else {
            groups.entry((text(row, "engine")?.to_owned(), operation.to_owned())).or_default().push(row);
        }
    }
    for ((engine, operation), group) in groups {
        let (cells, t) = cells(&group)?;
        let line = format!("| {processor} | {engine} | {operation} | {day} | {commit} | {cells} |\n");
        if let Some(column) = COLUMNS.iter().position(|part| operation.contains(part)) {
            let largest = &mut tables.largest.entry((place.clone(), engine.clone())).or_default()[column];
            *largest = Some(largest.map_or(t, |largest| largest.max(t)));
        }
        tables.all.insert((place.clone(), engine, operation, name.to_owned()), line);
    }
    Ok(())
}

fn text<'r>(row: &'r Value, field: &str) -> Result<&'r str> {
    row[field].as_str().with_context(|| format!("a row has no {field}"))
}

fn number(row: &Value, field: &str) -> Result<f64> {
    row[field].as_f64().with_context(|| format!("a row has no {field}"))
}

/// A |t|, in bold if times differ.
fn shown(t: f64) -> String {
    if t < DIFFERS { format!("{t:.2}") } else { format!("**{t:.2}**") }
}

/// From the samples on: what the classes of one operation have together. With it goes their largest |t|.
fn cells(group: &[&Value]) -> Result<(String, f64)> {
    let (mut worst, mut control) = (None::<f64>, 0.0_f64);
    let (mut least, mut most) = (f64::MAX, 0.0_f64);
    let mut differ = Vec::new();
    for row in group {
        let (class, t) = (text(row, "class")?, number(row, "t")?.abs());
        let [difference, error] = [number(row, "difference_cycles")?, number(row, "standard_error_cycles")?];
        if class.ends_with("(control)") {
            control = control.max(t);
        } else {
            worst = Some(worst.map_or(t, |worst| worst.max(t)));
            (least, most) = (least.min(error), most.max(error));
        }
        if t >= DIFFERS {
            differ.push(format!("{class}: {difference:+.1} ± {error:.1}"));
        }
    }
    let worst = worst.context("no class is compared")?;
    let [least, most] = [least, most].map(|error| format!("{error:.1}"));
    let errors = if least == most { least } else { format!("{least} to {most}") };
    let (thousands, median) = (number(group[0], "samples")? / 1000.0, number(group[0], "median_cycles")?);
    let [t, control] = [worst, control].map(shown);
    let cells = format!("{thousands:.0} | {t} | {control} | {errors} | {median:.0} | {}", differ.join("; "));
    Ok((cells, worst))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soundness_shows_the_largest() {
        let written = fs::read_to_string(root().join("SOUNDNESS.md")).expect("SOUNDNESS.md");
        let summary = Tables::read().expect("the data").summary();
        let is_there = written.contains(&format!("\n\n{summary}\n"));
        assert!(
            is_there,
            "SOUNDNESS.md does not have this table (cargo xtask timing --table shows it):\n\n{summary}"
        );
    }

    #[test]
    fn rows_that_differ_or_lack_a_field_are_seen() {
        let row = |class: &str, t: f64| {
            serde_json::json!({
                "class": class, "t": t, "difference_cycles": 2.0, "standard_error_cycles": 0.5, "samples": 2000,
                "median_cycles": 9,
            })
        };
        let cells =
            |rows: &[Value]| cells(&rows.iter().collect::<Vec<_>>()).map_err(|error| error.to_string());
        let [control, good, bad] = [row("random (control)", 1.5), row("0", -2.0), row("1", -4.5)];
        let line = |t: &str, control: &str, differ: &str| format!("2 | {t} | {control} | 0.5 | 9 | {differ}");
        assert_eq!(cells(&[control.clone(), good.clone()]), Ok((line("2.00", "1.50", ""), 2.0)));
        let both = [control.clone(), good.clone(), bad];
        assert_eq!(cells(&both), Ok((line("**4.50**", "1.50", "1: +2.0 ± 0.5"), 4.5)));
        let noise = [row("random (control)", 5.0), good];
        assert_eq!(cells(&noise), Ok((line("2.00", "**5.00**", "random (control): +2.0 ± 0.5"), 2.0)));
        assert_eq!(cells(std::slice::from_ref(&control)), Err("no class is compared".into()));
        for field in ["class", "t", "difference_cycles", "standard_error_cycles", "samples", "median_cycles"]
        {
            let mut rows = both.clone();
            rows.iter_mut().for_each(|row| row[field] = Value::Null);
            assert_eq!(cells(&rows), Err(format!("a row has no {field}")));
        }
    }

    #[test]
    fn the_table_is_that_of_the_data() {
        let written = fs::read_to_string(path()).expect("the table");
        assert_eq!(
            written,
            Tables::read().expect("the data").all(),
            "cargo xtask timing --table writes it anew"
        );
    }
}
