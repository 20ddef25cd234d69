//! Hostile or careless calls: wherever the default provider gives an error, zariz gives one with a readable
//! text, and never crashes.

mod common;

use std::ptr;

use common::key::Check;
use common::keys::{kinds, rsa_2048};
use common::operation::{operate, verify};
use common::{
    Ctx, Failure, Faults, Key, Operation, Params, Side, Stream, World, call, ffi, is_zariz, stream, stricter,
};

fn sha256() -> Params {
    Params::new().text("digest", "SHA256")
}

/// Results of each operation, for buffers of several sizes.
fn sizes(
    world: &World,
    side: Side,
    key: &Key,
    operation: Operation,
    input: &[u8],
) -> Vec<Result<usize, Failure>> {
    let ctx = Ctx::ready(world, side, key, operation, &Params::new()).expect("ready");
    let mut results = vec![ctx.once(operation, None, input)];
    for size in [0, 1, 3, 4, 10, 255, 256, 257, 10_000] {
        // OpenSSL 3.0 writes past a buffer that is too small for the recovered data; zariz must not.
        let ours = side == Side::Subject && is_zariz();
        if operation == Operation::Recover && size < 4 && !ours {
            results.push(Err(Failure::take("none", 0)));
            continue;
        }
        let mut out = vec![0xcc; size + 1000];
        let result = ctx.once(operation, Some(&mut out[..size]), input);
        if ours {
            assert_eq!(out[size..], [0xcc; 1000], "{operation:?} writes past {size} bytes");
        }
        results.push(result);
    }
    results
}

#[test]
fn places_too_small() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| rsa_2048(&world, side));
    let signature =
        operate(&world, Side::Reference, &keys[1], Operation::Sign, &Params::new(), b"text").expect("signed");
    let ciphertext = operate(&world, Side::Reference, &keys[1], Operation::Encrypt, &Params::new(), b"text")
        .expect("encrypted");
    for (operation, input) in [
        (Operation::Sign, &b"text"[..]),
        (Operation::Recover, &signature),
        (Operation::Encrypt, b"text"),
        (Operation::Decrypt, &ciphertext),
    ] {
        let [ours, theirs] = [0, 1].map(|i| sizes(&world, Side::BOTH[i], &keys[i], operation, input));
        for (i, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            let what = format!("{operation:?}, place {i}");
            if theirs.as_ref().is_err_and(|failure| failure.call == "none") {
                faults.check(!is_zariz() || ours.is_err(), || format!("{what}: {ours:?}"));
            } else if operation == Operation::Recover && ours.as_ref().is_err_and(Failure::is_readable) {
                // zariz needs as much space as `EVP_PKEY_verify_recover` reports; OpenSSL only what the
                // recovered data needs.
                faults.check(i < 7, || format!("{what}: {ours:?}"));
            } else {
                faults.identical(&what, ours, theirs);
            }
        }
    }
    // Streams: the message may be consumed, but the call must fail before it writes.
    for size in [0_usize, 1, 255, 256, 257] {
        let result = [0, 1].map(|i| {
            let stream = Stream::sign(&world, Side::BOTH[i], &keys[i], Some("SHA256"), &Params::new())
                .expect("a stream");
            stream.signs(b"text").expect("hashed");
            let (mut out, mut length) = (vec![0xcc_u8; size + 8], size);
            let done = call!(EVP_DigestSignFinal(stream.raw(), out.as_mut_ptr(), &mut length));
            assert_eq!(out[size..], [0xcc; 8], "a stream writes past {size} bytes");
            done.map(|()| length)
        });
        faults.identical(&format!("a stream, place of {size}"), &result[0], &result[1]);
    }
    faults.none(15);
}

#[test]
fn inputs_of_wrong_sizes() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| rsa_2048(&world, side));
    let paddings = ["none", "pkcs1", "pss", "oaep"].map(|mode| Params::new().text("pad-mode", mode));
    let digests = paddings.clone().map(|padding| sha256().and(&padding));
    for params in [&[Params::new(), sha256()][..], &paddings, &digests].concat() {
        for operation in Operation::ALL {
            let ctx = [0, 1].map(|i| Ctx::ready(&world, Side::BOTH[i], &keys[i], operation, &params));
            if let (Ok(ours), Err(_)) = (&ctx[0], &ctx[1]) {
                // The default provider refuses this combination when it is set, zariz when it is used.
                for size in [0, 20, 32, 64, 255, 256] {
                    let done = match operation {
                        Operation::Verify => ours.verify(&[1; 256], &vec![1; size]),
                        _ => ours.run(operation, &vec![1; size]).map(|_| ()),
                    };
                    faults.refused(&format!("{operation:?} of {size} bytes, {params:?}"), &done);
                }
                continue;
            }
            let allowed = stricter(operation, &params);
            if !faults.allowing(allowed).outcome(&format!("{operation:?}, {params:?}"), &ctx[0], &ctx[1]) {
                continue;
            }
            for size in [0_usize, 1, 19, 31, 32, 33, 64, 245, 246, 255, 256, 257, 1000, 100_000] {
                // A number without bytes is zero; later versions of OpenSSL refuse it.
                if size == 0 && operation == Operation::Decrypt {
                    continue;
                }
                for fill in [0, 1, 0xff] {
                    let input = vec![fill; size];
                    let what = format!("{operation:?} of {size} bytes of {fill}, {params:?}");
                    let ctx = ctx.each_ref().map(|ctx| ctx.as_ref().expect("ready"));
                    if operation == Operation::Verify {
                        let results = ctx.map(|ctx| ctx.verify(&input, &[1; 32]));
                        faults.identical(&what, &results[0], &results[1]);
                        let results = ctx.map(|ctx| ctx.verify(&[1; 256], &input));
                        faults.identical(&format!("{what} as digest"), &results[0], &results[1]);
                        continue;
                    }
                    let results = ctx.map(|ctx| ctx.run(operation, &input));
                    let random = matches!(operation, Operation::Encrypt)
                        || format!("{params:?}").contains("pss")
                        // OpenSSL 3.0 refuses data that cannot be a ciphertext. zariz, like later versions,
                        // returns a substitute.
                        || operation == Operation::Decrypt;
                    if operation == Operation::Decrypt && !format!("{params:?}").contains("pad-mode") {
                        continue;
                    }
                    if operation == Operation::Decrypt && format!("{params:?}").contains("\"pkcs1\"") {
                        continue;
                    }
                    if random {
                        faults.outcome(&what, &results[0], &results[1]);
                    } else {
                        faults.identical(&what, &results[0], &results[1]);
                    }
                }
            }
        }
    }
    faults.none(200);
}

/// Signatures of every wrong size, with every kind of wrong bytes.
#[test]
fn wrong_signatures() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| rsa_2048(&world, side));
    for params in [Params::new(), Params::new().text("pad-mode", "pss")] {
        let good = stream::sign(&world, Side::Reference, &keys[1], Some("SHA256"), &params, b"text")
            .expect("signed");
        let n = keys[1].numbers(ffi::PUBLIC_KEY).expect("numbers")["n"].big_endian();
        let mut flipped: Vec<Vec<u8>> = (0..256)
            .step_by(23)
            .map(|i| {
                let mut bad = good.clone();
                bad[i] ^= 0x80;
                bad
            })
            .collect();
        flipped.extend([
            vec![],
            good[..255].to_vec(),
            good[1..].to_vec(),
            [&good[..], &[0]].concat(),
            [&[0], &good[..]].concat(),
            vec![0; 256],
            vec![0xff; 256],
            n,
            vec![7; 100_000],
        ]);
        for bad in flipped {
            let results = [0, 1].map(|i| {
                stream::verify(&world, Side::BOTH[i], &keys[i], Some("SHA256"), &params, &bad, b"text")
            });
            faults.refused("a wrong signature", &results[0]);
            faults.identical(&format!("{} bytes, {params:?}", bad.len()), &results[0], &results[1]);
        }
    }
    faults.none(0);
}

/// Calls in the wrong order, for the wrong operation, without initialisation, after failures.
#[test]
fn wrong_order() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| rsa_2048(&world, side));
    for first in Operation::ALL {
        for second in Operation::ALL.into_iter().filter(|op| *op != Operation::Verify) {
            let results = [0, 1].map(|i| {
                let ctx = Ctx::ready(&world, Side::BOTH[i], &keys[i], first, &Params::new()).expect("ready");
                ctx.run(second, &[1; 32]).map(|answer| answer.len())
            });
            if first != second {
                faults.identical(&format!("{second:?}, but ready to {first:?}"), &results[0], &results[1]);
            }
        }
    }
    for operation in Operation::ALL.into_iter().filter(|op| *op != Operation::Verify) {
        let bad = Params::new().text("digest", "nonsense");
        let results = [0, 1].map(|i| {
            let ctx = Ctx::of(&world, Side::BOTH[i], &keys[i]).expect("a context");
            let unready = ctx.run(operation, b"text").map(|answer| answer.len());
            let refused = ctx.init(operation, &bad);
            let after = ctx.run(operation, b"text").map(|answer| answer.len());
            (unready, refused, after)
        });
        let [ours, theirs] = &results;
        faults.identical(&format!("{operation:?}, never ready"), &ours.0, &theirs.0);
        faults.identical(&format!("{operation:?}, bad parameters"), &ours.1, &theirs.1);
        faults.identical(&format!("{operation:?}, after bad parameters"), &ours.2, &theirs.2);
    }
    let results = [0, 1].map(|i| {
        let empty = Stream::empty();
        let mut all = vec![empty.signs(b"text"), empty.verifies(b"text"), empty.is_signed(&[0; 256])];
        let (side, key) = (Side::BOTH[i], &keys[i]);
        let stream = Stream::sign(&world, side, key, Some("SHA256"), &Params::new()).expect("a stream");
        all.push(stream.verifies(b"text"));
        all.push(stream.is_signed(&[0; 256]));
        all.push(stream.signs(b"text"));
        all.push(stream.signature().map(|_| ()));
        all.push(stream.signature().map(|_| ()));
        all.push(stream.signs(b"text"));
        all.push(stream.signature_of(b"text").map(|_| ()));
        let refused = stream.init(&world, side, key, Some("nonsense"), &Params::new(), true);
        all.push(refused);
        all.push(stream.signature().map(|_| ()));
        // Without a digest, a stream cannot sign.
        all.push(stream.init(&world, side, key, Some(""), &Params::new(), true));
        all
    });
    for (i, (ours, theirs)) in results[0].iter().zip(&results[1]).enumerate() {
        faults.identical(&format!("stream, step {i}"), ours, theirs);
    }
    faults.none(5);
}

/// Keys of other types: with a property query for zariz, they go to OpenSSL's provider or are refused.
#[test]
fn other_kinds_of_keys() {
    let (world, mut faults) = (World::new(), Faults::new());
    let rsa = rsa_2048(&world, Side::Subject);
    // Restricted to PSS: the default provider computes with the key.
    for side in Side::BOTH {
        let ctx = Ctx::named(&world, side, "RSA-PSS").expect("a context");
        call!(EVP_PKEY_keygen_init(ctx.raw())).expect("ready");
        ctx.set(&Params::new().size("bits", 1024)).expect("set");
        let key = ctx.generate(&world).expect("a key");
        assert_eq!(key.provider(), "default");
        assert_eq!(key.equals(&rsa), -1, "keys of different kinds");
        let ctx = Ctx::of(&world, side, &key).expect("a context");
        faults.done("RSA-PSS signs", &ctx.init(Operation::Sign, &sha256()));
        let signature = ctx.run(Operation::Sign, &[1; 32]);
        faults.done("RSA-PSS signs", &signature);
        faults.refused("RSA-PSS encrypts", &ctx.init(Operation::Encrypt, &Params::new()));
        faults.refused(
            "RSA-PSS by PKCS#1",
            &ctx.init(Operation::Sign, &Params::new().text("pad-mode", "pkcs1")),
        );
    }
    // Elliptic curves.
    for side in Side::BOTH {
        let ctx = Ctx::named(&world, side, "EC").expect("a context");
        call!(EVP_PKEY_keygen_init(ctx.raw())).expect("ready");
        ctx.set(&Params::new().text("group", "P-256")).expect("set");
        let key = ctx.generate(&world).expect("a key");
        assert_eq!((key.provider(), key.equals(&rsa)), ("default", -1));
        let ctx = Ctx::of(&world, side, &key).expect("a context");
        faults.done("EC signs", &ctx.init(Operation::Sign, &Params::new()));
        faults.done("EC signs", &ctx.run(Operation::Sign, &[1; 32]));
    }
    // Not RSA at all.
    for name in ["", "nonsense"] {
        let [ours, theirs] = Side::BOTH.map(|side| Ctx::named(&world, side, name));
        faults.outcome(&format!("a key of kind {name:?}"), &ours, &theirs);
    }
    faults.none(6);
}

/// Key files with a damaged byte. OpenSSL reads them for either provider. If the result still looks like a
/// key, zariz imports, checks and uses it like the default provider, and never returns a wrong signature.
#[test]
fn damaged_files() {
    let (world, mut faults) = (World::new(), Faults::new());
    let whole = rsa_2048(&world, Side::Reference);
    let der = whole.encoded(ffi::KEYPAIR, "DER", "type-specific").expect("a file");
    let (digest, mut used) = (sha256(), 0);
    for at in (0..der.len()).step_by(53) {
        let mut file = der.clone();
        file[at] ^= 0x15;
        let Ok(read) = Key::der(&world, Side::Reference, &file) else { continue };
        let numbers = read.numbers(ffi::KEYPAIR).expect("the numbers");
        let keys = Side::BOTH.map(|side| Key::with_numbers(&world, side, ffi::KEYPAIR, &numbers));
        if !faults.outcome(&format!("byte {at}"), &keys[0], &keys[1]) {
            continue;
        }
        let keys = keys.map(|key| key.expect("both succeeded"));
        assert_eq!(keys[0].provider(), Side::Subject.provider());
        let checks = [0, 1].map(|i| keys[i].check(&world, Side::BOTH[i], Check::Whole));
        faults.refused(&format!("byte {at}: a check"), &checks[0]);
        faults.outcome(&format!("byte {at}: a check"), &checks[0], &checks[1]);
        let [ours, theirs] =
            [0, 1].map(|i| operate(&world, Side::BOTH[i], &keys[i], Operation::Sign, &digest, &[1; 32]));
        match &ours {
            Ok(signature) => {
                let right =
                    |signature: &[u8]| verify(&world, Side::Reference, &whole, &digest, signature, &[1; 32]);
                let as_bad = theirs.is_ok_and(|theirs| right(&theirs).is_err());
                faults.check(right(signature).is_ok() || as_bad, || format!("byte {at}: a wrong signature"));
            }
            Err(failure) => faults.check(failure.is_readable(), || format!("byte {at}: {failure:?}")),
        }
        let _ = operate(&world, Side::Subject, &keys[0], Operation::Decrypt, &Params::new(), &[1; 32]);
        used += 1;
    }
    assert!(used > 10, "only {used} damaged files look like keys");
    faults.none(10);
}

/// Null pointers where OpenSSL allows them.
#[test]
fn null_pointers() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| rsa_2048(&world, side));
    let results = [0, 1].map(|i| {
        let ctx = Ctx::ready(&world, Side::BOTH[i], &keys[i], Operation::Sign, &sha256()).expect("ready");
        let raw = ctx.raw();
        let mut size = 0;
        vec![
            call!(EVP_PKEY_sign_init_ex(raw, ptr::null())),
            call!(EVP_PKEY_CTX_set_params(raw, ptr::null())),
            call!(EVP_PKEY_CTX_get_params(raw, ptr::null_mut())),
            call!(EVP_PKEY_sign(raw, ptr::null_mut(), &mut size, ptr::null(), 0)),
            call!(EVP_PKEY_verify_init_ex(raw, ptr::null())),
            call!(EVP_PKEY_verify(raw, ptr::null(), 0, ptr::null(), 0)),
            call!(EVP_PKEY_verify(raw, [0; 256].as_ptr(), 256, ptr::null(), 0)),
            call!(EVP_PKEY_verify_recover_init_ex(raw, ptr::null())),
            call!(EVP_PKEY_encrypt_init_ex(raw, ptr::null())),
            call!(EVP_PKEY_encrypt(raw, ptr::null_mut(), &mut size, ptr::null(), 0)),
            call!(EVP_PKEY_decrypt_init_ex(raw, ptr::null())),
            call!(EVP_PKEY_decrypt(raw, ptr::null_mut(), &mut size, ptr::null(), 0)),
        ]
    });
    for (i, (ours, theirs)) in results[0].iter().zip(&results[1]).enumerate() {
        faults.identical(&format!("call {i}"), ours, theirs);
    }
    faults.none(5);
}

/// Keys of every kind, including those that zariz leaves to OpenSSL: both providers refuse the same calls.
#[test]
fn every_kind_of_key() {
    let (world, mut faults) = (World::new(), Faults::new());
    for kind in kinds(&world) {
        let size = kind.key.size();
        let keys = [kind.key.on(&world, Side::Subject), kind.key];
        for params in [
            Params::new().text("digest", "SHA512"),
            Params::new().text("digest", "SHA512").text("pad-mode", "pss"),
            Params::new().text("pad-mode", "none"),
        ] {
            for length in [0, 1, 31, 33, 64, size - 1, size, size + 1] {
                let what = format!("{}, {length} bytes with {params:?}", kind.name);
                let data = vec![0x7f; length];
                let results =
                    [0, 1].map(|i| operate(&world, Side::BOTH[i], &keys[i], Operation::Sign, &params, &data));
                faults.outcome(&what, &results[0], &results[1]);
                let bad = vec![1; length];
                let results =
                    [0, 1].map(|i| verify(&world, Side::BOTH[i], &keys[i], &params, &bad, &[1; 64]));
                faults.identical(&format!("{what}, verified"), &results[0], &results[1]);
            }
        }
    }
    faults.none(20);
}
