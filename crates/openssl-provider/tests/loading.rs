//! Loading and unloading, again and again, and with settings of all kinds.

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::guard::Guard;
use common::keys::rsa_2048;
use common::module::Module;
use common::operation::{operate, verify};
use common::process::{files_return_to, open_files, resident, threads};
use common::signing::Known;
use common::threads::in_threads;
use common::{Key, Operation, Params, Side, World, alone, ffi, is_zariz};

#[test]
fn loaded_and_unloaded_200_times() {
    let (_alone, _guard) = (alone(), Guard::new("loaded and unloaded 200 times"));
    let round = || {
        let world = World::new();
        let known = Known::several(&world);
        assert!(known[0].signs(&world));
        drop(known);
        world.unload();
    };
    (0..20).for_each(|_| round());
    let before = (open_files(), threads(), resident());
    (0..200).for_each(|_| round());
    let after = (open_files(), threads(), resident());
    println!("files, threads and KiB before {before:?}, after {after:?}");
    files_return_to(before.0);
    assert!(after.1 <= before.1 + 1, "threads: {before:?}, {after:?}");
    assert!(after.2 < before.2 + 8192, "{before:?}, {after:?}");
}

/// Freed in the wrong order: keys that outlive their provider keep it.
#[test]
fn unloaded_while_keys_live() {
    let _alone = alone();
    let world = World::new();
    let known = Known::several(&world);
    assert!(known[0].signs(&world));
    // SAFETY: loaded once more, unloaded twice: OpenSSL's own counting.
    unsafe {
        let again = ffi::OSSL_PROVIDER_load(world.context(), c"default".as_ptr());
        assert!(!again.is_null());
        assert_eq!(ffi::OSSL_PROVIDER_unload(again), 1);
    }
    assert!(known[0].signs(&world));
    let copy = known[0].key.clone();
    drop(known);
    assert_eq!(copy.properties()[1], 2048);
}

/// Several library contexts at once, each with its own settings, in several threads.
#[test]
fn several_library_contexts() {
    let (_alone, _guard) = (alone(), Guard::new("several library contexts"));
    let worlds =
        [World::new(), World::with(&[("engine", "portable")]), World::with(&[("threads", "1"), ("max-batch", "2")])];
    in_threads(6, |t| {
        let world = &worlds[t % 3];
        let known = Known::several(world);
        assert!((0..10).all(|i| known[i % known.len()].signs(world)));
    });
    if is_zariz() {
        let engine = |i: usize| worlds[i].parameter("engine").expect("engine").text().to_owned();
        assert!(engine(0).starts_with("auto"), "{}", engine(0));
        assert_eq!(engine(1), "portable");
        assert_eq!(worlds[2].parameter("max-batch").expect("max-batch").unsigned(), 2);
        assert_eq!(worlds[2].parameter("threads").expect("threads").unsigned(), 1);
    }
    let [first, second, third] = worlds;
    drop(second);
    let known = Known::several(&first);
    assert!(known[0].signs(&first));
    drop(third);
    assert!(known[1].signs(&first));
}

#[test]
fn good_settings() {
    let _alone = alone();
    if !is_zariz() {
        return;
    }
    for (name, value, shown) in [
        ("engine", "auto", "auto"),
        ("engine", "portable", "portable"),
        ("engine", "scalar", "scalar"),
        ("threads", "0", "0"),
        ("threads", "1", "1"),
        ("threads", "7", "7"),
        ("max-batch", "1", "1"),
        ("max-batch", "8", "8"),
    ] {
        let world = World::with(&[(name, value)]);
        let reading = world.parameter(name).unwrap_or_else(|| panic!("no parameter {name}"));
        let text = if name == "engine" { reading.text().to_owned() } else { reading.unsigned().to_string() };
        assert_eq!(text.split(' ').next(), Some(shown), "{name}");
        let known = Known::several(&world);
        assert!(known[0].signs(&world), "{name} = {value}");
    }
    let world = World::with(&[("engine", "portable"), ("method", "amm")]);
    assert_eq!(world.parameter("method").expect("method").text(), "amm");
    assert!(Known::several(&world)[0].signs(&world));
}

/// Settings that mean nothing: the provider is not loaded, and the error queue says what to do.
#[test]
fn bad_settings() {
    let _alone = alone();
    if !is_zariz() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let not_counters = folder.path().join("not-counters");
    fs::write(&not_counters, "something else, which must not be written over: it is as long as counters are")
        .expect("a file");
    let not_counters = not_counters.to_str().expect("UTF-8");
    for (name, value, says) in [
        ("engine", "nonsense", "nonsense"),
        ("engine", "AUTO2", "AUTO2"),
        ("method", "nonsense", "nonsense"),
        ("threads", "-1", "-1"),
        ("threads", "many", "many"),
        ("threads", "1000000000000000000000", "1000000000000000000000"),
        ("max-batch", "0", "max-batch"),
        ("max-batch", "1.5", "1.5"),
        ("counters", "/no/such/folder/counters", "/no/such/folder/counters"),
        ("counters", folder.path().to_str().expect("UTF-8"), folder.path().to_str().expect("UTF-8")),
        ("counters", not_counters, not_counters),
    ] {
        let refused = World::configured(&[(name, value)]);
        let Err(failure) = refused else { panic!("{name} = {value} is taken") };
        let text = failure.text();
        assert!(text.contains(name) && text.contains(says), "{name} = {value}: {text}");
    }
    let untouched = fs::read_to_string(not_counters).expect("the file");
    assert!(untouched.starts_with("something else"), "another file was written over");
    // And after all that it loads.
    let world = World::new();
    assert!(Known::several(&world)[0].signs(&world));
}

/// Loaded under another name, and from a path that has changed since.
#[test]
fn another_name() {
    let _alone = alone();
    if !is_zariz() {
        return;
    }
    let module = Module::get();
    symlink(module.file(), module.folder().join("other-name.so")).expect("a link");
    // SAFETY: fresh contexts, texts, and a provider unloaded once.
    unsafe {
        let context = ffi::OSSL_LIB_CTX_new();
        let folder = common::world::path(module.folder());
        assert_eq!(ffi::OSSL_PROVIDER_set_default_search_path(context, folder.as_ptr()), 1);
        let provider = ffi::OSSL_PROVIDER_load(context, c"other-name".as_ptr());
        assert!(!provider.is_null(), "{:?}", common::failure::take_errors());
        assert_eq!(ffi::OSSL_PROVIDER_self_test(provider), 1);
        assert_eq!(ffi::OSSL_PROVIDER_unload(provider), 1);
        ffi::OSSL_LIB_CTX_free(context);
    }
}

/// Without OpenSSL's default provider there are no digests and no decoders; numbers can still be signed.
#[test]
fn without_the_default_provider() {
    let _alone = alone();
    if !is_zariz() {
        return;
    }
    let numbers = {
        let world = World::new();
        rsa_2048(&world, Side::Reference).numbers(ffi::KEYPAIR).expect("the numbers")
    };
    let world = World::only(&Module::get()).expect("zariz alone");
    let key = Key::with_numbers(&world, Side::Subject, ffi::KEYPAIR, &numbers).expect("the key is imported");
    // Digests zariz finds in a library context of its own, or says that there are none.
    let digest = Params::new().text("digest", "SHA256");
    match operate(&world, Side::Subject, &key, Operation::Sign, &digest, &[1; 32]) {
        Ok(signature) => verify(&world, Side::Subject, &key, &digest, &signature, &[1; 32]).expect("right"),
        Err(failure) => assert!(failure.is_readable(), "{failure:?}"),
    }
    let raw = Params::new().text("pad-mode", "none");
    let signature = operate(&world, Side::Subject, &key, Operation::Sign, &raw, &[1; 256]).expect("signed");
    verify(&world, Side::Subject, &key, &raw, &signature, &[1; 256]).expect("right");
}
