//! Keys that cannot be used, and why; and every usable form of key.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use zariz_needs::needs;

use crate::args;
use crate::run::{Done, Folder, key, openssl, run, zariz_with};

fn sign(key: &PathBuf) -> Done {
    zariz_with(args!["sign", "--key", key, "--encoding", "hex"], b"message")
}

fn verify(key: &PathBuf, folder: &Folder) -> Done {
    let signature =
        folder.file("signature", zariz_with(args!["sign", "--key", self::key(1024)], b"message").stdout);
    zariz_with(args!["verify", "--key", key, "--signatures", signature], b"message")
}

#[test]
fn files_that_are_no_keys() {
    let folder = Folder::new();
    for contents in [
        "text",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    ] {
        let file = folder.file("file", contents);
        sign(&file).exits(3).says(&["error: ", "file: "]);
        verify(&file, &folder).exits(3).says(&["error: ", "file: "]);
    }
    for (contents, name, advice) in [
        ("ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB user@host\n", "public key of OpenSSH", "ssh-keygen -e -m PKCS8"),
        ("PuTTY-User-Key-File-3: ssh-rsa\n", "PuTTY", "puttygen"),
        ("{\"kty\": \"RSA\"}\n", "JWK", "createPrivateKey"),
        ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n", "base64", "base64 -d"),
    ] {
        let file = folder.file("file", contents);
        sign(&file).exits(3).says(&["file: ", name, advice]);
        verify(&file, &folder).exits(3).says(&["file: ", name, advice]);
    }
    let public = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";
    sign(&folder.file("public", public))
        .exits(3)
        .says(&["public: this is a public key; the private key is needed"]);
    let empty = folder.file("empty", "");
    sign(&empty).exits(3).says(&["empty: empty"]);
    let huge = folder.file("huge", vec![b'x'; 2 << 20]);
    sign(&huge).exits(3).says(&["too long to be a key"]);
}

#[test]
fn a_damaged_key_never_signs() {
    let folder = Folder::new();
    let pem = fs::read_to_string(key(1024)).expect("the key");
    let lines: Vec<&str> = pem.lines().collect();
    for i in 1..lines.len() - 1 {
        let mut damaged: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let other = if damaged[i].starts_with('A') { "B" } else { "A" };
        damaged[i].replace_range(0..1, other);
        sign(&folder.file("damaged.pem", damaged.join("\n"))).exits(3).says(&["damaged.pem: "]);
    }
}

#[needs("openssl")]
#[test]
fn forms_of_keys() {
    let folder = Folder::new();
    let expected =
        zariz_with(args!["sign", "--key", key(1024), "--encoding", "hex"], b"message").exits(0).stdout;
    for (name, options) in [
        ("pkcs8.der", &["pkcs8", "-topk8", "-nocrypt", "-outform", "DER"][..]),
        ("pkcs1.pem", &["rsa", "-traditional"]),
        ("pkcs1.der", &["rsa", "-traditional", "-outform", "DER"]),
    ] {
        let file = folder.join(name);
        openssl(options.iter().map(Into::into).chain(args!["-in", key(1024), "-out", file]));
        assert_eq!(sign(&file).exits(0).stdout, expected, "{name}");
        verify(&file, &folder).exits(0);
    }
    for (name, options) in [
        ("spki.pem", &["rsa", "-pubout"][..]),
        ("spki.der", &["rsa", "-pubout", "-outform", "DER"]),
        ("rsa.pem", &["rsa", "-RSAPublicKey_out"]),
        ("rsa.der", &["rsa", "-RSAPublicKey_out", "-outform", "DER"]),
    ] {
        let file = folder.join(name);
        openssl(options.iter().map(Into::into).chain(args!["-in", key(1024), "-out", file]));
        verify(&file, &folder).exits(0).says(&["verified 1, failed 0"]);
        sign(&file).exits(3).says(&[name, "public key", "private key is needed"]);
    }
}

/// The program respects the restrictions that `openssl` puts on a key, and says so.
#[needs("openssl")]
#[test]
fn keys_restricted_to_pss() {
    let folder = Folder::new();
    let (key, public) = (folder.join("pss.pem"), folder.join("public.pem"));
    let parameters =
        ["rsa_pss_keygen_md:sha512", "rsa_pss_keygen_mgf1_md:sha512", "rsa_pss_keygen_saltlen:64"];
    let parameters =
        ["rsa_keygen_bits:1536"].iter().chain(&parameters).flat_map(|option| args!["-pkeyopt", option]);
    openssl(args!["genpkey", "-algorithm", "RSA-PSS", "-out", key].into_iter().chain(parameters));
    openssl(args!["pkey", "-in", key, "-pubout", "-out", public]);
    let sign = |alg: &str| zariz_with(args!["sign", "--key", key, "--alg", alg], b"message");
    let signature = folder.file("signature", sign("PS512").exits(0).stdout);
    let verify = |alg: &str| {
        zariz_with(args!["verify", "--key", public, "--alg", alg, "--signatures", signature], b"message")
    };
    verify("PS512").exits(0);
    let message = folder.file("message", "message");
    openssl(args![
        "dgst",
        "-sha512",
        "-sigopt",
        "rsa_padding_mode:pss",
        "-verify",
        public,
        "-signature",
        signature,
        message
    ]);
    let only = "restricted to PSS signatures with SHA-512, MGF1 with SHA-512 and a salt of at least 64 bytes";
    let lines =
        |command: Vec<OsString>| zariz_with([command, args!["--lines"]].concat(), b"message\nanother\n");
    let lines = [
        lines(args!["sign", "--key", key]),
        lines(args!["verify", "--key", public, "--signatures", signature]),
        sign("RS256"),
        verify("RS512"),
    ];
    let salts = [sign("PS256"), sign("PS384"), verify("PS256")].map(|done| done.says(&[only]));
    for done in salts.into_iter().chain(lines) {
        let done = done.exits(3).says(&["pem: ", "restricted to PSS signatures", "; use --alg PS512\n"]);
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
    }
    let decrypted = zariz_with(args!["decrypt", "--key", key, "--padding", "pkcs1"], b"x").exits(3);
    decrypted.says(&["restricted to PSS signatures"]);

    let any = folder.join("any.pem");
    let bits = args!["-pkeyopt", "rsa_keygen_bits:1536"];
    openssl(args!["genpkey", "-algorithm", "RSA-PSS", "-out", any].into_iter().chain(bits));
    let done = zariz_with(args!["sign", "--key", any], b"message").exits(3);
    done.says(&["any.pem: ", "restricted to PSS", "use --alg PS256, PS384 or PS512"]);
    // A key too short for an algorithm is refused in the same way.
    let done = zariz_with(args!["sign", "--key", self::key(1024), "--alg", "PS512"], b"message").exits(3);
    done.says(&["too short", "use --alg RS256, RS384, RS512, PS256 or PS384"]);
}

#[needs("openssl")]
#[test]
fn a_key_among_other_blocks_is_found() {
    let folder = Folder::new();
    let certificate = folder.join("certificate.pem");
    openssl(args!["req", "-x509", "-new", "-key", key(1024), "-subj", "/CN=test", "-out", certificate]);
    verify(&certificate, &folder).exits(3).says(&["certificate", "openssl x509"]);
    sign(&certificate).exits(3).says(&["certificate", "no private key"]);
    let private = fs::read_to_string(key(1024)).expect("the key");
    let certificate = fs::read_to_string(certificate).expect("the certificate");
    let chain =
        folder.file("chain.pem", format!("some text\n{certificate}more text\n{private}{certificate}"));
    sign(&chain).exits(0);
    verify(&chain, &folder).exits(0);
}

#[needs("openssl")]
#[test]
fn encrypted_keys_say_how_to_decrypt_them() {
    let folder = Folder::new();
    for (name, options, advice) in [
        ("pkcs8.pem", &["pkcs8", "-topk8", "-passout", "pass:secret"][..], "openssl pkey"),
        ("pkcs1.pem", &["rsa", "-traditional", "-aes256", "-passout", "pass:secret"], "openssl pkcs8 -topk8"),
        (
            "pbe.pem",
            &["pkcs8", "-topk8", "-v1", "PBE-SHA1-3DES", "-passout", "pass:secret"],
            "openssl pkcs8 -topk8",
        ),
    ] {
        let file = folder.join(name);
        openssl(options.iter().map(Into::into).chain(args!["-in", key(1024), "-out", file]));
        sign(&file).exits(3).says(&[name, "encrypted", advice]);
        verify(&file, &folder).exits(3).says(&[name, "encrypted", advice]);
    }
}

#[needs("openssl")]
#[test]
fn keys_of_other_kinds_are_refused() {
    let folder = Folder::new();
    for (name, options) in [
        ("ec", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"][..]),
        ("ed25519", &["-algorithm", "ED25519"]),
    ] {
        let pem = folder.join("pem");
        openssl(["genpkey"].iter().chain(options).map(Into::into).chain(args!["-out", pem]));
        for form in ["PEM", "DER"] {
            let (private, public) = (folder.join(name), folder.join("public"));
            openssl(args!["pkcs8", "-topk8", "-nocrypt", "-in", pem, "-outform", form, "-out", private]);
            sign(&private).exits(3).says(&[name, "not an RSA key"]);
            verify(&private, &folder).exits(3).says(&[name, "not an RSA key"]);
            openssl(args!["pkey", "-in", pem, "-outform", form, "-pubout", "-out", public]);
            verify(&public, &folder).exits(3).says(&["public", "not an RSA key"]);
        }
    }
    let traditional = folder.join("traditional.pem");
    openssl(args!["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", traditional]);
    sign(&traditional).exits(3).says(&["not an RSA key", "EC"]);

    let short = folder.join("short.pem");
    openssl(args!["genrsa", "-out", short, "512"]);
    sign(&short).exits(3).says(&["512 bits", "1024"]);
    let multi = folder.join("multi.pem");
    openssl(args!["genrsa", "-primes", "3", "-out", multi, "1024"]);
    sign(&multi).exits(3).says(&["two primes"]);
}

#[needs("ssh-keygen")]
#[test]
fn openssh_keys_say_how_to_convert_them() {
    let folder = Folder::new();
    let file = folder.join("id_rsa");
    let keygen = args!["-q", "-t", "rsa", "-b", "1024", "-N", "", "-f", file];
    run(Command::new("ssh-keygen").args(keygen), b"").exits(0);
    sign(&file).exits(3).says(&["OPENSSH PRIVATE KEY", "ssh-keygen -p -m PKCS8"]);
}
