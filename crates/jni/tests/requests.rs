//! Requests as Java writes them, and bytes that nobody should write.

use zariz::rsa::{Algorithm, Hash, Padding, PrivateKey, PublicKey};
use zariz_jni::{answer, protocol::Reader};

const SIGN: u8 = 0;
const VERIFY: u8 = 2;
const DECRYPT: u8 = 4;
const ENCRYPT: u8 = 6;
const LOAD_NUMBERS: u8 = 8;
const LOAD_DER: u8 = 9;
const LOAD_PUBLIC: u8 = 10;
const FREE: u8 = 11;
const GENERATE: u8 = 12;
const DESCRIBE: u8 = 13;

fn bytes(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

/// With SHA-256.
fn request(operation: u8, key: u64, first: &[u8], second: &[u8]) -> Vec<u8> {
    [&[operation][..], &key.to_be_bytes(), &[2, 2, 0, 0, 0, 32], &bytes(first), &bytes(second)].concat()
}

/// Statuses and bytes.
fn results(mut answer: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut results = Vec::new();
    while let [status, a, b, c, d, rest @ ..] = answer {
        let (bytes, rest) = rest.split_at(u32::from_be_bytes([*a, *b, *c, *d]) as usize);
        results.push((*status, bytes.to_vec()));
        answer = rest;
    }
    assert!(answer.is_empty());
    results
}

fn one(request: &[u8]) -> (u8, Vec<u8>) {
    let mut results = results(&answer(request));
    assert_eq!(results.len(), 1);
    results.remove(0)
}

fn done(request: &[u8]) -> Vec<u8> {
    let (status, bytes) = one(request);
    assert_eq!(status, 0, "{}", String::from_utf8_lossy(&bytes));
    bytes
}

/// A key's handle, and its length.
fn loaded(request: &[u8]) -> (u64, u32) {
    let bytes = done(request);
    let (handle, bits) = bytes.split_at(8);
    (u64::from_be_bytes(handle.try_into().unwrap()), u32::from_be_bytes(bits.try_into().unwrap()))
}

#[test]
fn a_batch_of_all_kinds_has_its_results_in_order_and_bad_ones_fail_alone() {
    let der = done(&request(GENERATE, 1024, &[1, 0, 1], b""));
    let key = PrivateKey::parse(&der).unwrap();
    let (private, bits) = loaded(&request(LOAD_DER, 0, &der, b""));
    assert_eq!(bits, 1024);
    let (public, _) = loaded(&request(LOAD_PUBLIC, 0, &key.public_key().n(), &[0, 1, 0, 1]));
    let digest = |i: u8| Hash::Sha256.digest(&[&[i]]);
    let signature = key.sign(Algorithm::RS256, &[7]).unwrap();
    let ciphertext = key.public_key().encrypt(&Padding::Pkcs1v15, b"secret").unwrap();
    let batch = [
        request(SIGN, private, &digest(7), b""),
        request(SIGN, private, b"no digest", b""),
        request(DECRYPT, private, &ciphertext, b""),
        request(VERIFY, public, &digest(7), &signature),
        request(SIGN, public, &digest(7), b""),
        request(VERIFY, public, &digest(8), &signature),
        request(DECRYPT, private, b"short", b""),
        request(ENCRYPT, public, &[1; 200], b""),
        request(SIGN, private, &digest(8), b""),
    ];
    let got = results(&answer(&batch.concat()));
    let statuses: Vec<u8> = got.iter().map(|result| result.0).collect();
    assert_eq!(statuses, [0, 5, 0, 0, 6, 1, 4, 4, 0]);
    assert_eq!(got[0].1, signature);
    assert_eq!(got[2].1, b"secret");
    assert_eq!(got[8].1, key.sign(Algorithm::RS256, &[8]).unwrap());
    let encrypted = done(&request(ENCRYPT, public, b"text", b""));
    assert_eq!(*key.decrypt(&Padding::Pkcs1v15, &encrypted).unwrap(), b"text");

    // A handle that was freed is nobody's, also after new keys.
    done(&request(FREE, private, b"", b""));
    loaded(&request(LOAD_DER, 0, &der, b""));
    assert_eq!(one(&request(SIGN, private, &digest(7), b"")).0, 6);
}

#[test]
fn numbers_may_begin_with_zeros_and_must_fit_together() {
    let key = PrivateKey::generate(1024).unwrap();
    let it = key.components();
    let numbers = [&it.n, &it.e, &*it.d, &*it.p, &*it.q, &*it.dp, &*it.dq, &*it.qinv];
    let packed = |change: usize| {
        let number = |(i, number): (usize, &&Vec<u8>)| {
            let mut number = [&[0, 0], number.as_slice()].concat();
            *number.last_mut().unwrap() ^= u8::from(i == change) << 1;
            bytes(&number)
        };
        numbers.iter().enumerate().flat_map(number).collect::<Vec<u8>>()
    };
    let (private, _) = loaded(&request(LOAD_NUMBERS, 0, &packed(numbers.len()), b""));
    let digest = Hash::Sha256.digest(&[b"message"]);
    let signature = done(&request(SIGN, private, &digest, b""));
    let public = PublicKey::from_components(&it.n, &it.e).unwrap();
    assert_eq!(public.verify(Algorithm::RS256, b"message", &signature), Ok(()));
    for change in 0..numbers.len() {
        assert_eq!(one(&request(LOAD_NUMBERS, 0, &packed(change), b"")).0, 2, "number {change}");
    }
    assert_eq!(one(&request(LOAD_NUMBERS, 0, b"", b"")).0, 6);
    assert_eq!(one(&request(GENERATE, u64::MAX, &[1, 0, 1], b"")).0, 2);
    assert_eq!(one(&request(GENERATE, 1024, &[2], b"")).0, 2);
}

/// Their numbers are those of the constants in `Hash.java`.
#[test]
fn hashes_keep_their_numbers() {
    let java = include_str!("../../../java/src/main/java/zariz/jca/Hash.java");
    let names: Vec<&str> = java
        .lines()
        .filter_map(|line| line.strip_prefix("    SHA")?.split_once("(\"")?.1.split('"').next())
        .collect();
    assert_eq!(names[2], "SHA-256");
    assert_eq!(names.len(), 11);
    for (number, name) in names.into_iter().enumerate() {
        let mut bytes = request(DESCRIBE, 0, b"", b"");
        (bytes[9], bytes[10]) = (number as u8, number as u8);
        let read = Reader(&bytes).request().unwrap();
        assert_eq!((read.hash.name(), read.mask_hash.name()), (name, name));
    }
}

#[test]
fn damaged_requests_are_refused() {
    let good = request(DESCRIBE, 0, b"first", b"second");
    let described = String::from_utf8(done(&good)).unwrap();
    assert!(described.starts_with(env!("CARGO_PKG_VERSION")), "{described}");
    assert!(answer(b"").is_empty());
    for end in 1..good.len() {
        assert_eq!(one(&good[..end]).0, 6, "{end} bytes");
        // What came before is computed.
        let both = results(&answer(&[&good, &good[..end]].concat()));
        assert_eq!(both.iter().map(|result| result.0).collect::<Vec<_>>(), [0, 6]);
    }
    for (at, byte) in [(0, 14), (0, 255), (9, 11), (10, 255), (15, 255), (24, 255)] {
        let mut bad = good.clone();
        bad[at] = byte;
        assert_eq!(one(&bad).0, 6, "byte {at}");
    }
    for operation in 0..=LOAD_PUBLIC {
        assert_ne!(one(&request(operation, u64::MAX, b"", b"")).0, 0, "operation {operation} without a key");
    }
}
