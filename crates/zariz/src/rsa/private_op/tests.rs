use super::*;
use std::sync::Arc;

use crate::rsa::secrets::Secret;
use crate::rsa::{Algorithm, SignJob, sign_many};
use crate::{Dispatch, Engine};

fn available() -> impl Iterator<Item = Dispatch> {
    let engines = Engine::ALL.iter().copied().filter(|engine| engine.is_available()).map(Dispatch::Only);
    engines.chain([Dispatch::Auto])
}

fn on(key: &PrivateKey, dispatch: Dispatch) -> PrivateKey {
    key.with_engine(dispatch).expect("available")
}

/// `x^d` of numbers of 1024 bits, with the portable engine.
fn expected(key: &PrivateKey, x: &[u64]) -> Vec<u64> {
    let portable = on(key, Dispatch::Only(Engine::Portable));
    let (y, outcomes) = checked(&[(&portable, x)], &mut None).expect("a mask");
    assert_eq!(outcomes, [Ok(())]);
    y[0].to_vec()
}

#[test]
fn a_flipped_bit_is_found_in_every_lane() {
    let generated = PrivateKey::generate(1024).expect("a key");
    for dispatch in available() {
        let key = &on(&generated, dispatch);
        let lanes = dispatch.main().lanes();
        // Numbers that stay in lanes, and others.
        for count in [1, lanes.min(3), lanes] {
            let numbers: Vec<_> = (2..).take(count).map(|i| [i; 16]).collect();
            let x: Vec<&[u64]> = numbers.iter().map(|x| &x[..]).collect();
            let right: Vec<_> = x.iter().map(|x| expected(key, x)).collect();
            let mut found = vec![false; count];
            for word in 0..Batch::new(vec![key; count]).n.words() {
                let mut pairs = blinding::take(&vec![key; count]).expect("pairs");
                let flipped = |batch: &mut Batch, masked: &[u64]| {
                    let mut y = batch.raise(masked);
                    y[word] ^= 1 << (word % 51);
                    y
                };
                let (y, is_right) = Batch::new(vec![key; count]).attempt(&x, &mut pairs, flipped);
                for (lane, (y, right)) in y.iter().zip(&right).enumerate() {
                    assert_eq!(is_right[lane], y == &right[..], "{dispatch}, word {word}");
                    found[lane] |= !is_right[lane];
                }
                // At most one lane is wrong; none if the word belongs to no request.
                assert!(
                    is_right.iter().filter(|is_right| !**is_right).count() <= 1,
                    "{dispatch}, word {word}"
                );
            }
            assert_eq!(found, vec![true; count], "{dispatch}");
        }
    }
}

/// A key with a damaged number.
fn damaged(key: &PrivateKey, damage: impl Fn(&mut Secret)) -> PrivateKey {
    let mut key = PrivateKey::from_components(&key.components()).expect("a key");
    damage(Arc::get_mut(&mut key.secret).expect("the only owner"));
    key
}

#[test]
fn wrong_results_are_computed_again_or_withheld() {
    let generated = PrivateKey::generate(1024).expect("a key");
    let expected = generated.sign(Algorithm::RS256, b"message");
    for dispatch in available() {
        // Damage to what the theorem needs.
        let damaged = [
            damaged(&generated, |secret| secret.p.exponent[3] ^= 1 << 17),
            damaged(&generated, |secret| secret.q.exponent[0] ^= 2),
            damaged(&generated, |secret| secret.p.unit[15] ^= 1),
            damaged(&generated, |secret| secret.q.unit[0] ^= 1 << 63),
            // Nothing is left that could give the result.
            damaged(&generated, |secret| {
                secret.q.unit[0] ^= 1;
                secret.d[5] ^= 1 << 40;
            }),
        ];
        // Bad keys among good ones, in all lanes and in some.
        let keys: Vec<_> = [&generated, &damaged[0], &damaged[1], &damaged[2], &damaged[3], &damaged[4]]
            .map(|key| on(key, dispatch))
            .into();
        for count in [1, 3, 8, 20] {
            let failures = check_failures();
            let job = |key| SignJob::new(key, Algorithm::RS256, b"message");
            let results = sign_many(&keys.iter().cycle().take(count).map(job).collect::<Vec<_>>());
            for (i, result) in results.into_iter().enumerate() {
                let expected = if i % keys.len() == 5 { Err(Error::Fault) } else { expected.clone() };
                assert_eq!(result, expected, "{dispatch}, {i} of {count}");
            }
            assert!(count == 1 || check_failures() > failures, "{dispatch}: failures are counted");
        }
    }
}

#[test]
fn batches_of_the_same_keys_serve_again_until_a_fault() {
    let generated = [(); 2].map(|()| PrivateKey::generate(1024).expect("a key"));
    let damaged = damaged(&generated[0], |secret| secret.p.exponent[3] ^= 1 << 17);
    for dispatch in available() {
        let [key, other, damaged] = &[&generated[0], &generated[1], &damaged].map(|key| on(key, dispatch));
        let clone = key.clone();
        let lanes = dispatch.main().lanes();
        let x: Vec<_> = (2..).take(lanes).map(|i| [i; 16]).collect();
        let mut kept: Option<Batch> = None;
        for (keys, serves, is_kept) in [
            ([key, key], false, true),
            ([key, key], true, true),
            // Every request of a queue has a clone of its key.
            ([&clone, key], true, true),
            ([other, key], false, true),
            ([other, key], true, true),
            ([damaged, key], false, false),
            ([key, key], false, true),
        ] {
            let keys: Vec<&PrivateKey> = keys.into_iter().cycle().take(lanes).collect();
            assert_eq!(kept.as_ref().is_some_and(|kept| kept.is_of(&keys)), serves, "{dispatch}");
            let requests: Vec<Request> = keys.iter().zip(&x).map(|(&key, x)| (key, &x[..])).collect();
            let (y, outcomes) = checked(&requests, &mut kept).expect("masks");
            for ((y, outcome), (key, x)) in y.iter().zip(outcomes).zip(requests) {
                let key = if std::ptr::eq(key, damaged) { &generated[0] } else { key };
                assert_eq!((outcome, y), (Ok(()), &expected(key, x)[..]), "{dispatch}");
            }
            assert_eq!(kept.is_some(), is_kept, "{dispatch}");
        }
    }
}

/// Three of 40 digits of 52 bits, and two of 42 digits of 51.
#[test]
fn keys_of_other_lengths_share_a_batch() {
    let generated = [1984, 2028, 2048, 2090, 2100].map(|bits| PrivateKey::generate(bits).expect("a key"));
    let mut shared = 0;
    for dispatch in available().filter(|dispatch| dispatch.main().lanes() > 1) {
        let keys = generated.each_ref().map(|key| on(key, dispatch));
        for (short, long) in [(0, 2), (1, 2), (0, 1), (3, 4)].map(|(a, b)| (&keys[a], &keys[b])) {
            // Longer ones than an engine takes are computed elsewhere.
            let lanes = short.route().machine(short.public.modulus()).lanes();
            if short.class() != long.class() || lanes == 1 {
                continue;
            }
            shared += 1;
            for count in [2, 3, lanes] {
                let keys: Vec<&PrivateKey> =
                    [short, long].into_iter().cycle().take(count.min(lanes)).collect();
                // As long as n: n − 3.
                let number = |key: &&PrivateKey| {
                    let mut x = key.public.modulus().limbs().to_vec();
                    limbs::sub_assign(&mut x, &[3]);
                    x
                };
                let numbers: Vec<_> = keys.iter().map(number).collect();
                let x: Vec<&[u64]> = numbers.iter().map(|x| &x[..]).collect();
                let mut pairs = blinding::take(&keys).expect("pairs");
                let (_, is_right) = Batch::new(keys).attempt(&x, &mut pairs, Batch::raise);
                assert!(is_right.iter().all(|&is_right| is_right), "{dispatch}: {is_right:?}");
            }
        }
    }
    assert!(shared > 0 || Engine::best().lanes() == 1, "no two lengths have a class in common");
}

/// Errors, keys of other lengths and methods, and two engines among requests that fill lanes.
#[test]
fn each_number_succeeds_or_fails_on_its_own() {
    let generated = PrivateKey::generate(1024).expect("a key");
    let longer = PrivateKey::generate(1280).expect("a key");
    let keys = [
        &on(&generated, Dispatch::Only(Engine::Portable)),
        &generated,
        &longer,
        &generated.with_method(crate::Method::TILED),
    ];
    let number = |key: &PrivateKey, i: u8| {
        let mut number = Zeroizing::new(vec![i; key.size()]);
        number[0] = 0;
        number
    };
    let job = |i: u8| {
        let key = keys[usize::from(i) % keys.len()];
        (key, if i.is_multiple_of(7) { Err(Error::Random) } else { Ok(number(key, i)) })
    };
    for (i, result) in (0..).zip(private_op((0..70).map(job).collect())) {
        let (key, given) = job(i);
        let key = on(key, Dispatch::Only(Engine::Portable)).with_method(None);
        assert_eq!(
            result,
            given.and_then(|number| private_op(vec![(&key, Ok(number))]).swap_remove(0)),
            "{i}"
        );
    }
}
