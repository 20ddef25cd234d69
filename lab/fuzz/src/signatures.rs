//! Signatures of fixed keys: any bytes, and signatures of blocks that are almost right.
//!
//! zariz accepts what OpenSSL accepts, and nothing else.

use arbitrary::{Arbitrary, Result, Unstructured};
use zariz::rsa::hazmat::primitive::{PrivateJob, private_many};
use zariz::rsa::hazmat::{pkcs1v15, pss};
use zariz::rsa::{Algorithm, Error, Hash, Message, Signed};

use crate::oracle;
use crate::script::Script;
use crate::structure::{bytes, edit, keys, mgf, one_of};

/// The target.
pub fn run(data: &[u8]) {
    // Bytes too few for a structure have none to test.
    let _ = structured(&mut Unstructured::new(data));
}

fn algorithm(u: &mut Unstructured) -> Result<Algorithm> {
    let hash = one_of(u, Hash::ALL)?;
    Ok(match u.int_in_range(0..=3)? {
        0 => Algorithm::Pkcs1v15(hash),
        1 => Algorithm::pss(hash, hash.size()),
        2 => Algorithm::pss(hash, usize::from(u8::arbitrary(u)?)),
        _ => Algorithm::Pss { hash, mgf: mgf(u)?, salt_len: one_of(u, &[0, 20, 32, usize::MAX])? },
    })
}

fn structured(u: &mut Unstructured) -> Result<()> {
    let index = usize::from(u.ratio(1, 8)?);
    let key = &keys()[index];
    let algorithm = algorithm(u)?;
    let message = bytes(u, 64)?;
    let mut digest = algorithm.hash().digest(&[&message]);
    if u.ratio(1, 16)? {
        edit(u, &mut digest)?;
    }
    let signature = if u.ratio(1, 8)? {
        u.bytes(u.len())?.to_vec()
    } else {
        let mut signature = forged(u, index, algorithm, &digest)?;
        if u.ratio(1, 4)? {
            edit(u, &mut signature)?;
        }
        signature
    };
    let public = key.public_key();
    let hashed = Message::Digest(&digest);
    let result = public.verify(algorithm, hashed, &signature);
    // In a batch beside another, each has its own result.
    let other = Signed { message: hashed, signature: &signature[..signature.len() / 2] };
    let own = [Signed { message: hashed, signature: &signature }, other];
    let both = public.verify_batch(algorithm, &[own[0], own[1], own[1], own[0], own[0]]);
    let alone = [result, public.verify(algorithm, hashed, other.signature)];
    assert_eq!(both, [0, 1, 1, 0, 0].map(|i: usize| alone[i]), "in a batch, and alone");
    // OpenSSL also takes PSS signatures without their leading zeros.
    if signature.len() != key.size() {
        assert!(result.is_err(), "{} bytes, but the key has {}", signature.len(), key.size());
    } else if digest.len() != algorithm.hash().size() {
        // OpenSSL verifies PKCS#1 v1.5 of a digest of any length.
        assert!(
            matches!(result, Err(Error::Digest { .. })),
            "{result:?} of a digest of {} bytes",
            digest.len()
        );
    } else if let Some(valid) = oracle::verifies(index, algorithm, &digest, &signature) {
        assert_eq!(
            result.is_ok(),
            valid,
            "{algorithm:?}: {result:?}, digest {digest:x?}, signature {signature:x?}"
        );
    }
    if digest == algorithm.hash().digest(&[&message]) {
        let signed = [Signed { message: Message::Bytes(&message), signature: &signature }];
        assert_eq!(public.verify_batch(algorithm, &signed)[0], result);
    }
    // What zariz signs, it verifies.
    if u.ratio(1, 8)?
        && let Ok(signature) = key.sign(algorithm, hashed)
    {
        assert_eq!(public.verify(algorithm, hashed, &signature), Ok(()));
        assert!(oracle::verifies(index, algorithm, &digest, &signature) != Some(false), "{algorithm:?}");
    }
    Ok(())
}

/// Good signatures of every hash with every padding, and signatures of blocks that are wrong in one place.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for (i, hash) in Hash::ALL.iter().enumerate() {
        for key in 0..2 {
            let size = keys()[key].size();
            let begin = Script::default().ratio(8, key == 1).one_of(hash, Hash::ALL);
            let message = |script: Script| script.bytes(64, b"message").ratio(16, false).ratio(8, false);
            let pkcs1 = message(begin.clone().int(0..=3, 0)).ratio(2, false);
            out.push(pkcs1.clone().ratio(2, false).ratio(4, false).ratio(8, i % 2 == 0).0);
            // Bleichenbacher's forgery of 2006 begins so: padding that ends early.
            let short = pkcs1.ratio(2, true).overwrite(size, 10, &[0xff, 0, 0x30]);
            out.push(short.ratio(4, false).ratio(8, false).0);
            for begin in [
                begin.clone().int(0..=3, 1),
                begin.clone().int(0..=3, 2).raw(&[20]),
                begin.clone().int(0..=3, 3).int(0..=7, 0).at(2, 4),
                begin.int(0..=3, 3).int(0..=7, 2).one_of(&Hash::Sha1, Hash::ALL).at(0, 4),
            ] {
                let pss = message(begin).ratio(8, false);
                out.push(pss.clone().ratio(2, false).ratio(4, false).ratio(8, i % 2 == 0).0);
                // Another trailer, and a bit above the modulus.
                out.push(pss.clone().ratio(2, true).overwrite(size, size - 1, &[0xcc]).ratio(4, false).0);
                out.push(pss.ratio(2, true).overwrite(size, 0, &[0x80]).ratio(4, false).0);
            }
        }
    }
    let signature = keys()[0].sign(Algorithm::RS256, b"message").expect("a good key");
    let raw = Script::default().ratio(8, false).one_of(&Hash::Sha256, Hash::ALL).int(0..=3, 0);
    let raw = raw.bytes(64, b"message").ratio(16, false).ratio(8, true);
    out.extend([raw.clone().raw(&signature).0, raw.clone().raw(&signature[1..]).0, raw.raw(&[0xff; 128]).0]);
    out
}

/// The signature of a block that is right up to a few changes.
fn forged(u: &mut Unstructured, index: usize, algorithm: Algorithm, digest: &[u8]) -> Result<Vec<u8>> {
    let key = &keys()[index];
    let block = match algorithm {
        Algorithm::Pkcs1v15(hash) => {
            let mut info = hash.digest_info().unwrap_or_default().to_vec();
            info.extend_from_slice(digest);
            if u.ratio(1, 2)? {
                edit(u, &mut info)?;
            }
            pkcs1v15::pad_signature(&[&info], key.size())
        }
        Algorithm::Pss { hash, mgf, salt_len } => {
            let salt = if u.ratio(1, 8)? { usize::from(u8::arbitrary(u)?) } else { salt_len };
            pss::encode(hash, mgf, salt, digest, key.bits())
        }
        _ => return Ok(Vec::new()),
    };
    let mut block = block.unwrap_or_else(|_| vec![1; key.size()]);
    if u.ratio(1, 2)? {
        edit(u, &mut block)?;
    }
    block.resize(key.size(), 0);
    let result = private_many(&[PrivateJob { key, number: &block }]).swap_remove(0);
    // A block that is not below the modulus has no signature.
    Ok(result.map_or(block, |signature| signature.to_vec()))
}
