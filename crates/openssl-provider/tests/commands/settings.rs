//! Settings in `openssl.cnf`, valid and invalid.

use crate::counters::Counters;
use crate::run::{OURS, Place, Settings, Way};

const SIGN: [&str; 6] = ["dgst", "-sha256", "-sign", "2048.pem", "-out", "sig"];

fn settings(lines: &str) -> Settings {
    Settings { provider: format!("{lines}\n"), ..Settings::default() }
}

#[test]
fn every_good_setting_signs() {
    let place = Place::new();
    let sign = [&SIGN[..], &["message"]].concat();
    place.run(Way::Default, &sign).succeeds();
    let expected = place.read("sig");
    for lines in [
        "engine = auto",
        "engine = portable",
        "engine = scalar",
        "method = amm",
        "method = ahmm",
        "threads = 0",
        "threads = 1",
        "threads = 16",
        "max-batch = 1",
        "max-batch = 8\nthreads = 2\nengine = portable",
    ] {
        for way in OURS {
            place.run_with(way, &sign, settings(lines)).succeeds().did(1, 0);
            assert_eq!(place.read("sig"), expected, "{lines}");
        }
    }
}

#[test]
fn a_bad_setting_is_named_and_the_provider_not_loaded() {
    let place = Place::new();
    let sign = [&SIGN[..], &["message"]].concat();
    for (lines, words) in [
        ("engine = warp", ["engine", "warp"]),
        ("engine =", ["engine", ""]),
        ("method = magic", ["method", "magic"]),
        ("threads = many", ["threads", "many"]),
        ("threads = -1", ["threads", "-1"]),
        ("max-batch = 0", ["max-batch", "0"]),
        ("max-batch = 99999999999999999999", ["max-batch", "9999"]),
        ("counters = /no/such/folder/counters", ["counters", "/no/such/folder"]),
        ("counters = /", ["counters", "/"]),
    ] {
        let said = place.run_with(Way::Options, &sign, settings(lines)).fails(&["zariz"]);
        // The errors on OpenSSL's queue.
        let errors: Vec<&str> = said.stderr.lines().filter(|line| line.contains(":error:")).collect();
        for word in words {
            assert!(
                errors.iter().any(|line| line.contains(word)),
                "{word:?} is not said for {lines:?}: {said:?}"
            );
        }
    }
}

/// If a provider that the configuration activates fails, OpenSSL drops its error and goes on without it:
/// zariz must not crash, and must compute nothing.
#[test]
fn a_bad_setting_of_an_active_provider_leaves_the_default_one() {
    let place = Place::new();
    let sign = [&SIGN[..], &["message"]].concat();
    let done = place.run_with(Way::Configuration, &sign, settings("engine = warp")).succeeds();
    assert_eq!(done.counters, Counters::default(), "{done:?}");
    place
        .run(Way::Default, &["dgst", "-sha256", "-verify", "2048.pub", "-signature", "sig", "message"])
        .succeeds();
}

#[test]
fn the_provider_says_its_name_and_its_settings() {
    let place = Place::new();
    for way in OURS {
        let list = ["list", "-providers", "-verbose"];
        let done = place.run_with(way, &list, settings("threads = 3\nmax-batch = 17")).succeeds();
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(text.contains("zariz") && text.contains("status: active"), "{done:?}");
        for word in ["engine", "method", "threads", "max-batch", "mean-batch", "private-operations"] {
            assert!(text.contains(word), "{word}: {done:?}");
        }
        place
            .run(way, &["list", "-signature-algorithms"])
            .succeeds()
            .prints("{ 1.2.840.113549.1.1.1, 2.5.8.1.1, RSA, rsaEncryption } @ default")
            .prints("@ zariz");
        for kind in ["-key-managers", "-asymcipher-algorithms"] {
            place.run(way, &["list", kind]).succeeds().prints("@ zariz");
        }
    }
}

/// A loaded provider is not used for everything: an RSA-PSS key stays with OpenSSL's own provider.
#[test]
fn keys_for_pss_alone_stay_with_the_default_provider() {
    let place = Place::new();
    for way in OURS {
        place
            .run(
                way,
                &["genpkey", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:1024", "-out", "key"],
            )
            .succeeds()
            .left(0);
        place.run(way, &["dgst", "-sha256", "-sign", "key", "-out", "sig", "message"]).succeeds().left(0);
        place.run(Way::Default, &["pkey", "-in", "key", "-pubout", "-out", "public"]).succeeds();
        place
            .run(way, &["dgst", "-sha256", "-verify", "public", "-signature", "sig", "message"])
            .succeeds()
            .left(0);
    }
}

/// The restrictions of such a key are enforced, with equal errors, whichever provider is preferred.
#[test]
fn keys_for_pss_alone_keep_their_restrictions() {
    let place = Place::new();
    let options = ["rsa_pss_keygen_md:sha512", "rsa_pss_keygen_mgf1_md:sha512", "rsa_pss_keygen_saltlen:64"];
    let make = ["genpkey", "-algorithm", "RSA-PSS", "-out", "key"].into_iter();
    let make: Vec<&str> = make.chain(options.into_iter().flat_map(|option| ["-pkeyopt", option])).collect();
    for way in OURS {
        place.run(way, &make).succeeds().left(0);
        place.run(Way::Default, &["pkey", "-in", "key", "-pubout", "-out", "public"]).succeeds();
        let salt = ["-sigopt", "rsa_pss_saltlen:64"];
        let sign = [&["dgst", "-sha512", "-sign", "key", "-out", "sig"], &salt[..], &["message"]].concat();
        let verify =
            [&["dgst", "-sha512", "-verify", "public", "-signature", "sig"], &salt[..], &["message"]]
                .concat();
        place.run(way, &sign).succeeds().left(0);
        place.run(Way::Default, &verify).succeeds();
        place.run(way, &verify).succeeds().left(0);
        for arguments in [
            &["dgst", "-sha256", "-sign", "key", "-out", "bad", "message"][..],
            &["dgst", "-sha256", "-verify", "public", "-signature", "sig", "message"],
            &["dgst", "-sha512", "-sigopt", "rsa_pss_saltlen:32", "-sign", "key", "-out", "bad", "message"],
            &[
                "dgst",
                "-sha512",
                "-sigopt",
                "rsa_padding_mode:pkcs1",
                "-sign",
                "key",
                "-out",
                "bad",
                "message",
            ],
            &["pkeyutl", "-encrypt", "-inkey", "key", "-in", "message", "-out", "bad"],
        ] {
            let [default, ours @ ..] = place.alike(arguments);
            let reasons = default.reasons().join("; ");
            for ours in ours {
                let ours = ours.fails(&[]).left(0);
                assert_eq!(ours.reasons().join("; "), reasons, "{ours:?}");
            }
        }
    }
}

/// OpenSSL's default provider reads and writes keys; a configuration must activate it beside zariz.
#[test]
fn alone_it_fails_in_words() {
    let place = Place::new();
    let alone = || Settings { alone: true, ..Settings::default() };
    let run = |arguments: &[&str]| place.run_with(Way::Configuration, arguments, alone());
    run(&["list", "-providers"]).succeeds().prints("zariz");
    for command in [
        &["dgst", "-sha256", "-sign", "2048.pem", "-out", "sig", "message"][..],
        &["genrsa", "-out", "key", "2048"],
        &["rsa", "-in", "2048.pem", "-check"],
        &["req", "-x509", "-key", "2048.pem", "-subj", "/CN=a"],
        &["pkeyutl", "-sign", "-inkey", "2048.pem", "-in", "message"],
        &["speed", "-seconds", "1", "rsa2048"],
    ] {
        run(command).fails(&[":error:"]);
    }
}
