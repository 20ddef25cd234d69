//! Names and texts of others in messages: none of their control characters reaches the terminal.

use crate::args;
use crate::run::{Folder, key, zariz_with};

/// Escape sequences, a line end, and characters that change the direction of writing.
const HOSTILE: &str = "x\u{1b}[31m\rerror: \u{7}\nforged\t\u{9b}2J\u{202e}\u{2066}é";

#[test]
fn no_message_has_control_characters() {
    let folder = Folder::new();
    let (key, path) = (key(1024), folder.join(HOSTILE));
    let there = folder.file(&format!("{HOSTILE}2"), "text");
    let full = folder.join(&format!("{HOSTILE}3"));
    std::fs::create_dir(&full).expect("a folder");
    std::fs::write(full.join(HOSTILE), "text").expect("a file");
    let missing = path.join("out");
    let option = format!("--{HOSTILE}");
    for arguments in [
        args![HOSTILE],
        args![option],
        args!["sign", "--key", key, option],
        args!["sign", "--key", key, "--alg", HOSTILE],
        args!["sign", "--key", key, "--engine", HOSTILE],
        args!["sign", "--key", key, "--threads", HOSTILE],
        args!["sign", "--key", key, "--encoding", HOSTILE],
        args!["sign", "--key", key, "one", HOSTILE],
        args!["sign", "--key", path],
        args!["sign", "--key", there],
        args!["sign", "--key", key, "--password-file", path],
        args!["sign", "--key", key, "--out", missing],
        args!["sign", "--key", key, path],
        args!["verify", "--key", key, "--signatures", path],
        args!["verify", "--key", path, "--signatures", there, there],
        args!["decrypt", "--key", key, there],
        args!["decrypt", "--key", key, path],
        args!["modexp", path],
        args!["modexp", there],
        args!["modexp", "--modulus", HOSTILE],
        args!["modexp", "--modulus", "7", "--exponent", "2", HOSTILE],
        args!["prime", "--check", HOSTILE],
        args!["prime", "--bits", HOSTILE],
        args!["prime", "--bits", "256", "--out", missing],
        args!["keygen", "--bits", "1024", "--out", there],
        args!["keygen", "--bits", "1024", "--out", missing],
        args!["keygen", "--bits", "1024", "--public-out", there],
        args!["keygen", "--bits", "1024", "--count", "2", "--out-dir", full],
        args!["keygen", "--bits", "1024", "--count", "2", "--out-dir", missing],
        args!["speed", HOSTILE],
        args!["info", "--provider", path],
        args!["info", "--provider", there],
    ] {
        let done = zariz_with(&arguments, HOSTILE.as_bytes());
        assert!(matches!(done.code, Some(2..=4)), "{arguments:?}: {done:?}");
        let is_plain = |c: char| c == '\n' || !c.is_control() && !"\u{202e}\u{2066}".contains(c);
        assert!(
            done.stderr.chars().all(is_plain) && done.text().chars().all(is_plain),
            "{arguments:?}: {done:?}"
        );
        assert!(!done.stderr.lines().any(|line| line.starts_with("forged")), "{arguments:?}: {done:?}");
    }
    // Other letters stay unchanged.
    zariz_with(args!["modexp", path], b"").exits(3).says(&[
        "\\u{1b}[31m\\rerror: \\u{7}\\nforged\\t",
        "\\u{202e}",
        "é",
    ]);
}
