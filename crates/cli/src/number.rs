//! Numbers in hexadecimal.

use std::fmt;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use zeroize::Zeroizing;

/// A number as big-endian bytes, with the leading zeros of its text. It may be a secret exponent, so it is
/// wiped and not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Number(pub Zeroizing<Vec<u8>>);

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Number").field("bytes", &self.0.len()).finish_non_exhaustive()
    }
}

impl Number {
    /// Reads hexadecimal digits in upper or lower case, with or without `0x` before them.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_bytes(text.as_bytes())
    }

    /// Like [`parse`](Self::parse), for bytes that may not be text.
    pub fn parse_bytes(text: &[u8]) -> Result<Self, String> {
        let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
        if digits.is_empty() {
            return Err("a hexadecimal number was expected, and there are no digits".into());
        }
        if let Some(wrong) = digits.iter().find(|byte| !byte.is_ascii_hexdigit()) {
            return Err(format!("{:?} is not a hexadecimal digit", char::from(*wrong)));
        }
        // The digits may be a long line: do not copy them.
        let (odd, even) = digits.split_at(digits.len() % 2);
        let mut number = Zeroizing::new(vec![0; odd.len() + even.len() / 2]);
        let (first, rest) = number.split_at_mut(odd.len());
        for (byte, digit) in first.iter_mut().zip(odd) {
            *byte = char::from(*digit).to_digit(16).map_or(0, |digit| digit as u8);
        }
        HEXLOWER_PERMISSIVE.decode_mut(even, rest).map_err(|error| error.error.to_string())?;
        Ok(Self(number))
    }

    /// A big-endian number in lower-case digits without leading zeros; `0` for zero.
    pub fn format(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
        let digits = Zeroizing::new(HEXLOWER.encode(bytes).into_bytes());
        let first = digits.iter().position(|digit| *digit != b'0');
        Zeroizing::new(first.map_or(b"0".to_vec(), |first| digits[first..].to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_way_of_writing() {
        for text in ["abc", "0xABC", "0Xabc", "0abc"] {
            assert_eq!(Number::parse(text), Ok(Number(vec![0x0a, 0xbc].into())), "{text}");
        }
        assert_eq!(Number::parse("0000ff"), Ok(Number(vec![0, 0, 0xff].into())));
        for text in ["", "0x", "-1", "1.5", "xyz", "0x0x1", "١"] {
            assert!(Number::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn writes_no_leading_zeros() {
        for (bytes, text) in [(&[][..], "0"), (&[0, 0], "0"), (&[0, 0x0a], "a"), (&[0x10, 0], "1000")] {
            assert_eq!(Number::format(bytes)[..], *text.as_bytes());
        }
    }
}
