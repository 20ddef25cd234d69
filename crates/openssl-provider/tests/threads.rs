//! Many threads at once, without jobs: every result is right, and requests that wait together are computed
//! together.

mod common;

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use common::keys::{PEM_1024, native, rsa_2048};
use common::operation::{operate, verify};
use common::signing::Known;
use common::threads::{Guard, in_threads};
use common::{Operation, Params, Side, World, alone, is_zariz, stream};

const THREADS: usize = 16;

#[test]
fn many_threads_with_several_keys() {
    let (_alone, _guard) = (alone(), Guard::new("many threads with several keys"));
    let world = World::with(&[("threads", "1")]);
    let known = Known::several(&world);
    let before = world.counters();
    let (start, wrong) = (Barrier::new(THREADS), AtomicUsize::new(0));
    in_threads(THREADS, |t| {
        start.wait();
        for i in 0..40 {
            if !known[(t + i) % known.len()].signs(&world) {
                wrong.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    assert_eq!(wrong.into_inner(), 0, "wrong signatures");
    if is_zariz() {
        let done = world.counters().since(before);
        println!("{done:?}, mean batch {:.1}", done.mean_batch());
        assert!(done.private >= 640 && done.fallbacks == 0 && done.check_failures == 0, "{done:?}");
        assert!(done.largest_batch > 1, "nothing was computed together: {done:?}");
        assert!(done.mean_batch() > 1.5, "hardly anything was computed together: {done:?}");
    }
}

#[test]
fn different_operations_at_once() {
    let (_alone, _guard) = (alone(), Guard::new("different operations at once"));
    for settings in
        [&[][..], &[("threads", "1")], &[("threads", "1"), ("max-batch", "1")], &[("max-batch", "3")]]
    {
        let world = World::with(settings);
        let long = rsa_2048(&world, Side::Subject);
        let short = native(&world, Side::Subject, PEM_1024);
        in_threads(8, |t| {
            let (world, key) = (&world, if t % 2 == 0 { &long } else { &short });
            {
                {
                    for i in 0..10_u8 {
                        let text = [[i, t as u8]; 20].concat();
                        let none = Params::new();
                        let signature = stream::sign(world, Side::Subject, key, Some("SHA256"), &none, &text)
                            .expect("signed");
                        stream::verify(world, Side::Subject, key, Some("SHA256"), &none, &signature, &text)
                            .expect("verified");
                        let mut bad = signature.clone();
                        bad[20] ^= 1;
                        stream::verify(world, Side::Subject, key, Some("SHA256"), &none, &bad, &text)
                            .expect_err("refused");
                        let ciphertext = operate(world, Side::Subject, key, Operation::Encrypt, &none, &text)
                            .expect("encrypted");
                        let plain =
                            operate(world, Side::Subject, key, Operation::Decrypt, &none, &ciphertext);
                        assert_eq!(plain.expect("decrypted"), text);
                        let oaep = Params::new().text("pad-mode", "oaep");
                        let refused =
                            operate(world, Side::Subject, key, Operation::Decrypt, &oaep, &ciphertext);
                        refused.expect_err("the wrong padding");
                    }
                }
            }
        });
    }
}

/// Keys are made and freed in many threads at once; others may use a key while one thread frees it.
#[test]
fn keys_come_and_go() {
    let (_alone, _guard) = (alone(), Guard::new("keys come and go"));
    let world = World::new();
    let digest = Params::new().text("digest", "SHA256");
    in_threads(8, |t| {
        for i in 0..10 {
            let digests = [1, 2].map(|which| [which, i, t as u8, 0].repeat(8));
            let key = rsa_2048(&world, Side::Subject);
            let copy = key.clone();
            thread::scope(|scope| {
                let other = scope.spawn(|| {
                    let public = copy.public(&world, Side::Subject);
                    let signature =
                        operate(&world, Side::Subject, &copy, Operation::Sign, &digest, &digests[0]);
                    let signature = signature.expect("signed");
                    verify(&world, Side::Subject, &public, &digest, &signature, &digests[0])
                        .expect("verified");
                });
                let signature = operate(&world, Side::Subject, &key, Operation::Sign, &digest, &digests[1]);
                let signature = signature.expect("signed");
                verify(&world, Side::Subject, &key, &digest, &signature, &digests[1]).expect("verified");
                drop(key);
                other.join().expect("right");
            });
        }
    });
}

/// Several threads use a key for the first time at once: all of them import it into zariz.
#[test]
fn a_new_key_in_many_threads() {
    let (_alone, _guard) = (alone(), Guard::new("a new key in many threads"));
    let world = World::new();
    for _ in 0..5 {
        // In the default provider: each operation exports it.
        let key = rsa_2048(&world, Side::Reference);
        let start = Barrier::new(8);
        in_threads(8, |t| {
            start.wait();
            let (digest, own) = (Params::new().text("digest", "SHA256"), [t as u8; 32]);
            let signature =
                operate(&world, Side::Subject, &key, Operation::Sign, &digest, &own).expect("signed");
            verify(&world, Side::Reference, &key, &digest, &signature, &own).expect("verified");
        });
    }
}

/// A lone request is computed at once, as a batch of one.
#[test]
fn one_thread_alone() {
    let _alone = alone();
    let world = World::new();
    let known = Known::several(&world);
    let before = world.counters();
    for i in 0..20 {
        assert!(known[i % known.len()].signs(&world));
    }
    if is_zariz() {
        let done = world.counters().since(before);
        assert_eq!((done.private, done.batches, done.fallbacks), (20, 20, 0), "{done:?}");
    }
}
