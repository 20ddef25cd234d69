//! The stream: however the input is cut, and on however many threads, the output is the same.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};

use arbitrary::{Result, Unstructured};
use zariz::rsa::Algorithm;
use zariz_cli::commands::modexp::modexp_lines;
use zariz_cli::commands::sign::sign_lines;
use zariz_cli::commands::verify::verify_lines;
use zariz_cli::encoding::Encoding;
use zariz_cli::input::Input;
use zariz_cli::lines::Pairs;
use zariz_cli::output::Output;
use zariz_cli::progress::Progress;

use crate::lines::{SEED_LINES, line, plain_power, powers, script_of};
use crate::script::Script;
use crate::structure::keys;

/// The target.
pub fn run(data: &[u8]) {
    // Bytes too few for a structure have none to test.
    let _ = structured(&mut Unstructured::new(data));
}

/// Gives its bytes in pieces of these lengths, in turn.
struct Pieces {
    rest: Vec<u8>,
    lengths: Vec<usize>,
    turn: usize,
}

impl Read for Pieces {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let length = self.lengths[self.turn % self.lengths.len()].min(to.len()).min(self.rest.len());
        self.turn += 1;
        if self.turn.is_multiple_of(7) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        to[..length].copy_from_slice(&self.rest[..length]);
        self.rest.drain(..length);
        Ok(length)
    }
}

/// How an input is cut.
struct Cut {
    lengths: Vec<usize>,
    buffer: usize,
    threads: usize,
    /// Whether it says how long it is, as a file does.
    sized: bool,
}

impl Cut {
    fn new(u: &mut Unstructured) -> Result<Self> {
        let mut lengths = Vec::new();
        for _ in 0..u.int_in_range(1..=4)? {
            lengths.push(u.int_in_range(1..=40)?);
        }
        let (buffer, threads) = (u.int_in_range(1..=64)?, u.int_in_range(1..=3)?);
        Ok(Self { lengths, buffer, threads, sized: u.ratio(1, 2)? })
    }

    fn input(&self, text: &[u8]) -> Input {
        let pieces = Pieces { rest: text.to_vec(), lengths: self.lengths.clone(), turn: 0 };
        let reader = BufReader::with_capacity(self.buffer, Box::new(pieces) as _);
        Input { reader, name: "input".into(), size: self.sized.then_some(text.len() as u64) }
    }
}

/// What is written to an output.
fn written(write: impl FnOnce(&mut Output, &mut Progress)) -> Vec<u8> {
    let mut file = tempfile::tempfile().expect("a file");
    let mut output = Output::Direct(file.try_clone().expect("a file"), "output".into());
    write(&mut output, &mut Progress::new(true, None, "line", false));
    drop(output);
    read_all(&mut file)
}

fn read_all(file: &mut File) -> Vec<u8> {
    let mut out = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut out)).expect("a readable file");
    out
}

fn structured(u: &mut Unstructured) -> Result<()> {
    let (cut, signs) = (Cut::new(u)?, u.ratio(1, 4)?);
    let mut lines = Vec::new();
    while lines.len() < 80 && !u.is_empty() {
        lines.push(line(u)?);
    }
    let end: &[u8] = if u.ratio(1, 2)? { b"\n" } else { b"\r\n" };
    let mut text = lines.join(end);
    // The last line needs no end.
    if !lines.last().is_none_or(Vec::is_empty) && u.ratio(1, 2)? || lines.last().is_some_and(Vec::is_empty) {
        text.extend_from_slice(end);
    }
    // A `\r` before the end belongs to the end, once; at the end of the text it does not.
    let lines = plain_lines(&text);
    if signs {
        signatures(&cut, &text, &lines)
    } else {
        modexp(&cut, &text, &lines)
    }
    Ok(())
}

/// Lines to be raised to powers and to be signed, cut in several ways.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for (buffer, threads, pieces) in [(1, 1, &[1][..]), (64, 3, &[40]), (7, 2, &[3, 40, 1, 17])] {
        for (signs, times) in [(false, 1), (false, 10), (true, 1), (true, 4)] {
            let script = Script::default().int(1..=4, pieces.len());
            let script = pieces.iter().fold(script, |script, &length| script.int(1..=40, length));
            let script =
                script.int(1..=64, buffer).int(1..=3, threads).ratio(2, threads == 2).ratio(4, signs);
            let lines = SEED_LINES.iter().cycle().take(times * SEED_LINES.len());
            out.push(lines.fold(script, |script, fields| script_of(script, fields)).0);
        }
    }
    out
}

/// The lines of a text without their ends.
fn plain_lines(text: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let last = lines.pop().unwrap_or_default();
    let whole = lines.iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec());
    whole.chain((!last.is_empty()).then(|| last.to_vec())).collect()
}

fn modexp(cut: &Cut, text: &[u8], lines: &[Vec<u8>]) {
    let powers = &powers()[0];
    let mut failed = 0;
    let out = written(|output, progress| {
        let tally =
            modexp_lines(powers, cut.input(text), output, cut.threads, progress).expect("a readable input");
        assert_eq!(tally.done + tally.failed, lines.len() as u64);
        failed = tally.failed;
    });
    let mut expected = Vec::new();
    for line in lines {
        match plain_power(line, 0) {
            Some(power) => expected.extend(power.to_str_radix(16).into_bytes()),
            None => failed -= 1,
        }
        expected.push(b'\n');
    }
    assert_eq!(failed, 0, "failures that are none");
    assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&expected));
}

fn signatures(cut: &Cut, text: &[u8], lines: &[Vec<u8>]) {
    let (key, algorithm, encoding) = (&keys()[0], Algorithm::RS256, Encoding::Base64);
    let out = written(|output, progress| {
        let input = cut.input(text);
        let tally = sign_lines(key, algorithm, encoding, input, output, cut.threads, progress);
        assert_eq!(tally.expect("a readable input").done, lines.len() as u64);
    });
    let mut expected = Vec::new();
    for line in lines {
        expected.extend(encoding.encode(&key.sign(algorithm, line).expect("a good key")));
        expected.push(b'\n');
    }
    assert!(out == expected, "other signatures");
    let pairs = Pairs::new(cut.input(text), cut.input(&out));
    let mut progress = Progress::new(true, None, "line", false);
    let tally = verify_lines(key.public_key(), algorithm, encoding, pairs, cut.threads, &mut progress);
    let tally = tally.expect("a readable input");
    assert_eq!((tally.done, tally.failed), (lines.len() as u64, 0));
}
