//! Numbers in hexadecimal.

use std::fmt;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use zeroize::Zeroizing;

/// A number as big-endian bytes, with as many leading zeros as its text had. It may be a secret exponent: it is wiped, and
/// not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Number(pub Zeroizing<Vec<u8>>);

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Number").field("bytes", &self.0.len()).finish_non_exhaustive()
    }
}

impl Number {
    /// Reads hexadecimal digits of either case, with or without `0x` before them.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_bytes(text.as_bytes())
    }

    /// [`parse`](Self::parse) of text that may be no text at all.
    pub fn parse_bytes(text: &[u8]) -> Result<Self, String> {
        let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
        if digits.is_empty() {
            return Err("a hexadecimal number was expected, and there are no digits".into());
        }
        if let Some(wrong) = digits.iter().find(|byte| !byte.is_ascii_hexdigit()) {
            return Err(format!("{:?} is no hexadecimal digit", char::from(*wrong)));
        }
        let zero = if digits.len().is_multiple_of(2) { "" } else { "0" };
        let even = Zeroizing::new([zero.as_bytes(), digits].concat());
        let number = HEXLOWER_PERMISSIVE.decode(&even).map(Zeroizing::new);
        number.map(Self).map_err(|error| error.to_string())
    }

    /// Lower-case digits of a big-endian number without leading zeros; `0` for zero.
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
