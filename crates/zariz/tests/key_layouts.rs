//! How PEM text may be laid out, and what its labels may say: each layout is read as OpenSSL reads it, except
//! for those that a list names, with the reason.
#![cfg(feature = "rsa")]

mod common;

use common::der::{base64_lines, pem, pem_with, sequence, tlv};
use common::keys::{KEY_1024, KEY_2048};
use common::openssl::OpenSsl;
use zariz::rsa::{KeyError, OtherFormat, PrivateKey, PublicKey};
use zariz_needs::needs;

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----\n";
const END: &str = "-----END PRIVATE KEY-----\n";

/// Whether zariz reads a file; if so, as the right key.
fn ours(what: &str, file: &[u8]) -> Result<(), KeyError> {
    let key = PrivateKey::parse(file)?;
    assert_eq!(key.public_key().n(), KEY_1024.n.to_bytes_be(), "{what}");
    Ok(())
}

/// What OpenSSL refuses and zariz reads: no other key can be meant.
const MORE: &[(&str, &str)] = &[
    ("CR", "OpenSSL's lines end with LF alone; old Macs wrote CR"),
    ("all indented", "as in a YAML file; so are the three below"),
    ("BEGIN indented", ""),
    ("END indented", ""),
    ("tabs before all", ""),
    ("two blank lines after BEGIN", "OpenSSL reads headers before the first blank line; so in those below"),
    ("a blank line before END", ""),
    ("a blank line in the middle", ""),
    ("a blank line after each", ""),
    ("a line of blanks in the middle", ""),
    ("a blank line, then a short line", ""),
    ("a blank line, then long lines", ""),
    ("form feed", "a blank like others"),
    ("vertical tab", "a blank like others"),
    ("another block that is no base64", "only blocks that may be keys are looked into"),
];

/// What OpenSSL reads and zariz refuses.
const LESS: &[(&str, &str)] = &[
    ("bytes behind the key", "the file is not what it was made as"),
    ("DER and a zero", "the file is not what it was made as"),
    ("DER and a text", "the file is not what it was made as"),
    ("DER twice", "it is not clear which key is meant"),
    ("a damaged key, then a good one", "the good one would silently stand in for another"),
    ("no base64, then a good one", "the good one would silently stand in for another"),
];

/// Holds every layout against OpenSSL.
fn compare(openssl: &OpenSsl, cases: &[(&str, Vec<u8>)]) {
    for (what, file) in cases {
        openssl.write("key", file);
        let theirs = openssl.attempt("pkey -in key -noout", b"").is_ok();
        let ours = ours(what, file);
        let listed = |list: &[(&str, &str)]| list.iter().any(|(name, _)| name == what);
        let expected = match theirs {
            true => !listed(LESS),
            false => listed(MORE),
        };
        assert_eq!(ours.is_ok(), expected, "{what}: {ours:?}; OpenSSL reads it: {theirs}");
    }
}

fn layouts() -> Vec<(&'static str, String)> {
    let der = KEY_1024.pkcs8_der();
    let lines = base64_lines(&der, 64);
    let each = |line: &dyn Fn(&str) -> String| lines.iter().map(|text| line(text)).collect::<String>();
    let body = each(&|line| format!("{line}\n"));
    let plain = format!("{BEGIN}{body}{END}");
    let with = |body: &str| format!("{BEGIN}{body}{END}");
    let at = |place: usize, text: &str| with(&format!("{}{text}{}", &body[..place], &body[place..]));
    let middle = 65 * 3;
    let unpadded = body.trim_end().trim_end_matches('=');
    let padding = &body.trim_end()[unpadded.len()..];
    assert!(!padding.is_empty(), "a key whose base64 is padded");
    let certificate = pem("CERTIFICATE", &[0x30; 300]);
    let bag =
        "Bag Attributes\n    localKeyID: 01 02 \n    friendlyName: a key\nKey Attributes: <No Attributes>\n";
    vec![
        ("plain", plain.clone()),
        ("CRLF", plain.replace('\n', "\r\n")),
        ("CR", plain.replace('\n', "\r")),
        ("CRCRLF", plain.replace('\n', "\r\r\n")),
        ("LF and CRLF", plain.replacen('\n', "\r\n", 5)),
        ("a byte-order mark", format!("\u{feff}{plain}")),
        ("a space behind each line", plain.replace('\n', " \n")),
        ("spaces behind each line", plain.replace('\n', "   \n")),
        ("a tab behind each line", plain.replace('\n', "\t\n")),
        ("a body with spaces before", with(&each(&|line| format!("    {line}\n")))),
        ("a body with tabs before", with(&each(&|line| format!("\t{line}\n")))),
        ("all indented", plain.lines().map(|line| format!("  {line}\n")).collect()),
        ("tabs before all", plain.lines().map(|line| format!("\t{line}\n")).collect()),
        ("BEGIN indented", format!("  {plain}")),
        ("END indented", format!("{BEGIN}{body}  {END}")),
        ("a blank line after BEGIN", at(0, "\n")),
        ("two blank lines after BEGIN", at(0, "\n\n")),
        ("a line of blanks after BEGIN", at(0, "  \n")),
        ("a blank line before END", at(body.len(), "\n")),
        ("a blank line in the middle", at(middle, "\n")),
        ("a line of blanks in the middle", at(middle, " \n")),
        ("a blank line after each", plain.replace('\n', "\n\n")),
        ("a blank line, then a short line", with(&format!("\n{}\n{}", &body[..10], &body[10..]))),
        ("a blank line, then long lines", with(&format!("\n{}", base64_lines(&der, 76).join("\n") + "\n"))),
        ("a short line first", at(10, "\n")),
        ("a short line in the middle", at(middle + 7, "\n")),
        ("a space in a line", at(10, " ")),
        (
            "a space after each digit",
            with(&each(&|line| line.chars().flat_map(|digit| [digit, ' ']).chain(['\n']).collect())),
        ),
        ("form feed", at(10, "\u{c}")),
        ("vertical tab", at(10, "\u{b}")),
        ("no last line break", plain.trim_end().to_owned()),
        ("no END", format!("{BEGIN}{body}")),
        ("no BEGIN", format!("{body}{END}")),
        ("another END", format!("{BEGIN}{body}-----END RSA PRIVATE KEY-----\n")),
        ("END with text behind", format!("{BEGIN}{body}{} x\n", END.trim_end())),
        ("END in small letters", format!("{BEGIN}{body}{}", END.to_lowercase())),
        ("END in the last line of the body", format!("{BEGIN}{}{END}", body.trim_end())),
        ("BEGIN with text behind", format!("{} x\n{body}{END}", BEGIN.trim_end())),
        ("BEGIN and body in a line", format!("{}{body}{END}", BEGIN.trim_end())),
        ("BEGIN with four dashes", plain.replacen("KEY-----", "KEY----", 1)),
        ("BEGIN with six dashes", format!("-{plain}")),
        ("two spaces in BEGIN", plain.replacen("BEGIN ", "BEGIN  ", 1)),
        ("junk in the body", at(10, "!")),
        ("a dash in the body", at(10, "-")),
        ("a zero in the body", at(10, "\0")),
        ("a letter of UTF-8", at(10, "\u{e4}")),
        ("base64url", plain.replace('+', "-").replace('/', "_")),
        ("text behind the body", at(body.len(), "hello\n")),
        ("a comment", at(0, "# key\n")),
        ("a header", at(0, "Comment: key\n\n")),
        ("a header without a blank line", at(0, "Comment: key\n")),
        ("a header that says no encryption", at(0, "Proc-Type: 4,CLEAR\n\n")),
        ("too much padding", at(body.len(), "=\n")),
        ("no padding", with(&format!("{unpadded}\n"))),
        ("padding in a line of its own", with(&format!("{unpadded}\n{padding}\n"))),
        ("padding in the middle", at(12, "==")),
        ("base64 after the padding", at(body.len(), "AAAA\n")),
        ("no body", with("")),
        ("bytes behind the key", pem("PRIVATE KEY", &[&der[..], &[0]].concat())),
        ("text before", format!("hello\n\nx: y\n{plain}")),
        ("text after", format!("{plain}that was it\n")),
        ("text that speaks of BEGIN", format!("the line -----BEGIN PRIVATE KEY-----\n{plain}")),
        ("an unfinished BEGIN", format!("-----BEGIN of a key\n{plain}")),
        ("bag attributes", format!("{bag}{plain}")),
        ("a certificate and bag attributes", format!("Bag Attributes: x\n{certificate}{bag}{plain}")),
        ("a certificate after", format!("{plain}{certificate}")),
        ("another block without END", format!("-----BEGIN X-----\nAAAA\n{plain}")),
        ("another block that is no base64", format!("-----BEGIN X-----\n!!!\n-----END X-----\n{plain}")),
        ("its public key before", format!("{}{plain}", pem("PUBLIC KEY", &KEY_1024.spki_der()))),
        ("another key after", format!("{plain}{}", pem("PRIVATE KEY", &KEY_2048.pkcs8_der()))),
        ("a damaged key, then a good one", format!("{}{plain}", pem("PRIVATE KEY", &der[..500]))),
        ("no base64, then a good one", format!("{BEGIN}!!!\n{END}{plain}")),
    ]
}

#[needs("openssl")]
#[test]
fn every_layout_is_read_as_openssl_reads_it() {
    let openssl = OpenSsl::new();
    let der = KEY_1024.pkcs8_der();
    let mut cases: Vec<_> = layouts().into_iter().map(|(what, text)| (what, text.into_bytes())).collect();
    for width in (1..=9).chain(47..=81).chain([100, 128, 200]).chain(250..=260).chain([500, 4096, 100_000]) {
        cases.push(("lines of another width", pem_with("PRIVATE KEY", &der, width, "\n").into_bytes()));
        cases.push(("lines of another width", pem_with("PRIVATE KEY", &der, width, "\r\n").into_bytes()));
    }
    for (what, extra) in [
        ("DER", &b""[..]),
        ("DER and LF", b"\n"),
        ("DER and CRLF", b"\r\n"),
        ("DER and blanks", b" \t\n\n"),
        ("DER and a zero", b"\0"),
        ("DER and a text", b"junk"),
        ("DER twice", &der),
    ] {
        cases.push((what, [&der, extra].concat()));
    }
    cases.push(("DER after LF", [b"\n", &der[..]].concat()));
    cases.push(("UTF-16", layouts()[0].1.encode_utf16().flat_map(u16::to_le_bytes).collect()));
    compare(&openssl, &cases);
}

/// The same without the program, for what people have.
#[test]
fn layouts_that_people_have_are_read() {
    for (what, text) in layouts() {
        let refused = ours(what, text.as_bytes()).err();
        if MORE.iter().any(|(name, _)| *name == what)
            || what.contains("behind each")
            || what.contains("body with")
        {
            assert_eq!(refused, None, "{what}");
        }
    }
    for ends in ["\n", "\r\n", "\n\n", " \t"] {
        for der in [KEY_1024.pkcs8_der(), KEY_1024.pkcs1_der()] {
            ours("blanks behind DER", &[&der, ends.as_bytes()].concat()).expect("a key");
        }
        let public = PublicKey::parse(&[&KEY_1024.spki_der(), ends.as_bytes()].concat()).expect("a key");
        assert_eq!(public.n(), KEY_1024.n.to_bytes_be());
    }
}

/// What is in a block decides, not its label.
#[needs("openssl")]
#[test]
fn labels_are_read_as_openssl_reads_them() {
    let openssl = OpenSsl::new();
    openssl.write("plain", KEY_1024.pkcs8_der());
    let encrypted = "pkcs8 -topk8 -inform DER -in plain -passout pass:secret -outform DER";
    let contents = [
        ("PKCS#1", KEY_1024.pkcs1_der()),
        ("PKCS#8", KEY_1024.pkcs8_der()),
        ("encrypted PKCS#8", openssl.run(encrypted, b"")),
        ("public PKCS#1", KEY_1024.public_pkcs1_der()),
        ("SPKI", KEY_1024.spki_der()),
        ("no key", sequence(&[&tlv(0x04, &[7; 20])])),
    ];
    let labels = [
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PUBLIC KEY",
        "RSA PUBLIC KEY",
        "CERTIFICATE",
    ];
    for (content, der) in &contents {
        for label in labels {
            let what = format!("{content} labelled {label}");
            let file = pem(label, der);
            openssl.write("key", &file);
            let theirs = openssl.attempt("pkey -in key -noout -passin pass:secret", b"").is_ok();
            #[cfg(feature = "encryption")]
            let private = PrivateKey::parse_encrypted(file.as_bytes(), b"secret");
            #[cfg(not(feature = "encryption"))]
            let (private, theirs) =
                (PrivateKey::parse(file.as_bytes()), theirs && *content != "encrypted PKCS#8");
            assert_eq!(private.is_ok(), theirs, "{what}: {private:?}");
            let theirs = openssl.attempt("pkey -pubin -in key -noout", b"").is_ok();
            let public = PublicKey::parse(file.as_bytes());
            assert_eq!(public.is_ok(), theirs, "{what}: {public:?}");
        }
    }
}

#[test]
fn an_error_says_where_label_and_content_disagree() {
    let certificate = sequence(&[&sequence(&[&tlv(0xa0, &tlv(2, &[2]))]), &sequence(&[]), &tlv(3, &[0])]);
    let text = |label: &str, der: &[u8]| match PrivateKey::parse(pem(label, der).as_bytes()) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{label}: loaded"),
    };
    let found = text("PRIVATE KEY", &certificate);
    assert!(found.contains("\"PRIVATE KEY\", but this is a certificate"), "{found}");
    let found = text("RSA PRIVATE KEY", &KEY_1024.spki_der());
    assert!(found.contains("\"RSA PRIVATE KEY\", but this is a public key"), "{found}");
    // Damaged: a number has another tag.
    let mut pkcs8 = KEY_1024.pkcs8_der();
    let at = pkcs8.len() - 67; // the last number, of 64 bytes, with its header and sign
    assert_eq!(pkcs8[at..at + 2], [2, 65], "qInv");
    pkcs8[at] = 4;
    let found = text("RSA PRIVATE KEY", &pkcs8);
    assert!(found.contains("\"RSA PRIVATE KEY\" holds PKCS#8"), "{found}");
    let error = PublicKey::parse(pem("PUBLIC KEY", &certificate).as_bytes()).expect_err("a certificate");
    let holds = KeyError::Format(OtherFormat::Certificate).to_string();
    assert_eq!(error, KeyError::Mislabelled { label: "PUBLIC KEY".into(), holds });
}
