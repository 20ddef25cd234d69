//! Encrypted keys, whose passwords come from files, standard input or the terminal.

use std::path::Path;

use zariz_needs::needs;

use crate::args;
use crate::run::{Done, Folder, key, openssl, zariz, zariz_with};

/// A folder with `key.pem`, encrypted by OpenSSL with the password `secret`.
fn folder() -> Folder {
    let folder = Folder::new();
    let file = folder.join("key.pem");
    openssl(args!["pkey", "-in", key(1024), "-aes256", "-passout", "pass:secret", "-out", file]);
    folder
}

fn sign(folder: &Folder, password: &Path) -> Done {
    zariz_with(args!["sign", "--key", folder.join("key.pem"), "--password-file", password], b"message")
}

#[needs("openssl")]
#[test]
fn the_first_line_of_a_file_is_the_password() {
    let folder = folder();
    let expected = zariz_with(args!["sign", "--key", key(1024)], b"message").exits(0).stdout;
    for contents in ["secret", "secret\n", "secret\r\n", "secret\nanother line\n"] {
        let done = sign(&folder, &folder.file("password", contents)).exits(0);
        assert_eq!(done.stdout, expected, "{contents:?}");
    }
    for contents in ["Secret\n", "\n", "secret \n", " secret\n", "\nsecret\n"] {
        let done = sign(&folder, &folder.file("password", contents)).exits(3);
        assert_eq!(done.says(&["key.pem", "the password is wrong"]).stdout, b"", "{contents:?}");
    }
    sign(&folder, &folder.file("password", "")).exits(3).says(&["password: empty; a password was expected"]);
    sign(&folder, &folder.join("nowhere")).exits(3).says(&["nowhere"]);
    sign(&folder, &folder.file("password", [b'x'; 70_000])).exits(3).says(&["too long to be a password"]);
}

#[needs("openssl")]
#[test]
fn every_command_that_reads_private_keys_takes_a_password() {
    let folder = folder();
    let (key, password) = (folder.join("key.pem"), folder.file("password", "secret\n"));
    let message = folder.file("message", "message");
    let signature = folder.file("signature", sign(&folder, &password).exits(0).stdout);
    let verify =
        args!["verify", "--key", key, "--password-file", password, "--signatures", signature, message];
    zariz(verify).exits(0).says(&["verified 1"]);
    let encrypt = args!["pkeyutl", "-encrypt", "-inkey", crate::run::key(1024), "-in", message];
    let ciphertext = folder.file("ciphertext", openssl(encrypt));
    let decrypt =
        args!["decrypt", "--padding", "pkcs1", "--key", key, "--password-file", password, ciphertext];
    assert_eq!(zariz(decrypt).exits(0).stdout, b"message");
    // A password for an unencrypted key is accepted: scripts may always give one.
    let plain = args!["sign", "--key", crate::run::key(1024), "--password-file", password, message];
    assert_eq!(zariz(plain).exits(0).stdout, folder.read("signature"));
}

#[needs("openssl")]
#[test]
fn standard_input_is_one_thing_at_a_time() {
    let folder = folder();
    let (key, message) = (folder.join("key.pem"), folder.file("message", "message"));
    let from_stdin =
        zariz_with(args!["sign", "--key", key, "--password-file", "-", message], b"secret\n").exits(0);
    assert_eq!(
        from_stdin.stdout,
        zariz(args!["sign", "--key", crate::run::key(1024), message]).exits(0).stdout
    );
    zariz_with(args!["sign", "--key", key, "--password-file", "-"], b"secret\n").exits(2).says(&[
        "FILE",
        "--password-file",
        "standard input can be read only once",
    ]);
}

/// Results must not replace the file of a password or of a key.
#[needs("openssl")]
#[test]
fn what_is_needed_is_not_replaced() {
    let folder = folder();
    let (key, password) = (folder.join("key.pem"), folder.file("password", "secret\n"));
    let with = |command: &[&str], out: &str, more: Vec<std::ffi::OsString>| {
        let options = args!["--password-file", password, out, password];
        zariz_with(command.iter().map(Into::into).chain(options).chain(more), b"message")
    };
    for done in [
        with(&["sign"], "--out", args!["--key", key]),
        with(&["decrypt"], "--out", args!["--key", key]),
        with(&["keygen", "--bits", "1024", "--force"], "--out", args![]),
        with(&["keygen", "--bits", "1024", "--force", "--out", "never"], "--public-out", args![]),
    ] {
        done.exits(2).says(&["would replace the file of --password-file"]);
    }
    assert_eq!(folder.read("password"), b"secret\n");
    zariz(args!["sign", "--key", key, "--out", key])
        .exits(2)
        .says(&["--out would replace the file of --key"]);
}

/// Every command reports a wrong password alike, and finds a key behind other blocks.
#[needs("openssl")]
#[test]
fn bundles_and_wrong_passwords() {
    let folder = folder();
    let (good, bad) = (folder.file("good", "secret\n"), folder.file("bad", "Secret\n"));
    let certificate = folder.join("certificate.pem");
    let request = args!["req", "-x509", "-new", "-key", key(1024), "-subj", "/CN=test", "-out", certificate];
    openssl(request);
    let message = folder.file("message", "message");
    let signature =
        folder.file("signature", zariz(args!["sign", "--key", key(1024), message]).exits(0).stdout);
    let bundle = [folder.read("certificate.pem"), folder.read("key.pem")].concat();
    for key in [folder.join("key.pem"), folder.file("bundle.pem", bundle)] {
        let sign = |password: &Path| zariz(args!["sign", "--key", key, "--password-file", password, message]);
        let verify = |password: &Path| {
            zariz(args![
                "verify",
                "--key",
                key,
                "--password-file",
                password,
                "--signatures",
                signature,
                message
            ])
        };
        sign(&good).exits(0);
        verify(&good).exits(0);
        sign(&bad).exits(3).says(&["the password is wrong"]);
        verify(&bad).exits(3).says(&["the password is wrong"]);
        let without = args!["verify", "--key", key, "--signatures", signature, message];
        zariz(without).exits(3).says(&["encrypted", "--password-file"]);
        zariz(args!["sign", "--key", key, message]).exits(3).says(&["encrypted", "--password-file"]);
    }
}

#[needs("openssl")]
#[test]
fn without_a_terminal_an_error_says_what_to_do() {
    let folder = folder();
    let done = zariz_with(args!["sign", "--key", folder.join("key.pem")], b"message").exits(3);
    done.says(&["key.pem", "encrypted", "--password-file FILE"]);
}

#[needs("openssl")]
#[test]
fn keygen_encrypts_what_openssl_decrypts() {
    let folder = Folder::new();
    let (key, public) = (folder.join("key.pem"), folder.join("public.pem"));
    let password = folder.file("password", "a long secret\n");
    let keygen =
        args!["keygen", "--bits", "1024", "--password-file", password, "--out", key, "--public-out", public];
    zariz(keygen).exits(0);
    assert!(folder.read("key.pem").starts_with(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
    sign(&folder, &password).exits(0);
    sign(&folder, &folder.file("wrong", "a wrong secret\n")).exits(3);
    let passin = format!("file:{}", password.display());
    assert_eq!(openssl(args!["pkey", "-in", key, "-passin", passin, "-pubout"]), folder.read("public.pem"));
    let keygen =
        args!["keygen", "--bits", "1024", "--password-file", folder.file("empty", ""), "--out", "never"];
    zariz(keygen).exits(3).says(&["empty; a password was expected"]);
    let blank = folder.file("blank", "\nsecret\n");
    let keygen = args!["keygen", "--bits", "1024", "--password-file", blank, "--out", folder.join("never")];
    zariz(keygen).exits(3).says(&["blank", "an empty first line protects no key"]);
    assert!(!folder.names().contains(&"never".into()));
}
