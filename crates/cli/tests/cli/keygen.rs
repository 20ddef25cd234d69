//! `zariz keygen`.

use std::path::Path;

use zariz_needs::needs;

use crate::args;
use crate::run::{Folder, openssl, program, run, zariz, zariz_with};

#[needs("openssl")]
#[test]
fn openssl_likes_a_new_key() {
    let folder = Folder::new();
    let (private, public) = (folder.join("private.pem"), folder.join("public.pem"));
    zariz(args!["keygen", "--bits", "1024", "--out", private, "--public-out", public]).exits(0);
    let text = String::from_utf8(openssl(args!["rsa", "-in", private, "-check", "-noout"])).expect("text");
    assert!(text.contains("RSA key ok"), "{text}");
    assert_eq!(openssl(args!["rsa", "-in", private, "-pubout"]), folder.read("public.pem"));
}

#[test]
fn a_new_key_signs_and_replaces_none() {
    let folder = Folder::new();
    let (private, public) = (folder.join("private.pem"), folder.join("public.pem"));
    let keygen = || args!["keygen", "--bits", "1024", "--out", private, "--public-out", public];
    assert!(zariz(keygen()).exits(0).says_nothing().stdout.is_empty());
    assert!(folder.read("private.pem").starts_with(b"-----BEGIN PRIVATE KEY-----\n"));
    assert!(folder.read("public.pem").starts_with(b"-----BEGIN PUBLIC KEY-----\n"));
    let signature = folder.join("signature");
    zariz_with(args!["sign", "--key", private, "--out", signature], b"message").exits(0);
    zariz_with(args!["verify", "--key", public, "--signatures", signature], b"message").exits(0);

    // Neither is replaced without --force; if one exists, nothing is made.
    let before = (folder.read("private.pem"), folder.read("public.pem"));
    zariz(keygen()).exits(3).says(&["private.pem", "exists", "--force"]);
    std::fs::remove_file(&private).expect("removed");
    zariz(keygen()).exits(3).says(&["public.pem", "exists"]);
    assert_eq!(folder.names(), ["public.pem", "signature"]);
    zariz(keygen().into_iter().chain(args!["--force"])).exits(0);
    assert!(folder.read("private.pem") != before.0 && folder.read("public.pem") != before.1);
}

#[test]
fn without_a_file_the_key_goes_to_standard_output() {
    let done = zariz(["keygen", "--bits", "1024"]).exits(0).says_nothing();
    assert!(done.text().starts_with("-----BEGIN PRIVATE KEY-----\n"));
    assert!(done.text().ends_with("-----END PRIVATE KEY-----\n"));
    assert_eq!(zariz_with(args!["sign", "--key", "-", "/dev/null"], &done.stdout).exits(0).stdout.len(), 128);
}

#[test]
fn the_public_key_may_go_to_standard_output_too() {
    let folder = Folder::new();
    let (private, public) = ("-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PUBLIC KEY-----\n");
    let file = folder.join("private.pem");
    let done =
        zariz(args!["keygen", "--bits", "1024", "--out", file, "--public-out", "-"]).exits(0).says_nothing();
    assert!(done.text().starts_with(public) && folder.read("private.pem").starts_with(private.as_bytes()));
    for out in [args![], args!["--out", "-"]] {
        let keygen = args!["keygen", "--bits", "1024", "--public-out", "-"];
        let done = zariz(keygen.into_iter().chain(out)).exits(0).says_nothing();
        assert!(
            done.text().starts_with(private) && done.text().contains(public),
            "the private key first: {done:?}"
        );
    }
    assert_eq!(folder.names(), ["private.pem"]);
}

#[test]
fn the_public_key_never_takes_the_place_of_the_private_one() {
    let folder = Folder::new();
    std::fs::create_dir(folder.join("sub")).expect("made");
    let keygen = |out: &Path, public_out: &Path| {
        zariz(args!["keygen", "--bits", "1024", "--force", "--out", out, "--public-out", public_out])
    };
    // Another spelling of a path, with and without an existing file.
    let (plain, detour) = (folder.join("key.pem"), folder.join("sub").join("..").join(".").join("key.pem"));
    for _ in 0..2 {
        keygen(&plain, &detour).exits(2).says(&["--out", "--public-out", "same file"]);
        keygen(&detour, &plain).exits(2).says(&["same file"]);
        folder.file("key.pem", "a key");
    }
    #[cfg(unix)]
    {
        let link = folder.join("link.pem");
        std::os::unix::fs::symlink(&plain, &link).expect("linked");
        keygen(&plain, &link).exits(2).says(&["same file"]);
        keygen(Path::new("/dev/null"), Path::new("/dev/null")).exits(0);
    }
    assert_eq!(folder.read("key.pem"), b"a key");
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_private_key() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    let (private, public) = (folder.join("private.pem"), folder.join("public.pem"));
    let keygen = args!["keygen", "--bits", "1024", "--out", private, "--public-out", public, "--force"];
    let mode = |path: &Path| fs::metadata(path).expect("made").permissions().mode() & 0o777;
    zariz(&keygen).exits(0);
    assert_eq!(mode(&private), 0o600);
    assert_eq!(mode(&public) & 0o444, mode(&folder.file("usual", "")) & 0o444);
    // The key does not inherit the mode of the file that it replaces.
    fs::set_permissions(&private, fs::Permissions::from_mode(0o644)).expect("changed");
    zariz(&keygen).exits(0);
    assert_eq!(mode(&private), 0o600);
    // A dangling link is also in the way.
    let link = folder.join("link.pem");
    std::os::unix::fs::symlink("nowhere", &link).expect("linked");
    zariz(args!["keygen", "--bits", "1024", "--out", link]).exits(3).says(&["exists"]);
}

/// A pipe without a reader.
#[cfg(unix)]
fn closed_pipe() -> std::process::Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

#[cfg(unix)]
#[test]
fn a_key_that_nobody_reads_is_an_error_and_leaves_nothing() {
    let folder = Folder::new();
    let (private, public) = (folder.join("private.pem"), folder.join("public.pem"));
    let full = || std::fs::File::options().write(true).open("/dev/full").map(std::process::Stdio::from).ok();
    for (arguments, kind) in [
        (args![], "private"),
        (args!["--public-out", public], "private"),
        (args!["--public-out", public, "--force"], "private"),
        (args!["--public-out", "-"], "private"),
        (args!["--out", "-", "--public-out", public], "private"),
        (args!["--out", private, "--public-out", "-"], "public"),
    ] {
        for stdout in [Some(closed_pipe()), full()].into_iter().flatten() {
            let mut keygen = program();
            keygen.args(["keygen", "--bits", "1024"]).args(&arguments).stdout(stdout);
            let output = keygen.output().expect("ended");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{arguments:?}: {stderr}");
            for words in
                ["error: standard output: ", &format!("the {kind} key was not written"), "no key was kept"]
            {
                assert!(stderr.contains(words), "{arguments:?}: {stderr}");
            }
            assert!(folder.names().is_empty(), "{arguments:?}: {:?}", folder.names());
        }
    }
}

/// Files cannot grow: the system refuses every byte, like a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_keeps_no_key_and_shows_none() {
    let folder = Folder::new();
    let (private, public) = (folder.join("private.pem"), folder.join("public.pem"));
    for arguments in [
        args!["--out", private],
        args!["--out", private, "--public-out", public],
        args!["--public-out", public],
        args!["--out", private, "--public-out", "-"],
    ] {
        let mut shell = std::process::Command::new("sh");
        let limited = "trap '' XFSZ; ulimit -f 0; exec \"$0\" keygen --bits 1024 \"$@\"";
        shell.args(["-c", limited, env!("CARGO_BIN_EXE_zariz")]).args(&arguments);
        let done = run(&mut shell, b"").exits(3).says(&["error: ", ".pem: ", "too large", "no key was kept"]);
        assert!(done.stdout.is_empty(), "{arguments:?}: a key on standard output that has no other half");
        assert!(folder.names().is_empty(), "{arguments:?}: {:?}", folder.names());
    }
}

/// A named pipe may be at the key's path.
#[cfg(unix)]
#[test]
fn a_private_key_goes_to_no_pipe_of_another_user() {
    use std::os::unix::fs::chown;

    let folder = Folder::new();
    let path = folder.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
    let keygen = || args!["keygen", "--bits", "1024", "--out", path];
    zariz(keygen()).exits(3).says(&["exists", "--force"]);
    let forced = || keygen().into_iter().chain(args!["--force"]);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| std::fs::read_to_string(&path).expect("text"));
        zariz(forced()).exits(0);
        assert!(reader.join().expect("read").starts_with("-----BEGIN PRIVATE KEY-----\n"));
    });
    // Only root may give files away.
    if chown(&path, Some(65_534), None).is_ok() {
        zariz(forced()).exits(3).says(&["error: ", "pipe: belongs to another user"]);
    }
    assert_eq!(folder.names(), ["pipe"]);
}
