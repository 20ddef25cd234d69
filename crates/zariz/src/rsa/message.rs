//! What is signed: a message, or its digest.

use zeroize::Zeroizing;

use super::error::Error;
use super::hash::{Hash, LONGEST};

/// A message to sign or verify, or its digest.
///
/// References to bytes and text are messages: `key.sign(Algorithm::RS256, b"text")`. A digest is named:
/// `key.sign(Algorithm::RS256, Message::Digest(&digest))`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// The message itself, which is hashed.
    Bytes(&'a [u8]),
    /// The digest of the message under the algorithm's hash; any other length is [`Error::Digest`].
    Digest(&'a [u8]),
}

impl<'a, T: AsRef<[u8]> + ?Sized> From<&'a T> for Message<'a> {
    fn from(message: &'a T) -> Self {
        Self::Bytes(message.as_ref())
    }
}

impl Message<'_> {
    /// Checks that a digest has the hash's length.
    pub(super) fn check(self, hash: Hash) -> Result<(), Error> {
        let (expected, actual) = match self {
            Self::Bytes(_) => return Ok(()),
            Self::Digest(digest) => (hash.size(), digest.len()),
        };
        if actual == expected { Ok(()) } else { Err(Error::Digest { expected, actual }) }
    }

    /// Calls `with` with the digest, which is wiped if it is computed here.
    pub(super) fn with_digest<R>(
        self,
        hash: Hash,
        with: impl FnOnce(&[u8]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.check(hash)?;
        match self {
            Self::Bytes(message) => {
                let mut hasher = hash.hasher();
                hasher.update(message);
                with(hasher.finish_into(&mut Zeroizing::new([0; LONGEST])))
            }
            Self::Digest(digest) => with(digest),
        }
    }
}
