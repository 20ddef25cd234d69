//! The results as Markdown tables, padded so that they read well on a terminal too.

use crate::primitives::{BATCH, Primitive};
use crate::report::{Kind, Measurement, Report, Who};

/// The whole text: where it was measured, one table per operation, what is missing, how to read it.
pub fn markdown(report: &Report) -> String {
    let mut text = format!("# zariz and other RSA libraries, {}\n\n", report.date);
    text += &facts(report);
    for kind in Kind::ALL {
        text += &match kind {
            Kind::Sign => "\n## Signing (PKCS#1 v1.5, SHA-256)\n\n".to_owned(),
            Kind::Verify => "\n## Verifying (PKCS#1 v1.5, SHA-256)\n\n".to_owned(),
        };
        text += &operations(report, kind);
    }
    let batches = match report.has_crypto_mb() {
        true => {
            ". Of the peers, only crypto_mb has batches; zariz is compared with those of its\nbatches that are not larger"
        }
        false => "; the peers have no batches",
    };
    text += &format!(
        "\nA cell of a peer: operations per second (median), in parentheses the ratio to OpenSSL. A cell of zariz: \
         operations\nper second (median), in parentheses the ratio to OpenSSL, then to the best peer at that size. Ratios \
         are medians\nof ratios taken round by round. “–”: not supported or not measured. A batch of N is N independent \
         signatures\nin one call{batches}.\n"
    );
    if report.has_crypto_mb() {
        text += &primitives(report);
    }
    if !report.not_measured.is_empty() {
        text += "\n## Not measured\n\n";
        for missing in &report.not_measured {
            let mut who = missing.library.clone();
            if let Some(engine) = &missing.engine {
                who += &format!(" {engine}");
            }
            if let Some(batch) = missing.batch {
                who += &format!(", batch {batch}");
            }
            text += &format!("- {}, {who}: {}\n", missing.operation, missing.reason);
        }
    }
    text
}

/// Machine, software and method.
fn facts(report: &Report) -> String {
    let processor = &report.processor;
    let mut rows = vec![
        ("Processor", format!("{} ({} logical)", processor.describe(), processor.threads)),
        ("AVX512-IFMA", report.ifma().to_owned()),
        ("zariz", report.commit.clone()),
    ];
    rows.extend(report.peers().map(|peer| (peer.library.as_str(), peer.version.clone())));
    rows.push(("Compiler", report.compiler.clone()));
    let bound = report.cpu.map_or(String::new(), |cpu| format!(", bound to processor {cpu}"));
    let (seconds, rounds) = (report.seconds_per_cell, report.rounds);
    rows.push(("Method", format!("one thread{bound}, {seconds} s per cell in {rounds} interleaved rounds")));
    if let Some(note) = &report.note {
        rows.push(("Note", note.clone()));
    }
    rows.into_iter().map(|(name, value)| format!("- {name}: {value}\n")).collect()
}

/// The table of one kind of operation: a row per peer and per engine and batch, a column per size.
fn operations(report: &Report, kind: Kind) -> String {
    let sizes = report.sizes();
    let mut rows = vec![vec!["library".to_owned(), "batch".to_owned()]];
    rows[0].extend(sizes.iter().map(|bits| format!("RSA-{bits}")));
    let mut add = |name: String, batch: String, who: Who<'_>| {
        let cells = sizes.iter().map(|&bits| report.find(kind, bits, who).map_or("–".to_owned(), cell));
        rows.push([name, batch].into_iter().chain(cells).collect());
    };
    for peer in report.peers() {
        let name = &peer.library;
        match report.batches_of(name).as_slice() {
            [] | [1] => add(name.clone(), String::new(), Who::Peer(name, 1)),
            batches => {
                batches.iter().for_each(|&batch| add(name.clone(), batch.to_string(), Who::Peer(name, batch)))
            }
        }
    }
    for engine in report.engines() {
        for batch in report.batches() {
            add(format!("zariz {engine}"), batch.to_string(), Who::Engine(engine, batch));
        }
    }
    padded(&rows)
}

/// The table of primitives: a row per library and engine, a column per operation.
fn primitives(report: &Report) -> String {
    let measured = &report.primitives;
    let (mut operations, mut who) = (Vec::new(), Vec::new());
    for primitive in measured {
        if !operations.contains(&&primitive.operation) {
            operations.push(&primitive.operation);
        }
        let name = (&primitive.library, &primitive.engine);
        if !who.contains(&name) {
            who.push(name);
        }
    }
    let mut rows = vec![vec!["library".to_owned()]];
    rows[0].extend(operations.iter().map(|&operation| operation.clone()));
    for name in who {
        let find = |operation: &String| {
            measured.iter().find(|primitive| {
                primitive.operation == *operation && (&primitive.library, &primitive.engine) == name
            })
        };
        let cell = |primitive: &Primitive| match (&primitive.engine, primitive.ratio_vs_crypto_mb) {
            (Some(_), Some(ratio)) => format!("{} ({ratio:.2}×)", rate(primitive.ops_per_second_median)),
            _ => rate(primitive.ops_per_second_median),
        };
        let cells = operations.iter().map(|&operation| find(operation).map_or("–".to_owned(), cell));
        let title = name.1.as_ref().map_or(name.0.clone(), |engine| format!("{} {engine}", name.0));
        rows.push([title].into_iter().chain(cells).collect());
    }
    format!("\n## Primitives beside crypto_mb, batches of {BATCH}\n\n{}\n{PRIMITIVES}", padded(&rows))
}

/// What the table of primitives does not say.
const PRIMITIVES: &str = "\
Operations per second (median), in parentheses the ratio to crypto_mb: the median of the ratios of rounds. private:
x^d mod n with eight keys in turn; public: x^65537 mod n with eight keys in turn; pow: powers with eight odd moduli in
turn, each power with its own base and exponent, all as long as the modulus. Before timing, all results were equal.
zariz's private operation includes blinding and the check of the result; crypto_mb's has neither. zariz takes and
returns big-endian bytes in all; crypto_mb in private and public, while its powers are of numbers in words.
";

/// One measurement in a few characters.
fn cell(measurement: &Measurement) -> String {
    let times = |ratio: Option<f64>| ratio.map(|ratio| format!("{ratio:.2}×"));
    let ratios = match measurement.engine {
        Some(_) => vec![times(measurement.ratio_vs_openssl), times(measurement.ratio_vs_best_peer)],
        None => vec![times(measurement.ratio_vs_openssl)],
    };
    let ratios: Vec<String> = ratios.into_iter().flatten().collect();
    let rate = rate(measurement.ops_per_second_median);
    if ratios.is_empty() { rate } else { format!("{rate} ({})", ratios.join(", ")) }
}

/// Operations per second in about four digits.
fn rate(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

/// A Markdown table with columns of equal width; the first row is the head, the first column is aligned left.
fn padded(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(3);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let gap = " ".repeat(width - cell.chars().count());
            text += &if column == 0 { format!("| {cell}{gap} ") } else { format!("| {gap}{cell} ") };
        }
        text += "|\n";
        if index == 0 {
            for (column, width) in widths.iter().enumerate() {
                let end = if column == 0 { "-" } else { ":" };
                text += &format!("|{}{end}", "-".repeat(width + 1));
            }
            text += "|\n";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn tables_line_up() {
        let rows =
            [["library", "RSA-2048"], ["ring", "1 (2.00×)"]].map(|row| row.map(str::to_owned).to_vec());
        let expected = "| library |  RSA-2048 |\n|---------|----------:|\n| ring    | 1 (2.00×) |\n";
        assert_eq!(super::padded(&rows), expected);
    }
}
