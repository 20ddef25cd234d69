//! `cms` and `smime`.

use crate::run::{OURS, Place, Way};

/// A certificate for mail, of the key `2048.pem`.
fn certified() -> Place {
    let place = Place::new();
    let make = ["req", "-x509", "-key", "2048.pem", "-subj", "/CN=a", "-days", "9", "-out", "cert.pem"];
    place.run(Way::Default, &make).succeeds();
    place
}

#[test]
fn cms_signs_for_the_default_provider_and_the_other_way_round() {
    let place = certified();
    for options in [
        &[][..],
        &["-md", "sha512"],
        &["-keyopt", "rsa_padding_mode:pss"],
        &[
            "-keyopt",
            "rsa_padding_mode:pss",
            "-keyopt",
            "rsa_pss_saltlen:20",
            "-keyopt",
            "rsa_mgf1_md:sha512",
        ],
        &["-noattr"],
    ] {
        let sign = ["cms", "-sign", "-in", "message", "-binary", "-signer", "cert.pem", "-inkey", "2048.pem"];
        let sign = [&sign[..], &["-nodetach", "-outform", "DER", "-out", "signed"], options].concat();
        let verify = ["cms", "-verify", "-in", "signed", "-inform", "DER", "-CAfile", "cert.pem", "-binary"];
        let verify = [&verify[..], &["-purpose", "any", "-out", "opened"]].concat();
        for way in OURS {
            place.run(way, &sign).succeeds().did(1, 0);
            let _ = std::fs::remove_file(place.path("opened"));
            place.run(Way::Default, &verify).succeeds();
            assert_eq!(place.read("opened"), place.read("message"));
            place.run(Way::Default, &sign).succeeds();
            place.run(way, &verify).succeeds().did(0, 1);
            assert_eq!(place.read("opened"), place.read("message"));
        }
    }
}

#[test]
fn cms_encrypts_for_the_default_provider_and_the_other_way_round() {
    let place = certified();
    for options in [
        &[][..],
        &["-keyopt", "rsa_padding_mode:oaep"],
        &[
            "-keyopt",
            "rsa_padding_mode:oaep",
            "-keyopt",
            "rsa_oaep_md:sha256",
            "-keyopt",
            "rsa_mgf1_md:sha512",
        ],
        &["-keyopt", "rsa_padding_mode:oaep", "-keyopt", "rsa_oaep_label:6c6162656c"],
    ] {
        let encrypt = ["cms", "-encrypt", "-in", "message", "-binary", "-aes256", "-recip", "cert.pem"];
        let encrypt = [&encrypt[..], &["-outform", "DER", "-out", "secret"], options].concat();
        let decrypt = [
            "cms", "-decrypt", "-in", "secret", "-inform", "DER", "-recip", "cert.pem", "-inkey", "2048.pem",
        ];
        let decrypt = [&decrypt[..], &["-out", "opened"]].concat();
        for way in OURS {
            place.run(way, &encrypt).succeeds().did(0, 1);
            let _ = std::fs::remove_file(place.path("opened"));
            place.run(Way::Default, &decrypt).succeeds();
            assert_eq!(place.read("opened"), place.read("message"));
            place.run(Way::Default, &encrypt).succeeds();
            place.run(way, &decrypt).succeeds().did(1, 0);
            assert_eq!(place.read("opened"), place.read("message"));
        }
    }
}

#[test]
fn smime_does_the_same() {
    let place = certified();
    let sign =
        ["smime", "-sign", "-in", "message", "-signer", "cert.pem", "-inkey", "2048.pem", "-out", "signed"];
    let verify =
        ["smime", "-verify", "-in", "signed", "-CAfile", "cert.pem", "-purpose", "any", "-out", "opened"];
    let encrypt = ["smime", "-encrypt", "-aes256", "-in", "message", "-out", "secret", "cert.pem"];
    let decrypt =
        ["smime", "-decrypt", "-in", "secret", "-recip", "cert.pem", "-inkey", "2048.pem", "-out", "opened"];
    // Mail has its own line ends.
    let message = String::from_utf8(place.read("message")).expect("text").replace('\n', "\r\n");
    for way in OURS {
        for (make, made, open, opened) in
            [(&sign[..], (1, 0), &verify[..], (0, 1)), (&encrypt, (0, 1), &decrypt, (1, 0))]
        {
            place.run(way, make).succeeds().did(made.0, made.1);
            place.run(Way::Default, open).succeeds();
            assert_eq!(place.read("opened"), message.as_bytes());
            place.run(Way::Default, make).succeeds();
            place.run(way, open).succeeds().did(opened.0, opened.1);
            assert_eq!(place.read("opened"), message.as_bytes());
        }
    }
}

#[test]
fn changed_and_cut_messages_are_refused() {
    let place = certified();
    let sign = ["cms", "-sign", "-in", "message", "-signer", "cert.pem", "-inkey", "2048.pem", "-nodetach"];
    place.run(Way::Default, &[&sign[..], &["-outform", "DER", "-out", "signed"]].concat()).succeeds();
    // An authenticated cipher: with others, the plaintext of a wrong key ends like padding once in 256 times.
    let encrypt = ["cms", "-encrypt", "-in", "message", "-aes-256-gcm", "-recip", "cert.pem"];
    place.run(Way::Default, &[&encrypt[..], &["-outform", "DER", "-out", "secret"]].concat()).succeeds();
    let mut signed = place.read("signed");
    let last = signed.len() - 1;
    signed[last] ^= 1;
    place.write("changed", &signed);
    place.write("cut", &signed[..last - 99]);
    let verify =
        |file| ["cms", "-verify", "-in", file, "-inform", "DER", "-CAfile", "cert.pem", "-purpose", "any"];
    place.refuses(&verify("changed"));
    for file in ["cut", "message"] {
        place.openssl_refuses(&verify(file));
    }
    // With the wrong key; for keys of other types; with unknown options.
    let decrypt = ["cms", "-decrypt", "-in", "secret", "-inform", "DER", "-out", "opened"];
    place.openssl_refuses(&[&decrypt[..], &["-inkey", "3072.pem", "-recip", "cert.pem"]].concat());
    place.alike(&[&decrypt[..], &["-inkey", "3072.pem"]].concat());
    place.openssl_refuses(&[&sign[..], &["-keyopt", "no_such_option:1"]].concat());
    place.openssl_refuses(&[&encrypt[..], &["-keyopt", "no_such_option:1"]].concat());
    // (OpenSSL 3.0 itself crashes when asked to encrypt with PSS.)
}
