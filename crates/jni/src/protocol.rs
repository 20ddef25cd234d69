//! Requests and results as bytes. `Request.java` is the other side.
//!
//! Numbers are big-endian. `bytes` is a length in four bytes, followed by that many bytes.
//!
//! ```text
//! request = operation (1), key (8), hash (1), mask hash (1), salt length (4), bytes, bytes
//! result  = status (1), bytes
//! ```
//!
//! An array has requests one after the other, and the answer has their results in the same order. If an array
//! is damaged, the first request that cannot be read gets [`Status::Malformed`], and those after it have no
//! result.

use zariz::rsa::{Error, Hash, KeyError};

/// What a request asks for. `key` is a handle that a `Load…` gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Sign the digest in the first bytes, by PKCS#1 v1.5.
    SignPkcs1,
    /// Sign it by PSS.
    SignPss,
    /// Verify the signature in the second bytes, of the digest in the first, by PKCS#1 v1.5.
    VerifyPkcs1,
    /// Verify it by PSS.
    VerifyPss,
    /// Decrypt the ciphertext in the first bytes, by PKCS#1 v1.5. If its padding is wrong, the result is the
    /// substitute of implicit rejection.
    DecryptPkcs1,
    /// Decrypt it by OAEP. The second bytes are the label.
    DecryptOaep,
    /// Encrypt the message in the first bytes, by PKCS#1 v1.5.
    EncryptPkcs1,
    /// Encrypt it by OAEP. The second bytes are the label.
    EncryptOaep,
    /// Keeps the private key whose numbers n, e, d, p, q, dp, dq and qinv are in the first bytes, each as
    /// `bytes`. The result is its handle (8 bytes) and its length in bits (4).
    LoadNumbers,
    /// Like [`LoadNumbers`](Self::LoadNumbers), for a private key in DER: PKCS#8 or PKCS#1.
    LoadDer,
    /// Like [`LoadNumbers`](Self::LoadNumbers), for a public key: the first bytes are its modulus, the second
    /// its exponent.
    LoadPublic,
    /// Free a key.
    Free,
    /// Generate a private key of `key` bits, with the public exponent in the first bytes. The result is the
    /// key as PKCS#8.
    Generate,
    /// The result is the version, a space, and the name of the fastest engine.
    Describe,
}

impl Operation {
    /// All, in the order of their numbers.
    const ALL: [Self; 14] = [
        Self::SignPkcs1,
        Self::SignPss,
        Self::VerifyPkcs1,
        Self::VerifyPss,
        Self::DecryptPkcs1,
        Self::DecryptOaep,
        Self::EncryptPkcs1,
        Self::EncryptOaep,
        Self::LoadNumbers,
        Self::LoadDer,
        Self::LoadPublic,
        Self::Free,
        Self::Generate,
        Self::Describe,
    ];
}

/// The hashes, in the order of their numbers: `Hash.java` has the same. Signatures and OAEP here use no
/// SHAKE, which comes last.
const HASHES: &[Hash] = Hash::ALL.split_at(11).0;

/// How an operation ended. After any but [`Done`](Self::Done), a result's bytes are the error's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// The bytes are the result.
    Done,
    /// The signature is wrong.
    Mismatch,
    /// The key cannot be used.
    Key,
    /// The ciphertext cannot be decrypted.
    Padding,
    /// The input has a wrong length.
    Length,
    /// The computation failed.
    Failed,
    /// The bytes are not a request, or its key is missing.
    Malformed,
}

/// An error as Java gets it.
#[derive(Debug)]
pub struct Failure(pub Status, pub String);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error {
            Error::Verification | Error::SaltLength { .. } => Status::Mismatch,
            Error::Decryption | Error::OutOfRange => Status::Padding,
            Error::Length { .. } | Error::MessageTooLong { .. } => Status::Length,
            Error::KeyTooShort | Error::InvalidKey | Error::PssOnly | Error::PssParameters(_) => Status::Key,
            _ => Status::Failed,
        };
        Self(status, error.to_string())
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        let status = if error == KeyError::Random { Status::Failed } else { Status::Key };
        Self(status, error.to_string())
    }
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What it asks for.
    pub operation: Operation,
    /// The key's handle.
    pub key: u64,
    /// The hash of the message or the label.
    pub hash: Hash,
    /// The hash of MGF1.
    pub mask_hash: Hash,
    /// The length of the salt in bytes.
    pub salt_len: usize,
    /// Two arguments.
    pub bytes: [&'a [u8]; 2],
}

/// Bytes that are left to read.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next request; `None` if it is damaged.
    pub fn request(&mut self) -> Option<Request<'a>> {
        Some(Request {
            operation: *Operation::ALL.get(usize::from(self.byte()?))?,
            key: u64::from_be_bytes(self.array()?),
            hash: *HASHES.get(usize::from(self.byte()?))?,
            mask_hash: *HASHES.get(usize::from(self.byte()?))?,
            salt_len: usize::try_from(u32::from_be_bytes(self.array()?)).ok()?,
            bytes: [self.bytes()?, self.bytes()?],
        })
    }

    /// The next bytes with their length before them.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_be_bytes(self.array()?);
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }
}
