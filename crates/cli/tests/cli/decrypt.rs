//! `zariz decrypt`, with ciphertexts of `openssl`.

use std::fs;
use std::path::PathBuf;

use zariz_needs::needs;

use crate::args;
use crate::run::{Folder, key, openssl, zariz, zariz_with};

/// A ciphertext of `openssl pkeyutl` for the 2048-bit key.
fn encrypted(folder: &Folder, plaintext: &[u8], options: &[&str]) -> Vec<u8> {
    let (plain, out) = (folder.file("plain", plaintext), folder.join("cipher"));
    let public = folder.public_key(2048);
    let encrypt = args!["pkeyutl", "-encrypt", "-pubin", "-inkey", public, "-in", plain, "-out", out];
    openssl(encrypt.into_iter().chain(options.iter().map(Into::into)));
    fs::read(out).expect("encrypted")
}

const OAEP: [&str; 6] =
    ["-pkeyopt", "rsa_padding_mode:oaep", "-pkeyopt", "rsa_oaep_md:sha256", "-pkeyopt", "rsa_mgf1_md:sha256"];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[needs("openssl")]
#[test]
fn one_ciphertext_of_each_padding() {
    let folder = Folder::new();
    let plaintext = b"two lines\nand a \xff byte";
    for hash in ["sha1", "sha256", "sha384", "sha512"] {
        let (oaep, mgf) = (format!("rsa_oaep_md:{hash}"), format!("rsa_mgf1_md:{hash}"));
        let options = ["-pkeyopt", "rsa_padding_mode:oaep", "-pkeyopt", &oaep, "-pkeyopt", &mgf];
        let ciphertext = encrypted(&folder, plaintext, &options);
        let decrypt = args!["decrypt", "--key", key(2048), "--oaep-hash", hash];
        assert_eq!(zariz_with(decrypt, &ciphertext).exits(0).says_nothing().stdout, plaintext, "{hash}");
    }
    let ciphertext = encrypted(&folder, plaintext, &["-pkeyopt", "rsa_padding_mode:pkcs1"]);
    let decrypt = args!["decrypt", "--key", key(2048), "--padding", "pkcs1"];
    assert_eq!(zariz_with(decrypt, &ciphertext).exits(0).stdout, plaintext);
    let text = args![
        "decrypt",
        "--key",
        key(2048),
        "--padding",
        "pkcs1",
        "--encoding",
        "hex",
        "--output-encoding",
        "hex"
    ];
    assert_eq!(zariz_with(text, hex(&ciphertext).as_bytes()).exits(0).text(), hex(plaintext) + "\n");
}

#[needs("openssl")]
#[test]
fn lines_fail_alone() {
    let folder = Folder::new();
    let text = hex(&encrypted(&folder, b"text", &OAEP));
    let two_lines = hex(&encrypted(&folder, b"two\nlines", &OAEP));
    // Change the last byte.
    let (rest, last) = text.split_at(text.len() - 2);
    let damaged = format!("{rest}{}", if last == "00" { "01" } else { "00" });
    let input = [&text, "", "xyz", &damaged, &text[2..], &two_lines, &text].join("\r\n");
    let decrypt = |options: &[&str]| {
        let decrypt = args!["decrypt", "--key", key(2048), "--lines", "--encoding", "hex"];
        zariz_with(decrypt.into_iter().chain(options.iter().map(Into::into)), input.as_bytes()).exits(4)
    };
    let done = decrypt(&["--output-encoding", "hex"]);
    assert_eq!(done.lines(), [&hex(b"text"), "", "", "", "", &hex(b"two\nlines"), &hex(b"text")]);
    let done = done.says(&[
        "line 2: ",
        "line 3: not hexadecimal: 'x'",
        "line 4: ",
        "line 5: 255 bytes",
        "4 of 7 lines",
    ]);
    assert_eq!(done.stderr.lines().count(), 5);
    // In lines, the default encoding of plaintexts is base64.
    assert_eq!(decrypt(&[]).lines(), ["dGV4dA==", "", "", "", "", "dHdvCmxpbmVz", "dGV4dA=="]);
    let raw =
        decrypt(&["--output-encoding", "raw"]).says(&["line 6: the plaintext contains a line end", "5 of 7"]);
    assert_eq!(raw.lines(), ["text", "", "", "", "", "", "text"]);
    let quiet = decrypt(&["--quiet"]).says(&[
        "error: line 2: ",
        "error: line 3: ",
        "error: line 4: ",
        "error: line 5: ",
    ]);
    assert_eq!((quiet.stderr.lines().count(), quiet.lines().len()), (4, 7), "no summary: {quiet:?}");
}

#[test]
fn one_bad_ciphertext_is_bad_input() {
    let decrypt = || args!["decrypt", "--key", key(2048)];
    zariz(decrypt()).exits(3).says(&["error: standard input: 0 bytes"]);
    zariz_with(decrypt(), &[1; 256]).exits(3).says(&["cannot be decrypted"]);
    zariz_with(decrypt(), &[0xff; 256]).exits(3);
    zariz_with(decrypt().into_iter().chain(args!["--encoding", "base64"]), b"?")
        .exits(3)
        .says(&["not base64"]);
    zariz(args!["decrypt", "--key", key(1024), "--oaep-hash", "sha512", "-"]).exits(3);
}

#[test]
fn bad_pkcs1_padding_is_no_error_and_always_the_same() {
    let decrypt = || {
        zariz_with(args!["decrypt", "--key", key(2048), "--padding", "pkcs1"], &[7; 256])
            .exits(0)
            .says_nothing()
            .stdout
    };
    assert_eq!(decrypt(), decrypt());
}

#[test]
fn the_key_is_not_replaced_by_the_plaintext() {
    let folder = Folder::new();
    let own: PathBuf = folder.file("own.pem", fs::read(key(2048)).expect("the key"));
    let before = folder.read("own.pem");
    for command in ["sign", "decrypt"] {
        zariz(args![command, "--key", own, "--out", own]).exits(2).says(&["--out", "--key"]);
    }
    assert_eq!(folder.read("own.pem"), before);
}
