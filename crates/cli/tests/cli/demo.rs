//! `zariz demo`, with fewer messages than by default.

use zariz_needs::needs;

use crate::run::{Done, Folder, program, run};

/// Runs the demo, with the programs of `PATH` or of another path; it must leave no file behind.
fn demo(path: Option<&str>) -> Done {
    let folder = Folder::new();
    let mut command = program();
    command.args(["demo", "--messages", "300", "--threads", "1"]).env("TMPDIR", folder.path());
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let done = run(&mut command, b"").exits(0).says_nothing();
    assert!(folder.names().is_empty(), "{:?}", folder.names());
    done
}

#[test]
fn it_tells_what_it_did() {
    let alone = demo(Some("/does/not/exist"));
    for word in
        ["300 messages", "machine", "engine", "1 thread\n", "300 signatures", "300 good, 0 bad", "per second"]
    {
        assert!(alone.text().contains(word), "{word} is not in {alone:?}");
    }
    assert!(alone.text().contains("not found"), "{alone:?}");
}

#[needs("openssl")]
#[test]
fn it_compares_with_openssl() {
    let beside = demo(None);
    for word in ["accepts 10 of a sample of 10", "times the system's OpenSSL", "both on one thread"] {
        assert!(beside.text().contains(word), "{word} is not in {beside:?}");
    }
}
