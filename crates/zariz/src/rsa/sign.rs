//! Signing batches.

use zariz_kernels::limbs::{self, Limbs};

use super::algorithm::Algorithm;
use super::each::each;
use super::error::Error;
use super::hazmat::{pkcs1v15, pss};
use super::private::PrivateKey;
use super::private_op::private_op;

/// One message to sign.
#[derive(Clone, Copy, Debug)]
pub struct SignJob<'a> {
    /// The key.
    pub key: &'a PrivateKey,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The message.
    pub message: &'a [u8],
}

/// Signs many messages, each with its own key, in order. Keys of similar size share batches.
pub fn sign_many(jobs: &[SignJob]) -> Vec<Result<Vec<u8>, Error>> {
    let encoded: Vec<_> = jobs
        .iter()
        .map(|job| (job.key, encode(job.key, job.algorithm, &job.algorithm.hash().digest(&[job.message]))))
        .collect();
    sign_encoded(&encoded)
}

/// Signs digests with one key, in order.
pub(super) fn sign_digests(key: &PrivateKey, algorithm: Algorithm, digests: &[&[u8]]) -> Vec<Result<Vec<u8>, Error>> {
    let encoded: Vec<_> = digests.iter().map(|digest| (key, encode(key, algorithm, digest))).collect();
    sign_encoded(&encoded)
}

/// The number that the private operation turns into a signature.
fn encode(key: &PrivateKey, algorithm: Algorithm, digest: &[u8]) -> Result<Limbs, Error> {
    key.public_key().usage().allows(algorithm)?;
    algorithm.hash().check_digest(digest)?;
    let encoded = match algorithm {
        Algorithm::Pkcs1v15(hash) => pkcs1v15::encode_signature(hash, digest, key.size())?,
        Algorithm::Pss { hash, mgf, salt_len } => pss::encode(hash, mgf, salt_len, digest, key.bits())?,
    };
    Ok(limbs::from_be_bytes(&encoded))
}

fn sign_encoded(encoded: &[(&PrivateKey, Result<Limbs, Error>)]) -> Vec<Result<Vec<u8>, Error>> {
    let bytes = |((key, _), signature): (&(&PrivateKey, _), Result<Limbs, Error>)| {
        let mut out = vec![0; key.size()];
        limbs::to_be_bytes(&signature?, &mut out);
        Ok(out)
    };
    encoded.iter().zip(each(encoded, private_op)).map(bytes).collect()
}
