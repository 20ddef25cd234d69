//! Every format of a key, what may be around it, and keys of other kinds, which are refused by name.
#![cfg(feature = "rsa")]

mod common;

use ::pkcs8::{DecodePrivateKey, EncodePrivateKey, LineEnding};
use ::spki::{DecodePublicKey, EncodePublicKey};
use common::der::{integer, pem, pem_with, pkcs8, sequence, spki, tlv};
use common::engines;
use common::keys::{KEY_1024, KEY_2048, MESSAGES, assert_signs_right, same_public};
use common::numbers::big;
use common::openssl::OpenSsl;
use zariz::Engine;
use zariz::rsa::{Algorithm, Error, KeyError, OtherFormat, Padding, PrivateKey, PublicKey, Usage};
use zariz_needs::needs;

/// Whether an error is the one that should come.
type Expected = fn(&KeyError) -> bool;

#[needs("openssl")]
#[test]
fn every_format_of_openssl_at_every_usual_size_and_exponent() {
    let openssl = OpenSsl::new();
    let large = "0xf123456789abcdef123456789abcdef123456789abcdef123456789abcdef123"; // 256 bits, odd
    let cases = [
        (1024, "65537"),
        (1024, "3"),
        (1024, "17"),
        (1024, "0x100000001"),
        (1024, large),
        (1536, "65537"),
        (2048, "65537"),
        (2048, "3"),
        (2048, large),
        (3072, "65537"),
        (4096, "65537"),
    ];
    for (bits, e) in cases {
        let what = format!("{bits} bits, e = {e}");
        let options = format!("-pkeyopt rsa_keygen_bits:{bits} -pkeyopt rsa_keygen_pubexp:{e}");
        openssl.run(&format!("genpkey -quiet -algorithm RSA {options} -out pkcs8.pem"), b"");
        for conversion in [
            "pkcs8 -topk8 -nocrypt -in pkcs8.pem -outform DER -out pkcs8.der",
            "rsa -in pkcs8.pem -traditional -out pkcs1.pem",
            "rsa -in pkcs8.pem -traditional -outform DER -out pkcs1.der",
            "pkey -in pkcs8.pem -pubout -out spki.pem",
            "pkey -in pkcs8.pem -pubout -outform DER -out spki.der",
            "rsa -in pkcs8.pem -RSAPublicKey_out -out public.pem",
            "rsa -in pkcs8.pem -RSAPublicKey_out -outform DER -out public.der",
        ] {
            openssl.run(conversion, b"");
        }
        let signature = openssl.run("dgst -sha256 -sign pkcs8.pem", MESSAGES[1]);
        let publics = ["spki.pem", "spki.der", "public.pem", "public.der"].map(|name| {
            PublicKey::parse(&openssl.read(name)).unwrap_or_else(|error| panic!("{what}, {name}: {error}"))
        });
        assert_eq!(publics[0].bits(), bits, "{what}");
        assert!(publics.iter().all(|key| same_public(key, &publics[0])), "{what}");
        for (i, name) in ["pkcs8.pem", "pkcs8.der", "pkcs1.pem", "pkcs1.der"].into_iter().enumerate() {
            // The formats take turns on the engines; the usual sizes go through all of them in openssl.rs.
            let engine = engines()[i % engines().len()];
            let key = PrivateKey::parse(&openssl.read(name))
                .unwrap_or_else(|error| panic!("{what}, {name}: {error}"));
            let key = key.with_engine(engine).expect("available");
            assert!(same_public(key.public_key(), &publics[0]), "{what}, {name}");
            assert_eq!(
                key.sign(Algorithm::RS256, MESSAGES[1]).as_ref(),
                Ok(&signature),
                "{what}, {name} on {engine}"
            );
        }
        // What we write, openssl reads.
        let key = PrivateKey::parse(&openssl.read("pkcs8.pem")).expect("a key");
        openssl.write("ours.pem", key.to_pem().expect("a PEM block").as_bytes());
        openssl.write("ours-public.pem", key.public_key().to_pem().expect("a PEM block"));
        assert_eq!(
            openssl.run("pkey -in ours.pem -outform DER", b""),
            openssl.run("pkey -in pkcs8.pem -outform DER", b"")
        );
        assert_eq!(
            openssl.run("pkey -pubin -in ours-public.pem -pubout", b""),
            openssl.read("spki.pem"),
            "{what}"
        );
    }
}

#[test]
fn our_own_pem_round_trips() {
    for numbers in [&*KEY_1024, &*KEY_2048] {
        let key = numbers.load(Engine::best()).expect("a key");
        let text = key.to_pem().expect("a PEM block");
        assert_eq!(*text, pem("PRIVATE KEY", &numbers.pkcs8_der()));
        assert_eq!(key.public_key().to_pem().expect("a PEM block"), pem("PUBLIC KEY", &numbers.spki_der()));
        assert_signs_right("round trip", &PrivateKey::parse(text.as_bytes()).expect("our own PEM"), numbers);
    }
}

#[test]
fn traits_of_the_pkcs8_and_spki_crates() {
    let key = KEY_1024.load(Engine::Scalar).expect("a key");
    let pem = EncodePrivateKey::to_pkcs8_pem(&key, LineEnding::LF).expect("PEM");
    assert_eq!(pem, key.to_pem().expect("PEM"));
    assert_eq!(
        EncodePrivateKey::to_pkcs8_der(&key).expect("DER").as_bytes(),
        &key.to_der().expect("DER")[..]
    );
    let read = PrivateKey::from_pkcs8_pem(&pem).expect("a key");
    let public = read.public_key();
    assert_eq!(public, key.public_key());
    let pem = public.to_public_key_pem(LineEnding::LF).expect("PEM");
    assert_eq!(pem, public.to_pem().expect("PEM"));
    assert_eq!(PublicKey::from_public_key_pem(&pem).as_ref(), Ok(public));
    // Usages are read and written.
    let pss = key.with_usage(Usage::Pss);
    let der = EncodePrivateKey::to_pkcs8_der(&pss).expect("DER");
    assert_eq!(PrivateKey::from_pkcs8_der(der.as_bytes()).expect("a key").public_key().usage(), Usage::Pss);
    // An Ed25519 key (RFC 8410 section 10.1).
    let algorithm = sequence(&[&tlv(6, &[0x2b, 0x65, 0x70])]);
    let other = sequence(&[&integer(&big(0)), &algorithm, &tlv(4, &tlv(4, &[7; 32]))]);
    let error = PrivateKey::from_pkcs8_der(&other).expect_err("another algorithm");
    assert!(error.to_string().contains("1.3.101.112"), "{error}");
}

#[test]
fn text_and_other_blocks_around_a_pem_block() {
    let numbers = &*KEY_1024;
    let block = pem("RSA PRIVATE KEY", &numbers.pkcs1_der());
    let modern = pem("PRIVATE KEY", &numbers.pkcs8_der());
    let other_key = pem("PRIVATE KEY", &KEY_2048.pkcs8_der());
    let certificate = pem("CERTIFICATE", &[0x30; 700]);
    let parameters = pem("EC PARAMETERS", &tlv(0x06, &[0x2a, 0x86, 0x48]));
    let many: String = (0..5000).map(|_| "-----BEGIN X-----\nAAAA\n-----END X-----\n").collect();
    let good = [
        ("plain", block.clone()),
        ("PKCS#8", modern.clone()),
        ("text before", format!("Bag Attributes\n    friendlyName: key\n\n{block}")),
        ("text that speaks of PEM", format!("the text -----BEGIN of a file\n{block}")),
        ("text after", format!("{block}\nthat was the key\n")),
        ("text before and after", format!("-- my key --\n{modern}-- end --")),
        ("a byte-order mark", format!("\u{feff}{block}")),
        ("a certificate before", format!("{certificate}{block}")),
        ("a certificate after", format!("{block}{certificate}")),
        ("parameters and a certificate before", format!("{parameters}{certificate}\n\n{modern}")),
        ("thousands of other blocks", format!("{many}{block}")),
        ("the public half before", format!("{}{block}", pem("PUBLIC KEY", &numbers.spki_der()))),
        ("two keys: the first", format!("{block}{other_key}")),
        ("no last line break", block.trim_end().to_owned()),
        ("CRLF", block.replace('\n', "\r\n")),
        ("CRLF and text", format!("hello\r\n{}bye\r\n", modern.replace('\n', "\r\n"))),
        ("lines of 76", pem_with("PRIVATE KEY", &numbers.pkcs8_der(), 76, "\n")),
    ];
    for (what, text) in good {
        let key = PrivateKey::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_signs_right(what, &key, numbers);
    }
    let public = pem("PUBLIC KEY", &numbers.spki_der());
    for text in [format!("x\n{public}y\n"), format!("{certificate}{public}"), public.replace('\n', "\r\n")] {
        let key = PublicKey::parse(text.as_bytes()).expect("a public key");
        assert_eq!(key.n(), numbers.n.to_bytes_be());
    }
}

#[test]
fn damaged_pem() {
    let block = pem("PRIVATE KEY", &KEY_1024.pkcs8_der());
    let no_end = block.replace("-----END PRIVATE KEY-----", "");
    let is_pem: Expected = |error| matches!(error, KeyError::Pem(_));
    let is_der: Expected = |error| matches!(error, KeyError::Der(_));
    let cases = [
        ("no end line", no_end, is_pem),
        ("another end line", block.replace("END PRIVATE KEY", "END PUBLIC KEY"), is_pem),
        ("no body", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n".into(), |error| {
            matches!(error, KeyError::Pem(_) | KeyError::Der(_))
        }),
        ("not base64", block.replacen("MII", "M*I", 1), is_pem),
        ("padding in the middle", block.replacen("MII", "M==", 1), is_pem),
        ("header lines", block.replacen('\n', "\nComment: mine\n\n", 1), is_pem),
        ("bytes after the key", pem("PRIVATE KEY", &[KEY_1024.pkcs8_der(), vec![0]].concat()), is_der),
    ];
    for (what, text, expected) in cases {
        let error = PrivateKey::parse(text.as_bytes()).err().unwrap_or_else(|| panic!("{what}: loaded"));
        assert!(expected(&error), "{what}: {error:?}");
    }
    for extra in [&[0][..], b"\n\0", &[0x30, 0x00]] {
        for der in [KEY_1024.pkcs1_der(), KEY_1024.pkcs8_der()] {
            let error = PrivateKey::parse(&[&der, extra].concat()).expect_err("bytes after the key");
            assert!(is_der(&error), "{error:?}");
        }
    }
}

#[needs("openssl")]
#[test]
fn other_kinds_of_keys_are_named() {
    let openssl = OpenSsl::new();
    for command in [
        "genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec.pem",
        "pkey -in ec.pem -outform DER -out ec.der",
        "pkey -in ec.pem -traditional -out ec-sec1.pem",
        "pkey -in ec.pem -pubout -out ec-public.pem",
        "pkey -in ec.pem -pubout -outform DER -out ec-public.der",
        "genpkey -quiet -algorithm ED25519 -out ed.pem",
        "pkcs8 -topk8 -nocrypt -in ed.pem -outform DER -out ed.der",
        "pkey -in ed.pem -pubout -out ed-public.pem",
        "genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out rsa.pem",
        "pkcs8 -topk8 -in rsa.pem -v2 aes-128-cbc -passout pass:secret -out encrypted8.pem",
        "rsa -in rsa.pem -aes128 -traditional -passout pass:secret -out encrypted1.pem",
        "req -x509 -new -key rsa.pem -subj /CN=test -days 1 -out certificate.pem",
        "genrsa -primes 3 -out three8.pem 2048",
        "rsa -in three8.pem -traditional -out three1.pem",
        "rsa -in three8.pem -traditional -outform DER -out three1.der",
        "pkcs8 -topk8 -nocrypt -in three8.pem -outform DER -out three8.der",
        "pkey -in rsa.pem -pubout -out public.pem",
        "pkey -in rsa.pem -pubout -outform DER -out public.der",
        "rsa -in rsa.pem -RSAPublicKey_out -out public1.pem",
        "rsa -in rsa.pem -RSAPublicKey_out -outform DER -out public1.der",
    ] {
        openssl.run(command, b"");
    }
    let is_not_rsa: Expected = |error| matches!(error, KeyError::NotRsa(_));
    let private: [(&str, Expected); 16] = [
        ("ec.pem", is_not_rsa),
        ("ec.der", is_not_rsa), // SEC 1, which has no algorithm identifier
        ("ec-sec1.pem", is_not_rsa),
        ("ed.pem", is_not_rsa),
        ("ed.der", is_not_rsa),
        ("encrypted8.pem", |error| *error == KeyError::Encrypted),
        ("encrypted1.pem", |error| matches!(error, KeyError::Encryption(_))),
        ("certificate.pem", |error| *error == KeyError::Format(OtherFormat::Certificate)),
        ("three8.pem", |error| *error == KeyError::MultiPrime),
        ("three1.pem", |error| *error == KeyError::MultiPrime),
        ("three8.der", |error| *error == KeyError::MultiPrime),
        ("three1.der", |error| *error == KeyError::MultiPrime),
        ("public.pem", |error| *error == KeyError::PublicOnly),
        ("public.der", |error| *error == KeyError::PublicOnly),
        ("public1.pem", |error| *error == KeyError::PublicOnly),
        ("public1.der", |error| *error == KeyError::PublicOnly),
    ];
    for (name, expected) in private {
        let error = PrivateKey::parse(&openssl.read(name)).err().unwrap_or_else(|| panic!("{name}: loaded"));
        assert!(expected(&error), "{name}: {error:?}");
    }
    let public: [(&str, Expected); 5] = [
        ("ec-public.pem", is_not_rsa),
        ("ec-public.der", is_not_rsa),
        ("ed-public.pem", is_not_rsa),
        ("certificate.pem", |error| *error == KeyError::Format(OtherFormat::Certificate)),
        ("rsa.pem", |error| *error == KeyError::PrivateOnly),
    ];
    for (name, expected) in public {
        let error = PublicKey::parse(&openssl.read(name)).err().unwrap_or_else(|| panic!("{name}: loaded"));
        assert!(expected(&error), "{name}: {error:?}");
    }
}

/// The same without the program: blocks that need no valid contents to be told apart.
#[test]
fn labels_are_told_apart() {
    let junk = [0x30; 300];
    let encrypted1 = pem("RSA PRIVATE KEY", &KEY_1024.pkcs1_der()).replacen(
        '\n',
        "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\n",
        1,
    );
    assert!(matches!(PrivateKey::parse(encrypted1.as_bytes()), Err(KeyError::Encryption(_))));
    assert_eq!(PublicKey::parse(encrypted1.as_bytes()).err(), Some(KeyError::PrivateOnly));
    let encrypted8 = pem("ENCRYPTED PRIVATE KEY", &junk);
    assert!(matches!(PrivateKey::parse(encrypted8.as_bytes()), Err(KeyError::Der(_))));
    for (label, error) in [
        ("CERTIFICATE", KeyError::Format(OtherFormat::Certificate)),
        ("EC PRIVATE KEY", KeyError::NotRsa("EC".into())),
        ("OPENSSH PRIVATE KEY", KeyError::Format(OtherFormat::OpenSshPrivate)),
        ("DSA PRIVATE KEY", KeyError::NotRsa("DSA".into())),
        ("PGP PRIVATE KEY BLOCK", KeyError::Label("PGP PRIVATE KEY BLOCK".into())),
    ] {
        let text = pem(label, &junk);
        assert_eq!(PrivateKey::parse(text.as_bytes()).err().as_ref(), Some(&error));
        assert_eq!(PublicKey::parse(text.as_bytes()).err(), Some(error));
    }
    // Where a public key is expected, the error for another kind of public key does not speak of a private
    // half.
    for label in ["SSH2 PUBLIC KEY", "EC PUBLIC KEY"] {
        let text = pem(label, &junk);
        assert_eq!(PublicKey::parse(text.as_bytes()).err(), Some(KeyError::Label(label.into())));
        assert_eq!(PrivateKey::parse(text.as_bytes()).err(), Some(KeyError::PublicOnly));
    }
    let public = pem("PUBLIC KEY", &KEY_1024.spki_der());
    assert_eq!(PrivateKey::parse(public.as_bytes()).err(), Some(KeyError::PublicOnly));
    assert_eq!(PrivateKey::parse(&KEY_1024.spki_der()).err(), Some(KeyError::PublicOnly));
    assert_eq!(PrivateKey::parse(&KEY_1024.public_pkcs1_der()).err(), Some(KeyError::PublicOnly));
    // A third prime.
    let info = sequence(&[&integer(&big(11)), &integer(&big(3)), &integer(&big(5))]);
    let numbers = KEY_1024.pkcs1_der();
    let body = &numbers[4 + 3..]; // after the header and the version
    let three = sequence(&[&integer(&big(1)), body, &sequence(&[&info])]);
    assert_eq!(PrivateKey::parse(&three).err(), Some(KeyError::MultiPrime));
    assert_eq!(PrivateKey::parse(&pkcs8(&three, false)).err(), Some(KeyError::MultiPrime));
}

#[test]
fn a_key_for_pss_alone_does_nothing_else() {
    let numbers = &*KEY_1024;
    for engine in engines() {
        let key = PrivateKey::parse(&pkcs8(&numbers.pkcs1_der(), true))
            .expect("a key for PSS")
            .with_engine(engine)
            .expect("available");
        let signature = key.sign(Algorithm::PS256, b"message").expect("a signature");
        let public = PublicKey::parse(&spki(&numbers.public_pkcs1_der(), true))
            .expect("a public key")
            .with_engine(engine)
            .expect("available");
        for public in [&public, key.public_key()] {
            assert_eq!(public.verify(Algorithm::PS256, b"message", &signature), Ok(()));
            assert_eq!(
                public.verify(Algorithm::RS256, b"message", &numbers.rs256(b"message")),
                Err(Error::PssOnly)
            );
            assert_eq!(public.encrypt(&Padding::Pkcs1v15, b"message"), Err(Error::PssOnly));
        }
        assert_eq!(key.sign(Algorithm::RS256, b"message"), Err(Error::PssOnly));
        assert_eq!(key.decrypt(&Padding::Pkcs1v15, &signature).err(), Some(Error::PssOnly));
        let again = PrivateKey::parse(key.to_pem().expect("a PEM block").as_bytes()).expect("our own PEM");
        assert_eq!(
            again.sign(Algorithm::RS256, b"message"),
            Err(Error::PssOnly),
            "the restriction is written out"
        );
    }
}

#[test]
fn a_public_key_for_pss_alone_is_written_as_one() {
    let public = PublicKey::parse(&spki(&KEY_1024.public_pkcs1_der(), true)).expect("a public key for PSS");
    let again = PublicKey::parse(public.to_pem().expect("a PEM block").as_bytes()).expect("our own PEM");
    assert_eq!(
        again.encrypt(&Padding::Pkcs1v15, b"message"),
        Err(Error::PssOnly),
        "the restriction is written out"
    );
}
