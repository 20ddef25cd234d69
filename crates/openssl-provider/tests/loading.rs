//! Loading and unloading, repeatedly, and with settings of all kinds.

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::failure::take_errors;
use common::keys::{PEM_2048, rsa_2048};
use common::module::Module;
use common::operation::{operate, verify};
use common::process::{files_return_to, open_files, resident, threads};
use common::signing::{Known, sign_into};
use common::threads::{Guard, in_threads};
use common::{Counters, Key, Operation, Params, Side, World, alone, ffi, is_zariz};

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

/// Freed in the wrong order: keys and contexts keep their unloaded provider alive, and can still sign.
#[test]
fn unloaded_while_keys_live() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("counters");
    let world = World::configured(&[("counters", file.to_str().expect("UTF-8"))]).expect("loaded");
    {
        let known = Known::new(&world, PEM_2048, 1);
        let (ctx, mut out) = (known.context(&world), vec![0; known.size()]);
        world.unload_subject();
        assert_eq!(known.key.provider(), Side::Subject.provider());
        for _ in 0..3 {
            out.fill(0);
            let digest = known.digest();
            assert_eq!(sign_into(ctx.raw(), &digest, &mut out), 1, "{:?}", take_errors());
            assert!(known.is(&digest, &out));
        }
        if is_zariz() {
            let done = Counters::in_file(&file);
            assert_eq!((done.private, done.fallbacks), (3, 0), "{done:?}");
        }
        let copy = known.key.clone();
        drop(ctx);
        drop(known);
        assert_eq!(copy.properties()[1], 2048);
        assert_eq!(copy.numbers(ffi::KEYPAIR).expect("exported").len(), 8);
    }
    // OpenSSL's own provider is still there, and zariz can be loaded again.
    let key = rsa_2048(&world, Side::Reference);
    let digest = Params::new().text("digest", "SHA256");
    operate(&world, Side::Reference, &key, Operation::Sign, &digest, &[1; 32]).expect("signed");
    drop(key);
    drop(world);
    let world = World::new();
    assert!(Known::several(&world)[0].signs(&world));
}

/// Several library contexts at once, each with its own settings, in several threads.
#[test]
fn several_library_contexts() {
    let (_alone, _guard) = (alone(), Guard::new("several library contexts"));
    let worlds = [
        World::new(),
        World::with(&[("engine", "portable")]),
        World::with(&[("threads", "1"), ("max-batch", "2")]),
    ];
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

/// On Arm, RSA stays with OpenSSL unless a setting says otherwise, and the provider says so.
#[test]
#[cfg(target_arch = "aarch64")]
fn without_settings_nothing_is_computed() {
    let _alone = alone();
    let world = World::unconfigured(&Module::get()).expect("loaded");
    let engine = world.parameter("engine").expect("engine").text().to_owned();
    assert!(engine.starts_with("none: "), "{engine}");
    // The provider is preferred, and has none.
    let key = Key::generate(&world, Side::Subject, &Params::new().size("bits", 1024)).expect("a new key");
    assert_eq!(key.provider(), Side::Reference.provider());
    let key = rsa_2048(&world, Side::Reference);
    let digest = Params::new().text("digest", "SHA256");
    operate(&world, Side::Reference, &key, Operation::Sign, &digest, &[1; 32]).expect("signed");
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
        ("validate-keys", "no", "0"),
        ("validate-keys", "yes", "1"),
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

/// Wrong settings: the provider is not loaded, and the error queue says what to do.
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
        ("validate-keys", "maybe", "maybe"),
        ("counters", "a/relative/path", "absolute"),
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
    // Afterwards it still loads.
    let world = World::new();
    assert!(Known::several(&world)[0].signs(&world));
}

/// The file may be removed before the provider is used, as in an upgrade of a package.
#[test]
fn from_a_path_that_has_changed_since() {
    let _alone = alone();
    let module = Module::apart();
    let world = World::load(&module).expect("loaded");
    fs::rename(module.file(), module.folder().join("another.so")).expect("our own folder");
    let before = world.counters();
    let known = Known::several(&world);
    assert!(known.iter().all(|known| known.signs(&world)));
    let key = Key::generate(&world, Side::Subject, &Params::new().size("bits", 1024)).expect("a new key");
    assert_eq!(key.provider(), Side::Subject.provider());
    if is_zariz() {
        let done = world.counters().since(before);
        assert_eq!((done.private, done.keys_generated), (5, 1), "{done:?}");
    }
}

/// Loaded under another name.
#[test]
fn another_name() {
    let _alone = alone();
    if !is_zariz() {
        return;
    }
    let module = Module::get();
    symlink(module.file(), module.folder().join("other-name.so")).expect("a link");
    // SAFETY: new contexts, texts, and a provider unloaded once.
    unsafe {
        let context = ffi::OSSL_LIB_CTX_new();
        let folder = common::world::path(module.folder());
        assert_eq!(ffi::OSSL_PROVIDER_set_default_search_path(context, folder.as_ptr()), 1);
        let provider = ffi::OSSL_PROVIDER_load(context, c"other-name".as_ptr());
        assert!(!provider.is_null(), "{:?}", take_errors());
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
    // zariz finds digests in its own library context, or says that there are none.
    let digest = Params::new().text("digest", "SHA256");
    match operate(&world, Side::Subject, &key, Operation::Sign, &digest, &[1; 32]) {
        Ok(signature) => verify(&world, Side::Subject, &key, &digest, &signature, &[1; 32]).expect("right"),
        Err(failure) => assert!(failure.is_readable(), "{failure:?}"),
    }
    let raw = Params::new().text("pad-mode", "none");
    let signature = operate(&world, Side::Subject, &key, Operation::Sign, &raw, &[1; 256]).expect("signed");
    verify(&world, Side::Subject, &key, &raw, &signature, &[1; 256]).expect("right");
}
