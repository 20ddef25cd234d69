//! EMSA-PSS (RFC 8017 section 9.1).

use super::error::Error;
use super::hash::{Hash, Mgf};

/// Encodes a digest with a fresh salt for a modulus of `bits` bits, in `⌈bits/8⌉` bytes.
pub(super) fn encode(hash: Hash, mgf: Mgf, salt_len: usize, digest: &[u8], bits: usize) -> Result<Vec<u8>, Error> {
    let (em_bits, size) = (bits - 1, bits.div_ceil(8));
    let em_len = em_bits.div_ceil(8);
    let hash_len = hash.size();
    check_length(em_len, hash_len, salt_len)?;
    let mut salt = vec![0; salt_len];
    getrandom::fill(&mut salt).map_err(|_| Error::Random)?;
    let h = hash.digest(&[&[0; 8], digest, &salt]);
    let mut out = vec![0; size];
    let em = &mut out[size - em_len..];
    let (db, tail) = em.split_at_mut(em_len - hash_len - 1);
    let at = db.len() - salt_len;
    db[at - 1] = 1;
    db[at..].copy_from_slice(&salt);
    mgf.apply(&h, db);
    db[0] &= 0xff >> (8 * em_len - em_bits);
    tail[..hash_len].copy_from_slice(&h);
    tail[hash_len] = 0xbc;
    Ok(out)
}

/// Whether `encoded`, `⌈bits/8⌉` bytes, encodes the digest. Overwrites `encoded`.
pub(super) fn verify(
    hash: Hash,
    mgf: Mgf,
    salt_len: usize,
    digest: &[u8],
    encoded: &mut [u8],
    bits: usize,
) -> Result<(), Error> {
    let em_bits = bits - 1;
    let em_len = em_bits.div_ceil(8);
    let hash_len = hash.size();
    check_length(em_len, hash_len, salt_len)?;
    let (above, em) = encoded.split_at_mut(encoded.len() - em_len);
    let (db, tail) = em.split_at_mut(em_len - hash_len - 1);
    let top = 0xff >> (8 * em_len - em_bits);
    if above.iter().any(|&byte| byte != 0) || tail[hash_len] != 0xbc || db[0] & !top != 0 {
        return Err(Error::Verification);
    }
    let h = &tail[..hash_len];
    mgf.apply(h, db);
    db[0] &= top;
    let at = db.len() - salt_len;
    let padded = db[..at - 1].iter().all(|&byte| byte == 0) && db[at - 1] == 1;
    if padded && hash.digest(&[&[0; 8], digest, &db[at..]]) == h { Ok(()) } else { Err(Error::Verification) }
}

/// Whether hash and salt fit in `em_len` bytes. Both lengths may come from a stranger.
fn check_length(em_len: usize, hash_len: usize, salt_len: usize) -> Result<(), Error> {
    let room = em_len.checked_sub(hash_len + 2).ok_or(Error::KeyTooShort)?;
    if salt_len > room { Err(Error::KeyTooShort) } else { Ok(()) }
}
