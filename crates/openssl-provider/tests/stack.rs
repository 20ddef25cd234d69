//! Every operation on threads with exactly the stack that docs/openssl.md says is enough. An operation that
//! needs more reaches the guard page, and the system kills the test.

mod common;

use std::sync::Barrier;
use std::thread::{self, Builder};

use common::key::Check;
use common::keys::{PEM_1024, PEM_2048, PEM_4096, kinds, native};
use common::operation::{operate, verify};
use common::{Key, Operation, Params, Side, World, ffi, is_zariz, stream};

/// The size in docs/openssl.md. The system takes the guard page and the thread's own variables from it.
const STACK: usize = 64 << 10;

/// Calls a function on a thread with that stack, and waits for it.
fn on_small_stack<T: Send>(function: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, function).expect("a thread");
        thread.join().expect("no panic")
    })
}

/// All operations with a key that can sign. OpenSSL may refuse some.
fn all_operations(world: &World, key: &Key) {
    let side = Side::Subject;
    let text = |name, value| Params::new().text(name, value);
    let digest = || text("digest", "SHA256");
    for params in [digest(), digest().text("pad-mode", "pss"), digest().text("pad-mode", "x931")] {
        if let Ok(signature) = operate(world, side, key, Operation::Sign, &params, &[7; 32]) {
            verify(world, side, key, &params, &signature, &[7; 32]).expect("it verifies");
            let _ = operate(world, side, key, Operation::Recover, &params, &signature);
            let _ = verify(world, side, key, &params, &signature, &[8; 32]);
        }
    }
    for params in [text("pad-mode", "pkcs1"), text("pad-mode", "oaep"), text("pad-mode", "none")] {
        let message = if params == text("pad-mode", "none") { vec![0; key.size()] } else { b"text".to_vec() };
        // A short key has no space for OAEP.
        let Ok(sealed) = operate(world, side, key, Operation::Encrypt, &params, &message) else { continue };
        let opened = operate(world, side, key, Operation::Decrypt, &params, &sealed).expect("it decrypts");
        assert_eq!(opened, message, "{params:?}");
        let _ = operate(world, side, key, Operation::Decrypt, &params, &vec![1; key.size()]);
    }
    let (digest, none) = (Some("SHA256"), Params::new());
    let signature = stream::sign(world, side, key, digest, &none, b"a message").expect("it signs");
    stream::verify(world, side, key, digest, &none, &signature, b"a message").expect("it verifies");
    for check in Check::ALL {
        let _ = key.check(world, side, check);
    }
    key.duplicate().expect("a copy");
    assert_eq!(key.equals(key), 1);
    key.properties();
    for (selection, structure) in
        [(ffi::KEYPAIR, "PrivateKeyInfo"), (ffi::PUBLIC_KEY, "SubjectPublicKeyInfo")]
    {
        let _ = key.encoded(selection, "PEM", structure);
    }
    let numbers = key.numbers(ffi::KEYPAIR).expect("the numbers");
    let again = Key::with_numbers(world, side, ffi::KEYPAIR, &numbers).expect("it is imported");
    again.public(world, side);
}

/// Nothing has run before, so the one-time initialisation of OpenSSL and zariz is on the small stack too.
#[test]
fn every_operation_with_every_engine() {
    let engines: &[&str] = if is_zariz() { &["auto", "portable", "scalar"] } else { &[""] };
    for engine in engines {
        for pem in [PEM_1024, PEM_2048, PEM_4096] {
            let world = if is_zariz() { World::with(&[("engine", engine)]) } else { World::new() };
            on_small_stack(|| all_operations(&world, &native(&world, Side::Subject, pem)));
        }
    }
    let world = World::with(if is_zariz() { &[("validate-keys", "yes")] } else { &[] });
    on_small_stack(|| all_operations(&world, &native(&world, Side::Subject, PEM_2048)));
}

/// Keys that are left to OpenSSL are imported in another way.
#[test]
fn every_kind_of_key() {
    let world = World::new();
    for kind in kinds(&world) {
        println!("{}", kind.name);
        on_small_stack(|| all_operations(&world, &kind.key.on(&world, Side::Subject)));
    }
}

#[test]
fn new_keys() {
    let world = World::new();
    for params in [
        Params::new().size("bits", 1024),
        Params::new().size("bits", 2048),
        Params::new().size("bits", 3072),
        Params::new().size("bits", 1024).number("e", &[3]),
        Params::new().size("bits", 512),
        Params::new().size("bits", 2048).size("primes", 3),
    ] {
        on_small_stack(|| Key::generate(&world, Side::Subject, &params).expect("a new key"));
    }
}

/// A thread may compute a whole batch, with others' requests.
#[test]
fn batches() {
    let world = World::new();
    let key = native(&world, Side::Subject, PEM_2048);
    let (threads, params) = (24, Params::new().text("digest", "SHA256"));
    let begin = Barrier::new(threads);
    let before = world.counters();
    thread::scope(|scope| {
        let start = |i| {
            let (world, key, params, begin) = (&world, &key, &params, &begin);
            let sign = move || {
                begin.wait();
                for j in 0..20 {
                    let data = [(i * 20 + j) as u8; 32];
                    let signature = operate(world, Side::Subject, key, Operation::Sign, params, &data);
                    let signature = signature.expect("a signature");
                    verify(world, Side::Subject, key, params, &signature, &data).expect("it verifies");
                }
            };
            Builder::new().stack_size(STACK).spawn_scoped(scope, sign).expect("a thread")
        };
        for thread in (0..threads).map(start).collect::<Vec<_>>() {
            thread.join().expect("no panic");
        }
    });
    println!("{:?}", world.counters().since(before));
}
