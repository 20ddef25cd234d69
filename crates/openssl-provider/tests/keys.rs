//! Keys: imported, exported, compared, copied, checked and generated; read from files and written.

mod common;

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use common::key::{Check, Numbers};
use common::keys::{PEM_1024, PEM_2048, PEM_3072, PEM_4096, kinds, native, rsa_2048};
use common::operation::{operate, verify};
use common::params::Params as List;
use common::{Ctx, Failure, Faults, Key, Operation, Params, Side, World, alone, call, ffi, is_zariz};

/// On both sides, a key gives back the numbers that it was made from.
#[test]
fn exports_equal_imports() {
    let (world, mut faults) = (World::new(), Faults::new());
    for kind in kinds(&world) {
        let theirs = kind.key;
        let ours = theirs.on(&world, Side::Subject);
        let what = kind.name;
        for selection in [0x01, 0x02, 0x03, 0x04, 0x80, 0x84, ffi::PUBLIC_KEY, ffi::KEYPAIR] {
            let what = format!("{what}: selection {selection:#x}");
            let [ours, theirs] = [&ours, &theirs].map(|key| key.numbers(selection).map(bare));
            faults.identical(&what, &ours, &theirs);
        }
        // The default provider imports what zariz exports.
        let back = ours.on(&world, Side::Reference);
        let numbers = |key: &Key| key.numbers(ffi::KEYPAIR).map(bare);
        faults.identical(&format!("{what}: there and back"), &numbers(&back), &numbers(&theirs));

        let copy = ours.duplicate().expect("a copy");
        faults.same(&format!("{what}: copied"), &copy.provider(), &ours.provider());
        faults.identical(&format!("{what}: copied"), &numbers(&copy), &numbers(&theirs));
        let public = ours.public(&world, Side::Subject);
        let copy = public.duplicate().expect("a copy");
        let numbers = |key: &Key| key.numbers(ffi::PUBLIC_KEY).map(bare);
        faults.identical(&format!("{what}: public, copied"), &numbers(&copy), &numbers(&theirs));
        // Without the private half.
        let [ours, theirs] = [public, theirs.public(&world, Side::Reference)];
        faults.identical(
            &format!("{what}: the private half of a public key"),
            &ours.numbers(ffi::KEYPAIR).map(bare),
            &theirs.numbers(ffi::KEYPAIR).map(bare),
        );
    }
    faults.none(60);
}

/// Numbers without leading zeros, which a provider may or may not write.
fn bare(numbers: Numbers) -> Vec<(String, Vec<u8>)> {
    numbers.into_iter().map(|(name, value)| (name, value.big_endian())).collect()
}

#[test]
fn equal_and_different_keys() {
    let (world, mut faults) = (World::new(), Faults::new());
    let all = [PEM_1024, PEM_2048, PEM_3072];
    let keys = Side::BOTH.map(|side| all.map(|pem| native(&world, side, pem)));
    let public = [0, 1].map(|i| [0, 1, 2].map(|k| keys[i][k].public(&world, Side::BOTH[i])));
    for a in 0..3 {
        for b in 0..3 {
            let expected = keys[1][a].equals(&keys[1][b]);
            assert_eq!(expected, i32::from(a == b));
            for (what, one, other) in [
                ("ours", &keys[0][a], &keys[0][b]),
                ("ours and theirs", &keys[0][a], &keys[1][b]),
                ("theirs and ours", &keys[1][a], &keys[0][b]),
                ("ours and our public", &keys[0][a], &public[0][b]),
                ("our public and theirs", &public[0][a], &public[1][b]),
                ("our public and our public", &public[0][a], &public[0][b]),
            ] {
                faults.same(&format!("{what}, {a} and {b}"), &one.equals(other), &expected);
            }
        }
    }
    faults.none(0);
}

/// The default provider's checks, of good keys and of public halves.
#[test]
fn checks_of_good_keys() {
    let (world, mut faults) = (World::new(), Faults::new());
    for kind in kinds(&world) {
        let public = Side::BOTH.map(|side| kind.key.public(&world, side));
        let private = [kind.key.on(&world, Side::Subject), kind.key];
        for (what, pair) in [("private", &private), ("public", &public)] {
            for check in Check::ALL {
                let [ours, theirs] = [0, 1].map(|i| pair[i].check(&world, Side::BOTH[i], check));
                faults.identical(&format!("{what}, {}: {check:?}", kind.name), &ours, &theirs);
            }
        }
    }
    faults.none(60);
}

/// How a number is changed, by its name; `None` removes it.
type Change<'a> = &'a dyn Fn(&str, Vec<u8>) -> Option<Vec<u8>>;

/// Changed numbers of a key: both providers import or refuse the key, check it alike, and never make a wrong
/// signature.
#[test]
fn damaged_keys() {
    let (world, mut faults) = (World::new(), Faults::new());
    let good = rsa_2048(&world, Side::Reference).numbers(ffi::KEYPAIR).expect("the numbers");
    let make = |change: Change| {
        good.iter().fold(List::new(), |list, (name, value)| match change(name, value.big_endian()) {
            Some(value) => list.number(name, &value),
            None => list,
        })
    };
    let mut cases = vec![("nothing".to_owned(), List::new())];
    for name in good.keys() {
        cases.push((format!("{name} is missing"), make(&|n, v| (n != name).then_some(v))));
        for (what, change) in [
            ("has a bit flipped", &(|v: &mut Vec<u8>| v[9] ^= 1) as &dyn Fn(&mut Vec<u8>)),
            ("is even", &|v: &mut Vec<u8>| *v.last_mut().expect("bytes") &= 0xfe),
            ("is zero", &|v: &mut Vec<u8>| *v = vec![0]),
            ("is one", &|v: &mut Vec<u8>| *v = vec![1]),
            ("is longer", &|v: &mut Vec<u8>| v.insert(0, 1)),
            ("is much longer", &|v: &mut Vec<u8>| *v = vec![0xff; 1100]),
        ] {
            if name == "e" && what == "has a bit flipped" {
                continue;
            }
            let changed = make(&|n, mut v| {
                if n == name {
                    change(&mut v);
                }
                Some(v)
            });
            cases.push((format!("{name} {what}"), changed));
        }
        let wrong_type = make(&|n, v| (n != name).then_some(v)).text(name, "a text");
        cases.push((format!("{name} is a text"), wrong_type));
    }
    let (data, digest) = ([7; 32], Params::new().text("digest", "SHA256"));
    let (mut imported, mut signed) = (0, 0);
    let whole = rsa_2048(&world, Side::Reference);
    for (what, list) in cases {
        for selection in [ffi::PUBLIC_KEY, ffi::KEYPAIR] {
            let what = format!("{what}, selection {selection:#x}");
            let [ours, theirs] = Side::BOTH.map(|side| Key::from_data(&world, side, selection, &list));
            faults.outcome(&what, &ours, &theirs);
            let (Ok(ours), Ok(theirs)) = (ours, theirs) else { continue };
            imported += 1;
            for check in Check::ALL {
                let [ours, theirs] = [(&ours, Side::Subject), (&theirs, Side::Reference)]
                    .map(|(key, side)| key.check(&world, side, check));
                faults.outcome(&format!("{what}: {check:?}"), &ours, &theirs);
            }
            let sign = |key, side| operate(&world, side, key, Operation::Sign, &digest, &data);
            match (sign(&ours, Side::Subject), sign(&theirs, Side::Reference)) {
                (Ok(ours), _) => {
                    // With any damaged key, zariz's result is right, unless the default provider's is wrong
                    // too.
                    let verified = verify(&world, Side::Reference, &whole, &digest, &ours, &data).is_ok();
                    let as_bad = sign(&theirs, Side::Reference).is_ok_and(|theirs| {
                        verify(&world, Side::Reference, &whole, &digest, &theirs, &data).is_err()
                    });
                    faults.check(verified || as_bad, || format!("{what}: gives a wrong signature"));
                    signed += 1;
                }
                (Err(failure), _) => faults.check(failure.is_readable(), || format!("{what}: {failure:?}")),
            }
            let _ = operate(&world, Side::Subject, &ours, Operation::Encrypt, &Params::new(), b"text");
            let _ = operate(&world, Side::Subject, &ours, Operation::Decrypt, &Params::new(), &[3; 256]);
        }
    }
    println!("{imported} damaged keys were imported by both, {signed} signed");
    assert!(imported > 30 && signed > 5, "{imported} imported, {signed} signed");
    faults.none(30);
}

/// A 1024-bit key whose first factor is composite: the product of two primes. Its numbers fit together as if
/// it were prime.
const COMPOSITE: [(&str, &str); 8] = [
    (
        "n",
        "bbc1175aece650b24dd46d6cab5afc64c6a475199377ca294aa5d068a1e4ede12f6479e927a2926850968ba52f6583295e6d\
      4d32d41def7e37067caccb0441ab2bbc01777401e96da763660741cb4b37e4747b2180da700a57213b5d5a1d9c701bd9ff52\
      d07a769939bffd5fc3c0760e2f968ca9811b7805415299b46fcb283f",
    ),
    ("e", "010001"),
    (
        "d",
        "09e0c6d1c9d4f439ed4e57d377d079a6f3ac835cad1d884d53d81576ebcd9796595ff7ea0463d1401bbd4feb88ead653bedc\
      114bb34d3fe46c10b34e83ffdd5484f68f4349a0e43b68d85ad3eed5d0568c0decaabbe40104ac7ec0b830375330a8db9ab6\
      0cd16a9bdb82254e81fdb2fac5ab8a13ba50f68cbef51028dfdf6601",
    ),
    (
        "rsa-factor1",
        "c83f22b1c33c55c0b324e00d602a2a7cc18018451c323cae11fa3727a12870558f494289af69d53d282c5b79b08ed523b860\
      d2eeea7038c7c82b5c3e982f8661",
    ),
    (
        "rsa-factor2",
        "f0078b7ac8d06d57a3c77506d33e973362c568c06f7130ef2a2b618a97233fb4ae1addeccd5aeb36c9dad916d51be06f7755\
      d18abeb5dfc80d82c6d1e79ff29f",
    ),
    (
        "rsa-exponent1",
        "63876df928ef0e384f525ec2872fae1a801ae8f540c47f808d92ee631629015ca571664f050ef75c0461b7bdce51d002871c\
      28fb732f0029dc8620bd43eb2b41",
    ),
    (
        "rsa-exponent2",
        "9d692544a19b6689ba039d309baa89780e874dda1d7b8aceddc5d3531328efa76b227d75c57aa194adae12fe5145d5dae3d4\
      e8f5677a58c6966db43b85fe341b",
    ),
    (
        "rsa-coefficient1",
        "710953ffa7f3b63627006c53fe8837de1fdcad19b668e67151ede8c1124b7ab619756efa04f693130fb84f1f89afa651f9ce\
      e880b0a8689deb68a1d6757b2c24",
    ),
];

/// With the setting `validate-keys`, zariz refuses private operations with such a key, and says why. Without
/// it, zariz computes with the key, and returns an error in place of each wrong signature.
#[test]
fn composite_primes() {
    let numbers = COMPOSITE.iter().fold(Params::new(), |params, (name, digits)| {
        let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hexadecimal digits");
        params.number(name, &(0..digits.len()).step_by(2).map(byte).collect::<Vec<_>>())
    });
    for validates in [false, true] {
        let world = World::with(&[("validate-keys", if validates { "yes" } else { "no" })]);
        let before = world.counters();
        let key = Key::from_data(&world, Side::Subject, ffi::KEYPAIR, &numbers);
        if !is_zariz() {
            continue;
        }
        assert_eq!(world.parameter("validate-keys").expect("a parameter").unsigned(), u64::from(validates));
        if validates {
            // zariz computes nothing private, and no other provider does it instead: neither with a key of
            // zariz's, nor with one that OpenSSL holds.
            let ours = key.expect("the key is imported");
            let theirs =
                Key::from_data(&world, Side::Reference, ffi::KEYPAIR, &numbers).expect("OpenSSL takes it");
            for (key, query) in
                [(&ours, c"provider=zariz"), (&theirs, c"provider=zariz"), (&theirs, c"?provider=zariz")]
            {
                for init in [ffi::EVP_PKEY_sign_init_ex, ffi::EVP_PKEY_decrypt_init_ex] {
                    // SAFETY: live objects, a text, and a context that is freed here.
                    let begun = unsafe {
                        let ctx = ffi::EVP_PKEY_CTX_new_from_pkey(world.context(), key.raw(), query.as_ptr());
                        let begun = init(ctx, ptr::null());
                        ffi::EVP_PKEY_CTX_free(ctx);
                        begun == 1
                    };
                    let why = Failure::take("init", begun.into()).text();
                    assert!(
                        !begun && why.contains("not prime") && why.contains("validate-keys"),
                        "{query:?}: {why}"
                    );
                }
            }
        } else {
            let key = key.expect("the key is imported");
            for pad in ["pkcs1", "pss"] {
                for i in 0..8 {
                    let params = Params::new().text("digest", "SHA256").text("pad-mode", pad);
                    let signed = operate(&world, Side::Subject, &key, Operation::Sign, &params, &[i; 32]);
                    assert!(signed.expect_err("a wrong signature").is_readable(), "{pad}");
                }
            }
        }
        let done = world.counters().since(before);
        // The first wrong result is counted; after that the key is known to be faulty.
        assert_eq!((done.fallbacks, done.check_failures), (0, u64::from(!validates)), "{done:?}");
        // The public half has no primes to test.
        let public = Key::from_data(&world, Side::Subject, ffi::PUBLIC_KEY, &numbers);
        assert!(public.is_ok(), "the public half: {:?}", public.err());
    }
}

/// New keys of all sizes and kinds have the requested properties, and work in the other provider.
#[test]
fn generation() {
    let _alone = alone();
    let (world, mut faults) = (World::new(), Faults::new());
    let bits = |bits: usize| Params::new().size("bits", bits);
    let before = world.counters();
    for (params, expected_bits, e) in [
        (Params::new(), 2048, vec![1, 0, 1]),
        (bits(1024), 1024, vec![1, 0, 1]),
        (bits(1025), 1025, vec![1, 0, 1]),
        (bits(1536), 1536, vec![1, 0, 1]),
        (bits(3072), 3072, vec![1, 0, 1]),
        (bits(1024).number("e", &[3]), 1024, vec![3]),
        (bits(1024).number("e", &[1, 0, 0, 0, 0, 0, 0, 0, 0x0f]), 1024, vec![1, 0, 0, 0, 0, 0, 0, 0, 0x0f]),
    ] {
        let what = format!("{params:?}");
        let key = Key::generate(&world, Side::Subject, &params);
        faults.done(&what, &key);
        let Ok(key) = key else { continue };
        faults.same(&what, &key.provider(), &Side::Subject.provider());
        faults.same(&what, &key.properties()[1], &expected_bits);
        let numbers = key.numbers(ffi::KEYPAIR).expect("the numbers");
        faults.same(&what, &numbers["e"].big_endian(), &e);
        faults.same(&what, &numbers.len(), &8);
        let theirs = key.on(&world, Side::Reference);
        for check in Check::ALL {
            faults.done(&format!("{what}: {check:?}"), &theirs.check(&world, Side::Reference, check));
        }
        let other = Key::generate(&world, Side::Subject, &params).expect("another key");
        faults.same(&format!("{what}: twice"), &key.equals(&other), &0);
    }
    if is_zariz() {
        let done = world.counters().since(before);
        assert_eq!(done.keys_generated, 14, "{done:?}");
        println!("{} of 14 keys were made by OpenSSL", done.fallbacks);
    }
    // Keys that zariz does not make: the default provider makes them, or both refuse.
    for params in [
        bits(512),
        bits(2048).size("primes", 3),
        bits(4096).size("primes", 4),
        bits(2048).size("primes", 9),
        bits(511),
        bits(0),
        bits(1024).number("e", &[2]),
        bits(1024).number("e", &[1]),
        bits(1024).number("e", &[0]),
    ] {
        let what = format!("{params:?}");
        let ours = Key::generate(&world, Side::Subject, &params);
        let theirs = Key::generate(&world, Side::Reference, &params);
        let describe = |key: &Result<Key, Failure>| {
            key.as_ref()
                .map(|key| (key.properties(), key.numbers(ffi::KEYPAIR).map(|n| n.len()).ok()))
                .map_err(Clone::clone)
        };
        faults.identical(&what, &describe(&ours), &describe(&theirs));
        if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
            // With four primes, OpenSSL 4.0 rejects its own keys after an export and import.
            let again = theirs.on(&world, Side::Reference).check(&world, Side::Reference, Check::Whole);
            faults.outcome(&what, &ours.check(&world, Side::Subject, Check::Whole), &again);
        }
    }
    faults.none(40);
}

/// The callback gets the progress, and can cancel.
#[test]
fn generation_with_a_callback() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    unsafe extern "C" fn go_on(_ctx: *mut ffi::PkeyCtx) -> i32 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        1
    }
    unsafe extern "C" fn stop(_ctx: *mut ffi::PkeyCtx) -> i32 {
        0
    }
    /// Stops in the middle of the search.
    unsafe extern "C" fn stop_later(_ctx: *mut ffi::PkeyCtx) -> i32 {
        static CALLS: AtomicU32 = AtomicU32::new(0);
        i32::from(CALLS.fetch_add(1, Ordering::Relaxed) < 1)
    }
    let world = World::new();
    let ctx = Ctx::named(&world, Side::Subject, "RSA").expect("a context");
    call!(EVP_PKEY_keygen_init(ctx.raw())).expect("ready");
    ctx.set(&Params::new().size("bits", 2048)).expect("set");
    // SAFETY: a live context, and functions that stay.
    unsafe { ffi::EVP_PKEY_CTX_set_cb(ctx.raw(), Some(go_on)) };
    assert!(ctx.generate(&world).is_ok());
    // Twice at the end, and for each batch of candidates: a search has at least one.
    assert!(CALLS.load(Ordering::Relaxed) > 2, "the callback is not called during the search");
    for stop in [stop as unsafe extern "C" fn(*mut ffi::PkeyCtx) -> i32, stop_later] {
        // SAFETY: as above.
        unsafe { ffi::EVP_PKEY_CTX_set_cb(ctx.raw(), Some(stop)) };
        let stopped = ctx.generate(&world);
        assert!(stopped.is_err(), "a callback that says no is not heard");
    }
}

/// Files of all formats, read for zariz and written from it.
#[test]
fn files() {
    let (world, mut faults) = (World::new(), Faults::new());
    for pem in [PEM_1024, PEM_2048, PEM_3072, PEM_4096] {
        let [ours, theirs] = Side::BOTH.map(|side| native(&world, side, pem));
        for (selection, structure) in [
            (ffi::KEYPAIR, "PrivateKeyInfo"),
            (ffi::KEYPAIR, "type-specific"),
            (ffi::PUBLIC_KEY, "SubjectPublicKeyInfo"),
            (ffi::PUBLIC_KEY, "type-specific"),
        ] {
            for format in ["DER", "PEM", "TEXT"] {
                let what = format!("{structure} as {format}");
                let [our_file, their_file] =
                    [&ours, &theirs].map(|key| key.encoded(selection, format, structure));
                faults.identical(&what, &our_file, &their_file);
                let Ok(file) = our_file else { continue };
                let again = match (format, selection) {
                    ("DER", ffi::KEYPAIR) => Key::der(&world, Side::Subject, &file),
                    ("PEM", ffi::KEYPAIR) => Key::pem(&world, Side::Subject, &file),
                    ("PEM", _) => Key::public_pem(&world, Side::Subject, &file),
                    _ => continue,
                };
                faults.done(&what, &again);
                if let Ok(again) = again {
                    faults.same(&what, &again.equals(&theirs), &1);
                    faults.same(&what, &again.equals(&ours), &1);
                }
            }
        }
    }
    let made = Key::generate(&world, Side::Subject, &Params::new().size("bits", 1024)).expect("a new key");
    let file = made.encoded(ffi::KEYPAIR, "DER", "PrivateKeyInfo").expect("a file");
    let theirs = Key::der(&world, Side::Reference, &file).expect("the default provider reads it");
    faults.done("our new key, read by OpenSSL", &theirs.check(&world, Side::Reference, Check::Whole));
    faults.none(40);
}
