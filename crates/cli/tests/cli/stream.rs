//! Long inputs: bounded memory, and answers for a writer that waits for them.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread;

use crate::args;
use crate::run::{Folder, key, program, run, zariz};

/// Runs the program in a shell that limits its memory (in KiB), feeds it, and counts the lines of its answer.
fn answers_within(
    limit: u64,
    arguments: &str,
    feed: impl Fn(&mut dyn Write) -> std::io::Result<()> + Send,
) -> u64 {
    // One arena: the allocator reserves memory for each thread, and the limit counts reserved memory.
    let command = format!("ulimit -v {limit}; MALLOC_ARENA_MAX=1 exec \"$0\" {arguments}");
    let mut child = Command::new("sh");
    child.args(["-c", &command, env!("CARGO_BIN_EXE_zariz")]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().expect("started");
    let (mut stdin, stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let count = thread::scope(|scope| {
        scope.spawn(move || feed(&mut stdin).expect("everything is read"));
        BufReader::new(stdout)
            .lines()
            .map(|line| line.expect("a line"))
            .filter(|line| !line.is_empty())
            .count()
    });
    assert_eq!(child.wait().expect("ended").code(), Some(0));
    count as u64
}

/// The limit on the program's memory, in KiB; more than that goes through it.
const LIMIT: u64 = 100_000;

#[test]
fn memory_is_flat_over_many_lines() {
    let block = "123456789abcdef 7\n".repeat(1000);
    let count = answers_within(LIMIT, "modexp --modulus 1000003 --public --threads 2", |stdin| {
        (0..300).try_for_each(|_| stdin.write_all(block.as_bytes()))
    });
    assert_eq!(count, 300_000);
}

#[test]
fn memory_is_flat_over_long_lines() {
    let mut line = vec![b'x'; 1 << 20];
    line.push(b'\n');
    let key = key(1024).into_string().expect("a path of text");
    let count = answers_within(LIMIT, &format!("sign --lines --threads 2 --key '{key}'"), |stdin| {
        (0..200).try_for_each(|_| stdin.write_all(&line))
    });
    assert_eq!(count, 200);
}

#[test]
fn memory_is_flat_over_many_signatures() {
    let block = "a short message\n".repeat(1000);
    let key = key(1024).into_string().expect("a path of text");
    let count = answers_within(LIMIT, &format!("sign --lines --threads 2 --key '{key}'"), |stdin| {
        (0..20).try_for_each(|_| stdin.write_all(block.as_bytes()))
    });
    assert_eq!(count, 20_000);
}

#[test]
fn memory_is_flat_over_one_long_message() {
    let block = vec![b'x'; 1 << 20];
    let key = key(1024).into_string().expect("a path of text");
    let feed = |stdin: &mut dyn Write| (0..200).try_for_each(|_| stdin.write_all(&block));
    assert_eq!(answers_within(LIMIT, &format!("sign --encoding hex --key '{key}'"), feed), 1);
    let folder = Folder::new();
    let whole = folder.file("whole", vec![b'x'; 200 << 20]);
    let signature = folder.join("signature");
    zariz(args!["sign", "--key", key, "--out", signature, whole]).exits(0);
    let verify = format!("verify --key '{key}' --signatures '{}'", signature.display());
    assert_eq!(answers_within(LIMIT, &verify, feed), 0);
}

#[test]
fn an_endless_file_that_is_no_message_ends_the_run() {
    let (key, zero) = (key(1024).into_string().expect("a path of text"), "/dev/zero");
    for encoding in ["raw", "hex", "base64", "base64url"] {
        for command in [
            format!("decrypt --key '{key}' --encoding {encoding} {zero}"),
            format!("verify --key '{key}' --encoding {encoding} --signatures {zero} /dev/null"),
            format!("verify --key '{key}' --lines --encoding base64 --signatures {zero} /dev/null"),
            format!("sign --key {zero} /dev/null"),
            format!("decrypt --key {zero} /dev/null"),
            format!("verify --key {zero} --signatures /dev/null /dev/null"),
            format!("sign --key '{key}' --password-file {zero} /dev/null"),
            format!("keygen --bits 1024 --password-file {zero}"),
        ] {
            let limited = format!("ulimit -v {LIMIT}; MALLOC_ARENA_MAX=1 exec \"$0\" {command}");
            let mut shell = Command::new("sh");
            let done = run(shell.args(["-c", &limited, env!("CARGO_BIN_EXE_zariz")]), b"").exits(3);
            let says = |words| done.stderr.contains(words);
            assert!(done.stdout.is_empty() && (says("too long") || says("longer than")), "{done:?}");
        }
    }
}

#[test]
fn a_writer_that_waits_gets_its_answer() {
    let mut child = program();
    child.args(args!["modexp", "--modulus", "7", "--exponent", "2"]);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
    let (mut stdin, stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let mut answers = BufReader::new(stdout).lines();
    for (question, answer) in [("2\n", "4"), ("3\n4\n", "2"), ("5\n", "2"), ("6\n", "4")] {
        stdin.write_all(question.as_bytes()).expect("written");
        assert_eq!(answers.next().expect("an answer").expect("text"), answer);
    }
    drop(stdin);
    assert_eq!(answers.next().expect("the last answer").expect("text"), "1");
    assert!(answers.next().is_none());
    assert_eq!(child.wait().expect("ended").code(), Some(0));
}

/// The peak memory of the program, in bytes, when it has answered this many lines.
#[cfg(target_os = "linux")]
fn peak(arguments: &[std::ffi::OsString], line: &[u8], count: usize) -> u64 {
    let mut child = program();
    child.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().expect("started");
    let (mut stdin, stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let status = thread::scope(|scope| {
        let feed = scope.spawn(move || {
            (0..count).for_each(|_| stdin.write_all(line).expect("everything is read"));
            stdin
        });
        let answers = BufReader::new(stdout).lines().take(count);
        assert_eq!(
            answers.filter(|answer| answer.as_ref().is_ok_and(|answer| !answer.is_empty())).count(),
            count
        );
        // It waits for more input, which has not ended.
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it is running");
        drop(feed.join().expect("fed"));
        status
    });
    assert_eq!(child.wait().expect("ended").code(), Some(0));
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB")?.trim().parse::<u64>().ok());
    peak.expect("the system tells the peak") << 10
}

#[cfg(target_os = "linux")]
#[test]
fn memory_over_long_lines_has_one_bound_for_all_threads() {
    // Besides the lines: the program, the library's own copies, and remains of growing buffers.
    const REST: u64 = 48 << 20;
    let modexp = args!["modexp", "--modulus", "7", "--exponent", "3", "--threads", "16", "-q"];
    let sign = args!["sign", "--key", key(1024), "--lines", "--threads", "64", "-q"];
    for (arguments, length, count, copies) in [(modexp, 39 << 20, 12, 2), (sign, 15 << 20, 40, 1)] {
        let mut line = vec![b'7'; length];
        line.push(b'\n');
        let (peak, bound) = (peak(&arguments, &line, count), (64 << 20) + copies * length as u64);
        assert!(peak < bound + REST, "{arguments:?}: {} MiB", peak >> 20);
    }
}
