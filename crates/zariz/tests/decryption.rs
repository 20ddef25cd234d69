//! Encryption and decryption in batches, and implicit rejection, on every engine.
#![cfg(feature = "rsa")]

mod common;

use common::der::pem;
use common::keys::{Numbers, USUAL, load, loaded, with_bad_ones};
use common::numbers::{big, fixed, two_to};
use common::openssl::OpenSsl;
use common::{Random, engines};
use num_bigint::BigUint;
use zariz::Engine;
use zariz::rsa::hazmat::pkcs1v15::ImplicitRejection;
use zariz::rsa::{DecryptJob, Error, Hash, Mgf, Padding, PrivateKey, decrypt_many};
use zariz_needs::needs;

#[test]
fn a_bad_ciphertext_fails_alone_and_in_place() {
    let messages: [&[u8]; 3] = [b"one", b"", b"a third message"];
    for (key, numbers) in loaded() {
        for padding in [Padding::oaep(Hash::Sha1), Padding::Pkcs1v15] {
            let what = format!("{padding:?}, {} bits, {}", key.bits(), key.engine());
            let good =
                messages.map(|message| key.public_key().encrypt(&padding, message).expect("a ciphertext"));
            let mut items = with_bad_ones(numbers, &good);
            // A number in range that is no right encoding.
            let mut garbled = good[0].clone();
            garbled[numbers.size() / 2] ^= 1;
            items.push((garbled, None));
            items.push((good[2].clone(), Some(2)));
            let results =
                key.decrypt_batch(&padding, &items.iter().map(|(bytes, _)| &bytes[..]).collect::<Vec<_>>());
            assert_eq!(results.len(), items.len(), "{what}");
            for (i, ((bytes, expected), result)) in items.iter().zip(results).enumerate() {
                match (expected, result) {
                    (Some(expected), Ok(message)) => {
                        assert_eq!(message[..], *messages[*expected], "{what}, {i}")
                    }
                    (None, Err(Error::OutOfRange)) => assert_eq!(bytes.len(), key.size(), "{what}, {i}"),
                    (None, Err(Error::Length { expected, actual })) => {
                        assert_ne!(expected, actual, "{what}, {i}");
                        assert_eq!((expected, actual), (key.size(), bytes.len()), "{what}, {i}");
                    }
                    (None, Err(Error::Decryption)) => {
                        assert!(i == items.len() - 2 && padding != Padding::Pkcs1v15, "{what}, {i}");
                    }
                    (None, Ok(message)) => {
                        assert!(i == items.len() - 2 && padding == Padding::Pkcs1v15, "{what}, {i}");
                        assert_ne!(message[..], *messages[0], "{what}");
                    }
                    (expected, result) => panic!("{what}, {i}: {expected:?}, but {result:?}"),
                }
            }
        }
    }
}

#[test]
fn a_batch_of_messages_is_encrypted() {
    for (key, _) in loaded() {
        for padding in [Padding::oaep(Hash::Sha1), Padding::Pkcs1v15] {
            let what = format!("{padding:?}, {} bits, {}", key.bits(), key.engine());
            let long = vec![1; key.size()];
            let messages: [&[u8]; 4] = [b"one", &long, b"", b"three"];
            let results = key.public_key().encrypt_batch(&padding, &messages);
            assert_eq!(results.len(), 4, "{what}");
            for (i, (message, result)) in messages.iter().zip(&results).enumerate() {
                match result {
                    Ok(ciphertext) => {
                        let found = key.decrypt(&padding, ciphertext).expect("a message");
                        assert!(i != 1 && found[..] == **message, "{what}, {i}");
                    }
                    Err(error) => {
                        assert!(i == 1 && matches!(error, Error::MessageTooLong { .. }), "{what}, {i}")
                    }
                }
            }
            assert!(key.public_key().encrypt_batch(&padding, &[]).is_empty());
        }
    }
}

#[test]
fn keys_engines_and_paddings_mixed_in_one_call() {
    let mut random = Random::new(41);
    let keys = loaded();
    let paddings = [Padding::oaep(Hash::Sha256), Padding::Pkcs1v15, Padding::oaep(Hash::Sha1)];
    let items: Vec<_> = (0..40)
        .map(|i| {
            let (key, padding) = (&keys[random.below(keys.len())].0, &paddings[random.below(3)]);
            let message = random.bytes(i);
            let mut ciphertext = key.public_key().encrypt(padding, &message).expect("a ciphertext");
            // Some are too long.
            ciphertext.resize(ciphertext.len() + usize::from(i % 7 == 3), 0);
            (key, padding, message, ciphertext)
        })
        .collect();
    let jobs: Vec<_> =
        items.iter().map(|(key, padding, _, ciphertext)| DecryptJob { key, padding, ciphertext }).collect();
    let results = decrypt_many(&jobs);
    assert_eq!(results.len(), items.len());
    for (i, ((key, padding, message, ciphertext), result)) in items.iter().zip(results).enumerate() {
        let what = format!("{i}: {padding:?}, {} bits, {}", key.bits(), key.engine());
        match result {
            Ok(found) => assert_eq!(found[..], message[..], "{what}"),
            Err(error) => {
                assert_eq!(error, Error::Length { expected: key.size(), actual: ciphertext.len() }, "{what}");
                assert_eq!(i % 7, 3, "{what}");
            }
        }
    }
}

#[test]
fn messages_as_long_as_fit_and_one_byte_more() {
    for (key, _) in loaded() {
        for hash in [Hash::Sha1, Hash::Sha256, Hash::Sha512, Hash::Shake256] {
            check_longest(&key, &Padding::oaep(hash), key.size().checked_sub(2 * hash.size() + 2));
        }
        let shake = Padding::Oaep { hash: Hash::Shake128, mgf: Mgf::Shake256, label: vec![7; 3000] };
        check_longest(&key, &shake, key.size().checked_sub(66));
        check_longest(&key, &Padding::Pkcs1v15, Some(key.size() - 11));
    }
}

fn check_longest(key: &PrivateKey, padding: &Padding, most: Option<usize>) {
    let what = format!("{padding:?}, {} bits, {}", key.bits(), key.engine());
    let Some(most) = most else {
        assert_eq!(key.public_key().encrypt(padding, b""), Err(Error::KeyTooShort), "{what}");
        assert_eq!(key.decrypt(padding, &vec![0; key.size()]).err(), Some(Error::KeyTooShort), "{what}");
        return;
    };
    for len in [0, 1, most / 2, most] {
        let message: Vec<u8> = (0..len).map(|i| i as u8).collect();
        let [a, b] = [(); 2].map(|()| key.public_key().encrypt(padding, &message).expect("a ciphertext"));
        assert_ne!(a, b, "{what}: encryption is randomised");
        for result in key.decrypt_batch(padding, &[&a, &b]) {
            assert_eq!(result.unwrap_or_else(|error| panic!("{what}: {error}"))[..], message, "{what}");
        }
    }
    for len in [most + 1, most + 2, key.size(), 100_000] {
        assert_eq!(
            key.public_key().encrypt(padding, &vec![1; len]),
            Err(Error::MessageTooLong { most }),
            "{what}"
        );
    }
}

#[test]
fn oaep_wants_the_same_label_and_hashes() {
    let padding =
        |hash, mgf, label: &[u8]| Padding::Oaep { hash, mgf: Mgf::Mgf1(mgf), label: label.to_vec() };
    for engine in engines() {
        let key = load(&USUAL[0], engine);
        let right = padding(Hash::Sha1, Hash::Sha256, b"label");
        let ciphertext = key.public_key().encrypt(&right, b"message").expect("a ciphertext");
        assert_eq!(key.decrypt(&right, &ciphertext).expect("the message")[..], *b"message");
        for wrong in [
            padding(Hash::Sha1, Hash::Sha256, b"labem"),
            padding(Hash::Sha1, Hash::Sha256, b""),
            padding(Hash::Sha256, Hash::Sha256, b"label"),
            padding(Hash::Sha1, Hash::Sha1, b"label"),
        ] {
            assert_eq!(key.decrypt(&wrong, &ciphertext).err(), Some(Error::Decryption), "{wrong:?}");
        }
    }
}

/// Numbers at which blinding, the remainder theorem or reduction could go wrong: never a fault, the same
/// everywhere.
#[test]
fn ciphertexts_that_are_special_numbers() {
    let keys = loaded();
    for numbers in &USUAL[..3] {
        let (n, p, q) = (&numbers.n, &numbers.p, &numbers.q);
        let special: [BigUint; 14] = [
            big(0),
            big(1),
            big(2),
            n - big(1),
            n - big(2),
            n / big(2),
            p.clone(),
            q.clone(),
            n - p,
            n - q,
            p + big(1),
            q - big(1),
            p * (q / big(3)),
            (two_to(n.bits() as usize - 1)) - big(1),
        ];
        let ciphertexts = special.map(|number| fixed(&number, numbers.size()));
        let mut before = None;
        for (key, _) in keys.iter().filter(|(_, other)| std::ptr::eq(*other, numbers)) {
            let results =
                key.decrypt_batch(&Padding::Pkcs1v15, &ciphertexts.each_ref().map(|bytes| &bytes[..]));
            assert!(results.iter().all(Result::is_ok), "{} bits on {}", key.bits(), key.engine());
            assert_eq!(*before.get_or_insert_with(|| results.clone()), results, "{}", key.engine());
            for ciphertext in &ciphertexts {
                assert_eq!(
                    key.decrypt(&Padding::oaep(Hash::Sha1), ciphertext).err(),
                    Some(Error::Decryption)
                );
            }
        }
    }
}

/// Against OpenSSL's own answers: see the file's first lines.
#[test]
fn implicit_rejection_gives_the_messages_of_openssl() {
    let file: serde_json::Value =
        serde_json::from_slice(include_bytes!("data/implicit_rejection.json")).expect("the vectors");
    let mut vectors = 0;
    for group in file["keys"].as_array().expect("keys") {
        let text = group["key"].as_str().expect("a PEM block");
        let group = group["vectors"].as_array().expect("vectors");
        let [ciphertexts, messages] = ["ciphertext", "message"]
            .map(|name| group.iter().map(|vector| hex(&vector[name])).collect::<Vec<_>>());
        for engine in engines() {
            let key =
                PrivateKey::parse(text.as_bytes()).expect("a key").with_engine(engine).expect("available");
            let ciphertexts: Vec<_> = ciphertexts.iter().map(|ciphertext| &ciphertext[..]).collect();
            let results = key.decrypt_batch(&Padding::Pkcs1v15, &ciphertexts);
            for ((vector, message), result) in group.iter().zip(&messages).zip(results) {
                let result = result.expect("a message or a substitute");
                assert_eq!(result[..], message[..], "{}, {} bits, {engine}", vector["comment"], key.bits());
            }
        }
        vectors += group.len();
    }
    assert_eq!(vectors, 4 * 18);
}

/// Calls a function with keys, and with ciphertexts that have no padding and the substitutes of their
/// messages. The mask of a substitute's length has a bit more where ten bytes less than the key make a power
/// of two.
fn with_substitutes(check: impl Fn(&Numbers, &[(Vec<u8>, Vec<u8>)])) {
    let mut random = Random::new(33);
    for bits in [1096, 1097, 1104, 1105, 2121, 2128, 2129, 4169] {
        let numbers = Numbers::generate(bits as u64, bits / 2, bits - bits / 2, &big(65_537));
        let size = numbers.size();
        let key = load(&numbers, Engine::best());
        let encoded: Vec<Vec<u8>> = (0..20).map(|_| [vec![0, 3], random.bytes(size - 2)].concat()).collect();
        let ciphertexts: Vec<Vec<u8>> = encoded.iter().map(|encoded| numbers.raw_public(encoded)).collect();
        let results =
            key.decrypt_batch(&Padding::Pkcs1v15, &ciphertexts.iter().map(|c| &c[..]).collect::<Vec<_>>());
        let substitutes = results.into_iter().map(|result| result.expect("a substitute").to_vec());
        check(&numbers, &ciphertexts.into_iter().zip(substitutes).collect::<Vec<_>>());
    }
}

/// Against a model of OpenSSL's `ossl_rsa_padding_check_PKCS1_type_2`.
#[test]
fn substitutes_where_the_bound_is_a_power_of_two() {
    with_substitutes(|numbers, pairs| {
        for (ciphertext, substitute) in pairs {
            let expected = openssl_substitute(&fixed(&numbers.d, numbers.size()), ciphertext);
            assert_eq!(*substitute, expected, "{} bits", numbers.n.bits());
        }
    });
}

#[needs("openssl")]
#[test]
fn openssl_gives_the_same_substitutes() {
    with_substitutes(|numbers, pairs| {
        let openssl = OpenSsl::new();
        openssl.write("key.pem", pem("RSA PRIVATE KEY", &numbers.pkcs1_der()));
        for (ciphertext, substitute) in pairs {
            // Versions without implicit rejection refuse.
            let Ok(theirs) = openssl.attempt("pkeyutl -decrypt -inkey key.pem", ciphertext) else { continue };
            assert_eq!(*substitute, theirs, "{} bits", numbers.n.bits());
        }
    });
}

/// What OpenSSL's code gives for a ciphertext with bad padding, `d` and `ciphertext` as long as the key.
fn openssl_substitute(d: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    let hmac = |key: &[u8], message: &[u8]| {
        let pad = |byte: u8| (0..64).map(|i| key.get(i).unwrap_or(&0) ^ byte).collect::<Vec<u8>>();
        Hash::Sha256.digest(&[&pad(0x5c), &Hash::Sha256.digest(&[&pad(0x36), message])])
    };
    let kdk = hmac(&Hash::Sha256.digest(&[d]), ciphertext);
    let prf = |label: &[u8], size: usize| -> Vec<u8> {
        let bits = (8 * size as u16).to_be_bytes();
        let block = |i: usize| hmac(&kdk, &[&(i as u16).to_be_bytes(), label, &bits].concat());
        let mut out: Vec<u8> = (0..size.div_ceil(32)).flat_map(block).collect();
        out.truncate(size);
        out
    };
    let size = ciphertext.len();
    let (message, lengths) = (prf(b"message", size), prf(b"length", 256));
    let max_sep_offset = size as u16 - 2 - 8;
    let mut mask = max_sep_offset;
    for shift in [1, 2, 4, 8] {
        mask |= mask >> shift;
    }
    let mut candidates = lengths.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]) & mask);
    let length = candidates.rfind(|&candidate| candidate < max_sep_offset).unwrap_or(0);
    message[size - usize::from(length)..].to_vec()
}

fn hex(value: &serde_json::Value) -> Vec<u8> {
    let digits = value.as_str().expect("hexadecimal text");
    (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hexadecimal"))
        .collect()
}

#[test]
fn substitutes_depend_on_key_and_ciphertext_alone() {
    let numbers = &USUAL[0];
    let other_numbers = Numbers::generate(99, 512, 512, &big(65_537));
    // Padding of the wrong block type, with any random bytes.
    let mut random = Random::new(32);
    let encoded: Vec<Vec<u8>> =
        (0..60).map(|_| [vec![0, 3], random.bytes(numbers.size() - 2)].concat()).collect();
    let ciphertexts: Vec<Vec<u8>> = encoded.iter().map(|encoded| numbers.raw_public(encoded)).collect();
    let mut all = Vec::new();
    for engine in engines() {
        let key = load(numbers, engine);
        let decrypt = |key: &PrivateKey| -> Vec<Vec<u8>> {
            let ciphertexts: Vec<_> = ciphertexts.iter().map(|ciphertext| &ciphertext[..]).collect();
            let results = key.decrypt_batch(&Padding::Pkcs1v15, &ciphertexts);
            results.into_iter().map(|result| result.expect("a substitute").to_vec()).collect()
        };
        let first = decrypt(&key);
        assert_eq!(first, decrypt(&key), "the same twice");
        assert_eq!(first, decrypt(&load(numbers, engine)), "the same from the key loaded again");
        for (ciphertext, substitute) in ciphertexts.iter().zip(&first) {
            assert_eq!(
                key.decrypt(&Padding::Pkcs1v15, ciphertext).expect("a substitute")[..],
                substitute[..]
            );
            assert!(substitute.len() <= key.size() - 11);
        }
        all.push(first);
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "the same on every engine");

    let first = all.swap_remove(0);
    let mut lengths: Vec<_> = first.iter().map(Vec::len).collect();
    lengths.sort();
    lengths.dedup();
    assert!(lengths.len() > 25, "lengths vary: {lengths:?}");
    let mut long: Vec<_> = first.into_iter().filter(|substitute| substitute.len() >= 8).collect();
    let count = long.len();
    assert!(count > 30);
    long.sort();
    long.dedup();
    assert_eq!(long.len(), count, "another ciphertext, another substitute");

    // One ciphertext under two keys (below both moduli).
    let [a, b] = [numbers, &other_numbers].map(|numbers| load(numbers, Engine::best()));
    let common: Vec<_> =
        (1..40).map(|i| fixed(&(big(i) * big(0x1234_5678_9abc_def1)), numbers.size())).collect();
    for ciphertext in &common {
        let [a, b] = [&a, &b].map(|key| key.decrypt(&Padding::Pkcs1v15, ciphertext).expect("a substitute"));
        assert!(a.len().max(b.len()) < 4 || a != b, "another key, another substitute");
    }
}

/// Numbers of every length are good or an error, and no length makes it panic.
#[test]
fn substitutes_of_numbers_of_any_length() {
    for size in [0, 1, 10, 11, 12, 255, 256, 2047, 2048, 2049, 8191, 8192, 8193, 65_535, 65_536, 100_000] {
        let made = ImplicitRejection::new(&vec![1; size], &vec![2; size]).map(|_| ());
        let expected = match size {
            0..=10 => Err(Error::KeyTooShort),
            11..=2048 => Ok(()),
            _ => Err(Error::Length { expected: 2048, actual: size }),
        };
        assert_eq!(made, expected, "{size} bytes");
    }
    for (d, ciphertext) in [(256, 255), (255, 256), (2049, 2048), (2048, 2049), (0, 11)] {
        let made = ImplicitRejection::new(&vec![1; d], &vec![2; ciphertext]).map(|_| ());
        assert_eq!(
            made,
            Err(Error::Length { expected: d.min(2048), actual: ciphertext }),
            "{d}, {ciphertext}"
        );
    }
}
