//! PEM text: blocks of base64 between a BEGIN line and an END line.
//!
//! Files that people have are laid out in many ways: blanks and empty lines, lines of any length, text
//! between the blocks. All that is left out here before a decoder in constant time reads the base64. Crates
//! that find blocks themselves either want lines of one length (`pem-rfc7468`), or leave secrets in memory
//! and have no error for headers (`rustls-pki-types`).
//!
//! What decides on bytes goes through `declassify::is_marker`: the base64 of a private key is secret, its
//! layout is not.

use der::pem::Base64Decoder;
use zeroize::Zeroizing;

use super::SecretBytes;
use crate::declassify;
use crate::rsa::error::KeyError;

/// A block: its label, and the lines between BEGIN and END.
pub struct Block<'a> {
    pub label: &'a str,
    body: &'a [u8],
}

/// The blocks of a text, in order. Lines that belong to none are skipped; a block without its END line is an
/// error.
pub fn blocks(text: &[u8]) -> impl Iterator<Item = Result<Block<'_>, KeyError>> {
    let mut rest = without_mark(text);
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (line, body) = split_line(rest);
            rest = body;
            let Some(label) = boundary(line, b"-----BEGIN ") else { continue };
            while !rest.is_empty() {
                let (line, after) = split_line(rest);
                if starts_with(line, b"-----END ") {
                    let body = &body[..body.len() - rest.len()];
                    rest = after;
                    if boundary(line, b"-----END ") == Some(label) {
                        return Some(Ok(Block { label, body }));
                    }
                    let what = format!("the END line of the block {label:?} has another label, or more text");
                    return Some(Err(KeyError::Pem(what)));
                }
                rest = after;
            }
            return Some(Err(KeyError::Pem(format!("the block {label:?} has no END line"))));
        }
        None
    })
}

impl Block<'_> {
    /// The bytes that the block encodes.
    ///
    /// # Errors
    /// [`KeyError::Encryption`] for a body that is encrypted as before PKCS#8; else [`KeyError::Pem`].
    pub fn decode(&self) -> Result<SecretBytes, KeyError> {
        let mut digits = Zeroizing::new(Vec::with_capacity(self.body.len()));
        digits.extend(self.body.iter().copied().filter(|&byte| !is_blank(byte)));
        // Base64 has no colons. Headers may fold, but their first line has one.
        let is_colon = |&byte: &u8| u8::from(byte == b':');
        let colons = digits.iter().map(is_colon).fold(0, |any, is_colon| any | is_colon);
        if declassify::is_marker(colons != 0) {
            return Err(if contains(&digits, b"4,ENCRYPTED") {
                KeyError::Encryption("that of old PEM files, Proc-Type: 4,ENCRYPTED".into())
            } else {
                KeyError::Pem(format!("the block {:?} has header lines; take them out", self.label))
            });
        }
        let mut der = Zeroizing::new(Vec::with_capacity(digits.len()));
        let decoded =
            Base64Decoder::new(&digits).and_then(|mut decoder| decoder.decode_to_end(&mut der).map(drop));
        decoded.map_err(|error| {
            KeyError::Pem(format!("the block {:?} is not whole base64: {error}", self.label))
        })?;
        Ok(der)
    }
}

/// The label of a line that begins with `start`, which is `-----BEGIN ` or `-----END `, and has nothing else
/// but blanks around.
fn boundary<'a>(line: &'a [u8], start: &[u8]) -> Option<&'a str> {
    if !starts_with(line, start) {
        return None;
    }
    let label = line[start.len()..].trim_ascii_end().strip_suffix(b"-----")?;
    str::from_utf8(label).ok().filter(|label| !label.contains("--"))
}

/// The first line without the blanks before it and without its end, and the text after it.
fn split_line(text: &[u8]) -> (&[u8], &[u8]) {
    let ends = |&byte: &u8| declassify::is_marker((byte == b'\n') | (byte == b'\r'));
    let end = text.iter().position(ends).unwrap_or(text.len());
    let start = text[..end].iter().position(|&byte| !is_blank(byte)).unwrap_or(end);
    (&text[start..end], text.get(end + 1..).unwrap_or_default())
}

/// Whether a byte is a space, or from tab to carriage return.
fn is_blank(byte: u8) -> bool {
    declassify::is_marker((byte == b' ') | (byte.wrapping_sub(b'\t') < 5))
}

/// Text without the byte-order mark of UTF-8.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Whether bytes have a marker at any place, as [`starts_with`].
pub fn contains(bytes: &[u8], marker: &[u8]) -> bool {
    (0..bytes.len()).any(|at| starts_with(&bytes[at..], marker))
}

/// Whether bytes, which may be those of a private number, begin with a marker; no other difference shows.
pub fn starts_with(bytes: &[u8], marker: &[u8]) -> bool {
    let difference = bytes.iter().zip(marker).fold(0, |difference, (a, b)| difference | (a ^ b));
    declassify::is_marker((bytes.len() >= marker.len()) & (difference == 0))
}
