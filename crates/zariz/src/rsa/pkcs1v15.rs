//! PKCS#1 v1.5 encodings (RFC 8017 sections 7.2 and 9.2) and implicit rejection (draft-irtf-cfrg-rsa-guidance).

use std::hint::black_box;

use zeroize::Zeroizing;

use super::error::Error;
use super::hash::Hash;

/// The shortest padding of an encrypted message, in bytes.
const MIN_PADDING: usize = 8;

/// `0x00 0x01 0xff … 0x00 DigestInfo`, `size` bytes (EMSA-PKCS1-v1_5).
pub(super) fn encode_signature(hash: Hash, digest: &[u8], size: usize) -> Result<Vec<u8>, Error> {
    let info = hash.digest_info().ok_or(Error::Unsupported)?;
    let payload = info.len() + digest.len();
    if size < payload + 3 + MIN_PADDING {
        return Err(Error::KeyTooShort);
    }
    let mut out = vec![0xff; size];
    (out[0], out[1]) = (0, 1);
    out[size - payload - 1] = 0;
    out[size - payload..size - digest.len()].copy_from_slice(info);
    out[size - digest.len()..].copy_from_slice(digest);
    Ok(out)
}

/// `0x00 0x02 random non-zero bytes 0x00 message`, `size` bytes (EME-PKCS1-v1_5).
pub(super) fn encode_message(message: &[u8], size: usize) -> Result<Zeroizing<Vec<u8>>, Error> {
    let most = size - 3 - MIN_PADDING;
    if message.len() > most {
        return Err(Error::MessageTooLong { most });
    }
    let mut out = Zeroizing::new(vec![0; size]);
    out[1] = 2;
    let padding_end = size - message.len() - 1;
    getrandom::fill(&mut out[2..padding_end]).map_err(|_| Error::Random)?;
    for byte in &mut out[2..padding_end] {
        while *byte == 0 {
            getrandom::fill(std::slice::from_mut(byte)).map_err(|_| Error::Random)?;
        }
    }
    out[padding_end + 1..].copy_from_slice(message);
    Ok(out)
}

/// What implicit rejection derives from the private exponent and a ciphertext: a message, and lengths to choose from.
pub(super) struct Substitute {
    message: Zeroizing<Vec<u8>>,
    length: usize,
}

impl Substitute {
    /// `d` and `ciphertext` are `size` bytes each, big-endian (the draft's sections 7.2 and 7.3).
    pub(super) fn new(d: &[u8], ciphertext: &[u8]) -> Self {
        let size = ciphertext.len();
        let key_hash = Zeroizing::new(Hash::Sha256.digest(&[d]));
        let key = hmac_sha256(&key_hash, &[ciphertext]);
        let lengths = prf(&key, b"length", 256);
        let message = prf(&key, b"message", size);
        let most = size - 3 - MIN_PADDING;
        let mask = ((most + 1).next_power_of_two() - 1) as u32;
        // The last candidate that is short enough.
        let length = lengths.chunks_exact(2).fold(0u32, |length, pair| {
            let candidate = u32::from(u16::from_be_bytes([pair[0], pair[1]])) & mask;
            select(less_or_equal(candidate, most as u32), candidate, length)
        });
        Self { message, length: length as usize }
    }
}

/// The message in `encoded`, or the substitute where the padding is bad: constant time up to the length of what is
/// returned, which tells a stranger nothing since a substitute's length is as good as random.
pub(super) fn decode_message(encoded: &[u8], substitute: &Substitute) -> Zeroizing<Vec<u8>> {
    let size = encoded.len();
    // Masks are all ones for true.
    let mut good = zero_mask(u32::from(encoded[0])) & zero_mask(u32::from(encoded[1] ^ 2));
    // The position after the first zero byte from 2 on.
    let (mut start, mut found) = (0u32, 0u32);
    for (i, &byte) in encoded.iter().enumerate().skip(2) {
        let first = zero_mask(u32::from(byte)) & !found;
        start = select(first, i as u32 + 1, start);
        found |= first;
    }
    good &= found & less_or_equal((2 + MIN_PADDING + 1) as u32, start);
    let length = select(good, size as u32 - start, substitute.length as u32) as usize;
    let mut out = Zeroizing::new(vec![0; size]);
    for (i, out) in out.iter_mut().enumerate() {
        *out = select(good, encoded[i].into(), substitute.message[i].into()) as u8;
    }
    // The message is the tail. Its length leaves with it.
    Zeroizing::new(out[size - length..].to_vec())
}

/// The draft's IRPRF: HMAC-SHA-256 over counter, label and the output's length in bits.
fn prf(key: &[u8], label: &[u8], size: usize) -> Zeroizing<Vec<u8>> {
    let bits = (size as u16 * 8).to_be_bytes();
    let mut out = Zeroizing::new(Vec::with_capacity(size + 32));
    for counter in 0..size.div_ceil(32) as u16 {
        out.extend_from_slice(&hmac_sha256(key, &[&counter.to_be_bytes(), label, &bits]));
    }
    out.truncate(size);
    out
}

/// HMAC-SHA-256 (RFC 2104) with a key of at most 64 bytes.
fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let pad = |byte: u8| {
        let mut block = Zeroizing::new([byte; 64]);
        block.iter_mut().zip(key).for_each(|(block, key)| *block ^= key);
        block
    };
    let (inner, outer) = (pad(0x36), pad(0x5c));
    let inner = Zeroizing::new(Hash::Sha256.digest(&[&[&inner[..]], parts].concat()));
    Zeroizing::new(Hash::Sha256.digest(&[&outer[..], &inner]))
}

/// All ones if `x` is zero, for `x < 2^31`.
fn zero_mask(x: u32) -> u32 {
    black_box((x.wrapping_sub(1) >> 31).wrapping_neg())
}

/// All ones if `a ≤ b`, for both below `2^31`.
fn less_or_equal(a: u32, b: u32) -> u32 {
    black_box((b.wrapping_sub(a) >> 31).wrapping_sub(1))
}

/// `a` where the mask is ones, else `b`.
fn select(mask: u32, a: u32, b: u32) -> u32 {
    b ^ (mask & (a ^ b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        assert_eq!([zero_mask(0), zero_mask(1), zero_mask(255)], [u32::MAX, 0, 0]);
        assert_eq!([less_or_equal(3, 3), less_or_equal(2, 3), less_or_equal(4, 3)], [u32::MAX, u32::MAX, 0]);
    }

    #[test]
    fn hmac_known_answer() {
        // RFC 4231, test case 2.
        let mac = hmac_sha256(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        assert_eq!(mac[..4], [0x5b, 0xdc, 0xc1, 0x46]);
        assert_eq!(mac[28..], [0x64, 0xec, 0x38, 0x43]);
    }
}
