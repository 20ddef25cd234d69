//! EMSA-PSS (RFC 8017 section 9.1).

use zeroize::Zeroizing;

use crate::rsa::error::Error;
use crate::rsa::hash::{Hash, Mgf};
use crate::rsa::message::Message;

/// The longest salt that fits next to a digest in a modulus of `bits` bits; `None` if even the digest does
/// not fit.
pub fn longest_salt(hash: Hash, bits: usize) -> Option<usize> {
    bits.checked_sub(1)?.div_ceil(8).checked_sub(hash.size() + 2)
}

/// Encodes a digest with a fresh salt for a modulus of `bits` bits, in `⌈bits/8⌉` bytes.
///
/// # Errors
/// [`Error::KeyTooShort`] if digest and salt do not fit; [`Error::Digest`] for a digest of the wrong length;
/// [`Error::Random`].
pub fn encode(hash: Hash, mgf: Mgf, salt_len: usize, digest: &[u8], bits: usize) -> Result<Vec<u8>, Error> {
    check_length(hash, salt_len, bits)?;
    let mut salt = Zeroizing::new(vec![0; salt_len]);
    getrandom::fill(&mut salt).map_err(|_| Error::Random)?;
    encode_with(hash, mgf, &salt, digest, bits)
}

/// Like [`encode`], with a salt of the caller's.
pub(in crate::rsa) fn encode_with(
    hash: Hash,
    mgf: Mgf,
    salt: &[u8],
    digest: &[u8],
    bits: usize,
) -> Result<Vec<u8>, Error> {
    check_length(hash, salt.len(), bits)?;
    Message::Digest(digest).check(hash)?;
    let (em_bits, size) = (bits - 1, bits.div_ceil(8));
    let em_len = em_bits.div_ceil(8);
    let hash_len = hash.size();
    let h = hash.digest(&[&[0; 8], digest, salt]);
    let mut out = vec![0; size];
    let em = &mut out[size - em_len..];
    let (db, tail) = em.split_at_mut(em_len - hash_len - 1);
    let at = db.len() - salt.len();
    db[at - 1] = 1;
    db[at..].copy_from_slice(salt);
    mgf.apply(&h, db);
    db[0] &= 0xff >> (8 * em_len - em_bits);
    tail[..hash_len].copy_from_slice(&h);
    tail[hash_len] = 0xbc;
    Ok(out)
}

/// Checks that `encoded`, `⌈bits/8⌉` bytes, encodes the digest with a salt of `salt_len` bytes, or of any
/// length for `None`. Overwrites `encoded`.
///
/// # Errors
/// [`Error::Verification`] if it has not; [`Error::SaltLength`] if only the salt's length is wrong;
/// [`Error::KeyTooShort`] if digest and salt do not fit; [`Error::Digest`] for a digest of the wrong length;
/// [`Error::Length`] if `encoded` is not `⌈bits/8⌉` bytes long.
pub fn verify(
    hash: Hash,
    mgf: Mgf,
    salt_len: Option<usize>,
    digest: &[u8],
    encoded: &mut [u8],
    bits: usize,
) -> Result<(), Error> {
    check_length(hash, salt_len.unwrap_or(0), bits)?;
    Message::Digest(digest).check(hash)?;
    let (expected, actual) = (bits.div_ceil(8), encoded.len());
    if actual != expected {
        return Err(Error::Length { expected, actual });
    }
    let em_bits = bits - 1;
    let em_len = em_bits.div_ceil(8);
    let hash_len = hash.size();
    let (above, em) = encoded.split_at_mut(encoded.len() - em_len);
    let (db, tail) = em.split_at_mut(em_len - hash_len - 1);
    let top = 0xff >> (8 * em_len - em_bits);
    if above.iter().any(|&byte| byte != 0) || tail[hash_len] != 0xbc || db[0] & !top != 0 {
        return Err(Error::Verification);
    }
    let h = &tail[..hash_len];
    mgf.apply(h, db);
    db[0] &= top;
    // The salt follows the first byte that is not zero.
    let one = db.iter().position(|&byte| byte != 0).ok_or(Error::Verification)?;
    let at = one + 1;
    if db[one] != 1 || hash.digest(&[&[0; 8], digest, &db[at..]]) != h {
        return Err(Error::Verification);
    }
    let actual = db.len() - at;
    match salt_len {
        Some(expected) if expected != actual => Err(Error::SaltLength { expected, actual }),
        _ => Ok(()),
    }
}

/// Checks that hash and salt fit. Both lengths may come from an attacker.
fn check_length(hash: Hash, salt_len: usize, bits: usize) -> Result<(), Error> {
    if longest_salt(hash, bits).is_some_and(|longest| salt_len <= longest) {
        Ok(())
    } else {
        Err(Error::KeyTooShort)
    }
}
