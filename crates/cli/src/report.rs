//! What is said on standard error. A standard error that cannot be written to is no reason to stop.

use std::fmt::Display;
use std::io::Write;

use anstyle::{AnsiColor, Style};

const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Writes `error: text`, in colour on a terminal unless `NO_COLOR` is set.
pub fn error(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{ERROR}error:{ERROR:#} {text}");
}

/// Writes a line of text.
pub fn note(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// A count with separators: 20,000.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun, which is in the plural unless the count is one: 1 line, 20,000 lines.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_three() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (20_000, "20,000"), (1_234_567, "1,234,567")];
        for (count, text) in cases {
            assert_eq!(grouped(count), text);
        }
        assert_eq!(counted(1, "line"), "1 line");
        assert_eq!(counted(2000, "line"), "2,000 lines");
    }
}
