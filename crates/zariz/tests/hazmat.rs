//! The primitives and the paddings apart, as a program puts them together that gathers requests itself.
#![cfg(feature = "rsa")]

mod common;

use common::engines::engines;
use common::keys::{Numbers, load};
use num_bigint::BigUint;
use zariz::rsa::hazmat::primitive::{PrivateJob, PublicJob, private_many, public_many_vartime};
use zariz::rsa::hazmat::{oaep, pkcs1v15, pss};
use zariz::rsa::{Algorithm, Error, Hash, Message, Mgf, Padding, PrivateKey, check_failures};
use zariz::{Dispatch, Method};

const HASH: Hash = Hash::Sha256;
const MGF: Mgf = Mgf::Mgf1(HASH);

fn keys() -> Vec<PrivateKey> {
    [1024, 1025, 2048].map(|bits| load(&Numbers::of_bits(bits), Dispatch::Auto)).into()
}

#[test]
fn put_together_they_are_signatures_and_plaintexts() {
    let digest = HASH.digest(&[b"message"]);
    for key in keys() {
        let (public, size, bits) = (key.public_key(), key.size(), key.bits());
        let sign = |number: &[u8]| {
            private_many(&[PrivateJob { key: &key, number }]).swap_remove(0).expect("a signature")
        };

        let open = |number: &[u8]| {
            public_many_vartime(&[PublicJob { key: public, number }]).swap_remove(0).expect("a number")
        };

        let info = HASH.digest_info().expect("a name");
        let signature = sign(&pkcs1v15::pad_signature(&[info, &digest], size).expect("room"));
        assert_eq!(signature[..], key.sign(Algorithm::RS256, b"message").expect("a signature"));
        let opened = open(&signature);
        assert_eq!(pkcs1v15::unpad_signature_vartime(&opened), Ok(&[info, &digest].concat()[..]));

        let longest = pss::longest_salt(HASH, bits).expect("room");
        for salt in [0, 32, longest] {
            let signature = sign(&pss::encode(HASH, MGF, salt, &digest, bits).expect("room"));
            assert_eq!(
                public.verify(Algorithm::pss(HASH, salt), Message::Digest(&digest), &signature),
                Ok(()),
                "salt {salt}"
            );
            let verify = |salt| pss::verify(HASH, MGF, salt, &digest, &mut open(&signature), bits);
            assert_eq!(verify(None), Ok(()), "salt {salt}, found");
            assert_eq!(verify(Some(salt)), Ok(()), "salt {salt}");
            let other = if salt == 0 { 1 } else { salt - 1 };
            assert_eq!(verify(Some(other)), Err(Error::SaltLength { expected: other, actual: salt }));
            assert_eq!(verify(Some(longest + 1)), Err(Error::KeyTooShort));
        }
        assert_eq!(pss::encode(HASH, MGF, longest + 1, &digest, bits), Err(Error::KeyTooShort));
        assert_eq!(
            pss::encode(HASH, MGF, 0, &digest[1..], bits),
            Err(Error::Digest { expected: 32, actual: 31 })
        );

        let block = oaep::encode(HASH, MGF, b"label", b"secret", size).expect("room");
        let ciphertext = open(&block);
        let padding = Padding::Oaep { hash: HASH, mgf: MGF, label: b"label".to_vec() };
        assert_eq!(key.decrypt(&padding, &ciphertext).expect("a message")[..], *b"secret");

        // A ciphertext of zero decrypts to bad padding: what replaces it is the same wherever it is made.
        let zero = vec![0; size];
        let block = sign(&zero);
        let substitute = key.implicit_rejection(&zero).expect("as long as the key");
        let message = pkcs1v15::decode_message(&block, &substitute).expect("as long as the key");
        let short = pkcs1v15::decode_message(&block[1..], &substitute);
        assert_eq!(short, Err(Error::Length { expected: size, actual: size - 1 }));
        assert_eq!(*message, *key.decrypt(&Padding::Pkcs1v15, &zero).expect("a message"));
    }
}

#[test]
fn bad_numbers_fail_alone_and_each_key_has_its_own_lane() {
    let keys = keys();
    let good: Vec<Vec<u8>> = keys.iter().map(|key| vec![0x42; key.size()]).map(below).collect();
    let (short, large) = (vec![1; 3], vec![0xff; keys[2].size()]);
    let jobs = [(0, &good[0]), (1, &short), (1, &good[1]), (2, &large), (2, &good[2]), (0, &good[2])];
    let results = private_many(&jobs.map(|(i, number)| PrivateJob { key: &keys[i], number }));
    let wrong = |key: &PrivateKey, actual| Err(Error::Length { expected: key.size(), actual });
    assert_eq!(results[1], wrong(&keys[1], 3));
    assert_eq!(results[3], Err(Error::OutOfRange));
    assert_eq!(results[5], wrong(&keys[0], keys[2].size()));
    for (i, k) in [(0, 0), (2, 1), (4, 2)] {
        let number = results[i].as_ref().expect("a number");
        let key = keys[k].public_key();
        let opened = public_many_vartime(&[&number[..3], number].map(|number| PublicJob { key, number }));
        assert_eq!(opened[0], Err(Error::Length { expected: keys[k].size(), actual: 3 }));
        assert_eq!(opened[1].as_ref(), Ok(&good[k]), "key {k}");
    }
    assert!(private_many(&[]).is_empty() && public_many_vartime(&[]).is_empty());
}

/// Batches of the same moduli share what is prepared of them; others must not.
#[test]
fn batches_of_the_same_keys_and_of_others() {
    let numbers = [1, 2, 3].map(|seed| Numbers::generate(seed, 512, 512, &BigUint::from(65537u32)));
    // Keys of batches of eight, four, two or one: the same, other keys, the same in other lanes, and fewer.
    let keys =
        ["00000000", "00000000", "11111111", "01201201", "01201201", "10201201", "00001111", "0000", "000"];
    let order: Vec<usize> = keys.concat().bytes().map(|digit| usize::from(digit - b'0')).collect();
    let bases: Vec<_> = (0..order.len()).map(|i| below(vec![i as u8 + 1; 128])).collect();
    let expected: Vec<_> =
        order.iter().zip(&bases).map(|(&key, base)| numbers[key].raw_public(base)).collect();
    for dispatch in engines().into_iter().map(Dispatch::Only).chain([Dispatch::Auto]) {
        let keys = numbers.each_ref().map(|numbers| load(numbers, dispatch));
        let job = |(&key, base): (&usize, _)| PublicJob { key: keys[key].public_key(), number: base };
        let jobs: Vec<_> = order.iter().zip(bases.iter().map(Vec::as_slice)).map(job).collect();
        let opened: Vec<_> =
            public_many_vartime(&jobs).into_iter().map(|number| number.expect("a number")).collect();
        assert_eq!(opened, expected, "{dispatch}");
    }
}

/// Batches with clones of keys, the same keys loaded again, and copies with another method: in every order,
/// what one uses is not another's. All results are right the first time: a wrong one would be computed again.
#[test]
fn private_batches_of_clones_and_of_others() {
    const ORDERS: [&str; 9] = [
        // Of eight: clones in turn; all in turn; the same key loaded twice.
        "01230123",
        "01234562",
        "04040404",
        // Of 19, so of two batches of eight and a part, or more of fewer: one after the other, and mixed.
        "0000000044444444000",
        "0101010145454545010",
        "0000000022222222333",
        "0123456012345601234",
        "6543210654321065432",
        "5555555500000000555",
    ];
    let numbers = [1, 2].map(|seed| Numbers::generate(seed, 512, 512, &BigUint::from(65537u32)));
    let bases: Vec<_> = (0..19).map(|i| below(vec![i + 1; 128])).collect();
    let expected =
        numbers.each_ref().map(|numbers| bases.iter().map(|x| numbers.raw_private(x)).collect::<Vec<_>>());
    for dispatch in engines().into_iter().map(Dispatch::Only).chain([Dispatch::Auto]) {
        let [a, b] = numbers.each_ref().map(|numbers| load(numbers, dispatch));
        let [a_again, b_again] = numbers.each_ref().map(|numbers| load(numbers, dispatch));
        let (a_clone, b_clone, tiled) = (a.clone(), b.clone(), a.with_method(Method::TILED));
        let keys = [(0, a), (0, a_clone), (1, b), (1, b_clone), (0, a_again), (1, b_again), (0, tiled)];
        for order in ORDERS {
            let chosen = || order.bytes().map(|digit| &keys[usize::from(digit - b'0')]);
            let jobs: Vec<_> =
                chosen().zip(&bases).map(|((_, key), number)| PrivateJob { key, number }).collect();
            for (i, (result, (of, _))) in private_many(&jobs).iter().zip(chosen()).enumerate() {
                assert_eq!(
                    result.as_ref().map(|number| &number[..]),
                    Ok(&expected[*of][i][..]),
                    "{dispatch}, {order}, {i}"
                );
            }
        }
    }
    assert_eq!(check_failures(), 0);
}

/// The number, below every modulus of its length.
fn below(mut number: Vec<u8>) -> Vec<u8> {
    number[0] = 0;
    number
}

#[test]
fn signature_padding_has_one_form() {
    let block = pkcs1v15::pad_signature(&[b"pay", b"load"], 32).expect("room");
    assert_eq!(pkcs1v15::unpad_signature_vartime(&block), Ok(&b"payload"[..]));
    for (at, byte) in [(0, 1), (1, 2), (2, 0), (9, 0), (20, 0xfe), (24, 1), (24, 0xff)] {
        let mut bad = block.clone();
        bad[at] = byte;
        assert_eq!(pkcs1v15::unpad_signature_vartime(&bad), Err(Error::Verification), "byte {at} = {byte}");
    }
    assert_eq!(pkcs1v15::unpad_signature_vartime(&[0, 1, 255, 255]), Err(Error::Verification));
    assert_eq!(pkcs1v15::unpad_signature_vartime(&[]), Err(Error::Verification));
    assert_eq!(pkcs1v15::pad_signature(&[&[0; 22]], 32), Err(Error::MessageTooLong { most: 21 }));
    assert_eq!(pkcs1v15::pad_signature(&[], 3), Err(Error::KeyTooShort));
}
