//! Encodings of bytes as text.

use clap::ValueEnum;
use data_encoding::{
    BASE64, BASE64_NOPAD, BASE64URL_NOPAD, DecodeError, DecodeKind, HEXLOWER, HEXLOWER_PERMISSIVE,
};

use crate::exit::Failure;

/// The longest encoded item: many times the largest signature or ciphertext in any encoding.
pub const LONGEST_ENCODED: u64 = 64 << 10;

/// The encoding of signatures, ciphertexts and plaintexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Encoding {
    /// The bytes themselves
    Raw,
    /// Lower-case hexadecimal; either case is read
    Hex,
    /// Base64 with padding; with or without is read
    Base64,
    /// The URL-safe alphabet without padding, as in JWT; with or without is read
    Base64url,
}

impl Encoding {
    /// The encoding that `option` names, or the default: base64 for lines, raw for one message.
    pub fn or_default(asked: Option<Self>, lines: bool, option: &str) -> Result<Self, Failure> {
        match (asked, lines) {
            (Some(Self::Raw), true) => Err(Failure::Usage(format!(
                "{option} raw cannot be used with --lines: raw bytes may contain line ends, so where one item ends \
                 would be lost; choose hex, base64 or base64url"
            ))),
            (Some(encoding), _) => Ok(encoding),
            (None, true) => Ok(Self::Base64),
            (None, false) => Ok(Self::Raw),
        }
    }

    /// The bytes in this encoding.
    pub fn encode(self, bytes: &[u8]) -> Vec<u8> {
        self.symbols().map_or_else(|| bytes.to_vec(), |symbols| symbols.encode(bytes).into_bytes())
    }

    /// The length of `length` bytes in this encoding.
    pub fn length(self, length: usize) -> usize {
        self.symbols().map_or(length, |symbols| symbols.encode_len(length))
    }

    /// The alphabet, if the encoding makes text.
    fn symbols(self) -> Option<data_encoding::Encoding> {
        match self {
            Self::Raw => None,
            Self::Hex => Some(HEXLOWER),
            Self::Base64 => Some(BASE64),
            Self::Base64url => Some(BASE64URL_NOPAD),
        }
    }

    /// Decodes one line of text; ignores white space around it.
    pub fn decode(self, text: &[u8]) -> Result<Vec<u8>, String> {
        let text = if self == Self::Raw { text } else { text.trim_ascii() };
        let decoded = match self {
            Self::Raw => return Ok(text.to_vec()),
            Self::Hex => HEXLOWER_PERMISSIVE.decode(text),
            Self::Base64 => BASE64_NOPAD.decode(unpadded(text)),
            Self::Base64url => BASE64URL_NOPAD.decode(unpadded(text)),
        };
        decoded.map_err(|error| self.explain(text, error))
    }

    /// Explains what is wrong with `text`.
    fn explain(self, text: &[u8], error: DecodeError) -> String {
        let (name, is_symbol): (_, fn(&u8) -> bool) = match self {
            Self::Raw => ("raw", |_| true),
            Self::Hex => ("hexadecimal", u8::is_ascii_hexdigit),
            Self::Base64 => ("base64", |c| c.is_ascii_alphanumeric() || b"+/".contains(c)),
            Self::Base64url => ("base64url", |c| c.is_ascii_alphanumeric() || b"-_".contains(c)),
        };
        // A wrong character tells more than a wrong length, which the decoder checks first.
        match unpadded(text).iter().enumerate().find(|(_, byte)| !is_symbol(byte)) {
            Some((at, byte)) => format!("not {name}: {:?} at column {}", char::from(*byte), at + 1),
            None if error.kind == DecodeKind::Length => {
                format!("not {name}: cut short after {} characters", text.len())
            }
            None => format!("not {name}: the last character has unused bits that are not zero"),
        }
    }

    /// Decodes a whole file; the text may be broken into lines anywhere, as by `openssl base64`.
    pub fn decode_file(self, mut contents: Vec<u8>) -> Result<Vec<u8>, String> {
        if self == Self::Raw {
            return Ok(contents);
        }
        contents.retain(|byte| !byte.is_ascii_whitespace());
        self.decode(&contents)
    }

    /// Advice if a file was read as one item of `size` bytes, but has another form: the text of one item, or
    /// of one on each line. Empty if it has neither form.
    pub fn advice(self, contents: &[u8], size: usize) -> String {
        let is_item =
            |encoding: &Self, text: &[u8]| encoding.decode_file(text.to_vec()).is_ok_and(|i| i.len() == size);
        let texts = [("hex", Self::Hex), ("base64", Self::Base64), ("base64url", Self::Base64url)];
        let in_text = |text: &[u8]| texts.iter().find(|(_, encoding)| is_item(encoding, text));
        let mut lines = contents.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let (first, second) = (lines.next().unwrap_or_default(), lines.next());
        match (second.and(in_text(first)), in_text(contents)) {
            (Some((name, _)), _) => {
                format!(
                    "; its lines are as long as the key in {name}: read each with --lines --encoding {name}"
                )
            }
            (None, Some((name, encoding))) if *encoding != self => {
                format!("; it is as long as the key in {name}: read it with --encoding {name}")
            }
            _ => String::new(),
        }
    }

    /// Encodes the whole of an output: text ends with a line end. Leaves no copy of the bytes.
    pub fn encode_file(self, bytes: &[u8]) -> Vec<u8> {
        let Some(symbols) = self.symbols() else { return bytes.to_vec() };
        // Reserved at once: growing would leave a copy behind.
        let mut text = String::with_capacity(symbols.encode_len(bytes.len()) + 1);
        symbols.encode_append(bytes, &mut text);
        text.push('\n');
        text.into_bytes()
    }
}

/// The text without the padding of its last group of four.
fn unpadded(text: &[u8]) -> &[u8] {
    if !text.len().is_multiple_of(4) {
        return text;
    }
    let one_less = text.strip_suffix(b"=").unwrap_or(text);
    one_less.strip_suffix(b"=").unwrap_or(one_less)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [Encoding; 3] = [Encoding::Hex, Encoding::Base64, Encoding::Base64url];

    #[test]
    fn what_is_encoded_decodes() {
        for length in 0..70u8 {
            let bytes: Vec<u8> = (0..length).map(|i| i.wrapping_mul(251).wrapping_add(length)).collect();
            for encoding in [Encoding::Raw, Encoding::Hex, Encoding::Base64, Encoding::Base64url] {
                assert_eq!(encoding.decode(&encoding.encode(&bytes)), Ok(bytes.clone()), "{encoding:?}");
                assert_eq!(
                    encoding.decode_file(encoding.encode_file(&bytes)),
                    Ok(bytes.clone()),
                    "{encoding:?}"
                );
            }
        }
    }

    #[test]
    fn padding_may_be_there_or_not() {
        for (text, bytes) in [("AQ==", &[1][..]), ("AQ", &[1]), ("AQI=", &[1, 2]), ("AQI", &[1, 2])] {
            assert_eq!(Encoding::Base64.decode(text.as_bytes()).as_deref(), Ok(bytes));
            assert_eq!(Encoding::Base64url.decode(text.as_bytes()).as_deref(), Ok(bytes));
        }
    }

    #[test]
    fn white_space_inside_a_line_is_refused_and_in_a_file_is_not() {
        assert!(Encoding::Base64.decode(b"AQID\nBAUG").is_err());
        assert_eq!(Encoding::Base64.decode_file(b"AQID\r\nBAUG\n".to_vec()), Ok(vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(Encoding::Hex.decode(b" 0aFF\t"), Ok(vec![10, 255]));
    }

    #[test]
    fn wrong_text_is_explained() {
        for encoding in TEXTS {
            for text in [&b"AQ?="[..], b"0", b"zz", b"=", b"====", b"AQ=", b"AR==", b"A===", b"\xff\xfe"] {
                if let Err(error) = encoding.decode(text) {
                    assert!(error.starts_with("not "), "{error}");
                } else {
                    panic!("{encoding:?} took {text:?}");
                }
            }
        }
    }
}
