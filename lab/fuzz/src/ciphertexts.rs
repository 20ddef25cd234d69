//! Ciphertexts for fixed keys: any bytes, and blocks that are almost padded well.
//!
//! OAEP gives what OpenSSL gives. PKCS#1 v1.5 gives the message of a good block, and for a bad one a
//! substitute that is always the same.

use arbitrary::{Result, Unstructured};
use zariz::rsa::hazmat::primitive::{PublicJob, public_many_vartime};
use zariz::rsa::hazmat::{oaep, pkcs1v15};
use zariz::rsa::{Error, Hash, Padding};

use crate::oracle;
use crate::script::Script;
use crate::structure::{bytes, edit, keys, mgf, one_of};

/// The target.
pub fn run(data: &[u8]) {
    // Bytes too few for a structure have none to test.
    let _ = structured(&mut Unstructured::new(data));
}

fn structured(u: &mut Unstructured) -> Result<()> {
    let index = usize::from(u.ratio(1, 8)?);
    let key = &keys()[index];
    let padding = match u.int_in_range(0..=3)? {
        0 | 1 => Padding::Pkcs1v15,
        2 => Padding::oaep(one_of(u, Hash::ALL)?),
        _ => Padding::Oaep { hash: one_of(u, Hash::ALL)?, mgf: mgf(u)?, label: bytes(u, 40)? },
    };
    let (block, ciphertext) = if u.ratio(1, 8)? {
        (None, u.bytes(u.len())?.to_vec())
    } else {
        let message = bytes(u, 117)?;
        let block = match &padding {
            Padding::Oaep { hash, mgf, label } => oaep::encode(*hash, *mgf, label, &message, key.size()),
            _ => pkcs1v15::encode_message(&message, key.size()),
        };
        let mut block = block.map_or_else(|_| vec![1; key.size()], |block| block.to_vec());
        edit(u, &mut block)?;
        block.resize(key.size(), 0);
        match public_many_vartime(&[PublicJob { key: key.public_key(), number: &block }]).swap_remove(0) {
            Ok(mut ciphertext) if u.ratio(1, 8)? => {
                edit(u, &mut ciphertext)?;
                (None, ciphertext)
            }
            Ok(ciphertext) => (Some(block), ciphertext),
            // Not below the modulus.
            Err(_) => (None, block),
        }
    };
    let result = key.decrypt(&padding, &ciphertext);
    for again in key.decrypt_batch(&padding, &[ciphertext.as_slice(); 3]) {
        assert!(again == result, "other results in a batch");
    }
    match &padding {
        Padding::Oaep { hash, mgf, label } => {
            // OpenSSL also takes ciphertexts without their leading zeros.
            if ciphertext.len() != key.size() {
                assert!(result.is_err(), "{} bytes, but the key has {}", ciphertext.len(), key.size());
            } else if let Some(expected) = oracle::decrypts(index, *hash, *mgf, label, &ciphertext) {
                let message = result.as_ref().ok().map(|message| message.to_vec());
                assert_eq!(message, expected, "{padding:?}: {result:?}, ciphertext {ciphertext:x?}");
            }
        }
        _ => match (&result, block) {
            (Ok(message), Some(block)) => {
                if let Some(expected) = unpadded(&block) {
                    assert_eq!(message[..], *expected);
                }
                assert!(message.len() <= key.size() - 11);
            }
            (Ok(message), None) => assert!(message.len() <= key.size() - 11),
            (Err(error), Some(_)) => panic!("a ciphertext below the modulus is refused: {error}"),
            (Err(error), None) => {
                assert!(
                    matches!(error, Error::Length { .. } | Error::OutOfRange | Error::Decryption),
                    "{error}"
                );
            }
        },
    }
    Ok(())
}

/// Good ciphertexts of every padding, and blocks that are wrong in one place.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let begin = |key: usize| Script::default().ratio(8, key == 1);
    for key in 0..2 {
        let size = keys()[key].size();
        let pkcs1 = |message: &[u8]| begin(key).int(0..=3, 0).ratio(8, false).bytes(117, message);
        for message in [&b""[..], b"m", &[7; 48], &[7; 117]] {
            out.push(pkcs1(message).unedited().ratio(8, false).0);
        }
        // The first bytes, a zero in the first eight of the padding, and no zero behind it.
        for (at, bytes) in [(0, &[1][..]), (1, &[1]), (5, &[0]), (9, &[0]), (10, &[0]), (size - 8, &[7])] {
            out.push(pkcs1(b"message").overwrite(size, at, bytes).ratio(8, false).0);
        }
        for hash in Hash::ALL {
            let simple = begin(key).int(0..=3, 2).one_of(hash, Hash::ALL);
            let other = begin(key).int(0..=3, 3).one_of(hash, Hash::ALL);
            let sha1 = other.clone().int(0..=7, 2).one_of(&Hash::Sha1, Hash::ALL);
            for begin in [simple, sha1.bytes(40, b"label"), other.int(0..=7, 1).bytes(40, b"")] {
                let oaep = begin.ratio(8, false).bytes(117, b"message");
                out.push(oaep.clone().unedited().ratio(8, false).0);
                for at in [0, 1, size / 2, size - 1] {
                    out.push(oaep.clone().overwrite(size, at, &[0]).ratio(8, false).0);
                }
            }
        }
    }
    let ciphertext = keys()[0].public_key().encrypt(&Padding::Pkcs1v15, b"message").expect("a short message");
    let raw = begin(0).int(0..=3, 0).ratio(8, true);
    out.extend([
        raw.clone().raw(&ciphertext).0,
        raw.clone().raw(&ciphertext[1..]).0,
        raw.raw(&[0xff; 128]).0,
    ]);
    out
}

/// The message of a block that is padded well: 0, 2, at least eight bytes that are not zero, 0, the message.
fn unpadded(block: &[u8]) -> Option<&[u8]> {
    let rest = block.strip_prefix(&[0, 2])?;
    let zero = rest.iter().position(|&byte| byte == 0)?;
    (zero >= 8).then(|| &rest[zero + 1..])
}
