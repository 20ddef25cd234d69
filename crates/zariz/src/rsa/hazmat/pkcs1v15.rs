//! PKCS#1 v1.5 encodings (RFC 8017 sections 7.2 and 9.2) and implicit rejection
//! (draft-irtf-cfrg-rsa-guidance).

use std::fmt;

use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::declassify;
use crate::rsa::PublicKey;
use crate::rsa::error::Error;
use crate::rsa::hash::Hash;
use crate::rsa::mask::{less_or_equal, select, zero_mask};

/// The shortest padding of an encrypted message, in bytes.
const MIN_PADDING: usize = 8;

/// The digest with the name of its hash, padded (EMSA-PKCS1-v1_5).
pub(in crate::rsa) fn encode_signature(hash: Hash, digest: &[u8], size: usize) -> Result<Vec<u8>, Error> {
    let info = hash.digest_info().ok_or(Error::Unsupported)?;
    pad_signature(&[info, digest], size).map_err(|_| Error::KeyTooShort)
}

/// Checks that a block is what [`encode_signature`] makes of the digest: nothing in it is searched for. Takes
/// time that depends on the block, which is public.
pub(in crate::rsa) fn verify_signature(hash: Hash, digest: &[u8], block: &[u8]) -> Result<(), Error> {
    let info = hash.digest_info().ok_or(Error::Unsupported)?;
    let padding = block.len().checked_sub(3 + info.len() + digest.len());
    let padding = padding.filter(|&length| length >= MIN_PADDING).ok_or(Error::KeyTooShort)?;
    let (start, rest) = block.split_at(2);
    let (padding, rest) = rest.split_at(padding);
    // Unlike a search, this is vectorized.
    let is_padded = start == [0, 1] && padding.iter().fold(0xff, |all, byte| all & byte) == 0xff;
    let is_right = is_padded && rest[0] == 0 && rest[1..].strip_prefix(info) == Some(digest);
    if is_right { Ok(()) } else { Err(Error::Verification) }
}

/// `0x00 0x01 0xff … 0x00 payload`, `size` bytes: the padding of signatures (RFC 8017 section 9.2), its
/// payload in pieces.
///
/// # Errors
/// [`Error::MessageTooLong`] if the payload leaves fewer than eight bytes of padding; [`Error::KeyTooShort`]
/// below 11 bytes.
pub fn pad_signature(payload: &[&[u8]], size: usize) -> Result<Vec<u8>, Error> {
    let most = size.checked_sub(3 + MIN_PADDING).ok_or(Error::KeyTooShort)?;
    let length = payload.iter().map(|piece| piece.len()).sum::<usize>();
    if length > most {
        return Err(Error::MessageTooLong { most });
    }
    let mut out = vec![0xff; size];
    (out[0], out[1]) = (0, 1);
    out.truncate(size - length);
    out[size - length - 1] = 0;
    payload.iter().for_each(|piece| out.extend_from_slice(piece));
    Ok(out)
}

/// The payload of a padded signature. Takes time that depends on the block, which is public.
///
/// # Errors
/// [`Error::Verification`] for bad padding.
pub fn unpad_signature_vartime(block: &[u8]) -> Result<&[u8], Error> {
    let padded = block.strip_prefix(&[0, 1]).ok_or(Error::Verification)?;
    let end = padded.iter().position(|&byte| byte != 0xff).ok_or(Error::Verification)?;
    if end < MIN_PADDING || padded[end] != 0 {
        return Err(Error::Verification);
    }
    Ok(&padded[end + 1..])
}

/// `0x00 0x02 random non-zero bytes 0x00 message`, `size` bytes (EME-PKCS1-v1_5, RFC 8017 section 7.2.1).
///
/// # Errors
/// [`Error::MessageTooLong`] if the message leaves fewer than eight bytes of padding; [`Error::KeyTooShort`]
/// below 11 bytes; [`Error::Random`].
pub fn encode_message(message: &[u8], size: usize) -> Result<Zeroizing<Vec<u8>>, Error> {
    let most = size.checked_sub(3 + MIN_PADDING).ok_or(Error::KeyTooShort)?;
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

/// The replacement for a message with bad padding, as implicit rejection requires: derived from the private
/// exponent and the ciphertext (draft-irtf-cfrg-rsa-guidance, sections 7.2 and 7.3).
pub struct ImplicitRejection {
    message: Zeroizing<Vec<u8>>,
    length: usize,
}

impl ZeroizeOnDrop for ImplicitRejection {}

impl fmt::Debug for ImplicitRejection {
    /// Shows nothing of the message but the length of its key: it is secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("ImplicitRejection").field("key_bytes", &self.message.len()).finish_non_exhaustive()
    }
}

impl ImplicitRejection {
    /// The substitute for a ciphertext. The private exponent `d` and the ciphertext are big-endian and as
    /// long as the modulus: [`PrivateKey::implicit_rejection`](crate::rsa::PrivateKey::implicit_rejection)
    /// passes them in this form.
    ///
    /// # Errors
    /// [`Error::Length`] if the ciphertext is not as long as `d`, or longer than the longest modulus;
    /// [`Error::KeyTooShort`] below 11 bytes.
    pub fn new(d: &[u8], ciphertext: &[u8]) -> Result<Self, Error> {
        let (expected, size) = (d.len().min(PublicKey::MAX_BITS / 8), ciphertext.len());
        if size != expected || size != d.len() {
            return Err(Error::Length { expected, actual: size });
        }
        Self::by_key_hash(&key_hash(d), ciphertext)
    }

    /// The substitute for a ciphertext that is as long as the key, whose [`key_hash`] is given.
    pub(in crate::rsa) fn by_key_hash(key_hash: &[u8], ciphertext: &[u8]) -> Result<Self, Error> {
        let size = ciphertext.len();
        let most = size.checked_sub(3 + MIN_PADDING).ok_or(Error::KeyTooShort)?;
        let key = hmac_sha256(key_hash, &[ciphertext]);
        let lengths = prf(&key, b"length", 256);
        let message = prf(&key, b"message", size);
        // As many bits as the bound needs, which is one above the longest message; OpenSSL does so too. (The
        // draft takes the bits of the longest message: one bit fewer where the bound is a power of two.)
        let mask = ((most + 2).next_power_of_two() - 1) as u32;
        // The last candidate that is short enough.
        let length = lengths.chunks_exact(2).fold(0u32, |length, pair| {
            let candidate = u32::from(u16::from_be_bytes([pair[0], pair[1]])) & mask;
            select(less_or_equal(candidate, most as u32), candidate, length)
        });
        Ok(Self { message, length: length as usize })
    }
}

/// What substitutes are derived from: the hash of the private exponent, big-endian and as long as the
/// modulus.
pub(in crate::rsa) fn key_hash(d: &[u8]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(Hash::Sha256.digest(&[d]))
}

/// The message in `encoded` (RFC 8017 section 7.2.2), or the substitute where the padding is bad. Constant
/// time, except that the length of the result shows. That tells an attacker nothing, since a substitute's
/// length looks random.
///
/// # Errors
/// [`Error::Length`] if the substitute is for a ciphertext of another length.
pub fn decode_message(encoded: &[u8], substitute: &ImplicitRejection) -> Result<Zeroizing<Vec<u8>>, Error> {
    let (size, expected) = (encoded.len(), substitute.message.len());
    if size != expected {
        return Err(Error::Length { expected, actual: size });
    }
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
    let length =
        declassify::message_length(select(good, size as u32 - start, substitute.length as u32) as usize);
    let mut out = Zeroizing::new(vec![0; size]);
    for (i, out) in out.iter_mut().enumerate() {
        *out = select(good, encoded[i].into(), substitute.message[i].into()) as u8;
    }
    // The message is the tail.
    Ok(Zeroizing::new(out[size - length..].to_vec()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_known_answer() {
        // RFC 4231, test case 2.
        let mac = hmac_sha256(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        assert_eq!(mac[..4], [0x5b, 0xdc, 0xc1, 0x46]);
        assert_eq!(mac[28..], [0x64, 0xec, 0x38, 0x43]);
    }
}
