//! `genrsa`, `genpkey`, `rsa` and `pkey`: making and using keys; keys that zariz leaves to OpenSSL, and
//! damaged ones.

use crate::run::{OURS, Place, Way};

#[test]
fn keys_are_made_and_pass_the_default_providers_checks() {
    let place = Place::new();
    let commands: [(&[&str], &str); 4] = [
        (&["genrsa", "-out", "key", "1024"], "1024 bit, 2 primes"),
        (&["genrsa", "-out", "key", "2048"], "2048 bit, 2 primes"),
        (&["genpkey", "-algorithm", "RSA", "-out", "key"], "2048 bit, 2 primes"),
        (
            &["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072", "-out", "key"],
            "3072 bit, 2 primes",
        ),
    ];
    for (command, says) in commands {
        for way in OURS {
            place.run(way, command).succeeds().made_keys(1).left(0);
            place
                .run(Way::Default, &["pkey", "-in", "key", "-check", "-noout"])
                .succeeds()
                .prints("Key is valid");
            place
                .run(Way::Default, &["rsa", "-in", "key", "-check", "-text", "-noout"])
                .succeeds()
                .prints(says);
            place
                .run(way, &["dgst", "-sha256", "-sign", "key", "-out", "sig", "message"])
                .succeeds()
                .did(1, 0);
            place.run(Way::Default, &["pkey", "-in", "key", "-pubout", "-out", "public"]).succeeds();
            place
                .run(Way::Default, &["dgst", "-sha256", "-verify", "public", "-signature", "sig", "message"])
                .succeeds();
        }
    }
}

#[test]
fn keys_that_are_not_ours_to_make_are_left_to_openssl() {
    let place = Place::new();
    let three = ["-pkeyopt", "rsa_keygen_bits:2048", "-pkeyopt", "rsa_keygen_primes:3", "-out", "key"];
    let three = [&["genpkey", "-algorithm", "RSA"], &three[..]].concat();
    let exponent = ["-pkeyopt", "rsa_keygen_bits:2048", "-pkeyopt", "rsa_keygen_pubexp:17", "-out", "key"];
    let exponent = [&["genpkey", "-algorithm", "RSA"], &exponent[..]].concat();
    for command in [
        &["genrsa", "-out", "key", "512"][..],
        &exponent,
        &["genrsa", "-3", "-out", "key", "1024"],
        &["genrsa", "-primes", "3", "-out", "key", "2048"],
        &three,
    ] {
        for way in OURS {
            place.run(way, command).succeeds().made_keys(1).left(1);
            place
                .run(Way::Default, &["rsa", "-in", "key", "-check", "-noout"])
                .succeeds()
                .prints("RSA key ok");
        }
    }
}

#[test]
fn other_public_exponents_are_ours() {
    let place = Place::new();
    let exponent = ["-pkeyopt", "rsa_keygen_bits:2048", "-pkeyopt", "rsa_keygen_pubexp:65539", "-out", "key"];
    for way in OURS {
        place.run(way, &[&["genpkey", "-algorithm", "RSA"], &exponent[..]].concat()).succeeds().made_keys(1);
        place.run(Way::Default, &["rsa", "-in", "key", "-check", "-noout"]).succeeds().prints("RSA key ok");
    }
}

#[test]
fn bad_wishes_for_keys_are_refused() {
    let place = Place::new();
    for options in [
        &["rsa_keygen_bits:511"][..],
        &["rsa_keygen_bits:what"],
        &["rsa_keygen_pubexp:4"],
        &["rsa_keygen_pubexp:1"],
        &["rsa_keygen_primes:9"],
        &["rsa_keygen_primes:1"],
        &["no_such_option:1"],
    ] {
        let options: Vec<&str> = options.iter().flat_map(|option| ["-pkeyopt", option]).collect();
        place.openssl_refuses(&[&["genpkey", "-algorithm", "RSA", "-out", "none"], &options[..]].concat());
    }
    place.refuses(&["genpkey", "-algorithm", "RSA", "-out", "none", "-pkeyopt", "rsa_keygen_bits:0"]);
}

/// OpenSSL writes keys that zariz makes in every format, from what zariz exports, with all numbers right.
#[test]
fn keys_are_written_in_every_format() {
    let place = Place::new();
    let commands: [&[&str]; 3] = [
        &["genpkey", "-algorithm", "RSA", "-text"],
        &["genpkey", "-algorithm", "RSA", "-outform", "DER"],
        &["genrsa", "-traditional"],
    ];
    for make in commands {
        let format = if make.contains(&"DER") { "DER" } else { "PEM" };
        for way in OURS {
            place.run(way, &[make, &["-out", "key"]].concat()).succeeds().made_keys(1).left(0);
            let check = ["pkey", "-in", "key", "-inform", format, "-check", "-noout"];
            place.run(Way::Default, &check).succeeds().prints("Key is valid");
        }
    }
}

/// Keys that zariz makes and OpenSSL encrypts can sign.
#[test]
fn keys_may_be_encrypted() {
    let place = Place::new();
    let make = ["genpkey", "-algorithm", "RSA", "-aes256", "-pass", "pass:word", "-out", "encrypted"];
    for way in OURS {
        place.run(way, &make).succeeds().made_keys(1).left(0);
        let sign =
            ["dgst", "-sha256", "-sign", "encrypted", "-passin", "pass:word", "-out", "sig", "message"];
        place.run(way, &sign).succeeds().did(1, 0);
        let show = ["pkey", "-in", "encrypted", "-passin", "pass:word", "-pubout", "-out", "public"];
        place.run(Way::Default, &show).succeeds();
        let verify = ["dgst", "-sha256", "-verify", "public", "-signature", "sig", "message"];
        place.run(Way::Default, &verify).succeeds();
    }
}

/// Keys that zariz does not accelerate: OpenSSL signs with each, and each is counted as a fallback.
#[test]
fn keys_that_are_not_ours_to_use_are_left_to_openssl() {
    let place = Place::new();
    place.run(Way::Default, &["genrsa", "-out", "512", "512"]).succeeds();
    place.run(Way::Default, &["genrsa", "-primes", "3", "-out", "three", "2048"]).succeeds();
    for key in ["512", "three"] {
        place.run(Way::Default, &["pkey", "-in", key, "-pubout", "-out", "public"]).succeeds();
        let sign = ["dgst", "-sha256", "-sign", key, "-out", "sig", "message"];
        place.run(Way::Default, &sign).succeeds();
        let expected = place.read("sig");
        for way in OURS {
            place.run(way, &sign).succeeds().left(1);
            assert_eq!(place.read("sig"), expected);
        }
    }
}

/// The lines of a key for `asn1parse -genconf`: its numbers, one of them changed.
fn damaged(place: &Place, which: &str) {
    let text = place.run(Way::Default, &["asn1parse", "-in", "2048.rsa"]).succeeds().stdout;
    let text = String::from_utf8(text).expect("text");
    let names = ["version", "n", "e", "d", "p", "q", "dp", "dq", "qinv"];
    let values: Vec<&str> =
        text.lines().filter_map(|line| line.split("INTEGER           :").nth(1)).collect();
    assert_eq!(values.len(), names.len(), "{text}");
    let mut lines = String::from("asn1 = SEQUENCE:key\n[key]\n");
    for (name, value) in names.iter().zip(values) {
        let digits = value.trim();
        let digits = match *name == which {
            // The third last digit, so that the number stays odd.
            true => {
                let at = digits.len() - 3;
                let digit = if &digits[at..=at] == "0" { "1" } else { "0" };
                format!("{}{digit}{}", &digits[..at], &digits[at + 1..])
            }
            false => digits.to_owned(),
        };
        lines.push_str(&format!("{name} = INTEGER:0x{digits}\n"));
    }
    place.write("damaged.cnf", lines.as_bytes());
    place
        .run(Way::Default, &["asn1parse", "-genconf", "damaged.cnf", "-out", "damaged.der", "-noout"])
        .succeeds();
}

#[test]
fn damaged_keys_never_sign_wrongly() {
    let place = Place::new();
    place.run(Way::Default, &["pkey", "-in", "2048.pem", "-traditional", "-out", "2048.rsa"]).succeeds();
    for which in ["n", "e", "d", "p", "q", "dp", "dq", "qinv"] {
        damaged(&place, which);
        let sign = ["dgst", "-sha256", "-keyform", "DER", "-sign", "damaged.der", "-out", "sig", "message"];
        for way in OURS {
            let _ = std::fs::remove_file(place.path("sig"));
            let ours = place.run(way, &sign);
            if !ours.stderr.is_empty() {
                ours.fails(&[":error:"]);
                continue;
            }
            // Every signature is right, by the other numbers: a fault in one half would reveal the key. With
            // another modulus or exponent it is another key, and OpenSSL's blinding goes wrong: the result is
            // random.
            if !["n", "e"].contains(&which) {
                let verify = ["dgst", "-sha256", "-verify", "2048.pub", "-signature", "sig", "message"];
                place.run(Way::Default, &verify).succeeds().prints("Verified OK");
            }
        }
    }
}
