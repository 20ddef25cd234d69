//! The premaster secret of TLS up to 1.2 in an RSA ciphertext (RFC 5246 section 7.4.7.1): constant time, and
//! never an error.

use zeroize::Zeroizing;

use crate::rsa::error::Error;
use crate::rsa::mask::{select, zero_mask};

/// The length of a premaster secret in bytes.
pub const PREMASTER_SIZE: usize = 48;

/// What precedes the secret: two bytes of type, at least eight of padding, and a zero.
const LEAST: usize = 11;

/// The premaster secret in a decrypted block, or a random one where padding or version are wrong, so that an
/// attacker cannot learn that they were.
///
/// The secret must begin with `client_version`, from the client hello (`0x0303` for TLS 1.2). Some clients
/// put the version that was negotiated there: pass it in `negotiated` to accept them.
///
/// # Errors
/// [`Error::KeyTooShort`] if the block is too short to hold a secret; [`Error::Random`].
pub fn decode(
    block: &[u8],
    client_version: u16,
    negotiated: Option<u16>,
) -> Result<Zeroizing<[u8; PREMASTER_SIZE]>, Error> {
    if block.len() < LEAST + PREMASTER_SIZE {
        return Err(Error::KeyTooShort);
    }
    let mut out = Zeroizing::new([0; PREMASTER_SIZE]);
    getrandom::fill(&mut out[..]).map_err(|_| Error::Random)?;
    let (padding, secret) = block.split_at(block.len() - PREMASTER_SIZE);
    let [first, kind, middle @ .., end] = padding else { return Err(Error::KeyTooShort) };
    // Masks are all ones for true.
    let byte = |byte: u8| zero_mask(u32::from(byte));
    let mut good = byte(*first) & byte(kind ^ 2) & byte(*end);
    good = middle.iter().fold(good, |good, &padding| good & !byte(padding));
    let version = |version: u16| {
        let [high, low] = version.to_be_bytes();
        byte(secret[0] ^ high) & byte(secret[1] ^ low)
    };
    good &= version(client_version) | negotiated.map_or(0, version);
    for (out, &secret) in out.iter_mut().zip(secret) {
        *out = select(good, secret.into(), u32::from(*out)) as u8;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_ones_pass_and_others_are_replaced() {
        let mut block = vec![7; 256];
        (block[0], block[1], block[207]) = (0, 2, 0);
        (block[208], block[209]) = (3, 3);
        let of =
            |block: &[u8], offered, negotiated| *decode(block, offered, negotiated).expect("long enough");
        assert_eq!(of(&block, 0x0303, None), block[208..]);
        assert_eq!(of(&block, 0x0304, Some(0x0303)), block[208..]);
        assert_ne!(of(&block, 0x0304, None), block[208..]);
        for (at, byte) in [(0, 1), (1, 1), (2, 0), (100, 0), (206, 0), (207, 9), (208, 2), (209, 4)] {
            let mut bad = block.clone();
            bad[at] = byte;
            let replaced = of(&bad, 0x0303, None);
            assert_ne!(replaced, bad[208..], "byte {at}");
            assert_ne!(replaced, of(&bad, 0x0303, None), "byte {at}: the substitute is not random");
        }
        assert_eq!(decode(&block[..58], 0x0303, None), Err(Error::KeyTooShort));
    }
}
