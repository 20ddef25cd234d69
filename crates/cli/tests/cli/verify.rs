//! `zariz verify`.

use std::path::PathBuf;

use zariz_needs::needs;

use crate::args;
use crate::run::{Done, Folder, key, openssl, zariz, zariz_with};

/// Four messages, and their signatures, one per line.
fn signed(folder: &Folder) -> (PathBuf, Vec<String>) {
    let messages = folder.file("messages", "one\ntwo\n\nfour\n");
    let done = zariz(args!["sign", "--key", key(1024), "--lines", messages]).exits(0);
    (messages, done.lines().iter().map(|line| (*line).to_owned()).collect())
}

fn verify(messages: &PathBuf, signatures: &PathBuf) -> Done {
    zariz(args!["verify", "--key", key(1024), "--lines", "--signatures", signatures, messages])
}

#[needs("openssl")]
#[test]
fn openssl_signatures_verify_and_changed_ones_do_not() {
    let folder = Folder::new();
    let (public, message) = (folder.public_key(2048), folder.file("message", "signed by another"));
    let other = folder.file("other", "signed by nobody");
    for (algorithm, hash, options) in [
        ("RS256", "-sha256", &[][..]),
        ("RS512", "-sha512", &[]),
        ("PS256", "-sha256", &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32"]),
        ("PS384", "-sha384", &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:48"]),
    ] {
        let signature = folder.join("signature");
        let sign = args!["dgst", hash, "-sign", key(2048), "-out", signature];
        openssl(sign.into_iter().chain(options.iter().map(Into::into)).chain(args![message]));
        for key in [public.clone().into(), key(2048)] {
            let verify = |message: &PathBuf| {
                zariz(args!["verify", "--key", key, "--alg", algorithm, "--signatures", signature, message])
            };
            verify(&message).exits(0).says(&["verified 1, failed 0"]);
            verify(&other).exits(1).says(&["error: ", "verified 0, failed 1"]);
        }
        let wrong = if algorithm == "RS256" { "PS256" } else { "RS256" };
        zariz(args!["verify", "--key", public, "--alg", wrong, "--signatures", signature, message]).exits(1);
    }
    // The longest salt: the default of OpenSSL 3.0.
    let signature = folder.join("signature");
    let options = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:max"].map(Into::into);
    let sign = args!["dgst", "-sha256", "-sign", key(2048), "-out", signature, message];
    openssl(sign[..4].iter().cloned().chain(options).chain(sign[4..].iter().cloned()));
    zariz(args!["verify", "--key", public, "--alg", "PS256", "--signatures", signature, message])
        .exits(1)
        .says(&["its salt has 222 bytes where the algorithm has 32"]);
}

#[test]
fn every_encoding_is_read_in_every_usual_form() {
    let folder = Folder::new();
    for encoding in ["raw", "hex", "base64", "base64url"] {
        let done = zariz_with(args!["sign", "--key", key(1024), "--encoding", encoding], b"message").exits(0);
        let mut forms = vec![done.stdout.clone()];
        if encoding != "raw" {
            let text = done.text().trim_end();
            let folded: Vec<&[u8]> = text.as_bytes().chunks(64).collect();
            forms.extend([text.into(), folded.join(&b"\r\n"[..]), text.trim_end_matches('=').into()]);
        }
        if encoding == "hex" {
            forms.push(done.text().to_uppercase().into());
        }
        for form in forms {
            let signature = folder.file("signature", &form);
            let verify =
                args!["verify", "--key", key(1024), "--encoding", encoding, "--signatures", signature];
            zariz_with(verify, b"message").exits(0).says(&["verified 1, failed 0"]);
        }
    }
}

#[test]
fn good_lines_verify() {
    let folder = Folder::new();
    let (messages, signatures) = signed(&folder);
    let done = verify(&messages, &folder.file("signatures", signatures.join("\n"))).exits(0);
    assert_eq!((done.stdout.len(), done.stderr.as_str()), (0, "verified 4, failed 0\n"));
    let crlf = folder.file("crlf", signatures.join("\r\n"));
    let dos = folder.file("dos", "one\r\ntwo\r\n\r\nfour");
    assert_eq!(verify(&dos, &crlf).exits(0).stderr, "verified 4, failed 0\n");
}

#[test]
fn bad_lines_fail_alone_and_are_named() {
    let folder = Folder::new();
    let (messages, good) = signed(&folder);
    let bad = [good[1].clone(), good[1].clone(), "not base64!".into(), good[3][4..].to_owned()];
    let done = verify(&messages, &folder.file("signatures", bad.join("\n"))).exits(1);
    assert_eq!(done.stderr.lines().count(), 4, "{done:?}");
    let done = done.says(&[
        "error: line 1: ",
        "error: line 3: not base64: ",
        "error: line 4: ",
        "verified 1, failed 3",
    ]);
    assert!(done.stdout.is_empty());
}

#[test]
fn quiet_leaves_errors_and_the_exit_code() {
    let folder = Folder::new();
    let (messages, good) = signed(&folder);
    let verify = |signatures: PathBuf| {
        zariz(args!["verify", "--key", key(1024), "-q", "--lines", "--signatures", signatures, messages])
    };
    verify(folder.file("good", good.join("\n"))).exits(0).says_nothing();
    let bad = verify(folder.file("bad", ["AAAA", &good[1], &good[2], &good[3]].join("\n"))).exits(1);
    assert!(bad.stderr.starts_with("error: line 1: ") && bad.stderr.lines().count() == 1, "{bad:?}");
    let one = args!["verify", "--key", key(1024), "-q", "--signatures", folder.file("one", "AAAA"), messages];
    let one = zariz(one).exits(1);
    assert!(one.stderr.starts_with("error: ") && one.stderr.lines().count() == 1, "{one:?}");
}

#[test]
fn files_of_different_length_fail() {
    let folder = Folder::new();
    let (messages, good) = signed(&folder);
    let short = folder.file("short", good[..2].join("\n"));
    verify(&messages, &short).exits(1).says(&[
        "line 3: there is no signature",
        "line 4: ",
        "verified 2, failed 2",
    ]);
    let long = folder.file("long", [&good[..], &good[..1]].concat().join("\n"));
    verify(&messages, &long)
        .exits(1)
        .says(&["line 5: there is no line for this signature", "verified 4, failed 1"]);
}

#[test]
fn nothing_to_verify_is_an_error_unless_it_is_allowed() {
    let folder = Folder::new();
    let (messages, _) = signed(&folder);
    let none = folder.file("none", "");
    let verify = |more: &[&str], signatures: &PathBuf, input: &str| {
        let verify = args!["verify", "--key", key(1024), "--signatures", signatures];
        zariz_with(verify.into_iter().chain(more.iter().map(Into::into)).chain([input.into()]), b"")
    };
    // Empty input from a file, standard input and a device; then a file with one empty line.
    let empty = none.to_str().expect("text");
    for input in [empty, "-", "/dev/null"] {
        let name = if input == "-" { "standard input" } else { input };
        let done = verify(&["--lines"], &none, input).exits(1);
        done.says(&["error: nothing to verify", name, "none", "--allow-empty", "verified 0, failed 0"]);
        let done = verify(&["--lines", "-q"], &none, input).exits(1).says(&["error: nothing to verify"]);
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
        let done = verify(&["--lines", "--allow-empty"], &none, input).exits(0);
        assert_eq!(done.stderr, "verified 0, failed 0\n");
        verify(&["--lines", "--allow-empty", "-q"], &none, input).exits(0).says_nothing();
        // An empty signature is a bad signature.
        verify(&[], &none, input).exits(1).says(&["error: ", "verified 0, failed 1"]);
    }
    let signatures = args!["verify", "--key", key(1024), "--lines", "--signatures", "-", none];
    zariz_with(signatures, b"").exits(1).says(&["nothing to verify", "standard input"]);
    // An empty line is a message; --allow-empty allows no failure.
    let line = folder.file("line", "\n");
    verify(&["--lines", "--allow-empty"], &none, line.to_str().expect("text"))
        .exits(1)
        .says(&["line 1: ", "failed 1"]);
    verify(&["--lines", "--allow-empty"], &none, messages.to_str().expect("text"))
        .exits(1)
        .says(&["failed 4"]);
    // The option is for lines: one message always has a signature.
    verify(&["--allow-empty"], &none, empty).exits(2).says(&["--lines"]);
}

#[test]
fn a_signature_line_too_long_stops_the_run() {
    let folder = Folder::new();
    let (messages, _) = signed(&folder);
    verify(&messages, &folder.file("signatures", "A".repeat(100_000))).exits(3).says(&["signatures: line 1"]);
}

#[test]
fn a_signature_of_the_wrong_length_is_a_failure_and_no_error() {
    let folder = Folder::new();
    for length in [0, 1, 127, 129, 1000] {
        let signature = folder.file("signature", vec![1; length]);
        let verify = args!["verify", "--key", key(1024), "--signatures", signature];
        zariz_with(verify, b"message").exits(1).says(&["verified 0, failed 1"]);
    }
}

#[test]
fn files_in_another_form_are_told_what_option_reads_them() {
    let folder = Folder::new();
    let texts = ["hex", "base64", "base64url"];
    for written in texts {
        let sign = |options: &[&str]| {
            let sign = args!["sign", "--key", key(1024), "--encoding", written];
            zariz_with(sign.into_iter().chain(options.iter().map(Into::into)), b"one\ntwo\n").exits(0).stdout
        };
        let one = folder.file("one", sign(&[]));
        let many = folder.file("many", sign(&["--lines"]));
        let endless = folder.file("endless", sign(&["--lines"]).repeat(1000));
        for read in ["raw", "hex", "base64", "base64url"] {
            let as_one = |file: &PathBuf| {
                let verify = args!["verify", "--key", key(1024), "--encoding", read, "--signatures", file];
                let verified = zariz_with(verify, b"one\ntwo\n");
                let decrypt = args!["decrypt", "--key", key(1024), "--encoding", read, file];
                (verified, zariz(decrypt))
            };
            for (file, code) in [(&many, 1), (&endless, 3)] {
                let (verified, decrypted) = as_one(file);
                verified.exits(code).says(&["--lines"]);
                decrypted.exits(3).says(&["--lines"]);
            }
            let (verified, decrypted) = as_one(&one);
            if verified.code == Some(0) {
                continue;
            }
            verified.exits(1).says(&["--encoding "]);
            let decrypted = decrypted.exits(3).says(&["--encoding "]);
            assert!(!decrypted.stderr.contains("--lines"), "{decrypted:?}");
        }
    }
    // Contents that are merely wrong get no advice.
    for contents in [vec![b'x'; 200], vec![0; 128], b"one\ntwo\n".to_vec(), vec![]] {
        let file = folder.file("wrong", contents);
        let done = zariz(args!["verify", "--key", key(1024), "--signatures", file]).exits(1);
        assert!(!done.stderr.contains("--lines") && !done.stderr.contains("--encoding"), "{done:?}");
    }
}
