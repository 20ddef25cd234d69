//! The primitives of RFC 8017 section 5, `x^d mod n` and `x^e mod n`, for numbers with keys of their own.

use std::fmt;

use zeroize::Zeroizing;

use crate::rsa::private_op::private_op;
use crate::rsa::public_op::public_op_bytes;
use crate::rsa::{Error, PrivateKey, PublicKey};
use crate::zeroize_stack::zeroize_stack;

/// A number for [`private_many`].
#[derive(Clone, Copy)]
pub struct PrivateJob<'a> {
    /// The key.
    pub key: &'a PrivateKey,
    /// The number: big-endian, as long as the key ([`PrivateKey::size`]).
    pub number: &'a [u8],
}

/// A number for [`public_many_vartime`].
#[derive(Clone, Copy)]
pub struct PublicJob<'a> {
    /// The key.
    pub key: &'a PublicKey,
    /// The number: big-endian, as long as the key ([`PublicKey::size`]).
    pub number: &'a [u8],
}

impl<'a> PrivateJob<'a> {
    /// A number for the private operation of a key.
    pub fn new(key: &'a PrivateKey, number: &'a [u8]) -> Self {
        Self { key, number }
    }
}

impl<'a> PublicJob<'a> {
    /// A number for the public operation of a key.
    pub fn new(key: &'a PublicKey, number: &'a [u8]) -> Self {
        Self { key, number }
    }
}

impl fmt::Debug for PrivateJob<'_> {
    /// Shows the length of the number, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("PrivateJob").field("key", self.key).field("number_bytes", &self.number.len()).finish()
    }
}

impl fmt::Debug for PublicJob<'_> {
    /// Shows the length of the number, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("PublicJob").field("key", self.key).field("number_bytes", &self.number.len()).finish()
    }
}

/// `x^d mod n` for numbers, each with its own key, in order (RSASP1 and RSADP): blinded and checked like
/// every private operation. Keys of similar size share batches. Each number succeeds or fails on its own.
///
/// Results are big-endian and as long as their key. A number of another length than its key is
/// [`Error::Length`], one that is not below the modulus [`Error::OutOfRange`].
#[must_use]
pub fn private_many(jobs: &[PrivateJob]) -> Vec<Result<Zeroizing<Vec<u8>>, Error>> {
    private_results(jobs.iter().copied())
}

pub(crate) fn private_results<'a>(
    jobs: impl Iterator<Item = PrivateJob<'a>>,
) -> Vec<Result<Zeroizing<Vec<u8>>, Error>> {
    let number = |job: &PrivateJob| {
        job.key.public_key().check_number(job.number)?;
        Ok(Zeroizing::new(job.number.to_vec()))
    };
    zeroize_stack(|| private_op(jobs.map(|job| (job.key, number(&job))).collect()))
}

/// `x^e mod n` for numbers, each with its own key, in order (RSAEP and RSAVP1). Lengths and errors are those
/// of [`private_many`]. The time depends on the exponents.
#[must_use]
pub fn public_many_vartime(jobs: &[PublicJob]) -> Vec<Result<Vec<u8>, Error>> {
    let number = |&PublicJob { key, number }: &_| (key, key.check_number(number).map(|()| number));
    public_op_bytes(&jobs.iter().map(number).collect::<Vec<_>>())
}
