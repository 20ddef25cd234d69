//! The columns of `openssl speed`, then ours.

use std::fmt::Write;

use super::{Row, Target};

/// A table that grows target by target; each kind of target has a header.
#[derive(Default)]
pub struct Table {
    header: String,
}

const RSA_HEADER: &str = "                         sign    verify    sign/s  verify/s  engine        thr  batch  \
                          sign p50 / p99 us    verify p50 / p99 us\n";

/// The header of a kind with one operation.
fn header(kind: &str) -> String {
    let columns = format!("{kind:>29} {:>10}", format!("{kind}/s"));
    format!("{columns:<42}engine        thr  batch  p50 / p99 us\n")
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
        line(&mut text, &label, rows, |row| Some(row.ops_per_second));
        if let Some(first) = rows.first() {
            // Writing to a string cannot fail.
            let _ = write!(text, "  {:<12} {:>4} {:>6}", first.engine, first.threads, first.batch);
        }
        for row in rows {
            let _ = write!(text, "  {:>21}", format!("{:.0} / {:.0}", row.p50_us, row.p99_us));
        }
        text.push('\n');
        compared(&mut text, rows);
        text
    }
}

/// The peer's line and the line of the ratios; or a line that says that there is no peer.
fn compared(text: &mut String, rows: &[Row]) {
    let Some(comparison) = rows.first().and_then(|row| row.comparison.as_ref()) else { return };
    let Some(peer) = &comparison.peer else {
        text.push_str("  (openssl has no such operation to compare with)\n");
        return;
    };
    line(text, &format!("  {peer}"), rows, |row| row.comparison.as_ref()?.peer_ops_per_second);
    let _ = write!(text, "\n{:<20}", "  times as fast");
    // The ratios are under the rates.
    text.push_str(&" ".repeat(10 * rows.len()));
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

/// A label, the seconds for each operation, and the operations per second.
fn line(text: &mut String, label: &str, rows: &[Row], rate: impl Fn(&Row) -> Option<f64>) {
    let rates: Vec<f64> = rows.iter().map(|row| rate(row).unwrap_or_default()).collect();
    let _ = write!(text, "{label:<20}");
    for rate in &rates {
        let _ = write!(text, "{:>9.6}s", 1.0 / rate.max(1e-9));
    }
    for rate in &rates {
        // Some operations take seconds.
        let decimals = if *rate < 10.0 { 3 } else { 1 };
        let _ = write!(text, "{rate:>10.decimals$}");
    }
}
