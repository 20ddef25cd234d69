//! Results that cannot be delivered: every command says so, and none reports success.
#![cfg(unix)]

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use zariz::rsa::{Padding, PrivateKey};

use crate::args;
use crate::run::{Done, Folder, key, program, run, zariz_with};

/// Commands that write to standard output, with the input they need.
fn writing() -> Vec<(Vec<OsString>, &'static [u8])> {
    let key = key(1024);
    let mut all = vec![
        (args!["keygen", "--bits", "1024"], &b""[..]),
        (args!["keygen", "--bits", "1024", "--out", "/dev/null", "--force", "--public-out", "-"], b""),
        (args!["sign", "--key", key], b"text"),
        (args!["sign", "--key", key, "--encoding", "hex"], b"text"),
        (args!["sign", "--key", key, "--lines"], b"text\n"),
        (args!["sign", "--key", key, "--out", "-"], b"text\n"),
        (args!["sign", "--key", key, "--out", "/dev/stdout"], b"text\n"),
        (args!["sign", "--key", key, "--out", "/dev/fd/1"], b"text\n"),
        (args!["modexp", "--modulus", "7", "--exponent", "2"], b"3\n"),
        (args!["prime", "--bits", "256"], b""),
        (args!["prime", "--check", "7"], b""),
        (args!["prime", "--check", "-"], b"7\n"),
        (args!["speed", "modexp1024", "--seconds", "0.01"], b""),
        (args!["speed", "modexp1024", "--seconds", "0.01", "--json"], b""),
        (args!["demo", "--messages", "1"], b""),
        (args!["info"], b""),
        (args!["info", "--json"], b""),
        (args!["--help"], b""),
        (args!["--version"], b""),
        (args!["sign", "--help"], b""),
    ];
    let parsed = PrivateKey::parse(&std::fs::read(&key).expect("readable")).expect("a key");
    let cipher: &[u8] =
        parsed.public_key().encrypt(&Padding::Pkcs1v15, b"text").expect("a ciphertext").leak();
    all.push((args!["decrypt", "--key", key, "--padding", "pkcs1"], cipher));
    all.push((args!["decrypt", "--key", key, "--padding", "pkcs1", "--output-encoding", "hex"], cipher));
    all
}

/// Runs the program in a shell with a redirection.
fn redirected(arguments: &[OsString], redirection: &str, input: &[u8]) -> Done {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec \"$0\" \"$@\" {redirection}"), crate::PROGRAM]).args(arguments);
    run(&mut shell, input)
}

#[test]
fn a_closed_or_full_output_is_an_error_of_every_command() {
    for (arguments, input) in writing() {
        for redirection in [">&-", ">/dev/full"] {
            if redirection == ">/dev/full" && !Path::new("/dev/full").exists() {
                continue;
            }
            let done = redirected(&arguments, redirection, input);
            assert_eq!(done.code, Some(3), "{arguments:?} {redirection}: {done:?}");
            let says = |words| done.stderr.contains(words);
            assert!(
                says("standard output") || says("/dev/stdout") || says("/dev/fd/1"),
                "{arguments:?}: {done:?}"
            );
        }
        // Without the redirection, the same command has a result.
        assert!(redirected(&arguments, "", input).code == Some(0), "{arguments:?}");
    }
}

#[test]
fn a_pipe_that_its_reader_closed_ends_every_command() {
    for (arguments, input) in writing() {
        // Closed before the program starts, since the program may be fast.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut child = program();
        child.args(&arguments).stdin(Stdio::piped()).stdout(writer).stderr(Stdio::piped());
        let mut child = child.spawn().expect("started");
        let mut stdin = child.stdin.take().expect("a pipe");
        // The program may end before it has read everything.
        let _ = std::io::Write::write_all(&mut stdin, input);
        drop(stdin);
        let output = child.wait_with_output().expect("ended");
        let errors = String::from_utf8_lossy(&output.stderr);
        if arguments[0] == "keygen" {
            // The loss of a key is an error.
            assert_eq!(output.status.code(), Some(3), "{arguments:?}");
            assert!(errors.contains("closed by its reader"), "{arguments:?}: {errors}");
        } else {
            assert_eq!(output.status.signal(), Some(13), "{arguments:?}: {}", output.status);
            assert_eq!(errors, "", "{arguments:?}");
        }
    }
}

#[test]
fn a_closed_input_is_no_empty_input() {
    let folder = Folder::new();
    let signature =
        folder.file("signature", zariz_with(args!["sign", "--key", key(1024)], b"").exits(0).stdout);
    for stdin in ["-", "/dev/stdin", "/dev/fd/0"] {
        for arguments in [
            args!["sign", "--key", key(1024), stdin],
            args!["sign", "--key", key(1024), "--lines", stdin],
            args!["sign", "--key", stdin, signature],
            args!["verify", "--key", key(1024), "--signatures", signature, stdin],
            args!["decrypt", "--key", key(1024), stdin],
            args!["modexp", "--modulus", "7", "--exponent", "2", stdin],
            args!["keygen", "--bits", "1024", "--password-file", stdin],
        ] {
            let done = redirected(&arguments, "<&-", b"");
            assert!(done.code == Some(3) && done.stderr.contains("closed"), "{arguments:?}: {done:?}");
        }
    }
    redirected(&args!["prime", "--check", "-"], "<&-", b"").exits(3).says(&["standard input", "closed"]);
    // The null device is the user's choice.
    redirected(&args!["sign", "--key", key(1024)], "<>/dev/null 1<>/dev/null", b"").exits(0).says_nothing();
}

#[test]
fn a_path_of_a_folder_makes_no_file() {
    let folder = Folder::new();
    let here = folder.path().to_str().expect("text");
    folder.file("file", "before");
    std::fs::create_dir(folder.join("folder")).expect("a folder");
    for end in
        ["new/", "new//", "new/.", "new/./", "new/..", "file/", "file/.", "folder", "folder/", ".", ".."]
    {
        let path = format!("{here}/{end}");
        for arguments in [
            args!["sign", "--key", key(1024), "--out", path],
            args!["decrypt", "--key", key(1024), "--out", path],
            args!["modexp", "--modulus", "7", "--exponent", "2", "--out", path],
            args!["prime", "--bits", "256", "--out", path],
            args!["keygen", "--bits", "1024", "--out", path],
            args!["keygen", "--bits", "1024", "--force", "--out", path],
            args!["keygen", "--bits", "1024", "--public-out", path],
        ] {
            let done = zariz_with(&arguments, b"3\n");
            assert!(done.code == Some(3) && done.stdout.is_empty(), "{arguments:?}: {done:?}");
            let says = |words| done.stderr.contains(words);
            assert!(says("names no file") || says("names a folder"), "{arguments:?}: {done:?}");
            assert_eq!(folder.names(), ["file", "folder"], "{arguments:?}");
            assert_eq!(folder.read("file"), b"before");
        }
    }
}
