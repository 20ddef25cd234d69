//! Encryption through OpenSSL's interface: each provider decrypts what the other encrypts, and both refuse
//! the same calls.

mod common;

use common::keys::{Kind, kinds, new, rsa_2048};
use common::operation::operate;
use common::{Failure, Faults, Key, Operation, Params, Side, World, ffi};

fn message(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 5 + 1) as u8).collect()
}

fn oaep(hash: &str) -> Params {
    Params::new().text("pad-mode", "oaep").text("digest", hash)
}

fn pkcs1() -> Params {
    Params::new().text("pad-mode", "pkcs1")
}

/// Parameters without implicit rejection, if it can be switched off (OpenSSL 3.2 and Debian's later 3.0).
fn explicit() -> Params {
    pkcs1().uint("implicit-rejection", 0)
}

fn none() -> Params {
    Params::new().text("pad-mode", "none")
}

fn encrypt(
    world: &World,
    (side, key): &(Side, Key),
    params: &Params,
    data: &[u8],
) -> Result<Vec<u8>, Failure> {
    operate(world, *side, key, Operation::Encrypt, params, data)
}

fn decrypt(
    world: &World,
    (side, key): &(Side, Key),
    params: &Params,
    data: &[u8],
) -> Result<Vec<u8>, Failure> {
    operate(world, *side, key, Operation::Decrypt, params, data)
}

/// Encrypts and decrypts on both sides, in all four combinations.
fn cross(
    faults: &mut Faults,
    world: &World,
    what: &str,
    keys: &[(Side, Key); 2],
    params: &Params,
    data: &[u8],
) {
    let (ours, theirs) = (encrypt(world, &keys[0], params, data), encrypt(world, &keys[1], params, data));
    if !faults.outcome(&format!("{what}: encryption"), &ours, &theirs) {
        return;
    }
    for (who, ciphertext) in [("zariz", ours), ("OpenSSL", theirs)] {
        let ciphertext = ciphertext.expect("both succeeded");
        faults.same(what, &ciphertext.len(), &keys[1].1.size());
        for key in keys {
            let plain = decrypt(world, key, params, &ciphertext);
            faults.same(
                &format!("{what}: of {who}, decrypted by {:?}", key.0),
                &plain.as_deref().ok(),
                &Some(data),
            );
            faults.done(what, &plain);
        }
    }
}

/// Lengths of messages that fit, that do not fit, and that fit only with short digests.
const LENGTHS: [usize; 8] = [0, 1, 32, 126, 127, 190, 214, 215];

/// Digests for masks that OpenSSL supports and zariz does not.
#[test]
fn oaep_left_to_openssl() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| (side, rsa_2048(&world, side)));
    for hash in ["MD5", "RIPEMD160"] {
        for length in LENGTHS {
            cross(
                &mut faults,
                &world,
                &format!("OAEP {hash} of {length}"),
                &keys,
                &oaep(hash),
                &message(length),
            );
        }
    }
    if common::is_zariz() {
        let done = world.counters();
        assert!(done.private == 0 && done.public == 0 && done.fallbacks > 40, "{done:?}");
    }
    faults.none(40);
}

#[test]
fn oaep_with_every_digest_and_label() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| (side, rsa_2048(&world, side)));
    world.counted(50, 50, || {
        for hash in ["SHA1", "SHA224", "SHA256", "SHA384", "SHA512", "SHA512-256", "SHA3-256"] {
            for length in LENGTHS {
                cross(
                    &mut faults,
                    &world,
                    &format!("OAEP {hash} of {length}"),
                    &keys,
                    &oaep(hash),
                    &message(length),
                );
            }
        }
        for mask in ["SHA1", "SHA512", "SHA3-384"] {
            let params = oaep("SHA256").text("mgf1-digest", mask);
            cross(&mut faults, &world, &format!("OAEP with MGF1 {mask}"), &keys, &params, &message(20));
        }
        let long = vec![7; 1000];
        for label in [&b""[..], b"label", b"\0", &long] {
            let params = oaep("SHA256").bytes("oaep-label", label);
            cross(
                &mut faults,
                &world,
                &format!("OAEP, label of {}", label.len()),
                &keys,
                &params,
                &message(20),
            );
            // With another label, and with none.
            let ciphertext = encrypt(&world, &keys[0], &params, b"text").expect("encrypted");
            for other in [oaep("SHA256"), oaep("SHA256").bytes("oaep-label", b"labels"), oaep("SHA1")] {
                let (ours, theirs) = (
                    decrypt(&world, &keys[0], &other, &ciphertext),
                    decrypt(&world, &keys[1], &other, &ciphertext),
                );
                faults.identical(
                    &format!("label of {}, decrypted with {other:?}", label.len()),
                    &ours,
                    &theirs,
                );
            }
        }
        let by_number = Params::new().int("pad-mode", 4);
        cross(&mut faults, &world, "OAEP by number and default", &keys, &by_number, &message(100));
    });
    faults.none(200);
}

#[test]
fn pkcs1_and_none() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| (side, rsa_2048(&world, side)));
    world.counted(10, 10, || {
        for length in [0, 1, 48, 244, 245, 246, 256, 300] {
            for params in [Params::new(), pkcs1(), Params::new().int("pad-mode", 1)] {
                cross(
                    &mut faults,
                    &world,
                    &format!("{params:?} of {length}"),
                    &keys,
                    &params,
                    &message(length),
                );
            }
        }
        let number = [&[0][..], &message(255)].concat();
        cross(&mut faults, &world, "none", &keys, &none(), &number);
        for data in [&number[1..], &[0; 257], &[0xff; 256], b"", &[0; 256]] {
            cross(&mut faults, &world, &format!("none of {} bytes", data.len()), &keys, &none(), data);
        }
        // Without random numbers, both results are equal.
        let (ours, theirs) =
            (encrypt(&world, &keys[0], &none(), &number), encrypt(&world, &keys[1], &none(), &number));
        faults.identical("none", &ours, &theirs);
    });
    faults.none(80);
}

#[test]
fn every_key_encrypts_and_decrypts() {
    let (world, mut faults) = (World::new(), Faults::new());
    for kind in kinds(&world) {
        let before = world.counters();
        let keys = [(Side::Subject, kind.key.on(&world, Side::Subject)), (Side::Reference, kind.key)];
        for params in [oaep("SHA1"), pkcs1()] {
            cross(&mut faults, &world, &format!("{}, {params:?}", kind.name), &keys, &params, &message(22));
        }
        let done = world.counters().since(before);
        if common::is_zariz() && kind.accelerated {
            assert!(done.private >= 4 && done.public >= 2, "{}: {done:?}", kind.name);
        } else if common::is_zariz() {
            assert!(done.fallbacks >= 4, "{}: {done:?}", kind.name);
        }
    }
    faults.none(100);
}

/// Encrypts blocks with damaged PKCS#1 v1.5 padding.
fn damaged_blocks(world: &World, reference: &(Side, Key), size: usize) -> Vec<(String, Vec<u8>)> {
    let mut good = vec![0xa5; size];
    good[..2].copy_from_slice(&[0, 2]);
    good[size - 5] = 0;
    let change = |what: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut block = good.clone();
        change(&mut block);
        (what.to_owned(), encrypt(world, reference, &none(), &block).expect("a number below n"))
    };
    vec![
        change("right", &|_| ()),
        change("no text", &|block| (block[size - 5], block[size - 1]) = (1, 0)),
        change("no zero behind the padding", &|block| block[size - 5] = 1),
        change("begins with 1", &|block| block[0] = 1),
        change("type 1", &|block| block[1] = 1),
        change("type 0", &|block| block[1] = 0),
        change("padding of 7", &|block| block[9] = 0),
        change("padding of 8", &|block| block[10] = 0),
        change("no padding", &|block| block[2] = 0),
        change("nothing", &|block| block.fill(0)),
        change("one", &|block| {
            block.fill(0);
            block[size - 1] = 1;
        }),
    ]
}

/// Bad padding decrypts to a substitute message (implicit rejection), which depends only on key and
/// ciphertext. It is the same as OpenSSL's, if that has implicit rejection.
#[test]
fn implicit_rejection() {
    let (world, mut faults) = (World::new(), Faults::new());
    let mut compared = 0;
    // At 1104 and 2128 bits, OpenSSL's mask for lengths has one bit more than the longest message.
    let special = [("1104 bits", 1104), ("2128 bits", 2128)];
    let key = |bits| new(&world, Params::new().size("bits", bits));
    let special = special.map(|(name, bits)| Kind { name, key: key(bits), accelerated: true });
    for kind in kinds(&world).into_iter().chain(special).filter(|kind| kind.name != "512 bits") {
        let size = kind.key.size();
        let keys = [(Side::Subject, kind.key.on(&world, Side::Subject)), (Side::Reference, kind.key)];
        let blocks = damaged_blocks(&world, &keys[1], size);
        // Whether OpenSSL rejects implicitly: a block without a zero then decrypts to something.
        let implicit = decrypt(&world, &keys[1], &pkcs1(), &blocks[2].1).is_ok();
        for (what, ciphertext) in &blocks {
            let what = format!("{}: {what}", kind.name);
            let (ours, theirs) = (
                decrypt(&world, &keys[0], &pkcs1(), ciphertext),
                decrypt(&world, &keys[1], &pkcs1(), ciphertext),
            );
            if implicit {
                faults.identical(&what, &ours, &theirs);
                compared += 1;
            } else if let Ok(theirs) = theirs {
                faults.same(&what, &ours.ok(), &Some(theirs));
            } else if common::is_zariz() && kind.accelerated {
                // zariz always rejects implicitly.
                faults.done(&what, &ours);
                let again = decrypt(&world, &keys[0], &pkcs1(), ciphertext);
                faults.same(&what, &again.ok(), &ours.as_ref().ok().cloned());
                faults.check(ours.is_ok_and(|text| text.len() <= size - 11), || format!("{what}: too long"));
            }
            let explicit = [0, 1].map(|i| decrypt(&world, &keys[i], &explicit(), ciphertext));
            faults.identical(&format!("{what}, explicitly"), &explicit[0], &explicit[1]);
        }
    }
    println!("{compared} rejections compared byte for byte");
    faults.none(20);
}

/// The premaster secret of TLS: padding mode 7 checks and replaces it in constant time.
#[test]
fn tls_premaster() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| (side, rsa_2048(&world, side)));
    let mut secret = message(48);
    secret[..2].copy_from_slice(&[3, 3]);
    let older = [&[3, 1][..], &secret[2..]].concat();
    let params = |client: u32, negotiated: u32| {
        let params = Params::new().int("pad-mode", 7).uint("tls-client-version", client);
        if negotiated == 0 { params } else { params.uint("tls-negotiated-version", negotiated) }
    };
    world.counted(6, 0, || {
        for (what, text) in [
            ("right", &secret[..]),
            ("older", &older),
            ("too short", &secret[..47]),
            ("too long", &[&secret[..], &[1]].concat()),
            ("none", &[]),
        ] {
            let ciphertext = encrypt(&world, &keys[1], &pkcs1(), text).expect("encrypted");
            for versions in [(0x303, 0), (0x301, 0), (0x303, 0x301), (0x302, 0x301), (0x304, 0x303)] {
                let params = params(versions.0, versions.1);
                let [ours, theirs] = [0, 1].map(|i| decrypt(&world, &keys[i], &params, &ciphertext));
                let what = format!("{what} with versions {versions:x?}");
                if faults.outcome(&what, &ours, &theirs) {
                    let (ours, theirs) = (ours.expect("a secret"), theirs.expect("a secret"));
                    faults.same(&what, &ours.len(), &48);
                    // It is either the client's secret or a random one.
                    faults.same(&what, &(ours == text), &(theirs == text));
                }
            }
        }
        for (what, ciphertext) in damaged_blocks(&world, &keys[1], 256) {
            let [ours, theirs] = [0, 1].map(|i| decrypt(&world, &keys[i], &params(0x303, 0), &ciphertext));
            if faults.outcome(&what, &ours, &theirs) {
                faults.same(&what, &ours.map(|ours| ours.len()).ok(), &Some(48));
            }
        }
        // Without the client's version, and with too little space.
        let ciphertext = encrypt(&world, &keys[1], &pkcs1(), &secret).expect("encrypted");
        let unknown = Params::new().int("pad-mode", 7);
        let [ours, theirs] = [0, 1].map(|i| decrypt(&world, &keys[i], &unknown, &ciphertext));
        faults.outcome("without the client's version", &ours, &theirs);
        let short = [0, 1].map(|i| {
            let params = params(0x303, 0);
            let ctx = common::Ctx::ready(&world, keys[i].0, &keys[i].1, Operation::Decrypt, &params)?;
            ctx.once(Operation::Decrypt, Some(&mut [0; 47]), &ciphertext)
        });
        faults.outcome("space for 47 bytes", &short[0], &short[1]);
    });
    faults.none(30);
}

/// A public key encrypts, but does not decrypt.
#[test]
fn public_keys() {
    let (world, mut faults) = (World::new(), Faults::new());
    let private = rsa_2048(&world, Side::Reference);
    let keys = Side::BOTH.map(|side| (side, private.public(&world, side)));
    for params in [oaep("SHA256"), pkcs1()] {
        let ciphertext = encrypt(&world, &keys[0], &params, b"text");
        faults.done("a public key encrypts", &ciphertext);
        let plain = operate(
            &world,
            Side::Reference,
            &private,
            Operation::Decrypt,
            &params,
            &ciphertext.as_ref().expect("encrypted")[..],
        );
        faults.same("what a public key encrypts", &plain.ok().as_deref(), &Some(&b"text"[..]));
        let [ours, theirs] =
            [0, 1].map(|i| decrypt(&world, &keys[i], &params, ciphertext.as_ref().expect("encrypted")));
        faults.refused("a public key decrypts", &ours);
        faults.outcome("a public key decrypts", &ours, &theirs);
    }
    assert!(keys[0].1.numbers(ffi::PUBLIC_KEY).is_ok());
    faults.none(2);
}
