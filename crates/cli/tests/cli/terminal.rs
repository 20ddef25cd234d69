//! Tests on a terminal, which `script` provides.
#![cfg(target_os = "linux")]

use std::process::Command;

use zariz_needs::needs;

use crate::args;
use crate::run::{Done, Folder, key, openssl, run};

/// Runs a shell command on a terminal, with the program as `$ZARIZ`. Its terminal output is on standard
/// output.
fn on_terminal(command: &str) -> Done {
    typed_on_terminal(command, b"")
}

/// Like [`on_terminal`], with keys pressed.
fn typed_on_terminal(command: &str, keys: &[u8]) -> Done {
    let mut script = Command::new("script");
    script.args(["-q", "-e", "-c", command, "/dev/null"]).env("ZARIZ", env!("CARGO_BIN_EXE_zariz"));
    script.env("KEY", key(1024)).env("TERM", "xterm").env_remove("NO_COLOR");
    run(&mut script, keys)
}

#[needs("script")]
#[test]
fn binary_is_refused() {
    let done = on_terminal("echo message | \"$ZARIZ\" sign --key \"$KEY\"");
    let done = done.exits(2);
    assert!(done.text().contains("--out FILE") && done.text().contains("--encoding base64"), "{done:?}");
    let text = on_terminal("echo message | \"$ZARIZ\" sign --key \"$KEY\" --encoding hex");
    assert!(text.exits(0).text().trim_end().len() == 256);
}

#[needs("script")]
#[test]
fn colour_and_no_colour() {
    let colour = on_terminal("\"$ZARIZ\" modexp /does/not/exist");
    assert!(colour.exits(3).text().contains("\x1b["));
    let plain = on_terminal("NO_COLOR=1 \"$ZARIZ\" modexp /does/not/exist");
    assert!(!plain.exits(3).text().contains('\x1b'));
    let plain = on_terminal("NO_COLOR=1 \"$ZARIZ\" polish");
    assert!(!plain.exits(2).text().contains('\x1b'));
}

#[needs("script")]
#[test]
fn a_bar_for_work_that_lasts_and_none_for_work_that_does_not() {
    let folder = Folder::new();
    let file = folder.file("lines", "2 3 5\n".repeat(100));
    let quick = format!("\"$ZARIZ\" modexp {} > /dev/null", file.display());
    let quick = on_terminal(&quick);
    assert_eq!(quick.exits(0).text(), "");

    // Lines arrive for longer than the program waits before it shows its progress.
    let slow = "(for i in 1 2 3 4 5 6; do echo 2 3 5; sleep 0.4; done) | \"$ZARIZ\" modexp";
    let bar = on_terminal(&format!("{slow} > /dev/null")).exits(0);
    assert!(bar.text().contains("lines, ") && bar.text().contains("/s"), "{bar:?}");
    let quiet = on_terminal(&format!("{slow} --quiet > /dev/null")).exits(0);
    assert_eq!(quiet.text(), "");

    // For one message, the progress counts bytes.
    let slow = "(for i in 1 2 3 4; do echo text; sleep 0.4; done) | \"$ZARIZ\" sign --key \"$KEY\"";
    let bar = on_terminal(&format!("{slow} > /dev/null")).exits(0);
    assert!(bar.text().contains(" B, ") && bar.text().contains("B/s"), "{bar:?}");
}

#[needs("script")]
#[test]
fn a_spinner_for_a_step_that_lasts_and_none_for_one_that_does_not() {
    let speed = |seconds: &str| {
        let speed = format!("\"$ZARIZ\" speed modexp1024 --batch 8 --seconds {seconds} > /dev/null");
        on_terminal(&speed).exits(0)
    };
    let quick = speed("0.01");
    assert_eq!(quick.text(), "");
    let slow = speed("1.6");
    assert!(slow.text().contains("modexp1024"), "{slow:?}");
}

#[needs("script")]
#[test]
fn making_many_has_a_bar_and_an_interruption_a_line_of_its_own() {
    let folder = Folder::new();
    let keygen = |name: &str, option: &str| {
        let keys = folder.join(name);
        let keygen = "timeout --foreground -s INT 3 \"$ZARIZ\" keygen --bits 1024 --count 1000000 --out-dir";
        on_terminal(&format!("{keygen} {} {option}", keys.display())).exits(124)
    };
    let done = keygen("keys", "");
    for words in [" keys, ", "/s", " left\r\n", "interrupted: ", " are complete in "] {
        assert!(done.text().contains(words), "{words:?}: {}", done.text());
    }
    let quiet = keygen("more", "--quiet");
    assert!(quiet.text().trim().lines().count() == 1 && quiet.text().contains("interrupted: "), "{quiet:?}");

    // Primes on the terminal itself show the progress.
    let primes = "timeout --foreground 2 \"$ZARIZ\" prime --bits 512 --count 1000000";
    let done = on_terminal(primes).exits(124);
    assert!(!done.text().contains('\x1b') && !done.text().contains("/s"), "{done:?}");
    let bar = on_terminal(&format!("{primes} > /dev/null")).exits(124);
    assert!(bar.text().contains(" primes, ") && bar.text().contains(" left"), "{bar:?}");
    let search = "timeout --foreground 2 \"$ZARIZ\" prime --bits 4096 --safe --threads 1 > /dev/null";
    let step = on_terminal(search);
    assert!(
        step.code == Some(0) || step.text().contains("searching for a safe prime of 4096 bits"),
        "{step:?}"
    );
}

#[needs("script", "openssl")]
#[test]
fn a_password_is_asked_for_and_not_shown() {
    let folder = Folder::new();
    let encrypted = folder.join("encrypted.pem");
    openssl(args!["pkey", "-in", key(1024), "-aes256", "-passout", "pass:secret", "-out", encrypted]);
    let sign = format!("echo message | \"$ZARIZ\" sign --key {} --encoding hex", encrypted.display());
    let done = typed_on_terminal(&sign, b"secret\n");
    let done = done.exits(0);
    assert!(done.text().contains("password of ") && done.text().contains("encrypted.pem: "), "{done:?}");
    assert_eq!(done.lines().last().map(|line| line.trim_end().len()), Some(256), "{done:?}");
    let done = typed_on_terminal(&sign, b"wrong\n").exits(3);
    assert!(done.text().contains("the password is wrong"), "{done:?}");
}

#[needs("script", "openssl", "stty")]
#[test]
fn an_interrupted_question_leaves_the_terminal_as_it_was() {
    let folder = Folder::new();
    let encrypted = folder.join("encrypted.pem");
    openssl(args!["pkey", "-in", key(1024), "-aes256", "-passout", "pass:secret", "-out", encrypted]);
    for out in ["", "--out signature"] {
        let sign = format!("\"$ZARIZ\" sign --encoding hex --key {} {out}; stty -a", encrypted.display());
        // Ctrl-C, after the question has appeared.
        let pressed =
            format!("(sleep 1; printf '\\003'; sleep 1) | script -q -e -c 'trap : INT; {sign}' /dev/null");
        let mut shell = Command::new("sh");
        shell.args(["-c", &pressed]).current_dir(folder.path()).env("ZARIZ", env!("CARGO_BIN_EXE_zariz"));
        let done = run(&mut shell, b"");
        let text = done.text();
        assert!(text.contains("encrypted.pem: "), "{done:?}");
        for flag in [" echo ", " isig ", " icanon "] {
            assert!(text.replace(['\r', '\n', ';'], " ").contains(flag), "{flag}: {done:?}");
        }
        assert_eq!(folder.names(), ["encrypted.pem"]);
    }
}
