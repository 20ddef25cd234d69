//! Tables as text: a line for each row, at most 80 columns, so that narrow terminals and pipes show them
//! whole.

use std::fmt::Write;

use zariz_cli::measure::figures::grouped;

use super::row::COUNTED;
use super::{Results, Row, Table, Unit};

/// The longest line, except for words that are longer themselves.
const WIDTH: usize = 79;

/// The text above a paper's tables.
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
    // Where nanoseconds are the unit, they need no column of their own.
    let timed = table.rows.iter().any(|row| row.nanoseconds.is_some() && row.unit != Unit::Nanoseconds);
    let ours = if table.rows.iter().all(|row| row.engine == COUNTED) { "counted" } else { "measured" };
    let mut size = None;
    for row in &table.rows {
        if size != Some(row.size) {
            size = Some(row.size);
            let (width, bits) = (label + 2, format!("  {} bits", row.size));
            // Writing to a string cannot fail.
            let _ = write!(text, "{bits:<width$}  {:>11}  {:>11}", "published", ours);
            text.push_str(if timed { "              ns\n" } else { "\n" });
        }
        line(&mut text, row, label, timed);
    }
    let mut published: Vec<&str> = table.rows.iter().filter_map(|row| row.published_note).collect();
    published.dedup();
    for note in published {
        text.push_str(&wrapped(&format!("* {note}"), "  ", "    "));
    }
    for (note, sizes) in notes(&table.rows) {
        text.push_str(&wrapped(&format!("{sizes}{note}"), "  ", "  "));
    }
    text
}

/// The notes of rows, each once, with the sizes that they are about unless they are about all.
fn notes(rows: &[Row]) -> Vec<(&str, String)> {
    let sizes = |rows: &mut dyn Iterator<Item = &Row>| {
        let mut sizes: Vec<usize> = rows.map(|row| row.size).collect();
        sizes.dedup();
        sizes
    };
    let all = sizes(&mut rows.iter());
    let mut notes: Vec<(&str, String)> = Vec::new();
    for note in rows.iter().filter_map(|row| row.note.as_deref()) {
        if notes.iter().all(|(known, _)| *known != note) {
            let some = sizes(&mut rows.iter().filter(|row| row.note.as_deref() == Some(note)));
            let bits = some.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            notes.push((note, if some == all { String::new() } else { format!("{bits} bits: ") }));
        }
    }
    notes
}

fn line(text: &mut String, row: &Row, label: usize, timed: bool) {
    let told = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| figure(value, row.unit));
    let published = told(row.published);
    let computed = if row.published_note.is_some() { '*' } else { ' ' };
    let measured = format!("{}{}", if row.measured.noisy { "~" } else { "" }, told(row.measured.measured));
    let _ = write!(text, "  {:<label$}  {published:>11}{computed} {measured:>11}", row.row);
    match row.nanoseconds.filter(|_| timed) {
        Some(nanoseconds) => {
            let _ = write!(text, "  {:>14}", decimals(nanoseconds));
        }
        None if timed
            && !matches!(
                row.unit,
                Unit::Times | Unit::Gain | Unit::Percent | Unit::Instructions | Unit::Bits
            ) =>
        {
            let _ = write!(text, "  {:>14}", "-");
        }
        None => {}
    }
    text.push('\n');
}

fn figure(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Cycles | Unit::ThousandCycles | Unit::Instructions | Unit::VectorInstructions | Unit::Bits => {
            grouped(value.round() as u64)
        }
        // Few nanoseconds are shown in hundredths.
        Unit::Nanoseconds if value < 1000.0 => format!("{value:.2}"),
        Unit::PerSecond | Unit::Nanoseconds => decimals(value),
        Unit::Times => format!("{value:.2} x"),
        Unit::Gain => format!("{value:.3} x"),
        Unit::Percent => format!("{value:.1} %"),
        Unit::Products => format!("{value:.2}"),
        Unit::MillionsPerSecond | Unit::Microseconds | Unit::Milliseconds => format!("{value:.3}"),
        Unit::DigitProducts if value.fract() == 0.0 => grouped(value as u64),
        Unit::DigitProducts => decimals(value),
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
    use zariz_cli::measure::sample::Measured;

    #[test]
    fn lines_are_wrapped_between_words() {
        let text = wrapped(&"word ".repeat(40), "  first ", "  ");
        assert!(
            text.lines().all(|line| line.chars().count() <= WIDTH) && text.lines().count() == 3,
            "{text}"
        );
        assert_eq!(text.split_whitespace().filter(|word| *word == "word").count(), 40);
        let long = "x".repeat(200);
        assert_eq!(wrapped(&long, "", "  "), format!("{long}\n"));
    }

    #[test]
    fn figures_have_their_units() {
        assert_eq!(figure(120_341.6, Unit::Cycles), "120,342");
        assert_eq!(figure(7809.64, Unit::PerSecond), "7,809.6");
        assert_eq!(figure(1.089, Unit::Times), "1.09 x");
        assert_eq!(figure(1.089, Unit::Gain), "1.089 x");
        assert_eq!(figure(2.0, Unit::Products), "2.00");
        assert_eq!(figure(12_483.0, Unit::DigitProducts), "12,483");
        assert_eq!(figure(12_483.5, Unit::DigitProducts), "12,483.5");
        assert_eq!(figure(343.78, Unit::MillionsPerSecond), "343.780");
        assert_eq!(
            [figure(0.71, Unit::Microseconds), figure(2797.0, Unit::Instructions)],
            ["0.710", "2,797"]
        );
        assert_eq!(decimals(0.96), "1.0");
    }

    fn row(size: usize, note: Option<&str>) -> Row {
        Row {
            published_note: Some("computed"),
            measured: Measured { measured: Some(4.0), noisy: true, ..Measured::default() },
            engine: "portable".into(),
            note: note.map(Into::into),
            ..Row::new("AMM", size, Unit::Percent, Some(19.96))
        }
    }

    #[test]
    fn what_is_uncertain_and_what_is_computed_is_marked() {
        let mut text = String::new();
        line(&mut text, &row(1024, None), 5, true);
        assert_eq!(text, "  AMM         20.0 %*      ~4.0 %\n");
    }

    #[test]
    fn notes_name_their_sizes_unless_they_are_of_all() {
        let rows = [row(1024, Some("a")), row(1024, Some("b")), row(2048, Some("b")), row(4096, Some("a"))];
        assert_eq!(
            notes(&rows),
            [("a", "1024, 4096 bits: ".to_owned()), ("b", "1024, 2048 bits: ".to_owned())]
        );
        assert_eq!(notes(&rows[..3])[1], ("b", String::new()));
    }
}
