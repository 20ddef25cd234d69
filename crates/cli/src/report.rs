//! Messages on standard error. If they cannot be written, the run goes on. Control characters from others'
//! names and inputs are escaped, so that they do not affect the terminal.

use std::fmt::{self, Display, Write as _};
use std::io::{IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use crate::measure::figures::grouped;

const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Writes `error: text`, in colour on a terminal unless `NO_COLOR` is set.
pub fn error(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{ERROR}error:{ERROR:#} {}", Escaped(text));
}

/// Writes the error of an interrupted run, if not empty. On a terminal it gets its own line, because a
/// progress bar may be shown.
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
    let _ = writeln!(anstream::stderr().lock(), "{}", Escaped(text));
}

/// Text that is safe on a terminal. Control characters, including line ends, and characters that change the
/// direction of writing are escaped like in Rust's strings.
pub struct Escaped<T>(pub T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        struct Filter<'a, 'b>(&'a mut fmt::Formatter<'b>);

        impl fmt::Write for Filter<'_, '_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                let is_invisible = |c: char| {
                    c.is_control()
                        || matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                };
                text.chars().try_for_each(|c| match is_invisible(c) {
                    true => write!(self.0, "{}", c.escape_debug()),
                    false => self.0.write_char(c),
                })
            }
        }
        write!(Filter(f), "{}", self.0)
    }
}

/// A count with its noun, in the plural unless the count is one: 1 line, 20,000 lines.
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
