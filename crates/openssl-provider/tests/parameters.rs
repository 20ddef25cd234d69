//! Parameters: each one of the default provider can be set in zariz, and reads back alike.

mod common;

use std::collections::BTreeMap;
use std::ffi::c_uint;

use common::keys::{kinds, rsa_2048};
use common::params::Reading;
use common::{Ctx, Faults, Operation, Params, Side, Stream, World, call, ffi, is_zariz, stricter};

/// Parameters of later versions of OpenSSL that zariz always has.
const ONLY_OURS: &[&str] = &["implicit-rejection"];

/// Parameters of later versions of OpenSSL that zariz does not have: a classification of key strength, and
/// numbers for the key generation of a FIPS test.
const ONLY_THEIRS: &[&str] = &["security-category", "rsa-a", "rsa-b"];

type Described = BTreeMap<String, c_uint>;

/// Both sides have equal names.
fn same_names(faults: &mut Faults, what: &str, ours: &Described, theirs: &Described) {
    for name in theirs.keys().filter(|name| !ONLY_THEIRS.contains(&name.as_str())) {
        faults.check(ours.contains_key(name), || format!("{what}: {name} is missing"));
    }
    for name in ours.keys().filter(|name| !ONLY_OURS.contains(&name.as_str())) {
        faults.check(theirs.contains_key(name), || {
            format!("{what}: {name} is unknown to the default provider")
        });
    }
}

/// All readable parameters, in all types in which they can be requested.
fn readings(
    described: &Described,
    get: impl Fn(&str, c_uint, usize) -> Option<Reading>,
) -> Vec<(String, Option<Reading>)> {
    let mut all = Vec::new();
    for name in described.keys().filter(|name| !ONLY_THEIRS.contains(&name.as_str())) {
        for (data_type, size) in [
            (ffi::INTEGER, 4),
            (ffi::INTEGER, 8),
            (ffi::UNSIGNED, 4),
            (ffi::UNSIGNED, 8),
            (ffi::UNSIGNED, 256),
            (ffi::UNSIGNED, 600),
            (ffi::UTF8_STRING, 4),
            (ffi::UTF8_STRING, 64),
            (ffi::OCTET_STRING, 3),
            (ffi::OCTET_STRING, 200),
            (ffi::OCTET_PTR, 0),
        ] {
            // Numbers of a key are unsigned; later versions of OpenSSL also give them as signed.
            if data_type == ffi::INTEGER
                && (matches!(name.as_str(), "n" | "e" | "d") || name.starts_with("rsa-"))
            {
                continue;
            }
            all.push((format!("{name} as type {data_type} of {size}"), get(name, data_type, size)));
        }
    }
    all
}

/// Whether zariz refuses this combination when it is used, and the default provider when it is set.
fn is_refused_later(ctx: &Ctx, operation: Operation) -> bool {
    [0, 16, 20, 28, 32, 36, 48, 64, 255, 256].into_iter().all(|length| match operation {
        Operation::Verify => ctx.verify(&[1; 256], &vec![1; length]).is_err(),
        _ => ctx.run(operation, &vec![1; length]).is_err(),
    })
}

/// Compares readings one by one. zariz may give types that the default provider does not.
fn same_readings(faults: &mut Faults, what: &str, sides: [Vec<(String, Option<Reading>)>; 2]) -> usize {
    let [ours, theirs] = sides;
    let mut read = 0;
    for ((name, ours), (_, theirs)) in ours.iter().zip(&theirs) {
        if theirs.is_some() {
            read += 1;
            faults.same(&format!("{what}: {name}"), ours, theirs);
        }
    }
    read
}

/// Parameters to set before everything is read, valid and invalid.
fn settings() -> Vec<Params> {
    let pss = || Params::new().text("pad-mode", "pss");
    let oaep = || Params::new().text("pad-mode", "oaep");
    let mut settings = vec![
        Params::new(),
        Params::new().text("digest", "SHA256"),
        Params::new().text("digest", "sha384").text("properties", "provider=default"),
        Params::new().text("digest", "SHA256").text("properties", "provider=nobody"),
        Params::new().text("digest", "SHA256").text("digest-props", "provider=nobody"),
        Params::new().text("digest", "no such digest"),
        Params::new().text("digest", ""),
        Params::new().text("digest", "SHAKE128"),
        Params::new().int("digest", 4),
        pss(),
        pss().text("digest", "SHA512"),
        pss().text("digest", "SHA512").text("saltlen", "auto"),
        pss().text("digest", "SHA512").text("mgf1-digest", "SHA1").int("saltlen", 11),
        pss().text("mgf1-digest", "SHA224").text("mgf1-properties", "provider=default"),
        pss().text("mgf1-digest", "SHA224").text("mgf1-properties", "provider=nobody"),
        pss().text("mgf1-digest", "no such digest"),
        pss().text("saltlen", "nonsense"),
        pss().text("saltlen", "12"),
        pss().text("saltlen", "-7"),
        pss().int("saltlen", -9),
        // Before the padding is set: OpenSSL refuses this.
        Params::new().text("saltlen", "digest"),
        Params::new().text("mgf1-digest", "SHA256"),
        oaep(),
        oaep().text("digest", "SHA256").bytes("oaep-label", b"a label"),
        oaep().text("digest", "SHA256").text("mgf1-digest", "SHA512"),
        oaep().bytes("oaep-label", b""),
        oaep().text("oaep-label", "of the wrong type"),
        Params::new().uint("tls-client-version", 0x303).uint("tls-negotiated-version", 0x302),
        Params::new().int("tls-client-version", -1),
        Params::new().text("tls-client-version", "text"),
        Params::new().text("pad-mode", "x931"),
        Params::new().text("pad-mode", "nonsense"),
        Params::new().bytes("pad-mode", b"pss"),
        Params::new().text("nonsense", "nonsense"),
        Params::new().int("nonsense", 3).int("pad-mode", 1),
    ];
    settings.extend((-1..9).map(|mode| Params::new().int("pad-mode", mode)));
    settings.extend(["none", "pkcs1", "pss", "oaep"].map(|mode| Params::new().text("pad-mode", mode)));
    settings
}

/// For each operation: sets something at its beginning or later, and reads everything.
#[test]
fn operations() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| rsa_2048(&world, side));
    let mut read = 0;
    for operation in Operation::ALL {
        for params in settings() {
            for late in [false, true] {
                let what = format!("{operation:?}, {params:?}{}", if late { ", set later" } else { "" });
                // X9.31 is for signatures; how encryption reads it back differs between OpenSSL's versions.
                let cipher = matches!(operation, Operation::Encrypt | Operation::Decrypt);
                if cipher
                    && (params == Params::new().text("pad-mode", "x931")
                        || params == Params::new().int("pad-mode", 5))
                {
                    continue;
                }
                let make = |i: usize| {
                    let first = if late { &Params::new() } else { &params };
                    Ctx::ready(&world, Side::BOTH[i], &keys[i], operation, first)
                };
                let (ours, theirs) = (make(0), make(1));
                let (ours, theirs) = match (ours, theirs) {
                    (Ok(ours), Ok(theirs)) => (ours, theirs),
                    (Ok(ours), Err(_)) if is_refused_later(&ours, operation) => continue,
                    (ours, theirs) => {
                        faults.allowing(stricter(operation, &params)).outcome(&what, &ours, &theirs);
                        continue;
                    }
                };
                if late {
                    let (set, reference) = (ours.set(&params), theirs.set(&params));
                    let later = set.is_ok() && reference.is_err() && is_refused_later(&ours, operation);
                    // In the default provider, parameters set before a refused one stay set.
                    if later
                        || !faults.allowing(stricter(operation, &params)).outcome(&what, &set, &reference)
                    {
                        continue;
                    }
                }
                same_names(&mut faults, &format!("{what}: gettable"), &ours.gettable(), &theirs.gettable());
                same_names(&mut faults, &format!("{what}: settable"), &ours.settable(), &theirs.settable());
                let described = theirs.gettable();
                let sides = [&ours, &theirs].map(|ctx| readings(&described, |n, t, s| ctx.get(n, t, s)));
                read += same_readings(&mut faults, &what, sides);
            }
        }
    }
    println!("{read} values read");
    assert!(read > 2000, "only {read} values");
    faults.none(80);
}

/// For each operation on streams, whose digest is an argument and cannot be set: sets something, and reads
/// everything.
#[test]
fn streams() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| rsa_2048(&world, side));
    let mut read = 0;
    for digest in
        [None, Some("SHA256"), Some("MD5-SHA1"), Some("SHAKE128"), Some("nonsense"), Some("BLAKE2B-512")]
    {
        for params in settings() {
            for sign in [true, false] {
                for late in [false, true] {
                    let what = format!("sign: {sign}, {digest:?}, {params:?}, late: {late}");
                    let make = |i: usize| {
                        let first = if late { &Params::new() } else { &params };
                        if sign {
                            Stream::sign(&world, Side::BOTH[i], &keys[i], digest, first)
                        } else {
                            Stream::verify(&world, Side::BOTH[i], &keys[i], digest, first)
                        }
                    };
                    let (ours, theirs) = (make(0), make(1));
                    let refused_later = |ours: &Stream| ours.signature_of(b"text").is_err();
                    let (ours, theirs) = match (ours, theirs) {
                        (Ok(ours), Ok(theirs)) => (ours, theirs),
                        // OpenSSL refuses X9.31 given together with the digest, since it checks the digest
                        // first.
                        (Ok(ours), Err(theirs)) if refused_later(&ours) || theirs.text().contains("x931") => {
                            continue;
                        }
                        (ours, theirs) => {
                            faults
                                .allowing(stricter(Operation::Sign, &params))
                                .outcome(&what, &ours, &theirs);
                            continue;
                        }
                    };
                    if late {
                        let (set, reference) = (ours.set(&params), theirs.set(&params));
                        let later = set.is_ok() && reference.is_err() && refused_later(&ours);
                        // A digest other than the stream's, which later versions of OpenSSL ignore.
                        let digest =
                            set.is_err() && reference.is_ok() && format!("{params:?}").contains("\"digest\"");
                        if later
                            || digest
                            || !faults
                                .allowing(stricter(Operation::Sign, &params))
                                .outcome(&what, &set, &reference)
                        {
                            continue;
                        }
                    }
                    same_names(
                        &mut faults,
                        &format!("{what}: gettable"),
                        &ours.gettable(),
                        &theirs.gettable(),
                    );
                    same_names(
                        &mut faults,
                        &format!("{what}: settable"),
                        &ours.settable(),
                        &theirs.settable(),
                    );
                    let described = theirs.gettable();
                    let sides =
                        [&ours, &theirs].map(|stream| readings(&described, |n, t, s| stream.get(n, t, s)));
                    read += same_readings(&mut faults, &what, sides);
                }
            }
        }
    }
    assert!(read > 1000, "only {read} values");
    faults.none(80);
}

/// Settings by name and value, like programs give them (`-pkeyopt`).
#[test]
fn controls() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| rsa_2048(&world, side));
    for operation in Operation::ALL {
        'next: for controls in [
            &[("rsa_padding_mode", "pss")][..],
            &[("rsa_padding_mode", "none")],
            &[("rsa_padding_mode", "nonsense")],
            &[("rsa_padding_mode", "pss"), ("rsa_pss_saltlen", "digest"), ("digest", "sha256")],
            &[("rsa_padding_mode", "pss"), ("rsa_pss_saltlen", "20"), ("rsa_mgf1_md", "sha512")],
            &[("rsa_pss_saltlen", "20")],
            &[("digest", "sha1"), ("digest", "nonsense")],
            &[("rsa_padding_mode", "oaep"), ("rsa_oaep_md", "sha256"), ("rsa_oaep_label", "00ff42")],
            &[("rsa_oaep_label", "not hexadecimal")],
            &[("rsa_keygen_bits", "2048")],
            &[("nonsense", "nonsense")],
        ] {
            let ctx = [0, 1].map(|i| {
                Ctx::ready(&world, Side::BOTH[i], &keys[i], operation, &Params::new()).expect("ready")
            });
            for (name, value) in controls {
                let [ours, theirs] = [0, 1].map(|i| ctx[i].control(name, value));
                let mode = if *name == "rsa_padding_mode" {
                    Params::new().text("pad-mode", value)
                } else {
                    Params::new()
                };
                let (allowed, what) =
                    (stricter(operation, &mode), format!("{operation:?}: {name}:{value} of {controls:?}"));
                if !faults.allowing(allowed).outcome(&what, &ours, &theirs) {
                    // If a parameter is refused, the default provider loses those set before.
                    continue 'next;
                }
            }
            let described = ctx[1].gettable();
            let sides = [0, 1].map(|i| readings(&described, |n, t, s| ctx[i].get(n, t, s)));
            same_readings(&mut faults, &format!("{operation:?} {controls:?}"), sides);
        }
    }
    faults.none(20);
}

/// The parameters of keys of every kind.
#[test]
fn keys() {
    let (world, mut faults) = (World::new(), Faults::new());
    let mut read = 0;
    for kind in kinds(&world) {
        let public = Side::BOTH.map(|side| kind.key.public(&world, side));
        let private = [kind.key.on(&world, Side::Subject), kind.key];
        for (what, [ours, theirs]) in [("private", &private), ("public", &public)] {
            let what = format!("{what}, {}", kind.name);
            faults.same(&what, &ours.provider(), &Side::Subject.provider());
            same_names(&mut faults, &format!("{what}: gettable"), &ours.gettable(), &theirs.gettable());
            same_names(&mut faults, &format!("{what}: settable"), &ours.settable(), &theirs.settable());
            let described = theirs.gettable();
            let sides = [ours, theirs].map(|key| readings(&described, |n, t, s| key.get(n, t, s)));
            read += same_readings(&mut faults, &what, sides);
            faults.same(&what, &ours.properties(), &theirs.properties());
            faults.same(&what, &ours.default_digest(), &theirs.default_digest());
            for name in ["RSA", "rsaEncryption", "1.2.840.113549.1.1.1", "RSA-PSS", "EC", "nonsense"] {
                faults.same(&format!("{what}: is a {name}"), &ours.is_a(name), &theirs.is_a(name));
            }
            let set = |key: &common::Key| key.set(&Params::new().text("nonsense", "nonsense"));
            faults.identical(&format!("{what}: set nonsense"), &set(ours), &set(theirs));
        }
    }
    assert!(read > 200, "only {read} values");
    faults.none(0);
}

/// Parameters that can be set for a new key.
#[test]
fn key_generation() {
    let (world, mut faults) = (World::new(), Faults::new());
    let ctx = Side::BOTH.map(|side| {
        let ctx = Ctx::named(&world, side, "RSA").expect("a context");
        assert!(call!(EVP_PKEY_keygen_init(ctx.raw())).is_ok());
        ctx
    });
    same_names(&mut faults, "settable", &ctx[0].settable(), &ctx[1].settable());
    same_names(&mut faults, "gettable", &ctx[0].gettable(), &ctx[1].gettable());
    for params in [
        Params::new().size("bits", 2048),
        Params::new().uint("bits", 1024),
        Params::new().int("bits", 1024),
        Params::new().size("bits", 511),
        Params::new().size("bits", 0),
        Params::new().int("bits", -5),
        Params::new().text("bits", "2048"),
        Params::new().size("primes", 2),
        Params::new().size("primes", 3),
        Params::new().size("primes", 0),
        Params::new().size("primes", 99),
        Params::new().number("e", &[1, 0, 1]),
        Params::new().number("e", &[3]),
        Params::new().text("e", "3"),
        Params::new().text("nonsense", "3"),
    ] {
        let [ours, theirs] = [0, 1].map(|i| ctx[i].set(&params));
        if ours.is_ok() && theirs.is_err() {
            // Refused when the key is made.
            faults.refused(&format!("{params:?}"), &ctx[0].generate(&world));
        } else {
            faults.outcome(&format!("{params:?}"), &ours, &theirs);
        }
    }
    for (name, value) in [
        ("rsa_keygen_bits", "1024"),
        ("rsa_keygen_pubexp", "3"),
        ("rsa_keygen_primes", "2"),
        ("rsa_keygen_bits", "x"),
    ] {
        let [ours, theirs] = [0, 1].map(|i| ctx[i].control(name, value));
        faults.identical(&format!("{name}:{value}"), &ours, &theirs);
    }
    faults.none(4);
}

/// The provider's own parameters.
#[test]
fn the_provider() {
    let world = World::new();
    let parameters = world.parameters();
    for name in ["name", "version", "buildinfo"] {
        let value = parameters[name].as_ref().unwrap_or_else(|| panic!("{name} is unset"));
        assert!(!value.text().is_empty(), "{name}");
    }
    assert_eq!(parameters["status"].as_ref().map(Reading::unsigned), Some(1), "status");
    // SAFETY: a live provider.
    assert_eq!(unsafe { ffi::OSSL_PROVIDER_self_test(world.provider()) }, 1, "self-test");
    assert!(world.parameter("nonsense").is_none());
    if !is_zariz() {
        return;
    }
    let text =
        |name: &str| parameters[name].as_ref().unwrap_or_else(|| panic!("{name} is unset")).text().to_owned();
    let number =
        |name: &str| parameters[name].as_ref().unwrap_or_else(|| panic!("{name} is unset")).unsigned();
    assert!(text("engine").starts_with("auto"), "{}", text("engine"));
    assert_eq!(text("version"), env!("CARGO_PKG_VERSION"));
    assert!(number("threads") >= 1);
    assert_eq!(number("max-batch"), 16);
    assert!(!text("method").is_empty());
    assert_eq!(number("operations"), number("private-operations") + number("public-operations"));
    let mean = parameters["mean-batch"].as_ref().expect("mean-batch").real();
    assert!(mean >= 0.0 && mean <= number("largest-batch") as f64, "{mean}");
    for name in ["batches", "largest-batch", "fallbacks", "check-failures", "keys-generated"] {
        assert!(parameters.contains_key(name), "{name}");
    }
}
