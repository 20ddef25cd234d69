//! Files that people give for a key, and that have another format: each is named, with a command that
//! converts it. The test runs each command, where its program is there, and reads what it makes.
#![cfg(feature = "rsa")]

mod common;

use std::fs;
use std::process::Command;

use common::der::{base64_lines, integer, pem, sequence, tlv};
use common::keys::{KEY_2048, Numbers};
use common::numbers::big;
use common::openssl::OpenSsl;
use num_bigint::BigUint;
use zariz::rsa::{KeyError, OtherFormat, PrivateKey, PublicKey};
use zariz_needs::needs;

use OtherFormat::*;

/// The errors for a file where a private key is needed, and where a public one is.
fn errors(file: &[u8]) -> [KeyError; 2] {
    [PrivateKey::parse(file).expect_err("no private key"), PublicKey::parse(file).expect_err("no public key")]
}

fn assert_named(what: &str, file: &[u8], format: OtherFormat) {
    assert_eq!(errors(file), [KeyError::Format(format), KeyError::Format(format)], "{what}");
}

#[test]
fn texts_are_recognised() {
    let block = pem("PRIVATE KEY", &KEY_2048.pkcs8_der());
    let body = base64_lines(&KEY_2048.pkcs8_der(), 64).join("\n");
    let escaped = block.replace('\n', "\\n");
    let utf16: Vec<u16> = block.encode_utf16().collect();
    let little: Vec<u8> = utf16.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = utf16.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    let cases: Vec<(&str, Vec<u8>, OtherFormat)> = vec![
        ("nothing", b"".into(), Empty),
        ("blanks", b" \n\t\r\n".into(), Empty),
        ("a byte-order mark", "\u{feff}".into(), Empty),
        ("UTF-16", [b"\xff\xfe", &little[..]].concat(), Utf16),
        ("UTF-16, big-endian", [b"\xfe\xff", &big[..]].concat(), Utf16),
        ("UTF-16 without a mark", little, Utf16),
        ("UTF-16 without a mark, big-endian", big, Utf16),
        ("base64", body.clone().into(), Base64),
        ("base64 in a line", body.replace('\n', "").into(), Base64),
        ("base64 with CRLF and blanks", format!("\r\n{}\r\n", body.replace('\n', "\r\n")).into(), Base64),
        ("a variable of the environment", escaped.clone().into(), EscapedPem),
        ("the same in quotes", format!("\"{escaped}\"\n").into(), EscapedPem),
        ("a service account", format!("{{\n \"private_key\": \"{escaped}\"}}\n").into(), JsonWithPem),
        ("a JWK", b"{\"kty\":\"RSA\",\"n\":\"AQAB\"}".into(), Jwk),
        ("JWKs", b" [ {\"kty\": \"RSA\"} ]".into(), Jwk),
        ("PuTTY", b"PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: k\n".into(), Putty),
        ("PuTTY with CRLF", b"PuTTY-User-Key-File-2: ssh-rsa\r\nEncryption: none\r\n".into(), Putty),
        ("OpenSSH, public", b"ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB user@host\n".into(), OpenSshPublic),
        ("OpenSSH, public, Ed25519", b"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA\n".into(), OpenSshPublic),
        (
            "SSH2",
            b"---- BEGIN SSH2 PUBLIC KEY ----\nAAAAB3NzaC1yc2E=\n---- END SSH2 PUBLIC KEY ----\n".into(),
            Ssh2Public,
        ),
        ("OpenSSH, private", pem("OPENSSH PRIVATE KEY", b"openssh-key-v1\0none").into(), OpenSshPrivate),
        ("OpenSSH, private, without PEM", b"openssh-key-v1\0none".into(), OpenSshPrivate),
        ("a certificate", pem("CERTIFICATE", &[0x30; 30]).into(), Certificate),
        ("a request", pem("CERTIFICATE REQUEST", &[0x30; 30]).into(), CertificateRequest),
        ("a request of Windows", pem("NEW CERTIFICATE REQUEST", &[0x30; 30]).into(), CertificateRequest),
    ];
    for (what, file, format) in cases {
        assert_named(what, &file, format);
    }
    // What is none of these, and what stands in the way of a block.
    for junk in [&b"junk"[..], b"{}", b"MI", b"\0\0\0\0", &[0x30; 300], b"MIIB!", b"-----"] {
        let is_der =
            |error: &KeyError| matches!(error, KeyError::Der(_)) || *error == KeyError::Format(Base64);
        assert!(errors(junk).iter().all(is_der), "{junk:?}: {:?}", errors(junk));
    }
    for text in [format!("key: {block}"), block.replacen("KEY-----", "KEY----- x", 1)] {
        let text = text.replacen("-----END", "-- END", 1);
        for error in errors(text.as_bytes()) {
            assert!(matches!(&error, KeyError::Pem(what) if what.contains("BEGIN line")), "{error}");
        }
    }
}

/// Keys for other algorithms in the structures of their own, and PKCS#12, whose parts may have no length.
#[test]
fn structures_are_recognised() {
    let (one, number) = (integer(&big(1)), integer(&big(12_345)));
    let dsa = sequence(&[&integer(&big(0)), &number, &number, &number, &number, &number]);
    let ec = sequence(&[&one, &tlv(0x04, &[7; 32]), &tlv(0xa0, &tlv(0x06, &[0x2a, 3, 4]))]);
    for (name, der) in [("DSA", dsa), ("EC", ec)] {
        assert_eq!(errors(&der), [KeyError::NotRsa(name.into()), KeyError::NotRsa(name.into())]);
    }
    let data = sequence(&[&tlv(0x06, &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 1]), &tlv(0xa0, &[])]);
    for parts in [&[&integer(&big(3))[..], &data][..], &[&integer(&big(3)), &data, &sequence(&[])]] {
        assert_named("PKCS#12", &sequence(parts), Pkcs12);
    }
    assert_named(
        "PKCS#12 in BER",
        &[&[0x30, 0x80, 2, 1, 3, 0x30, 0x80][..], &data, &[0; 4]].concat(),
        Pkcs12,
    );
}

/// Of several blocks, the error is about a key rather than about what stands beside it.
#[test]
fn the_block_that_matters_is_named() {
    let parameters = pem("EC PARAMETERS", &tlv(0x06, &[0x2a, 3, 4]));
    let (certificate, ec) = (pem("CERTIFICATE", &[0x30; 30]), pem("EC PRIVATE KEY", &[0x30; 30]));
    let not_rsa = KeyError::NotRsa("EC".into());
    assert_eq!(errors(format!("{parameters}{ec}").as_bytes()), [not_rsa.clone(), not_rsa.clone()]);
    assert_eq!(errors(format!("{certificate}{ec}").as_bytes()), [not_rsa.clone(), not_rsa]);
    assert_named("parameters", format!("{parameters}{certificate}").as_bytes(), Certificate);
    let private = format!("{certificate}{ec}{}", pem("PRIVATE KEY", &KEY_2048.pkcs8_der()));
    assert_eq!(PublicKey::parse(private.as_bytes()).err(), Some(KeyError::PrivateOnly));
    let public = format!("{certificate}{ec}{}", pem("PUBLIC KEY", &KEY_2048.spki_der()));
    assert_eq!(PrivateKey::parse(public.as_bytes()).err(), Some(KeyError::PublicOnly));
}

/// An algorithm that keys are for is named, and so are its public keys.
#[needs("openssl")]
#[test]
fn keys_for_other_algorithms_are_named() {
    let openssl = OpenSsl::new();
    openssl.run("dsaparam -out dsa.pem 1024", b"");
    for (name, options) in [
        ("EC", "-algorithm EC -pkeyopt ec_paramgen_curve:P-256"),
        ("ED25519", "-algorithm ED25519"),
        ("X25519", "-algorithm X25519"),
        ("ED448", "-algorithm ED448"),
        ("DSA", "-paramfile dsa.pem"),
    ] {
        openssl.run(&format!("genpkey {options} -out key.pem"), b"");
        let public = openssl.run("pkey -in key.pem -pubout", b"");
        for error in [
            PrivateKey::parse(&openssl.read("key.pem")).expect_err("not RSA"),
            PublicKey::parse(&public).expect_err("not RSA"),
        ] {
            let is_named =
                matches!(&error, KeyError::NotRsa(found) if found.starts_with(&format!("{name},")));
            assert!(is_named, "{name}: {error}");
        }
        if ["EC", "DSA"].contains(&name) {
            let old = openssl.run("pkey -in key.pem -traditional", b"");
            assert_eq!(PrivateKey::parse(&old).err(), Some(KeyError::NotRsa(name.into())));
        }
    }
}

/// The command that an error gives, run in a shell.
fn command(format: OtherFormat) -> String {
    let text = format.to_string();
    let (_, command) = text.rsplit_once(": ").filter(|_| format != Jwk).unwrap_or_else(|| {
        let at = text.find("node -p").expect("a command");
        ("", &text[at..])
    });
    command.to_owned()
}

/// What an error advises works: the file that its command makes is the key.
fn converts(openssl: &OpenSsl, format: OtherFormat, file: &[u8]) {
    let mut command = command(format);
    assert_named(&command, file, format);
    openssl.write("KEY", file);
    match format {
        // Both ask for a passphrase.
        Pkcs12 => command += " -passin pass: -passout pass: -nodes",
        CertificateRequest if file[0] == 0x30 => command += " -inform DER",
        OpenSshPrivate => command += " -P '' -N ''",
        _ => {}
    }
    shell(openssl, &command);
    let made = openssl.read(if format == OpenSshPrivate { "COPY" } else { "CONVERTED" });
    let key =
        PrivateKey::parse(&made).map(|key| key.public_key().clone()).or_else(|_| PublicKey::parse(&made));
    let key = key.unwrap_or_else(|error| panic!("{command}: {error}"));
    assert_eq!(key.n(), KEY_2048.n.to_bytes_be(), "{command}");
    let _ = fs::remove_file(openssl.folder().join("CONVERTED"));
}

/// Runs a command in the folder of `openssl`.
fn shell(openssl: &OpenSsl, command: &str) {
    let mut shell = Command::new("sh");
    let done = shell.args(["-c", command]).current_dir(openssl.folder()).output().expect("a shell");
    assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
}

fn block() -> String {
    pem("PRIVATE KEY", &KEY_2048.pkcs8_der())
}

#[needs("iconv", "base64", "tr", "jq")]
#[test]
fn commands_convert_texts() {
    let openssl = OpenSsl::new();
    let utf16: Vec<u8> = block().encode_utf16().flat_map(u16::to_le_bytes).collect();
    converts(&openssl, Utf16, &[b"\xff\xfe", &utf16[..]].concat());
    converts(&openssl, Base64, base64_lines(&KEY_2048.pkcs8_der(), 10_000).join("").as_bytes());
    let escaped = block().replace('\n', "\\n");
    converts(&openssl, EscapedPem, format!("\"{escaped}\"").as_bytes());
    converts(&openssl, JsonWithPem, format!("{{\"private_key\": \"{escaped}\"}}").as_bytes());
}

#[needs("openssl")]
#[test]
fn commands_convert_certificates() {
    let openssl = OpenSsl::new();
    openssl.write("rsa.pem", block());
    openssl.run("req -x509 -new -key rsa.pem -subj /CN=test -days 1 -out certificate.pem", b"");
    openssl.run("req -new -key rsa.pem -subj /CN=test -out request.pem", b"");
    converts(&openssl, Certificate, &openssl.read("certificate.pem"));
    converts(&openssl, Certificate, &openssl.run("x509 -in certificate.pem -outform DER", b""));
    converts(&openssl, CertificateRequest, &openssl.read("request.pem"));
    converts(&openssl, CertificateRequest, &openssl.run("req -in request.pem -outform DER", b""));
    let pkcs12 = "pkcs12 -export -inkey rsa.pem -in certificate.pem -passout pass:";
    converts(&openssl, Pkcs12, &openssl.run(pkcs12, b""));
}

#[needs("ssh-keygen", "puttygen")]
#[test]
fn commands_convert_keys_for_ssh() {
    let openssl = OpenSsl::new();
    for name in ["ssh", "COPY"] {
        openssl.write(name, block());
        shell(&openssl, &format!("chmod 600 {name}"));
    }
    shell(
        &openssl,
        "ssh-keygen -y -f ssh > public; ssh-keygen -e -f ssh > ssh2; ssh-keygen -q -p -N '' -f COPY",
    );
    shell(&openssl, "puttygen COPY -O private -o putty");
    converts(&openssl, OpenSshPublic, &openssl.read("public"));
    converts(&openssl, Ssh2Public, &openssl.read("ssh2"));
    let private = openssl.read("COPY");
    // A recent ssh-keygen keeps the format of a file unless told otherwise.
    if private.starts_with(b"-----BEGIN OPENSSH") {
        converts(&openssl, OpenSshPrivate, &private);
    }
    converts(&openssl, Putty, &openssl.read("putty"));
}

#[needs("node")]
#[test]
fn commands_convert_json_web_keys() {
    let number = |(name, number): (&str, &BigUint)| {
        let digits = base64_lines(&number.to_bytes_be(), 10_000).join("");
        format!("\"{name}\":\"{}\"", digits.trim_end_matches('=').replace('+', "-").replace('/', "_"))
    };
    let Numbers { n, e, d, p, q, dp, dq, qinv } = &*KEY_2048;
    let numbers =
        [("n", n), ("e", e), ("d", d), ("p", p), ("q", q), ("dp", dp), ("dq", dq), ("qi", qinv)].map(number);
    converts(&OpenSsl::new(), Jwk, format!("{{\"kty\":\"RSA\",{}}}", numbers.join(",")).as_bytes());
}
