//! `pkeyutl`: encrypting and decrypting.

use crate::run::{OURS, Place, Way};

/// A message's length, and options.
const PADDINGS: [(usize, &[&str]); 11] = [
    (32, &[]),
    (0, &["-pkeyopt", "rsa_padding_mode:pkcs1"]),
    (245, &["-pkeyopt", "rsa_padding_mode:pkcs1"]),
    (256, &["-pkeyopt", "rsa_padding_mode:none"]),
    (0, &["-pkeyopt", "rsa_padding_mode:oaep"]),
    (214, &["-pkeyopt", "rsa_padding_mode:oaep"]),
    (190, &["-pkeyopt", "rsa_padding_mode:oaep", "-pkeyopt", "rsa_oaep_md:sha256"]),
    (
        32,
        &[
            "-pkeyopt",
            "rsa_padding_mode:oaep",
            "-pkeyopt",
            "rsa_oaep_md:sha512",
            "-pkeyopt",
            "rsa_mgf1_md:sha1",
        ],
    ),
    (32, &["-pkeyopt", "rsa_padding_mode:oaep", "-pkeyopt", "rsa_mgf1_md:sha384"]),
    (32, &["-pkeyopt", "rsa_padding_mode:oaep", "-pkeyopt", "rsa_oaep_label:6c6162656c"]),
    (
        32,
        &[
            "-pkeyopt",
            "rsa_padding_mode:oaep",
            "-pkeyopt",
            "rsa_oaep_md:sha3-256",
            "-pkeyopt",
            "rsa_oaep_label:00ff",
        ],
    ),
];

#[test]
fn what_one_provider_encrypts_the_other_decrypts() {
    let place = Place::new();
    for (length, options) in PADDINGS {
        place.write("plain", &vec![0x5a; length]);
        let encrypt =
            ["pkeyutl", "-encrypt", "-pubin", "-inkey", "2048.pub", "-in", "plain", "-out", "secret"];
        let decrypt = ["pkeyutl", "-decrypt", "-inkey", "2048.pem", "-in", "secret", "-out", "opened"];
        let (encrypt, decrypt) = ([&encrypt[..], options].concat(), [&decrypt[..], options].concat());
        for way in OURS {
            place.run(way, &encrypt).succeeds().did(0, 1);
            place.run(Way::Default, &decrypt).succeeds();
            assert_eq!(place.read("opened"), place.read("plain"), "{options:?}");
            place.run(Way::Default, &encrypt).succeeds();
            place.run(way, &decrypt).succeeds().did(1, 0);
            assert_eq!(place.read("opened"), place.read("plain"), "{options:?}");
        }
    }
}

#[test]
fn without_padding_both_providers_encrypt_the_same() {
    let place = Place::new();
    place.write("plain", &[0x5a; 384]);
    let options = ["-pkeyopt", "rsa_padding_mode:none"];
    let encrypt = |out| {
        let command = ["pkeyutl", "-encrypt", "-pubin", "-inkey", "3072.pub", "-in", "plain", "-out", out];
        [&command[..], &options].concat()
    };
    place.run(Way::Default, &encrypt("default")).succeeds();
    for way in OURS {
        place.run(way, &encrypt("ours")).succeeds().did(0, 1);
        assert_eq!(place.read("ours"), place.read("default"));
    }
}

#[test]
fn a_padding_that_is_wrong_gives_random_bytes_and_no_error() {
    let place = Place::new();
    // Two ciphertexts with wrong padding.
    for seed in [1, 2] {
        place.write("secret", &[seed; 256]);
        for way in OURS {
            let decrypt = |out| ["pkeyutl", "-decrypt", "-inkey", "2048.pem", "-in", "secret", "-out", out];
            // Implicit rejection: equal bytes each time; their number has no meaning.
            let first = place.run(way, &decrypt("first"));
            let second = place.run(way, &decrypt("second"));
            first.succeeds().did(1, 0);
            second.succeeds().did(1, 0);
            assert_eq!(place.read("first"), place.read("second"));
            assert!(place.read("first").len() <= 245);
        }
    }
}

#[test]
fn what_the_default_provider_refuses_is_refused() {
    let place = Place::new();
    for length in [0, 1, 191, 215, 246, 255, 256, 257] {
        place.write(&length.to_string(), &vec![0x5a; length]);
    }
    place.write("huge", &[255; 256]);
    let oaep = ["-pkeyopt", "rsa_padding_mode:oaep"];
    let none = ["-pkeyopt", "rsa_padding_mode:none"];
    let encrypt = |options: &[&str]| {
        let command = ["pkeyutl", "-encrypt", "-pubin", "-inkey", "2048.pub", "-out", "none"];
        place.refuses(&[&command[..], options].concat());
    };
    encrypt(&["-in", "246"]);
    encrypt(&[&["-in", "215"], &oaep[..]].concat());
    encrypt(&[&["-in", "191", "-pkeyopt", "rsa_oaep_md:sha256"], &oaep[..]].concat());
    encrypt(&["-in", "1", "-pkeyopt", "rsa_padding_mode:pss"]);
    for option in ["rsa_oaep_md:what", "rsa_mgf1_md:what", "rsa_oaep_label:xyz", "no_such_option:1"] {
        let command = ["pkeyutl", "-encrypt", "-pubin", "-inkey", "2048.pub", "-out", "none", "-in", "1"];
        place.openssl_refuses(&[&command[..], &["-pkeyopt", option], &oaep].concat());
    }
    for input in ["255", "257", "huge"] {
        encrypt(&[&["-in", input], &none[..]].concat());
    }
    let decrypt = |options: &[&str]| {
        let command = ["pkeyutl", "-decrypt", "-inkey", "2048.pem", "-out", "none"];
        place.refuses(&[&command[..], options].concat());
    };
    for input in ["0", "1", "255", "257", "huge"] {
        decrypt(&[&["-in", input], &oaep[..]].concat());
    }
    for input in ["257", "huge"] {
        decrypt(&["-in", input]);
        decrypt(&[&["-in", input], &none[..]].concat());
    }
    // Another label, hash or kind of padding.
    let make = ["pkeyutl", "-encrypt", "-pubin", "-inkey", "2048.pub", "-in", "1", "-out", "secret"];
    place.run(Way::Default, &[&make[..], &oaep].concat()).succeeds();
    decrypt(&[&["-in", "secret", "-pkeyopt", "rsa_oaep_label:01"], &oaep[..]].concat());
    decrypt(&[&["-in", "secret", "-pkeyopt", "rsa_oaep_md:sha256"], &oaep[..]].concat());
    // A public key does not decrypt.
    place.openssl_refuses(&["pkeyutl", "-decrypt", "-pubin", "-inkey", "2048.pub", "-in", "256"]);
}
