//! Messages on standard error. If it cannot be written to, the run goes on.

use std::fmt::Display;
use std::io::{IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use zariz_papers::figures::grouped;

const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Writes `error: text`, in colour on a terminal unless `NO_COLOR` is set.
pub fn error(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{ERROR}error:{ERROR:#} {text}");
}

/// Writes an error of a run that is interrupted, if there is one to write: on a terminal on a line of its
/// own, because a progress bar may be shown.
pub fn interrupted(text: &str) {
    if text.is_empty() {
        return;
    }
    if std::io::stderr().is_terminal() {
        note("");
    }
    error(format_args!("interrupted: {text}"));
}

/// Writes a line of text.
pub fn note(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// A count with its noun, which is in the plural unless the count is one: 1 line, 20,000 lines.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_are_in_the_plural_unless_there_is_one() {
        assert_eq!(counted(1, "line"), "1 line");
        assert_eq!(counted(2000, "line"), "2,000 lines");
    }
}
