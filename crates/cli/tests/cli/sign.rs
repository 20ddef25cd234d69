//! `zariz sign`.

use std::fs;

use zariz_needs::needs;

use crate::args;
use crate::run::{Folder, key, openssl, zariz, zariz_with};

/// Messages that are hard to split: empty, with a lone carriage return, binary, and without a line end.
const MESSAGES: [&[u8]; 6] = [b"first", b"", b"\xff\xfe\0binary", b"a\rb", b"\"quoted\"", b"last"];

#[needs("openssl")]
#[test]
fn openssl_accepts_every_algorithm() {
    let folder = Folder::new();
    let (public, message) = (folder.public_key(2048), folder.file("message", "a message\nof two lines\n"));
    let algorithms = [
        ("RS256", "-sha256", "pkcs1", "32"),
        ("RS384", "-sha384", "pkcs1", "48"),
        ("RS512", "-sha512", "pkcs1", "64"),
        ("PS256", "-sha256", "pss", "32"),
        ("PS384", "-sha384", "pss", "48"),
        ("ps512", "-sha512", "pss", "64"),
    ];
    for (algorithm, hash, padding, salt) in algorithms {
        let signature = folder.join(algorithm);
        let sign = args!["sign", "--key", key(2048), "--alg", algorithm, "--out", signature, message];
        assert_eq!(zariz(sign).exits(0).says_nothing().stdout, b"");
        assert_eq!(fs::metadata(&signature).expect("signed").len(), 256);
        let padding = format!("rsa_padding_mode:{padding}");
        let mut check = args!["dgst", hash, "-verify", public, "-signature", signature, "-sigopt", padding];
        if padding.ends_with("pss") {
            check.extend(args!["-sigopt", format!("rsa_pss_saltlen:{salt}")]);
        }
        check.push(message.clone().into());
        assert_eq!(openssl(check), b"Verified OK\n", "{algorithm}");
    }
}

#[test]
fn one_message_in_each_encoding() {
    let sign = |encoding: &str| {
        zariz_with(args!["sign", "--key", key(1024), "--encoding", encoding], b"message\n")
            .exits(0)
            .says_nothing()
    };
    let raw = sign("raw").stdout;
    assert_eq!(raw.len(), 128);
    assert_eq!(zariz_with(args!["sign", "--key", key(1024)], b"message\n").stdout, raw);
    let hex: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(sign("hex").text(), format!("{hex}\n"));
    let base64 = sign("base64");
    assert_eq!(base64.text().len(), 128usize.div_ceil(3) * 4 + 1);
    assert!(base64.text().ends_with("=\n"));
    let url: String = base64.text().trim_end_matches(['=', '\n']).replace('+', "-").replace('/', "_");
    assert_eq!(sign("base64url").text(), format!("{url}\n"));
}

#[test]
fn lines_are_messages_without_their_ends() {
    let expected: Vec<String> = MESSAGES
        .iter()
        .map(|message| {
            let done =
                zariz_with(args!["sign", "--key", key(1024), "--encoding", "base64", "-"], message).exits(0);
            done.text().trim_end().to_owned()
        })
        .collect();
    for end in [&b"\n"[..], b"\r\n"] {
        for last in [&b""[..], end] {
            let input = [&MESSAGES.join(end)[..], last].concat();
            for threads in ["1", "3"] {
                let sign = args!["sign", "--key", key(1024), "--lines", "--threads", threads];
                assert_eq!(
                    zariz_with(sign, &input).exits(0).says_nothing().lines(),
                    expected,
                    "{end:?} {last:?}"
                );
            }
        }
    }
}

#[test]
fn no_lines_make_no_signatures_and_an_empty_line_makes_one() {
    let sign = || args!["sign", "--key", key(1024), "--lines"];
    assert_eq!(zariz(sign()).exits(0).says_nothing().stdout, b"");
    assert_eq!(zariz_with(sign(), b"\n").exits(0).lines().len(), 1);
    // One message may be empty.
    assert_eq!(zariz(args!["sign", "--key", key(1024)]).exits(0).stdout.len(), 128);
}

#[test]
fn many_lines_keep_their_order() {
    let input: String = (0..500).map(|i| format!("line {i}\n")).collect();
    let sign = |threads: &str| {
        let sign = args!["sign", "--key", key(1024), "--lines", "--threads", threads, "--encoding", "hex"];
        zariz_with(sign, input.as_bytes()).exits(0).says_nothing()
    };
    let one = sign("1");
    assert_eq!(one.lines().len(), 500);
    assert_eq!(one.stdout, sign("4").stdout);
    for i in [0, 63, 64, 65, 499] {
        let message = format!("line {i}");
        let single = zariz_with(args!["sign", "--key", key(1024), "--encoding", "hex"], message.as_bytes());
        assert_eq!(single.text().trim_end(), one.lines()[i]);
    }
}

#[test]
fn a_huge_line_is_a_message() {
    let mut input = vec![b'x'; 20 << 20];
    input.extend_from_slice(b"\nshort\n");
    let done = zariz_with(args!["sign", "--key", key(1024), "--lines"], &input).exits(0);
    assert_eq!(done.lines().len(), 2);
    let single = zariz_with(args!["sign", "--key", key(1024), "--encoding", "base64"], &input[..20 << 20]);
    assert_eq!(single.text().trim_end(), done.lines()[0]);
}

#[test]
fn a_key_too_short_is_said_once() {
    for lines in [&["--lines"][..], &[]] {
        let sign = args!["sign", "--key", key(1024), "--alg", "PS512"];
        let done = zariz_with(sign.into_iter().chain(lines.iter().map(Into::into)), b"a\nb\nc\n").exits(3);
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
        assert!(done.stdout.is_empty() && done.stderr.contains("too short"), "{done:?}");
    }
}
