//! Structure from bytes: numbers, edits of good data, keys.

use std::sync::OnceLock;

use arbitrary::{Arbitrary, Result, Unstructured};
use num_bigint::BigUint;
use zariz::rsa::{Hash, Mgf, PrivateKey};

/// One of a list.
pub fn one_of<T: Copy>(u: &mut Unstructured, of: &[T]) -> Result<T> {
    u.choose(of).copied()
}

/// At most `most` bytes.
pub fn bytes(u: &mut Unstructured, most: usize) -> Result<Vec<u8>> {
    let length = u.int_in_range(0..=most)?;
    Ok(u.bytes(length.min(u.len()))?.to_vec())
}

/// A number of at most `bits` bits: the input's own bytes, or of a shape that drives carries as far as they
/// go.
pub fn number(u: &mut Unstructured, bits: usize) -> Result<BigUint> {
    let ones = |bits: usize| (BigUint::from(1u8) << bits) - 1u8;
    let all = ones(bits);
    Ok(match u.int_in_range(0..=7)? {
        0 => all,
        1 => &all - ones(u.int_in_range(0..=bits)?),
        2 => ones(u.int_in_range(0..=bits)?),
        // Digits of the machines' widths, each all ones or all zeros.
        3 | 4 => {
            let (width, pattern) = (one_of(u, &[51, 52, 64])?, u64::arbitrary(u)?);
            let digits = (0..bits.div_ceil(width)).filter(|i| pattern.rotate_left(*i as u32) & 1 == 1);
            all & digits.fold(BigUint::ZERO, |sum, i| sum | ones(width) << (i * width))
        }
        // Many bytes from few.
        5 => {
            let mut state = u64::arbitrary(u)? | 1;
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 24) as u8
            };
            all & BigUint::from_bytes_be(&(0..bits.div_ceil(8)).map(|_| next()).collect::<Vec<_>>())
        }
        _ => {
            let length = bits.div_ceil(8).min(u.len());
            all & BigUint::from_bytes_be(u.bytes(length)?)
        }
    })
}

/// The number in big-endian bytes, with up to two bytes of leading zeros.
pub fn padded(u: &mut Unstructured, number: &BigUint) -> Result<Vec<u8>> {
    let zeros = vec![0; u.int_in_range(0..=2)?];
    let bytes = if *number == BigUint::ZERO { Vec::new() } else { number.to_bytes_be() };
    Ok([zeros, bytes].concat())
}

/// Changes a few places of good data: overwrites, inserts, removes.
pub fn edit(u: &mut Unstructured, data: &mut Vec<u8>) -> Result<()> {
    for _ in 0..u.int_in_range(0..=4)? {
        let at = u.int_in_range(0..=data.len())?;
        match u.int_in_range(0..=4)? {
            0 => {
                let new = bytes(u, 16)?;
                let end = data.len().min(at + new.len());
                data.splice(at..end, new);
            }
            1 => {
                let new = bytes(u, 16)?;
                data.splice(at..at, new);
            }
            2 => {
                let end = data.len().min(at + u.int_in_range(1..=16)?);
                data.drain(at..end);
            }
            3 => data.truncate(at),
            _ => {
                let change = u8::arbitrary(u)?;
                if let Some(byte) = data.get_mut(at) {
                    *byte ^= change;
                }
            }
        }
    }
    Ok(())
}

/// A mask-generation function.
pub fn mgf(u: &mut Unstructured) -> Result<Mgf> {
    Ok(match u.int_in_range(0..=7)? {
        0 => Mgf::Shake128,
        1 => Mgf::Shake256,
        _ => Mgf::Mgf1(one_of(u, Hash::ALL)?),
    })
}

/// Fixed keys, in PEM: of 1,024 and 2,048 bits.
pub const PEMS: [&str; 2] = [
    include_str!("../../../crates/cli/keys/bench-1024.pem"),
    include_str!("../../../crates/cli/keys/bench-2048.pem"),
];

/// The fixed keys.
pub fn keys() -> &'static [PrivateKey; 2] {
    static KEYS: OnceLock<[PrivateKey; 2]> = OnceLock::new();
    KEYS.get_or_init(|| PEMS.map(|pem| PrivateKey::parse(pem.as_bytes()).expect("a good key")))
}
