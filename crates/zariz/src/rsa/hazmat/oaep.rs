//! EME-OAEP (RFC 8017 section 7.1).

use std::hint::black_box;

use zeroize::Zeroizing;

use crate::declassify;
use crate::rsa::error::Error;
use crate::rsa::hash::{Hash, Mgf};

/// Encodes a message in `size` bytes, with a fresh seed.
///
/// # Errors
/// [`Error::KeyTooShort`] if `size` has no room for any message, [`Error::MessageTooLong`] if it has none for
/// this one; [`Error::Random`].
pub fn encode(
    hash: Hash,
    mgf: Mgf,
    label: &[u8],
    message: &[u8],
    size: usize,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let hash_len = hash.size();
    let most = size.checked_sub(2 * hash_len + 2).ok_or(Error::KeyTooShort)?;
    if message.len() > most {
        return Err(Error::MessageTooLong { most });
    }
    let mut out = Zeroizing::new(vec![0; size]);
    let (seed, db) = out[1..].split_at_mut(hash_len);
    getrandom::fill(seed).map_err(|_| Error::Random)?;
    db[..hash_len].copy_from_slice(&hash.digest(&[label]));
    let at = db.len() - message.len();
    db[at - 1] = 1;
    db[at..].copy_from_slice(message);
    mgf.apply(seed, db);
    mgf.apply(db, seed);
    Ok(out)
}

/// The message in `encoded`. Overwrites `encoded`. All checks come before the one branch on their result, so
/// that nothing shows which of them failed (Manger's attack).
///
/// # Errors
/// [`Error::Decryption`] for bad padding or another label; [`Error::KeyTooShort`] if `encoded` is too short
/// for any message.
pub fn decode(hash: Hash, mgf: Mgf, label: &[u8], encoded: &mut [u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    let hash_len = hash.size();
    if encoded.len() < 2 * hash_len + 2 {
        return Err(Error::KeyTooShort);
    }
    let (first, rest) = encoded.split_at_mut(1);
    let (seed, db) = rest.split_at_mut(hash_len);
    mgf.apply(db, seed);
    mgf.apply(seed, db);
    // `bad` gathers difference bits; `start` becomes the position after the first non-zero byte.
    let mut bad = first[0];
    for (a, b) in db.iter().zip(hash.digest(&[label])) {
        bad |= a ^ b;
    }
    let (mut start, mut found) = (0usize, 0usize);
    for (i, &byte) in db.iter().enumerate().skip(hash_len) {
        // All ones if this byte is the first that is not zero.
        let nonzero = usize::from(byte).wrapping_neg() >> (usize::BITS - 1);
        let first = black_box(nonzero.wrapping_neg()) & !found;
        start |= (i + 1) & first;
        bad |= (byte ^ 1) & first as u8;
        found |= first;
    }
    bad |= !(found as u8);
    if !declassify::oaep_is_good(black_box(bad) == 0) {
        return Err(Error::Decryption);
    }
    Ok(Zeroizing::new(db[db.len() - declassify::message_length(db.len() - start)..].to_vec()))
}
