//! Encrypting, one message or a batch.

use zeroize::Zeroizing;

use super::algorithm::Padding;
use super::error::Error;
use super::hazmat::{oaep, pkcs1v15};
use super::public::PublicKey;
use super::public_op::public_op_bytes;

impl PublicKey {
    /// Encrypts `message` for the holder of the private key, in `⌈bits/8⌉` bytes.
    ///
    /// # Errors
    /// [`Error::MessageTooLong`] or [`Error::KeyTooShort`] if the message or the padding does not fit;
    /// [`Error::PssOnly`] if the key is for signatures alone; [`Error::Random`].
    pub fn encrypt(&self, padding: &Padding, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.encrypt_batch(padding, &[message]).swap_remove(0)
    }

    /// Encrypts many messages, in order, in batches. Each result is a ciphertext or its own error, one of
    /// those of [`encrypt`](Self::encrypt).
    #[must_use]
    pub fn encrypt_batch(&self, padding: &Padding, messages: &[&[u8]]) -> Vec<Result<Vec<u8>, Error>> {
        let numbers: Vec<_> = messages.iter().map(|message| (self, encode(self, padding, message))).collect();
        public_op_bytes(&numbers)
    }
}

/// The number that the public operation turns into a ciphertext.
fn encode(key: &PublicKey, padding: &Padding, message: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    key.usage().allows_encryption()?;
    match padding {
        Padding::Oaep { hash, mgf, label } => oaep::encode(*hash, *mgf, label, message, key.size()),
        Padding::Pkcs1v15 => pkcs1v15::encode_message(message, key.size()),
    }
}
