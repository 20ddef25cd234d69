//! Signatures of messages, whole and in pieces; copies of contexts in mid-message; and algorithm identifiers
//! for certificates.

mod common;

use common::keys::rsa_2048;
use common::operation::{operate, verify};
use common::schemes::{DIGESTS, JUDGED, digest, message};
use common::{Ctx, Faults, Key, Operation, Params, Side, Stream, World, ffi, stream};

/// Signatures of messages of many lengths, all at once and in pieces.
#[test]
fn messages_whole_and_in_pieces() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| (side, rsa_2048(&world, side)));
    let algorithms = [
        ("default digest", None, Params::new(), true),
        ("SHA256", Some("SHA256"), Params::new(), true),
        ("MD5-SHA1", Some("MD5-SHA1"), Params::new(), true),
        ("SHA3-512", Some("SHA3-512"), Params::new(), true),
        ("PSS", Some("SHA384"), Params::new().text("pad-mode", "pss"), false),
        ("PSS without salt", Some("SHA384"), Params::new().text("pad-mode", "pss").int("saltlen", 0), true),
    ];
    world.counted(60, 60, || {
        for (name, hash, params, exact) in &algorithms {
            for length in [0, 1, 63, 64, 65, 1000, 100_000] {
                let (what, text) = (format!("{name}, {length} bytes"), message(length));
                let whole =
                    |(side, key): &(Side, Key)| stream::sign(&world, *side, key, *hash, params, &text);
                let pieces = |(side, key): &(Side, Key)| {
                    let stream = Stream::sign(&world, *side, key, *hash, params)?;
                    for piece in text.chunks(61) {
                        stream.signs(piece)?;
                    }
                    stream.signature()
                };
                let signatures = [whole(&keys[0]), whole(&keys[1]), pieces(&keys[0]), pieces(&keys[1])];
                for signature in &signatures {
                    faults.done(&what, signature);
                    let Ok(signature) = signature else { continue };
                    if *exact {
                        faults.same(&what, &signatures[1].as_ref().ok(), &Some(signature));
                    }
                    for (side, key) in &keys {
                        let whole = stream::verify(&world, *side, key, *hash, params, signature, &text);
                        faults.done(&format!("{what}: verified by {side:?}"), &whole);
                        let pieces = Stream::verify(&world, *side, key, *hash, params).and_then(|stream| {
                            text.chunks(1013).try_for_each(|piece| stream.verifies(piece))?;
                            stream.is_signed(signature)
                        });
                        faults.done(&format!("{what}: verified in pieces by {side:?}"), &pieces);
                        let other = [&text[..], b"x"].concat();
                        let other = stream::verify(&world, *side, key, *hash, params, signature, &other);
                        faults.refused(&format!("{what}: of another message by {side:?}"), &other);
                    }
                }
            }
        }
    });
    faults.none(400);
}

/// A stream copied in mid-message: both copies go on separately, and one may end before the other.
#[test]
fn streams_copied_in_their_middle() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| (side, rsa_2048(&world, side)));
    for (side, key) in &keys {
        let what = format!("{side:?}");
        let stream = Stream::sign(&world, *side, key, Some("SHA256"), &Params::new()).expect("a stream");
        stream.signs(b"the beginning, ").expect("hashed");
        let copy = stream.copied().expect("a copy");
        stream.signs(b"and one end").expect("hashed");
        copy.signs(b"and another end").expect("hashed");
        let again = copy.copied().expect("a copy of the copy");
        let one = stream.signature().expect("signed");
        drop(stream);
        let another = copy.signature().expect("signed");
        faults.same(&what, &again.signature().ok(), &Some(another.clone()));
        let whole = |text: &[u8]| {
            stream::sign(&world, Side::Reference, &keys[1].1, Some("SHA256"), &Params::new(), text)
        };
        faults.identical(&what, &Ok(one.clone()), &whole(b"the beginning, and one end"));
        faults.identical(&what, &Ok(another), &whole(b"the beginning, and another end"));

        let stream = Stream::verify(&world, *side, key, Some("SHA256"), &Params::new()).expect("a stream");
        stream.verifies(b"the beginning, ").expect("hashed");
        let copy = stream.copied().expect("a copy");
        stream.verifies(b"and one end").expect("hashed");
        faults.done(&what, &stream.is_signed(&one));
        copy.verifies(b"and another end").expect("hashed");
        faults.refused(&what, &copy.is_signed(&one));

        // Used again, for another purpose.
        let begun =
            stream.init(&world, *side, key, Some("SHA1"), &Params::new().text("pad-mode", "pss"), true);
        faults.done(&what, &begun);
        stream.signs(b"new").expect("hashed");
        let signature = stream.signature().expect("signed");
        let params = Params::new().text("pad-mode", "pss");
        let verified =
            stream::verify(&world, side.other(), &keys[1].1, Some("SHA1"), &params, &signature, b"new");
        if *side == Side::Subject {
            faults.done(&what, &verified);
        }
    }
    faults.none(8);
}

/// Contexts copied after their parameters are set keep them, and do not affect each other.
#[test]
fn contexts_duplicated() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| (side, rsa_2048(&world, side)));
    let data = message(48);
    for (side, key) in &keys {
        let what = format!("{side:?}");
        let params = digest("SHA384");
        let ctx = Ctx::ready(&world, *side, key, Operation::Sign, &params).expect("a context");
        let copy = ctx.duplicate().expect("a copy");
        ctx.set(&Params::new().text("pad-mode", "pss").text("saltlen", "0").text("mgf1-digest", "SHA1"))
            .expect("set");
        let third = ctx.duplicate().expect("a copy");
        let pss = ctx.run(Operation::Sign, &data).expect("signed");
        drop(ctx);
        let pkcs1 = copy.run(Operation::Sign, &data);
        let expected = operate(&world, Side::Reference, &keys[1].1, Operation::Sign, &params, &data);
        faults.identical(&what, &pkcs1, &expected);
        faults.same(&what, &third.run(Operation::Sign, &data).ok(), &Some(pss.clone()));
        let params = common::schemes::pss("SHA384", "0").text("mgf1-digest", "SHA1");
        faults.done(&what, &verify(&world, Side::Reference, &keys[1].1, &params, &pss, &data));
        // A context signs several times, and can then be initialised for another operation.
        faults.same(&what, &copy.run(Operation::Sign, &data).ok(), &expected.as_ref().ok().cloned());
        faults.done(&what, &copy.init(Operation::Verify, &digest("SHA384")));
        faults.done(&what, &copy.verify(expected.as_ref().expect("signed"), &data));
    }
    faults.none(6);
}

/// The algorithm identifier for certificate requests.
#[test]
fn algorithm_identifiers() {
    let (world, mut faults) = (World::new(), Faults::new());
    let keys = Side::BOTH.map(|side| (side, rsa_2048(&world, side)));
    let mut found = 0;
    for &(name, _) in DIGESTS.iter().chain(JUDGED) {
        for params in [
            Params::new(),
            Params::new().text("pad-mode", "pss"),
            Params::new().text("pad-mode", "pss").text("saltlen", "digest"),
            Params::new().text("pad-mode", "pss").int("saltlen", 7).text("mgf1-digest", "SHA1"),
        ] {
            let what = format!("{name} with {params:?}");
            let id = |(side, key): &(Side, Key)| {
                let stream = Stream::sign(&world, *side, key, Some(name), &params)?;
                Ok(stream.get("algorithm-id", ffi::OCTET_STRING, 128))
            };
            let (ours, theirs) = (id(&keys[0]), id(&keys[1]));
            found += usize::from(theirs.as_ref().is_ok_and(Option::is_some));
            match (&ours, &theirs) {
                // OpenSSL has no identifier for PSS with SHA-3.
                (Ok(Some(_)), Ok(None)) if name.starts_with("SHA3") => {}
                _ => faults.identical(&what, &ours, &theirs),
            }
        }
    }
    assert!(found >= 20, "the default provider gives {found} identifiers");
    faults.none(20);
}
