//! Signals that end a program: every command that writes removes its draft, and the signal ends it.
#![cfg(unix)]

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::args;
use crate::run::{Folder, key, program};

/// The signals that end a program and that it can catch.
#[cfg(target_os = "linux")]
fn ending() -> Vec<i32> {
    const FAULTS: [i32; 6] = [4, 5, 7, 8, 11, 31];
    // KILL and STOP; PIPE, which Rust's programs ignore; signals that do not end a program; those of the C
    // library.
    const OTHERS: [i32; 12] = [9, 19, 13, 17, 18, 20, 21, 22, 23, 28, 32, 33];
    let status = fs::read_to_string("/proc/self/status").expect("the system tells what is ignored");
    let ignored =
        status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a line of that name").trim();
    let ignored = u64::from_str_radix(ignored, 16).expect("a mask");
    let is_ignored = |signal: &i32| ignored >> (signal - 1) & 1 == 1;
    // A shell that starts the tests in the background makes them ignore some signals; the program would
    // inherit that.
    (1..=64)
        .filter(|signal| !FAULTS.contains(signal) && !OTHERS.contains(signal) && !is_ignored(signal))
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn ending() -> Vec<i32> {
    vec![1, 2, 3, 15]
}

fn send(signal: i32, child: &Child) {
    let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "signal {signal}");
}

/// Waits until `there` is true.
fn wait_for(what: &str, there: impl Fn() -> bool) {
    for _ in 0..10_000 {
        if there() {
            return;
        }
        thread::sleep(Duration::from_millis(2));
    }
    panic!("{what} does not come");
}

/// Whether the folder has a draft, or a complete key.
fn has_begun(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|entries| entries.count() > 0)
}

/// Sends the signal when the program has begun to write into the folder. Its standard input stays open.
fn interrupted(arguments: &[OsString], input: &[u8], folder: &Path, signal: i32) {
    let mut child = program();
    child.args(arguments).arg("-q").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = child.spawn().expect("started");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input).expect("written");
    wait_for("the draft", || has_begun(folder));
    send(signal, &child);
    let status = child.wait().expect("ended");
    assert_eq!(status.signal(), Some(signal), "{arguments:?}: {status}");
    assert!(!status.core_dumped(), "secrets are dumped: {arguments:?}");
    let names = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").file_name());
    let left: Vec<OsString> = names.filter(|name| !name.to_string_lossy().starts_with("key-")).collect();
    assert!(left.is_empty(), "{arguments:?}, signal {signal}: {left:?}");
}

#[test]
fn every_signal_that_ends_a_program_removes_the_draft_of_every_command() {
    let key = key(1024);
    let signals = ending();
    assert!(signals.len() >= 2, "nothing is tested: {signals:?}");
    for signal in signals {
        let run = |command: &str, options: Vec<OsString>, input: &[u8]| {
            let folder = Folder::new();
            let is_many = options.contains(&"--count".into());
            let out =
                if is_many { args!["--out-dir", folder.path()] } else { args!["--out", folder.join("out")] };
            interrupted(&[args![command], options, out].concat(), input, folder.path(), signal);
        };
        run("keygen", args!["--bits", "16384"], b"");
        run("keygen", args!["--bits", "1024", "--threads", "1", "--count", "1000000"], b"");
        run("prime", args!["--bits", "8192", "--safe", "--threads", "1"], b"");
        run("sign", args!["--key", key], b"text");
        run("sign", args!["--key", key, "--lines"], b"text\n");
        run("decrypt", args!["--key", key], b"text");
        run("decrypt", args!["--key", key, "--lines"], b"text\n");
        run("modexp", args!["--modulus", "7", "--exponent", "2"], b"2\n");
    }
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let folder = Folder::new();
    // Not SIGINT and SIGTERM: see `ending_signals`.
    for signal in [1, 3, 10] {
        let out = folder.join("out");
        let mut child = Command::new("sh");
        child.args(["-c", &format!("trap '' {signal}; exec \"$@\""), "sh", env!("CARGO_BIN_EXE_zariz")]);
        child.args(args!["modexp", "--modulus", "7", "--exponent", "2", "--out", out]);
        let mut child = child.stdin(Stdio::piped()).spawn().expect("started");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(b"2\n").expect("written");
        wait_for("the draft", || has_begun(folder.path()));
        send(signal, &child);
        stdin.write_all(b"3\n").expect("still read");
        drop(stdin);
        assert_eq!(child.wait().expect("ended").code(), Some(0), "signal {signal}");
        assert_eq!(folder.read("out"), b"4\n2\n");
        fs::remove_file(out).expect("removed");
    }
}
