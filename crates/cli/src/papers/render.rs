//! Tables as text: a line for each row, at most 80 columns, so that narrow terminals and pipes show them whole.

use std::fmt::Write;

use super::{Results, Row, Table, Unit};
use crate::report::grouped;

/// The longest line, but for words that are longer themselves.
const WIDTH: usize = 79;

/// What stands above a paper's tables.
pub fn head(results: &Results) -> String {
    let mut text = wrapped(&format!("{}: {}", results.paper, results.citation), "", "  ");
    let labelled = |text: &mut String, label: &str, value: &str| {
        text.push_str(&wrapped(value, &format!("  {label:<10}"), "            "));
    };
    labelled(&mut text, "published", &format!("on {}", results.published_on));
    let lanes = match results.lanes {
        1 => "one number at once".into(),
        lanes => format!("{lanes} numbers at once"),
    };
    let here = format!("on {}, engine {}, {lanes}, one thread", results.processor, results.engine);
    labelled(&mut text, "measured", &here);
    if let Some((hertz, core)) = results.cycles_per_second.zip(results.core_cycles_per_second) {
        let rate = format!(
            "reference cycles of the time stamp counter, {:.2} GHz as measured; the core's own clock in scalar code is \
             about {:.1} GHz",
            hertz / 1e9,
            core / 1e9
        );
        labelled(&mut text, "cycles", &rate);
    }
    for library in &results.libraries {
        labelled(&mut text, library.name, library.version.as_deref().unwrap_or("not found"));
    }
    for note in &results.notes {
        text.push_str(&wrapped(note, "  ", "  "));
    }
    text
}

/// A table, with an empty line before it.
pub fn table(table: &Table) -> String {
    let mut text = format!("\n{}", wrapped(&table.title, "", "  "));
    for note in std::iter::once(table.source).chain(table.notes.iter().map(String::as_str)) {
        text.push_str(&wrapped(note, "  ", "  "));
    }
    let label = table.rows.iter().map(|row| row.row.chars().count()).max().unwrap_or(0);
    let timed = table.rows.iter().any(|row| row.nanoseconds.is_some());
    let mut size = None;
    for row in &table.rows {
        if size != Some(row.size) {
            size = Some(row.size);
            let (width, bits) = (label + 2, format!("  {} bits", row.size));
            // Writing to a string cannot fail.
            let _ = write!(text, "{bits:<width$}  {:>11}  {:>11}", "published", "measured");
            text.push_str(if timed { "              ns\n" } else { "\n" });
        }
        line(&mut text, row, label, timed);
    }
    let mut missing: Vec<&str> = Vec::new();
    for note in table.rows.iter().filter_map(|row| row.note.as_deref()) {
        if !missing.contains(&note) {
            missing.push(note);
        }
    }
    for note in missing {
        text.push_str(&wrapped(note, "  ", "  "));
    }
    text
}

fn line(text: &mut String, row: &Row, label: usize, timed: bool) {
    let figure = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| figure(value, row.unit));
    let _ = write!(text, "  {:<label$}  {:>11}  {:>11}", row.row, figure(row.published), figure(row.measured));
    match row.nanoseconds {
        Some(nanoseconds) => {
            let _ = write!(text, "  {:>14}", decimals(nanoseconds));
        }
        None if timed && row.unit != Unit::Times && row.unit != Unit::Percent => {
            let _ = write!(text, "  {:>14}", "-");
        }
        None => {}
    }
    text.push('\n');
}

fn figure(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Cycles | Unit::ThousandCycles => grouped(value.round() as u64),
        Unit::PerSecond => decimals(value),
        Unit::Times => format!("{value:.2} x"),
        Unit::Percent => format!("{value:.1} %"),
        Unit::Products => format!("{value:.2}"),
    }
}

/// One decimal, and separators: 7,809.6.
fn decimals(value: f64) -> String {
    let tenths = (value * 10.0).round() as u64;
    format!("{}.{}", grouped(tenths / 10), tenths % 10)
}

/// Text in lines of at most [`WIDTH`] columns, the first after `first`, the others after `rest`.
fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let (mut out, mut column) = (first.to_owned(), first.chars().count());
    let mut fresh = true;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if !fresh && column + 1 + length > WIDTH {
            out.push('\n');
            out.push_str(rest);
            (column, fresh) = (rest.chars().count(), true);
        }
        if !fresh {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
        fresh = false;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_between_words() {
        let text = wrapped(&"word ".repeat(40), "  first ", "  ");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH) && text.lines().count() == 3, "{text}");
        assert_eq!(text.split_whitespace().filter(|word| *word == "word").count(), 40);
        let long = "x".repeat(200);
        assert_eq!(wrapped(&long, "", "  "), format!("{long}\n"));
    }

    #[test]
    fn figures_have_their_units() {
        assert_eq!(figure(120_341.6, Unit::Cycles), "120,342");
        assert_eq!(figure(7809.64, Unit::PerSecond), "7,809.6");
        assert_eq!(figure(1.089, Unit::Times), "1.09 x");
        assert_eq!(figure(2.0, Unit::Products), "2.00");
        assert_eq!(decimals(0.96), "1.0");
    }
}
