//! Lines of input as batch items, from one file or from two side by side.

use std::io::{BufRead, Read};

use crate::encoding::LONGEST_ENCODED;
use crate::exit::Failure;
use crate::input::Input;

/// The longest line. A longer one is not real input, and would only fill the memory.
const LONGEST_LINE: u64 = 256 << 20;

/// Memory of an item besides its bytes: vectors, and the allocator's overhead.
const OVERHEAD: u64 = 128;

/// The source of a batch's items.
pub trait Source: Send {
    /// One line, or one line of each file.
    type Item: Send;

    /// The next item.
    fn next(&mut self) -> Result<Option<Taken<Self::Item>>, Failure>;

    /// Whether the next item can be read without waiting for the writer of the input.
    fn is_ready(&self) -> bool;
}

/// An item that was read.
pub struct Taken<T> {
    /// The item.
    pub item: T,
    /// The bytes of input that it took (of the left file, if there are two), for the progress.
    pub bytes: u64,
    /// The bytes of memory that it takes until its result is there, with its decoded form.
    pub memory: u64,
}

/// The lines of an input, without their ends (`\n` or `\r\n`). The last line needs no end.
pub struct Lines {
    input: Input,
    number: u64,
    longest: u64,
    copies: u64,
}

impl Lines {
    /// The lines of `input`.
    pub fn new(input: Input) -> Self {
        Self { input, number: 0, longest: LONGEST_LINE, copies: 1 }
    }

    /// Counts memory for a copy of each line, at most as long as the line: for work that copies lines.
    pub fn copied(self) -> Self {
        Self { copies: 2, ..self }
    }
}

impl Source for Lines {
    type Item = Vec<u8>;

    fn next(&mut self) -> Result<Option<Taken<Vec<u8>>>, Failure> {
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
            return Err(Failure::Input(format!(
                "{name}: line {number} is longer than {} bytes",
                self.longest
            )));
        }
        let bytes = taken as u64;
        Ok(Some(Taken { item: line, bytes, memory: self.copies * bytes + OVERHEAD }))
    }

    fn is_ready(&self) -> bool {
        // A regular file is always ready. A pipe or terminal is ready if a whole line has arrived.
        self.input.size.is_some() || self.input.reader.buffer().contains(&b'\n')
    }
}

/// The lines of two inputs side by side; the right one has short lines. After the end of the shorter input,
/// its side is `None`.
pub struct Pairs {
    left: Lines,
    right: Lines,
}

impl Pairs {
    /// The lines of `left`, each with its line of `right`.
    pub fn new(left: Input, right: Input) -> Self {
        Self {
            left: Lines::new(left),
            right: Lines { longest: LONGEST_ENCODED, ..Lines::new(right).copied() },
        }
    }
}

impl Source for Pairs {
    type Item = (Option<Vec<u8>>, Option<Vec<u8>>);

    fn next(&mut self) -> Result<Option<Taken<Self::Item>>, Failure> {
        let (left, right) = (self.left.next()?, self.right.next()?);
        if left.is_none() && right.is_none() {
            return Ok(None);
        }
        let bytes = left.as_ref().map_or(0, |left| left.bytes);
        let memory = [&left, &right].into_iter().flatten().map(|line| line.memory).sum();
        Ok(Some(Taken { item: (left.map(|left| left.item), right.map(|right| right.item)), bytes, memory }))
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
        Input {
            reader: BufReader::with_capacity(4, Box::new(Cursor::new(text))),
            name: "test".into(),
            size: None,
        }
    }

    fn all(mut lines: Lines) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| lines.next().expect("readable").map(|taken| taken.item)).collect()
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
        assert!(
            lines.next().is_ok_and(|line| line.is_some_and(|line| line.item.len() == 8 && line.bytes == 9))
        );
        let error = lines.next().err().expect("nine bytes").to_string();
        assert!(error.contains("line 2"), "{error}");
    }

    #[test]
    fn pairs_go_on_to_the_longer_end() {
        let mut pairs = Pairs::new(input(b"a\nb\n"), input(b"1\n2\n3"));
        let mut items = Vec::new();
        while let Some(taken) = pairs.next().expect("readable") {
            items.push(taken.item);
        }
        let line = |text: &[u8]| Some(text.to_vec());
        assert_eq!(items, [(line(b"a"), line(b"1")), (line(b"b"), line(b"2")), (None, line(b"3"))]);
    }

    #[test]
    fn memory_counts_both_sides_and_copies() {
        let memory = |taken: Option<Taken<Vec<u8>>>| taken.map_or(0, |taken| taken.memory);
        let mut lines = Lines::new(input(b"12345678\n"));
        assert_eq!(memory(lines.next().expect("readable")), 9 + OVERHEAD);
        let mut lines = Lines::new(input(b"12345678\n")).copied();
        assert_eq!(memory(lines.next().expect("readable")), 18 + OVERHEAD);
        let mut pairs = Pairs::new(input(b"message\n"), input(b"signature\nmore\n"));
        let mut next = || pairs.next().expect("readable").map(|pair| (pair.bytes, pair.memory));
        assert_eq!(next(), Some((8, 8 + 20 + 2 * OVERHEAD)));
        assert_eq!(next(), Some((0, 10 + OVERHEAD)));
        assert_eq!(next(), None);
    }
}
