//! `zariz keygen --count`: folders of keys.

use std::fs;
use std::path::Path;

use zariz_needs::needs;

use crate::args;
use crate::run::{Folder, openssl, run, zariz, zariz_with};

/// The names of this many keys.
fn names(count: usize, digits: usize) -> Vec<String> {
    (1..=count).map(|number| format!("key-{number:0digits$}.pem")).collect()
}

/// The names in a folder, sorted.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().display().to_string()).collect();
    names.sort();
    names
}

/// Checks that a file has a complete key: it signs.
fn check(key: &Path) {
    let done = zariz_with(args!["sign", "--key", key, "--encoding", "hex"], b"message").exits(0);
    assert_eq!(done.text().trim_end().len(), 256, "{}", key.display());
}

#[test]
fn keys_are_complete_and_different_and_their_names_in_order() {
    let folder = Folder::new();
    let keys = folder.join("keys");
    let keygen =
        args!["keygen", "--bits", "1024", "--count", "11", "--out-dir", keys, "--public", "--threads", "3"];
    assert!(zariz(keygen).exits(0).says_nothing().stdout.is_empty());
    let mut expected = names(11, 4);
    expected.extend((1..=11).map(|number| format!("key-{number:04}.pub.pem")));
    expected.sort();
    assert_eq!(names_in(&keys), expected);
    let mut contents = Vec::new();
    for name in names(11, 4) {
        check(&keys.join(&name));
        contents.push(fs::read(keys.join(&name)).expect("readable"));
    }
    contents.sort();
    contents.dedup();
    assert_eq!(contents.len(), 11, "a key came twice");
}

#[needs("openssl")]
#[test]
fn openssl_likes_the_keys() {
    for method in ["fips", "incremental"] {
        let folder = Folder::new();
        let keygen =
            args!["keygen", "--bits", "1024", "--count", "3", "--out-dir", folder.path(), "--public"];
        zariz(keygen.into_iter().chain(args!["--method", method])).exits(0).says_nothing();
        for name in names(3, 4) {
            let key = folder.join(&name);
            let text =
                String::from_utf8(openssl(args!["pkey", "-in", key, "-check", "-noout"])).expect("text");
            assert!(text.contains("Key is valid"), "{text}");
            let public = folder.read(&name.replace(".pem", ".pub.pem"));
            assert_eq!(openssl(args!["pkey", "-in", key, "-pubout"]), public, "{name}");
        }
    }
}

#[cfg(unix)]
#[test]
fn folder_and_keys_are_for_the_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let keys = folder.join("keys");
    zariz(args!["keygen", "--bits", "1024", "--count", "2", "--out-dir", keys, "--public"]).exits(0);
    let mode = |path: &Path| fs::metadata(path).expect("made").permissions().mode() & 0o777;
    assert_eq!(mode(&keys), 0o700);
    for name in names(2, 4) {
        assert_eq!(mode(&keys.join(name)), 0o600);
    }
    assert_eq!(mode(&keys.join("key-0001.pub.pem")), mode(&folder.file("usual", "")));
}

#[test]
fn both_methods_and_every_number_of_threads_make_keys() {
    for options in
        [&["--method", "fips", "--threads", "1"][..], &["--method", "incremental", "--threads", "4"]]
    {
        let folder = Folder::new();
        // An existing empty folder is accepted.
        let keygen = args![
            "keygen",
            "--bits",
            "1024",
            "--count",
            "3",
            "--out-dir",
            folder.path(),
            "--engine",
            "portable"
        ];
        zariz(keygen.into_iter().chain(options.iter().map(Into::into))).exits(0).says_nothing();
        assert_eq!(folder.names(), names(3, 4));
        names(3, 4).iter().for_each(|name| check(&folder.join(name)));
    }
    // The method also applies to one key.
    let done = zariz(["keygen", "--bits", "1024", "--method", "incremental"]).exits(0).says_nothing();
    assert!(done.text().starts_with("-----BEGIN PRIVATE KEY-----\n"));
}

#[needs("openssl")]
#[test]
fn keys_can_be_encrypted() {
    let folder = Folder::new();
    let (keys, password) = (folder.join("keys"), folder.file("password", "a secret\n"));
    let keygen =
        args!["keygen", "--bits", "1024", "--count", "2", "--out-dir", keys, "--password-file", password];
    zariz(keygen).exits(0).says_nothing();
    for name in names(2, 4) {
        let key = keys.join(name);
        assert!(fs::read(&key).expect("readable").starts_with(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
        openssl(args!["pkey", "-in", key, "-passin", "pass:a secret", "-check", "-noout"]);
        zariz_with(args!["sign", "--key", key, "--password-file", password, "--encoding", "hex"], b"text")
            .exits(0);
    }
    // An empty password protects nothing: it is refused, and no folder is made.
    let (none, empty) = (folder.join("none"), folder.file("empty", "\n"));
    let keygen =
        args!["keygen", "--bits", "1024", "--count", "2", "--out-dir", none, "--password-file", empty];
    zariz(keygen).exits(3).says(&["empty: an empty first line protects no key"]);
    assert!(!none.exists());
}

#[test]
fn only_a_new_or_empty_folder_will_do() {
    let folder = Folder::new();
    let file = folder.file("something", "else");
    let keygen =
        |folder: &Path| zariz(args!["keygen", "--bits", "1024", "--count", "2", "--out-dir", folder]);
    keygen(folder.path()).exits(3).says(&["not empty", "it has something", "name a new or empty folder"]);
    keygen(&file).exits(3).says(&["something: ", "directory"]);
    keygen(Path::new("/does/not/exist/keys"))
        .exits(3)
        .says(&["error: /does/not/exist/keys: ", "No such file"]);
    assert_eq!(folder.names(), ["something"]);
    assert_eq!(folder.read("something"), b"else");
}

#[test]
fn options_that_do_not_go_together_say_what_to_do() {
    for (options, words) in [
        (&["--count", "2"][..], &["--count needs --out-dir DIR"][..]),
        (&["--count", "2", "--out", "key.pem"], &["--count and --out", "use --out-dir DIR"]),
        (&["--count", "2", "--out-dir", "none", "--out", "key.pem"], &["--count and --out", "--out-dir DIR"]),
        (&["--count", "2", "--out-dir", "none", "--public-out", "-"], &["--public writes each public key"]),
        (&["--count", "2", "--out-dir", "none", "--force"], &["--force", "name a new or empty folder"]),
        (&["--out-dir", "none"], &["--out-dir needs --count N", "--out FILE"]),
        (&["--public"], &["--public-out FILE"]),
        (&["--count", "0", "--out-dir", "none"], &["--count <N>", "0"]),
        (&["--method", "guess"], &["fips", "incremental"]),
    ] {
        let keygen = ["keygen", "--bits", "1024"].iter().chain(options);
        assert!(zariz(keygen).exits(2).says(words).stdout.is_empty(), "{options:?}");
    }
    assert!(!Path::new("none").exists());
}

/// Files cannot grow: the system refuses every byte, like a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_part_of_a_key() {
    let folder = Folder::new();
    let mut shell = std::process::Command::new("sh");
    let limited = "trap '' XFSZ; ulimit -f 0; exec \"$0\" keygen --bits 1024 --count 3 --out-dir \"$1\"";
    shell.args(["-c", limited, env!("CARGO_BIN_EXE_zariz")]).arg(folder.join("keys"));
    let words = ["keys/key-0001.pem: ", "too large", "; none of 3 keys is complete in "];
    run(&mut shell, b"").exits(3).says(&words);
    assert!(names_in(&folder.join("keys")).is_empty());
}

#[cfg(unix)]
#[test]
fn an_interruption_leaves_complete_keys_and_says_how_many() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use crate::run::program;

    let cases = [("TERM", 15, &[][..]), ("INT", 2, &["--public", "--quiet", "--threads", "1"])];
    // A signal may come at any step.
    for (signal, number, options) in cases.into_iter().cycle().take(8) {
        let folder = Folder::new();
        let keys = folder.join("keys");
        let mut child = program();
        child.args(args!["keygen", "--bits", "1024", "--count", "1000000", "--out-dir", keys]).args(options);
        let child =
            child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("started");
        let public = options.contains(&"--public");
        for _ in 0..3000 {
            if keys.is_dir() && names_in(&keys).len() > 5 {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()));
        let output = child.wait_with_output().expect("ended");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(number), "{stderr}");

        let made: Vec<String> =
            names_in(&keys).into_iter().filter(|name| !name.ends_with(".pub.pem")).collect();
        assert_eq!(made, names(made.len(), 7), "complete keys alone, in order");
        assert_eq!(names_in(&keys).len(), made.len() * if public { 2 } else { 1 });
        let expected = format!(
            "error: interrupted: {} of 1,000,000 keys are complete in {}: key-0000001.pem to {}\n",
            made.len(),
            keys.display(),
            made.last().expect("some keys"),
        );
        assert_eq!(stderr, expected);
        made.iter().take(5).chain(made.last()).for_each(|name| check(&keys.join(name)));
    }
}
