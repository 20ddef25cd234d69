//! The command line itself: help, mistakes, engines and threads, colour.

use zariz::Engine;

use crate::args;
use crate::run::{Folder, key, program, run, zariz, zariz_with};

/// The engines that this processor can run.
fn available() -> Vec<&'static str> {
    let info = zariz(["info", "--json"]).exits(0);
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).expect("JSON");
    let is_available = |name: &&str| {
        let engines = info["engines"].as_array().expect("an array");
        engines.iter().any(|engine| engine["name"] == **name && engine["available"] == true)
    };
    Engine::ALL.iter().map(|engine| engine.name()).filter(is_available).collect()
}

#[test]
fn help_and_version_go_to_standard_output() {
    let help = zariz(["--help"]).exits(0).says_nothing();
    for word in
        ["sign", "verify", "decrypt", "modexp", "keygen", "prime", "speed", "info", "demo", "Exit codes"]
    {
        assert!(help.text().contains(word), "{word}");
    }
    assert!(zariz(["--version"]).exits(0).text().starts_with("zariz "));
    for command in ["sign", "verify", "decrypt", "modexp", "keygen", "prime", "speed", "info", "demo"] {
        assert!(!zariz([command, "--help"]).exits(0).says_nothing().stdout.is_empty());
    }
}

#[test]
fn mistakes_exit_with_2() {
    let key = key(1024);
    let mistakes = [
        args![],
        args!["polish"],
        args!["sign"],
        args!["sign", "--key", key, "--alg", "HS256"],
        args!["sign", "--key", key, "--encoding", "base32"],
        args!["sign", "--key", key, "--threads", "0"],
        args!["sign", "--key", key, "--threads", "1000000"],
        args!["sign", "--key", key, "--threads", "many"],
        args!["sign", "--key", key, "one", "two"],
        args!["verify", "--key", key],
        args!["decrypt", "--key", key, "--padding", "none"],
        args!["decrypt", "--key", key, "--oaep-hash", "md5"],
        args!["modexp", "--modulus", "xyz"],
        args!["modexp", "--modulus", ""],
        args!["keygen"],
        args!["keygen", "--bits", "512"],
        args!["keygen", "--bits", "16385"],
        args!["keygen", "--bits", "2048", "--out", "same", "--public-out", "same"],
        args!["speed", "rsa512"],
        args!["speed", "--seconds", "0"],
        args!["speed", "--seconds", "NaN"],
        args!["speed", "--batch", "0"],
        args!["speed", "--compare", "gmp"],
        args!["speed", "--rounds", "2"],
        args!["demo", "--messages", "0"],
    ];
    for arguments in mistakes {
        let done = zariz(&arguments).exits(2);
        assert!(done.stdout.is_empty() && !done.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn algorithms_of_other_families_are_not_taken_for_typing_errors() {
    let alg = |command: &str, name: &str| {
        let signatures = if command == "verify" { args!["--signatures", "missing"] } else { args![] };
        zariz([args![command, "--key", key(1024), "--alg", name], signatures].concat())
    };
    for command in ["sign", "verify"] {
        for (name, what) in [
            ("HS256", "secret"),
            ("hs512", "secret"),
            ("ES256", "ECDSA"),
            ("ES256K", "ECDSA"),
            ("EdDSA", "EdDSA"),
            ("Ed25519", "EdDSA"),
            ("ML-DSA-65", "ML-DSA"),
            ("none", "no signature"),
            ("RSA-OAEP", "encryption"),
            ("RS265", "RS265"),
            ("sha256", "sha256"),
        ] {
            let done = alg(command, name).exits(2).says(&[
                name,
                what,
                "RSA",
                "RS256, RS384, RS512, PS256, PS384, PS512",
            ]);
            assert!(!done.stderr.contains("similar"), "{done:?}");
        }
        // The help lists the names; upper and lower case are accepted.
        assert!(zariz([command, "--help"]).exits(0).text().contains("PS384, PS512"));
    }
    zariz_with(args!["sign", "--key", key(1024), "--alg", "rs256"], b"text").exits(0);
}

#[test]
fn seconds_out_of_range_are_answered_with_the_range() {
    for seconds in ["-1", "-0.5", "0", "3601", "NaN"] {
        zariz(["speed", "--seconds", seconds]).exits(2).says(&[seconds, "a number from 0.001 to 3600"]);
    }
}

#[test]
fn raw_lines_are_refused_with_a_reason() {
    let key = key(1024);
    for command in ["sign", "decrypt"] {
        zariz(args![command, "--key", key, "--lines", "--encoding", "raw"])
            .exits(2)
            .says(&["line ends", "base64"]);
    }
    let verify = args!["verify", "--key", key, "--lines", "--encoding", "raw", "--signatures", "none"];
    zariz(verify).exits(2).says(&["line ends"]);
}

#[test]
fn standard_input_is_one_thing() {
    zariz(args!["sign", "--key", "-"]).exits(2).says(&["--key", "FILE", "standard input"]);
    zariz(args!["verify", "--key", key(1024), "--signatures", "-"]).exits(2).says(&["--signatures and FILE"]);
}

#[test]
fn engines_are_named_and_refused_by_name() {
    let folder = Folder::new();
    let message = folder.file("message", "text");
    let with = |engine: &str| {
        zariz(args!["sign", "--key", key(1024), "--engine", engine, "--encoding", "hex", message])
    };
    with("sse9").exits(2).says(&[
        "sse9",
        "auto",
        "portable",
        "avx2-fma",
        "avx-ifma",
        "avx512-fma",
        "avx512-ifma",
    ]);
    let available = available();
    let expected = with("auto").exits(0).stdout;
    for engine in Engine::ALL.iter().map(|engine| engine.name()) {
        if available.contains(&engine) {
            assert_eq!(with(engine).exits(0).stdout, expected, "{engine}");
        } else {
            with(engine).exits(2).says(&[engine, "needs", "auto"]);
        }
    }
}

#[test]
fn every_working_command_takes_engine_threads_and_quiet() {
    let folder = Folder::new();
    let lines = folder.file("lines", "2\n3\n");
    let options = ["--engine", "portable", "--threads", "2", "--quiet"];
    let modexp = zariz(
        args!["modexp", "--modulus", "7", "--exponent", "2", lines].iter().chain(&options.map(Into::into)),
    );
    assert_eq!(modexp.exits(0).text(), "4\n2\n");
    for command in ["sign", "verify", "decrypt", "modexp", "keygen", "prime", "speed", "demo"] {
        let help = zariz([command, "--help"]).exits(0);
        for option in ["--engine", "--threads", "--quiet"] {
            assert!(help.text().contains(option), "{command} {option}");
        }
    }
}

#[test]
fn errors_are_plain_where_there_is_no_terminal() {
    for (name, value) in [("NO_COLOR", "1"), ("NO_COLOR", ""), ("CLICOLOR", "1")] {
        for arguments in [&["sign", "--key", "/does/not/exist"][..], &["polish"], &["--help"]] {
            let done = run(program().args(arguments).env(name, value), b"");
            assert!(!done.stderr.contains('\x1b') && !done.text().contains('\x1b'), "{done:?}");
        }
    }
    // With colour switched on there is colour, so the test above is meaningful; NO_COLOR still has precedence
    // on a terminal (see the tests in `terminal.rs`).
    let forced = run(program().args(["sign", "--key", "/does/not/exist"]).env("CLICOLOR_FORCE", "1"), b"");
    assert!(forced.stderr.contains('\x1b'), "{forced:?}");
}

#[test]
fn files_that_are_not_there_are_named() {
    let missing = "/does/not/exist";
    let key = key(1024);
    for arguments in [
        args!["sign", "--key", missing],
        args!["sign", "--key", key, missing],
        args!["sign", "--key", key, "--out", "/does/not/exist/either"],
        args!["verify", "--key", key, "--signatures", missing],
        args!["decrypt", "--key", key, missing],
        args!["modexp", missing],
        args!["keygen", "--bits", "1024", "--out", "/does/not/exist/either"],
    ] {
        zariz_with(&arguments, b"text").exits(3).says(&["error: /does/not/exist", "No such file"]);
    }
    zariz(args!["modexp", "--modulus", "7", std::env::temp_dir()]).exits(3).says(&["directory"]);
}
