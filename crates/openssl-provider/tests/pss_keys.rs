//! Keys restricted to PSS stay with OpenSSL's default provider, whatever a program's property query: zariz
//! has none of their restrictions, and must never be asked to sign with such a key.

mod common;

use common::keys::rsa_2048;
use common::schemes::message;
use common::{Counters, Ctx, Failure, Faults, Key, Operation, Params, Side, World, call, ffi};

/// The restrictions, by their names for `openssl genpkey -pkeyopt`.
const RESTRICTIONS: [(&str, &str); 3] =
    [("rsa_pss_keygen_md", "sha512"), ("rsa_pss_keygen_mgf1_md", "sha512"), ("rsa_pss_keygen_saltlen", "64")];

/// A new key for PSS with SHA-512, MGF1 with SHA-512 and salts of at least 64 bytes.
fn restricted(world: &World, side: Side) -> Key<'_> {
    let ctx = Ctx::named(world, side, "RSA-PSS").expect("a context");
    call!(EVP_PKEY_keygen_init(ctx.raw())).expect("ready");
    for (name, value) in RESTRICTIONS {
        ctx.control(name, value).expect("set");
    }
    ctx.generate(world).expect("a key")
}

/// The results of each allowed and forbidden use of the key.
fn uses(
    world: &World,
    side: Side,
    key: &Key,
    signature: Option<&[u8]>,
) -> Vec<(String, Result<Vec<u8>, Failure>)> {
    let digest = |name| Params::new().text("digest", name);
    let (none, sha512) = (Params::new(), digest("SHA512"));
    let text = |name, value| sha512.clone().text(name, value);
    let mut results = Vec::new();
    for (params, length) in [
        (none.clone(), 64),
        (sha512.clone(), 64),
        (sha512.clone(), 32),
        (text("pad-mode", "pss"), 64),
        (text("saltlen", "64"), 64),
        (text("saltlen", "digest"), 64),
        (text("saltlen", "max"), 64),
        (text("saltlen", "63"), 64),
        (text("saltlen", "0"), 64),
        (text("mgf1-digest", "SHA512"), 64),
        (text("mgf1-digest", "SHA256"), 64),
        (text("pad-mode", "pkcs1"), 64),
        (text("pad-mode", "none"), 256),
        (digest("SHA256"), 32),
        (digest("SHA384"), 48),
        (digest("SHA1"), 20),
    ] {
        for operation in Operation::ALL {
            let ctx = Ctx::of(world, side, key).expect("a context");
            let data = message(length);
            let result = ctx.init(operation, &params).and_then(|()| match (operation, signature) {
                (Operation::Verify, Some(signature)) => ctx.verify(signature, &data).map(|()| Vec::new()),
                (Operation::Verify, None) => Ok(Vec::new()),
                _ => ctx.run(operation, &data),
            });
            results.push((format!("{operation:?} of {length} bytes, {params:?}"), result));
        }
    }
    results
}

/// Signs with a key in every allowed and forbidden way, on both sides alike; zariz gets none of it.
fn used_alike(faults: &mut Faults, world: &World, what: &str, key: &Key) {
    assert_eq!((key.provider(), key.is_a("RSA-PSS")), ("default", true), "{what}");
    let sha512 = Params::new().text("digest", "SHA512");
    let signature = Ctx::of(world, Side::Subject, key).and_then(|ctx| {
        ctx.init(Operation::Sign, &sha512)?;
        ctx.run(Operation::Sign, &message(64))
    });
    faults.done(&format!("{what}: signs with SHA-512"), &signature);
    let signature = signature.ok();
    let [ours, theirs] = Side::BOTH.map(|side| uses(world, side, key, signature.as_deref()));
    for ((how, ours), (_, theirs)) in ours.iter().zip(&theirs) {
        let how = format!("{what}: {how}");
        faults.outcome(&how, ours, theirs);
        // The default provider's own error.
        let words = |result: &Result<Vec<u8>, Failure>| result.as_ref().err().map(Failure::text);
        faults.same(&how, &words(ours), &words(theirs));
    }
    let sha256 = Params::new().text("digest", "SHA256");
    let other = Ctx::of(world, Side::Subject, key).and_then(|ctx| ctx.init(Operation::Sign, &sha256));
    faults.refused(&format!("{what}: signs with SHA-256"), &other);
}

#[test]
fn restrictions_hold_and_zariz_is_never_asked() {
    let (world, mut faults) = (World::new(), Faults::new());
    let key = restricted(&world, Side::Subject);
    used_alike(&mut faults, &world, "a new key", &key);
    // From files, read for zariz.
    let pem = key.encoded(ffi::KEYPAIR, "PEM", "PrivateKeyInfo").expect("a file");
    let der = key.encoded(ffi::KEYPAIR, "DER", "PrivateKeyInfo").expect("a file");
    for (what, read) in
        [("PEM", Key::pem(&world, Side::Subject, &pem)), ("DER", Key::der(&world, Side::Subject, &der))]
    {
        used_alike(&mut faults, &world, what, &read.expect("the key loads"));
    }
    used_alike(&mut faults, &world, "a copy", &key.duplicate().expect("a copy"));
    // A public key verifies under its restrictions only.
    let public = key.encoded(ffi::PUBLIC_KEY, "PEM", "SubjectPublicKeyInfo").expect("a file");
    let public = Key::public_pem(&world, Side::Subject, &public).expect("the key loads");
    assert_eq!((public.provider(), public.is_a("RSA-PSS"), public.equals(&key)), ("default", true, 1));
    let [ours, theirs] = Side::BOTH.map(|side| uses(&world, side, &public, Some(&[1; 256])));
    for ((how, ours), (_, theirs)) in ours.iter().zip(&theirs) {
        faults.identical(&format!("a public key: {how}"), ours, theirs);
    }
    assert_eq!(world.counters(), Counters::default(), "zariz was asked");
    faults.none(40);
}

/// Keys made from numbers, with and without restrictions.
#[test]
fn keys_from_numbers_stay_with_the_default_provider() {
    let (world, mut faults) = (World::new(), Faults::new());
    let numbers = rsa_2048(&world, Side::Reference).numbers(ffi::KEYPAIR).expect("the numbers");
    let all =
        numbers.iter().fold(Params::new(), |list, (name, value)| list.number(name, &value.big_endian()));
    let restrictions =
        Params::new().text("digest", "SHA512").text("mgf1-digest", "SHA512").int("saltlen", 64);
    for (what, list) in [("unrestricted", all.clone()), ("restricted", all.and(&restrictions))] {
        for selection in [ffi::PUBLIC_KEY, ffi::KEYPAIR] {
            for kind in ["RSA-PSS", "RSASSA-PSS", "1.2.840.113549.1.1.10"] {
                let what = format!("{what} {kind}, selection {selection:#x}");
                let key = Key::of_kind(&world, Side::Subject, kind, selection, &list);
                faults.done(&what, &key);
                let Ok(key) = key else { continue };
                faults.same(
                    &what,
                    &(key.provider(), key.is_a("RSA-PSS"), key.is_a("RSA")),
                    &("default", true, false),
                );
                let [ours, theirs] = Side::BOTH.map(|side| uses(&world, side, &key, Some(&[1; 256])));
                for ((how, ours), (_, theirs)) in ours.iter().zip(&theirs) {
                    faults.outcome(&format!("{what}: {how}"), ours, theirs);
                }
            }
        }
    }
    assert_eq!(world.counters(), Counters::default(), "zariz was asked");
    faults.none(40);
}
