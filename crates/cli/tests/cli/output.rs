//! Outputs: files that appear complete, closed pipes, and outputs that cannot be written.
#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::args;
use crate::run::{Folder, key, program, zariz, zariz_with};

#[test]
fn a_file_appears_only_when_it_is_complete() {
    let folder = Folder::new();
    let out = folder.file("out", "before");
    // Line 100 cannot be read: the 99 before it must give no file.
    let messages: String = (0..99).map(|i| format!("{i}\n")).collect();
    let signatures = "A".repeat(100_000);
    folder.file("messages", &messages);
    let failing = [
        args!["sign", "--key", "/does/not/exist", "--out", out],
        args!["sign", "--key", key(1024), "--alg", "PS512", "--lines", "--out", out],
        args!["modexp", "--modulus", "4", "--out", out],
        args!["modexp", "--modulus", "5", "--out", out, "/does/not/exist"],
        args!["decrypt", "--key", key(1024), "--out", out, folder.file("long", signatures)],
    ];
    for arguments in failing {
        zariz(&arguments).exits(3);
        assert_eq!(folder.read("out"), b"before", "{arguments:?}");
        assert_eq!(folder.names(), ["long", "messages", "out"], "{arguments:?}");
    }
    // Failed lines are part of a complete output.
    zariz_with(args!["modexp", "--modulus", "5", "--exponent", "1", "--out", out], b"2\nx\n3\n").exits(4);
    assert_eq!(folder.read("out"), b"2\n\n3\n");
    assert_eq!(folder.names(), ["long", "messages", "out"]);
}

#[test]
fn input_and_output_may_be_the_same_file() {
    let folder = Folder::new();
    let file = folder.file("numbers", "2\n3\n".repeat(50_000));
    zariz(args!["modexp", "--modulus", "7", "--exponent", "2", "--out", file, file]).exits(0);
    assert_eq!(folder.read("numbers"), b"4\n2\n".repeat(50_000));
    assert_eq!(folder.names(), ["numbers"]);
}

#[test]
fn a_replaced_file_keeps_its_mode_and_its_links() {
    let folder = Folder::new();
    let (file, link) = (folder.file("file", "before"), folder.join("link"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("changed");
    std::os::unix::fs::symlink(&file, &link).expect("linked");
    zariz_with(args!["modexp", "--modulus", "7", "--exponent", "2", "--out", link], b"3").exits(0);
    assert_eq!(folder.read("file"), b"2\n");
    assert!(link.is_symlink());
    assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
    // A new file gets the mode that the user's mask allows, like any other.
    zariz_with(args!["modexp", "--modulus", "7", "--exponent", "2", "--out", folder.join("new")], b"3")
        .exits(0);
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode();
    assert_eq!(mode(&folder.join("new")), mode(&folder.file("usual", "")));
}

#[test]
fn devices_are_written_and_never_replaced() {
    let modexp =
        |out: &str| zariz_with(args!["modexp", "--modulus", "7", "--exponent", "2", "--out", out], b"3");
    modexp("/dev/null").exits(0).says_nothing();
    assert!(!fs::metadata("/dev/null").expect("there").is_file());
    assert_eq!(modexp("-").exits(0).text(), "2\n");
    assert_eq!(modexp("/dev/stdout").exits(0).text(), "2\n");
    if Path::new("/dev/full").exists() {
        modexp("/dev/full").exits(3).says(&["error: /dev/full", "space"]);
        let full = fs::File::options().write(true).open("/dev/full").expect("opened");
        let mut child = program();
        child
            .args(["modexp", "--modulus", "7", "--exponent", "2", "/dev/stdin"])
            .stdin(Stdio::piped())
            .stdout(full);
        let mut child = child.stderr(Stdio::piped()).spawn().expect("started");
        child.stdin.take().expect("a pipe").write_all(b"3\n").expect("written");
        let output = child.wait_with_output().expect("ended");
        assert_eq!(output.status.code(), Some(3));
        assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
    }
}

#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let endless = |arguments: Vec<std::ffi::OsString>| {
        let mut child = program();
        child.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().expect("started");
        let (mut stdin, mut stdout) =
            (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let writer = thread::spawn(move || while stdin.write_all(b"2\n3\n").is_ok() {});
        stdout.read_exact(&mut [0; 10]).expect("ten bytes");
        drop(stdout);
        let output = child.wait_with_output().expect("ended");
        writer.join().expect("the writer ends when the program does");
        assert_eq!(output.status.signal(), Some(13));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    };
    endless(args!["modexp", "--modulus", "7", "--exponent", "2"]);
    endless(args!["sign", "--key", key(1024), "--lines"]);
}

#[test]
fn a_standard_error_that_is_closed_is_no_panic() {
    for redirection in ["2>&-", "2>/dev/full"] {
        let command = format!("printf 'x\\n2\\n' | \"$0\" modexp --modulus 7 --exponent 2 {redirection}");
        let output =
            Command::new("sh").args(["-c", &command, env!("CARGO_BIN_EXE_zariz")]).output().expect("ended");
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(4), &b"\n4\n"[..]), "{redirection}");
    }
}
