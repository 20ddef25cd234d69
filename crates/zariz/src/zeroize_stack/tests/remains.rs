//! What of a key is left in memory.

use std::hint::black_box;

use super::search::{Digits, Found, IN_SEGMENTS, Searcher};
use super::{DEPTH, MARKED, OFF, ROOM, STACK, dispatches, mark};
use crate::rsa::hazmat::primitive::{PrivateJob, private_many};
use crate::rsa::{Algorithm, Components, Hash, Padding, PrimeComponents, PrivateKey};
use crate::zeroize_stack::zeroize_stack;
use crate::{Dispatch, Method};

/// A key as text, and ciphertexts for it.
struct Subject {
    pem: zeroize::Zeroizing<String>,
    ciphertexts: [(Vec<u8>, Padding); 2],
}

impl Subject {
    fn new(key: &PrivateKey) -> Self {
        let ciphertexts = [Padding::Pkcs1v15, Padding::oaep(Hash::Sha256)]
            .map(|padding| (key.public_key().encrypt(&padding, b"message").expect("a ciphertext"), padding));
        Self { pem: key.to_pem().expect("a PEM block"), ciphertexts }
    }

    #[inline(never)]
    fn load(&self, dispatch: Dispatch) -> PrivateKey {
        PrivateKey::parse(self.pem.as_bytes()).expect("a key").with_engine(dispatch).expect("available")
    }

    fn decrypt(&self, key: &PrivateKey, i: usize) {
        let (ciphertext, padding) = &self.ciphertexts[i];
        assert_eq!(key.decrypt(padding, ciphertext).expect("a message")[..], *b"message");
    }
}

/// An operation with a private key.
type Operation = fn(&Subject, &PrivateKey);

fn sign(key: &PrivateKey, algorithm: Algorithm) {
    // Two full batches of the widest machine, which share their domains, and one request alone.
    assert!(key.sign_batch(algorithm, &[&b"message"[..]; 17]).iter().all(Result::is_ok));
}

/// Every operation that wipes what it leaves.
const OPERATIONS: &[(&str, Operation)] = &[
    ("nothing", |_, _| ()),
    ("sign, PKCS#1 v1.5", |_, key| sign(key, Algorithm::RS256)),
    ("sign, PSS", |_, key| sign(key, Algorithm::PS256)),
    ("decrypt, PKCS#1 v1.5", |subject, key| subject.decrypt(key, 0)),
    ("decrypt, OAEP", |subject, key| subject.decrypt(key, 1)),
    ("raw", |subject, key| {
        let jobs = [PrivateJob { key, number: &subject.ciphertexts[0].0 }; 17];
        assert!(private_many(&jobs).iter().all(Result::is_ok));
    }),
    ("validate", |_, key| key.validate().expect("primes")),
    ("write", |_, key| drop(key.to_pem())),
    ("other methods", |_, key| {
        [Method::AMM, Method::TILED_AHMM, Method::KARATSUBA_PRODUCTS]
            .iter()
            .for_each(|&method| sign(&key.with_method(method), Algorithm::RS256));
    }),
];

/// Loads a key, and does some operations with it.
#[inline(never)]
fn used(subject: &Subject, dispatch: Dispatch, operations: &[(&str, Operation)]) -> PrivateKey {
    let key = subject.load(dispatch);
    operations.iter().for_each(|(_, operation)| operation(subject, &key));
    key
}

#[test]
fn nothing_of_a_key_remains() {
    nothing_remains(1024, &dispatches().collect::<Vec<_>>());
}

/// Primes of 20 digits of 52 bits, and of 30: where numbers are split, and in terms.
#[test]
fn nothing_of_a_longer_key_remains() {
    [2048, 3072].into_iter().for_each(|bits| nothing_remains(bits, &[Dispatch::Auto]));
}

fn nothing_remains(bits: usize, dispatches: &[Dispatch]) {
    Searcher::with(|searcher| {
        let top = 0u8;
        let top = black_box(&raw const top) as u64;
        let is_on_stack =
            |found: &Found| (top - (STACK - ROOM) as u64..top + (1 << 10)).contains(&found.address);
        let mut left = Vec::new();
        let mut note = |when: String, found: &mut dyn Iterator<Item = Found>| {
            left.extend(
                found
                    .map(|found| format!("{when}: {found:x?}, {:#x} below", top.wrapping_sub(found.address))),
            );
        };

        let key = PrivateKey::generate(bits).expect("a key");
        let digits = zeroize_stack(|| Digits::of(&key.components()));
        let digits = searcher.digits.get_or_init(|| digits);
        let subject = Subject::new(&key);
        note("a new key".into(), &mut searcher.search().into_iter().filter(is_on_stack));
        drop(key);
        note("a new key, dropped".into(), &mut searcher.search().into_iter());

        for &dispatch in dispatches {
            let key = used(&subject, dispatch, OPERATIONS);
            let found = searcher.search();
            assert!(!found.is_empty(), "{dispatch}: a key that is in use is not found");
            let in_segments = found.iter().any(|found| found.number == IN_SEGMENTS);
            assert!(
                in_segments || !dispatch.to_string().starts_with("pair"),
                "{dispatch}: no segments are found"
            );
            // A key that is in use has its digits on the heap, but nothing that the stack held before.
            let is_wrong = |found: &Found| found.number == MARKED || is_on_stack(found);
            note(format!("{dispatch}, in use"), &mut found.into_iter().filter(is_wrong));
            drop(key);
            note(format!("{dispatch}, dropped"), &mut searcher.search().into_iter());
        }
        let key = used(&subject, Dispatch::Auto, &[]);
        let numbers = key.components();
        drop(key);
        let Components { n, e, d, p, q, .. } = &numbers;
        drop(PrivateKey::from_primes(&PrimeComponents { n, e, d, p, q }).expect("a key"));
        drop(PrivateKey::from_components(&numbers).expect("a key"));
        drop(numbers);
        note("a key made of numbers, dropped".into(), &mut searcher.search().into_iter());
        zeroize_stack(|| digits.spill::<{ DEPTH / 16 }>());
        note("digits on the stack".into(), &mut searcher.search().into_iter());
        assert!(left.is_empty(), "{} digits are left:\n{}", left.len(), left.join("\n"));
    });
}

/// The search finds a few words directly below the frame of the thread that stands still. What operations
/// leave there without wiping is printed: none has to leave a digit of the key. Once the stack is wiped,
/// nothing is left anywhere: what an operation copies from the stack to the heap is found here.
#[test]
fn the_search_finds_a_few_words_on_the_stack() {
    Searcher::with(|searcher| {
        let key = PrivateKey::generate(1024).expect("a key");
        let digits = zeroize_stack(|| Digits::of(&key.components()));
        let digits = searcher.digits.get_or_init(|| digits);
        let subject = Subject::new(&key);
        drop(key);
        // How many digits are left by a thread that does not wipe; then they are wiped.
        let left = |what: &str, work: &dyn Fn()| {
            OFF.set(true);
            work();
            let found = searcher.search().len();
            OFF.set(false);
            zeroize_stack(|| ());
            let remains = searcher.search();
            assert!(remains.is_empty(), "{what}: digits are left after wiping: {remains:x?}");
            println!("{found:6} digits: {what}");
            found
        };
        assert!(
            left("a few words", &|| zeroize_stack(|| digits.spill::<4>())) >= 4,
            "the stack is not searched"
        );
        assert!(left("marks", &mark) >= DEPTH / 16, "the stack is not marked");
        for dispatch in dispatches() {
            for operation in OPERATIONS {
                left(&format!("{dispatch}, {}", operation.0), &|| {
                    drop(used(&subject, dispatch, &[*operation]))
                });
            }
            left(&format!("{dispatch}, all"), &|| drop(used(&subject, dispatch, OPERATIONS)));
        }
    });
}
