//! The columns of `openssl speed`, then zariz's own.

use std::fmt::Write;

use super::{Row, Target};
use crate::measure::throughput::Share;

/// A table that grows by targets; each kind of target has a header.
#[derive(Default)]
pub struct Table {
    header: String,
}

const RSA_HEADER: &str = "                          sign     verify    sign/s  verify/s  engine        thr  batch  \
                          sign p50 / p99 us    verify p50 / p99 us\n";

/// The header of a kind with one operation.
fn header(kind: &str) -> String {
    let columns = format!("{kind:>30} {:>10}", format!("{kind}/s"));
    format!("{columns:<43}engine        thr  batch  p50 / p99 us\n")
}

impl Table {
    /// The lines of a target, after a header if the last target was of another kind.
    pub fn section(&mut self, target: Target, rows: &[Row]) -> String {
        let header = match target {
            Target::Rsa(_) => RSA_HEADER.to_owned(),
            _ => header(target.kind()),
        };
        let label = format!("{} {:4} bits", target.kind(), target.bits());
        let mut text = String::new();
        if self.header != header {
            text.push_str(&header);
            self.header = header;
        }
        let mark = |row: &Row| if row.share.is_disturbed() { "~" } else { "" };
        line(&mut text, &label, rows, |row| Some(row.ops_per_second), mark);
        if let Some(first) = rows.first() {
            // Writing to a string cannot fail.
            let _ = write!(text, "  {:<12} {:>4} {:>6}", first.engine, first.threads, first.batch);
        }
        for row in rows {
            let _ = write!(text, "  {:>21}", format!("{:.1} / {:.1}", row.p50_us, row.p99_us));
        }
        text.push('\n');
        compared(&mut text, rows);
        if let Some(share) = rows.iter().map(|row| row.share).reduce(Share::worse).filter(Share::is_disturbed)
        {
            let _ = writeln!(text, "  (~ {share})");
        }
        text
    }
}

/// The peer's line and the line of ratios, or a line that says that there is no peer.
fn compared(text: &mut String, rows: &[Row]) {
    let Some(comparison) = rows.first().and_then(|row| row.comparison.as_ref()) else { return };
    let Some(peer) = &comparison.peer else {
        text.push_str("  (openssl has no such operation to compare with)\n");
        return;
    };
    line(text, &format!("  {peer}"), rows, |row| row.comparison.as_ref()?.peer_ops_per_second, |_| "");
    let _ = write!(text, "\n{:<20}", "  times as fast");
    // The ratios are below the rates.
    text.push_str(&" ".repeat(11 * rows.len()));
    for row in rows {
        let ratio = row.comparison.as_ref().and_then(|comparison| comparison.ratio).unwrap_or_default();
        let _ = write!(text, "{ratio:>10.2}");
    }
    text.push('\n');
    if let Some(start) = comparison.peer_start_seconds {
        let what = "openssl starts a process for each, and that is included";
        let _ = writeln!(text, "  ({what}: about {start:.4} s)");
    }
}

/// A line: a label, the seconds for each operation after its mark, and the operations per second.
fn line(
    text: &mut String,
    label: &str,
    rows: &[Row],
    rate: impl Fn(&Row) -> Option<f64>,
    mark: impl Fn(&Row) -> &'static str,
) {
    let rates: Vec<f64> = rows.iter().map(|row| rate(row).unwrap_or_default()).collect();
    let _ = write!(text, "{label:<20}");
    for (row, rate) in rows.iter().zip(&rates) {
        let _ = write!(text, "{:>11}", format!("{}{:.6}s", mark(row), 1.0 / rate.max(1e-9)));
    }
    for rate in &rates {
        // Some operations take seconds.
        let decimals = if *rate < 10.0 { 3 } else { 1 };
        let _ = write!(text, "{rate:>10.decimals$}");
    }
}

#[cfg(test)]
mod tests {
    use super::super::Comparison;
    use super::*;

    fn row(operation: &str, share: Share) -> Row {
        Row {
            operation: operation.into(),
            engine: "auto".into(),
            threads: 1,
            batch: 64,
            ops_per_second: 2000.0,
            p50_us: 500.0,
            p99_us: 612.3,
            processor_share: share.least,
            disturbed_rounds: share.disturbed_rounds,
            share,
            comparison: Some(Comparison {
                peer: Some("OpenSSL 3.0.19".into()),
                peer_ops_per_second: Some(1000.0),
                ratio: Some(2.0),
                peer_start_seconds: None,
            }),
        }
    }

    #[test]
    fn disturbed_operations_are_marked_and_others_are_not() {
        let quiet = Share { least: 0.99, disturbed_rounds: 0, rounds: 5 };
        let busy = Share { least: 0.304, disturbed_rounds: 3, rounds: 5 };
        let section =
            |share| Table::default().section(Target::Rsa(2048), &[row("sign", share), row("verify", quiet)]);
        let lines: Vec<String> = section(quiet).lines().map(str::to_owned).collect();
        assert!(lines.len() == 4 && !section(quiet).contains('~'), "{lines:?}");
        let rates =
            "rsa 2048 bits         0.000500s  0.000500s    2000.0    2000.0  auto            1     64";
        assert_eq!(lines[1], format!("{rates}          500.0 / 612.3          500.0 / 612.3"));

        let marked: Vec<String> = section(busy).lines().map(str::to_owned).collect();
        assert_eq!(marked[1], lines[1].replacen(" 0.000500s", "~0.000500s", 1));
        assert_eq!(marked[2..4], lines[2..4]);
        assert_eq!(
            marked[4..],
            ["  (~ other programs ran in 3 of 5 rounds; zariz had at least 30 % of the time)"]
        );
    }
}
