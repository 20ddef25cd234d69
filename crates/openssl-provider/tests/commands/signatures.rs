//! `dgst` and `pkeyutl`: signing, verifying, and recovering signed data.

use crate::run::{OURS, Place, Way};

const SIZES: [&str; 4] = ["1024", "2048", "3072", "4096"];

#[test]
fn dgst_signs_what_the_default_provider_signs() {
    let place = Place::new();
    for size in SIZES {
        let (key, public) = (format!("{size}.pem"), format!("{size}.pub"));
        for digest in ["-md5", "-sha1", "-sha256", "-sha384", "-sha512", "-sha3-256", "-ripemd160"] {
            let sign = |out| ["dgst", digest, "-sign", &key, "-out", out, "message"];
            let verify = |signature| ["dgst", digest, "-verify", &public, "-signature", signature, "message"];
            place.run(Way::Default, &sign("default.sig")).succeeds();
            for way in OURS {
                place.run(way, &sign("our.sig")).succeeds().did(1, 0);
                assert_eq!(place.read("our.sig"), place.read("default.sig"), "{size} {digest} {way:?}");
                place.run(way, &verify("default.sig")).succeeds().prints("Verified OK").did(0, 1);
            }
        }
    }
}

/// Options of `dgst` for PSS, and those for verifying the signature.
const PSS: [(&[&str], &[&str]); 6] = [
    (&["-sigopt", "rsa_padding_mode:pss"], &["-sigopt", "rsa_padding_mode:pss"]),
    (
        &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"],
        &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32"],
    ),
    (
        &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:max"],
        &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:auto"],
    ),
    (
        &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:0"],
        &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:-2"],
    ),
    (
        &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:11"],
        &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:11"],
    ),
    (
        &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_mgf1_md:sha1"],
        &["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_mgf1_md:sha1"],
    ),
];

#[test]
fn dgst_signs_by_pss_for_the_default_provider_and_the_other_way_round() {
    let place = Place::new();
    for (signing, verifying) in PSS {
        let sign = [&["dgst", "-sha256"], signing, &["-sign", "2048.pem", "-out", "sig", "message"]].concat();
        let verify =
            [&["dgst", "-sha256"], verifying, &["-verify", "2048.pub", "-signature", "sig", "message"]]
                .concat();
        for way in OURS {
            place.run(way, &sign).succeeds().did(1, 0);
            place.run(Way::Default, &verify).succeeds().prints("Verified OK");
            place.run(Way::Default, &sign).succeeds();
            place.run(way, &verify).succeeds().prints("Verified OK").did(0, 1);
        }
    }
}

#[test]
fn dgst_refuses_what_the_default_provider_refuses() {
    let place = Place::new();
    place.run(Way::Default, &["dgst", "-sha256", "-sign", "2048.pem", "-out", "sig", "message"]).succeeds();
    let mut signature = place.read("sig");
    signature[100] ^= 1;
    place.write("changed", &signature);
    place.write("short", &signature[..255]);
    place.write("long", &[&signature[..], b"x"].concat());
    place.write("huge", &[255; 256]);
    let verify = |digest, key, signature: &str, options: &[&str]| {
        let command = ["dgst", digest, "-verify", key, "-signature", signature, "message"];
        place.refuses(&[&command[..1], options, &command[1..]].concat());
    };
    let pss = ["-sigopt", "rsa_padding_mode:pss"];
    for bad in ["changed", "short", "long", "huge"] {
        verify("-sha256", "2048.pub", bad, &[]);
        verify("-sha256", "2048.pub", bad, &pss);
    }
    verify("-sha512", "2048.pub", "sig", &[]);
    verify("-sha256", "3072.pub", "sig", &[]);
    verify("-sha256", "2048.pub", "sig", &pss);
    for options in [
        // The salt does not fit.
        &["-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:999"][..],
        &["-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:-9"],
        &["-sha256", "-sigopt", "rsa_pss_saltlen:20"],
        &["-sha256", "-sigopt", "rsa_mgf1_md:sha1"],
    ] {
        let sign = [&["dgst"], options, &["-sign", "2048.pem", "-out", "none", "message"]].concat();
        place.refuses(&sign);
    }
    let unknown =
        ["dgst", "-sha256", "-sigopt", "no_such_option:1", "-sign", "2048.pem", "-out", "none", "message"];
    place.openssl_refuses(&unknown);
    place.openssl_refuses(&["dgst", "-shake128", "-sign", "2048.pem", "-out", "none", "message"]);
}

/// What `pkeyutl` signs: the file's name, its length, and options.
const SIGNED: [(&str, usize, &[&str]); 7] = [
    ("32 bytes", 32, &["-pkeyopt", "digest:sha256"]),
    ("64 bytes", 64, &["-pkeyopt", "digest:sha512"]),
    // PKCS#1 without the name of a digest.
    ("32 bytes", 32, &[]),
    ("64 bytes", 64, &[]),
    ("1 byte", 1, &["-pkeyopt", "rsa_padding_mode:pkcs1"]),
    ("message", 44, &["-rawin", "-digest", "sha256"]),
    ("message", 44, &["-rawin", "-digest", "sha384", "-pkeyopt", "rsa_padding_mode:pkcs1"]),
];

#[test]
fn pkeyutl_signs_what_the_default_provider_signs() {
    let place = Place::new();
    for (name, length, options) in SIGNED {
        if name != "message" {
            // Below the modulus, whose first bit is set.
            place.write(name, &vec![0x5a; length]);
        }
        let sign =
            |out| [&["pkeyutl", "-sign", "-inkey", "2048.pem", "-in", name, "-out", out], options].concat();
        let check = |operation, input, more: &[&'static str]| {
            let key = ["-pubin", "-inkey", "2048.pub"];
            [&["pkeyutl", operation], &key[..], &["-in", input], more, options].concat()
        };
        place.run(Way::Default, &sign("default.sig")).succeeds();
        for way in OURS {
            place.run(way, &sign("our.sig")).succeeds().did(1, 0);
            assert_eq!(place.read("our.sig"), place.read("default.sig"), "{options:?} {way:?}");
            let verify = check("-verify", name, &["-sigfile", "our.sig"]);
            place.run(way, &verify).succeeds().prints("Signature Verified Successfully").did(0, 1);
            if options.contains(&"-rawin") {
                continue;
            }
            let recover = check("-verifyrecover", "our.sig", &["-out", "recovered"]);
            place.run(way, &recover).succeeds().did(0, 1);
            assert_eq!(place.read("recovered"), place.read(name), "{options:?} {way:?}");
        }
    }
}

#[test]
fn pkeyutl_signs_by_pss_for_the_default_provider_and_the_other_way_round() {
    let place = Place::new();
    place.write("hash", &[0x5a; 32]);
    let pss = ["-pkeyopt", "rsa_padding_mode:pss"];
    let hash = ["-in", "hash", "-pkeyopt", "digest:sha256"];
    for more in [
        &hash[..],
        &[&hash[..], &["-pkeyopt", "rsa_pss_saltlen:-1", "-pkeyopt", "rsa_mgf1_md:sha512"]].concat(),
        &["-in", "message", "-rawin", "-digest", "sha256", "-pkeyopt", "rsa_pss_saltlen:20"],
    ] {
        let options = [&pss[..], more].concat();
        let sign = [&["pkeyutl", "-sign", "-inkey", "2048.pem", "-out", "sig"], &options[..]].concat();
        let verify =
            [&["pkeyutl", "-verify", "-pubin", "-inkey", "2048.pub", "-sigfile", "sig"], &options[..]]
                .concat();
        for way in OURS {
            place.run(way, &sign).succeeds().did(1, 0);
            place.run(Way::Default, &verify).succeeds();
            place.run(Way::Default, &sign).succeeds();
            place.run(way, &verify).succeeds().prints("Signature Verified Successfully").did(0, 1);
        }
    }
}

#[test]
fn certificates_verify_by_pkeyutl_too() {
    let place = Place::new();
    let make = ["req", "-x509", "-key", "2048.pem", "-subj", "/CN=a", "-days", "9", "-out", "cert.pem"];
    place.run(Way::Default, &make).succeeds();
    place.run(Way::Default, &["dgst", "-sha256", "-sign", "2048.pem", "-out", "sig", "message"]).succeeds();
    let verify = ["pkeyutl", "-verify", "-certin", "-inkey", "cert.pem", "-rawin", "-digest", "sha256"];
    for way in OURS {
        let verify = [&verify[..], &["-in", "message", "-sigfile", "sig"]].concat();
        place.run(way, &verify).succeeds().did(0, 1);
    }
}

/// `pkeyutl` signs at most a hash; its predecessor `rsautl` also signs numbers without padding.
#[test]
fn rsautl_signs_what_the_default_provider_signs() {
    let place = Place::new();
    place.write("short", &[0x5a; 200]);
    place.write("number", &[0x5a; 256]);
    for (padding, input) in [("-raw", "number"), ("-pkcs", "short")] {
        let sign = |out| ["rsautl", "-sign", padding, "-inkey", "2048.pem", "-in", input, "-out", out];
        place.run(Way::Default, &sign("default.sig")).succeeds();
        for way in OURS {
            place.run(way, &sign("our.sig")).succeeds().did(1, 0);
            assert_eq!(place.read("our.sig"), place.read("default.sig"), "{padding} {way:?}");
            let key = ["-pubin", "-inkey", "2048.pub", "-in", "our.sig", "-out", "recovered"];
            place.run(way, &[&["rsautl", "-verify", padding], &key[..]].concat()).succeeds().did(0, 1);
            assert_eq!(place.read("recovered"), place.read(input), "{padding} {way:?}");
        }
    }
}

#[test]
fn pkeyutl_refuses_what_the_default_provider_refuses() {
    let place = Place::new();
    for length in [20, 31, 246, 255, 256, 257] {
        place.write(&length.to_string(), &vec![0x5a; length]);
    }
    place.write("huge", &[255; 256]);
    place.write("zeros", &[0; 256]);
    let refuses = |arguments: &[&[&str]]| place.refuses(&arguments.concat());
    for options in [
        &["-in", "31", "-pkeyopt", "digest:sha256"][..],
        &["-in", "31", "-pkeyopt", "rsa_padding_mode:none"],
        &["-in", "31", "-pkeyopt", "rsa_padding_mode:pss"],
        &["-in", "31", "-pkeyopt", "rsa_pss_saltlen:3"],
    ] {
        refuses(&[&["pkeyutl", "-sign", "-inkey", "2048.pem", "-out", "none"], options]);
    }
    for option in ["digest:what", "no_such_option:1"] {
        let sign =
            ["pkeyutl", "-sign", "-inkey", "2048.pem", "-out", "none", "-in", "31", "-pkeyopt", option];
        place.openssl_refuses(&sign);
    }
    // For signing, OpenSSL 3.0 accepts OAEP and unknown paddings, and uses PKCS#1. zariz does not repeat that
    // bug.
    for padding in ["rsa_padding_mode:oaep", "rsa_padding_mode:what"] {
        let sign =
            ["pkeyutl", "-sign", "-inkey", "2048.pem", "-out", "none", "-in", "31", "-pkeyopt", padding];
        for way in OURS {
            place.run(way, &sign).fails(&[":zariz:", "padding"]);
        }
    }
    let options = ["-in", "20", "-pkeyopt", "digest:sha1", "-pkeyopt", "rsa_padding_mode:x931"];
    place.alike(&[&["pkeyutl", "-sign", "-inkey", "2048.pem", "-out", "none"], &options[..]].concat());
    for (padding, input) in
        [("-raw", "255"), ("-raw", "257"), ("-raw", "huge"), ("-pkcs", "246"), ("-pkcs", "257")]
    {
        refuses(&[&["rsautl", "-sign", padding, "-inkey", "2048.pem", "-in", input, "-out", "none"]]);
    }
    for input in ["255", "256", "257", "huge", "zeros"] {
        let key = ["-pubin", "-inkey", "2048.pub"];
        refuses(&[&["pkeyutl", "-verifyrecover"], &key, &["-in", input]]);
        refuses(&[&["pkeyutl", "-verifyrecover", "-pkeyopt", "digest:sha256"], &key, &["-in", input]]);
        refuses(&[&["pkeyutl", "-verify"], &key, &["-in", "20", "-sigfile", input]]);
    }
    // A public key does not sign, and zariz does not take other types of keys.
    place.openssl_refuses(&["pkeyutl", "-sign", "-pubin", "-inkey", "2048.pub", "-in", "31", "-out", "none"]);
    let curve = ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "ec.pem"];
    place.run(Way::Default, &curve).succeeds();
    let sign = ["pkeyutl", "-sign", "-inkey", "ec.pem", "-in", "31", "-out", "none"];
    place.openssl_refuses(&[&sign[..], &["-pkeyopt", "rsa_padding_mode:pss"]].concat());
    for way in OURS {
        place.run(way, &sign).succeeds().did(0, 0);
    }
}
