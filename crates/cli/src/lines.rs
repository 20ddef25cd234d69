//! Lines of input as batch items, one file's or two files' side by side.

use std::io::{BufRead, Read};

use crate::exit::Failure;
use crate::input::Input;

/// No line of honest input is longer; one that is would only fill the memory.
const LONGEST_LINE: u64 = 256 << 20;

/// The longest line beside another: many times the largest signature in any encoding.
const LONGEST_RIGHT: u64 = 64 << 10;

/// Where the items of a batch come from.
pub trait Source: Send {
    /// One line, or one line of each file.
    type Item: Send;

    /// The next item, and how many bytes of input it took.
    fn next(&mut self) -> Result<Option<(Self::Item, u64)>, Failure>;

    /// Whether the next item can be had without waiting for whoever writes the input.
    fn is_ready(&self) -> bool;
}

/// The lines of an input, without their ends (`\n` or `\r\n`); the last one needs no end.
pub struct Lines {
    input: Input,
    number: u64,
    longest: u64,
}

impl Lines {
    /// The lines of `input`.
    pub fn new(input: Input) -> Self {
        Self { input, number: 0, longest: LONGEST_LINE }
    }
}

impl Source for Lines {
    type Item = Vec<u8>;

    fn next(&mut self) -> Result<Option<(Vec<u8>, u64)>, Failure> {
        let mut line = Vec::new();
        let mut limited = Read::take(&mut self.input.reader, self.longest + 1);
        let taken = limited.read_until(b'\n', &mut line).map_err(|e| Failure::io(&self.input.name, &e))?;
        if taken == 0 {
            return Ok(None);
        }
        self.number += 1;
        if line.pop_if(|last| *last == b'\n').is_some() {
            line.pop_if(|last| *last == b'\r');
        } else if taken as u64 > self.longest {
            let (name, number) = (&self.input.name, self.number);
            return Err(Failure::Input(format!("{name}: line {number} is longer than {} bytes", self.longest)));
        }
        Ok(Some((line, taken as u64)))
    }

    fn is_ready(&self) -> bool {
        // A regular file is always there; from a pipe or terminal, only a whole line that has already arrived is.
        self.input.size.is_some() || self.input.reader.buffer().contains(&b'\n')
    }
}

/// The lines of two inputs side by side, of which the right one has short lines; when one is shorter, its side is `None` from there on.
pub struct Pairs {
    left: Lines,
    right: Lines,
}

impl Pairs {
    /// The lines of `left`, each with that of `right`.
    pub fn new(left: Input, right: Input) -> Self {
        // A chunk's size is bounded by its left lines alone, so the right ones must be short.
        Self { left: Lines::new(left), right: Lines { longest: LONGEST_RIGHT, ..Lines::new(right) } }
    }
}

impl Source for Pairs {
    type Item = (Option<Vec<u8>>, Option<Vec<u8>>);

    fn next(&mut self) -> Result<Option<(Self::Item, u64)>, Failure> {
        let pair = match (self.left.next()?, self.right.next()?) {
            (None, None) => return Ok(None),
            (left, right) => {
                let taken = left.as_ref().map_or(0, |(_, taken)| *taken);
                ((left.map(|(line, _)| line), right.map(|(line, _)| line)), taken)
            }
        };
        Ok(Some(pair))
    }

    fn is_ready(&self) -> bool {
        self.left.is_ready() && self.right.is_ready()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Cursor};

    fn input(text: &'static [u8]) -> Input {
        Input { reader: BufReader::with_capacity(4, Box::new(Cursor::new(text))), name: "test".into(), size: None }
    }

    fn all(mut lines: Lines) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| lines.next().expect("readable").map(|(line, _)| line)).collect()
    }

    #[test]
    fn ends_are_stripped_once() {
        let cases: [(&'static [u8], &[&[u8]]); 7] = [
            (b"", &[]),
            (b"\n", &[b""]),
            (b"a", &[b"a"]),
            (b"a\nb\n", &[b"a", b"b"]),
            (b"a\r\nb\r\n\r\nc", &[b"a", b"b", b"", b"c"]),
            (b"a\r\r\n\rb\r", &[b"a\r", b"\rb\r"]),
            (b"longer than the buffer\n\0\xff\n", &[b"longer than the buffer", b"\0\xff"]),
        ];
        for (text, lines) in cases {
            assert_eq!(all(Lines::new(input(text))), lines, "{text:?}");
        }
    }

    #[test]
    fn a_line_too_long_is_named() {
        let mut lines = Lines { longest: 8, ..Lines::new(input(b"12345678\n123456789\n")) };
        assert!(lines.next().is_ok_and(|line| line.is_some_and(|(line, taken)| line.len() == 8 && taken == 9)));
        let error = lines.next().expect_err("nine bytes").to_string();
        assert!(error.contains("line 2"), "{error}");
    }

    #[test]
    fn pairs_go_on_to_the_longer_end() {
        let mut pairs = Pairs::new(input(b"a\nb\n"), input(b"1\n2\n3"));
        let mut items = Vec::new();
        while let Some((item, _)) = pairs.next().expect("readable") {
            items.push(item);
        }
        let line = |text: &[u8]| Some(text.to_vec());
        assert_eq!(items, [(line(b"a"), line(b"1")), (line(b"b"), line(b"2")), (None, line(b"3"))]);
    }
}
