//! Verifying batches.

use zariz_kernels::limbs::{self, Limbs};

use super::algorithm::Algorithm;
use super::each::each;
use super::error::Error;
use super::hazmat::{pkcs1v15, pss};
use super::public::PublicKey;
use crate::dispatch;
use crate::jobs;

/// One signature to verify.
#[derive(Clone, Copy, Debug)]
pub struct VerifyJob<'a> {
    /// The key.
    pub key: &'a PublicKey,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The message.
    pub message: &'a [u8],
    /// The signature.
    pub signature: &'a [u8],
}

/// A message and its signature, to verify with one key: [`PublicKey::verify_batch`].
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// The message.
    pub message: &'a [u8],
    /// The signature.
    pub signature: &'a [u8],
}

/// The digest of a message and its signature, to verify with one key: [`PublicKey::verify_digest_batch`].
#[derive(Clone, Copy, Debug)]
pub struct SignedDigest<'a> {
    /// The digest under the algorithm's hash.
    pub digest: &'a [u8],
    /// The signature.
    pub signature: &'a [u8],
}

/// Verifies many signatures, each with its own key, in order. Keys of similar size share batches.
pub fn verify_many(jobs: &[VerifyJob]) -> Vec<Result<(), Error>> {
    let digests: Vec<_> = jobs.iter().map(|job| job.algorithm.hash().digest(&[job.message])).collect();
    let claims = jobs.iter().zip(&digests).map(|(job, digest)| Claim {
        key: job.key,
        algorithm: job.algorithm,
        digest,
        signature: job.signature,
    });
    verify_claims(&claims.collect::<Vec<_>>())
}

/// Verifies signatures of digests with one key, in order.
pub(super) fn verify_digests(key: &PublicKey, algorithm: Algorithm, signed: &[SignedDigest]) -> Vec<Result<(), Error>> {
    let claims = signed.iter().map(|&SignedDigest { digest, signature }| Claim { key, algorithm, digest, signature });
    verify_claims(&claims.collect::<Vec<_>>())
}

/// A signature and the digest it is claimed to sign.
struct Claim<'a> {
    key: &'a PublicKey,
    algorithm: Algorithm,
    digest: &'a [u8],
    signature: &'a [u8],
}

fn verify_claims(claims: &[Claim]) -> Vec<Result<(), Error>> {
    let numbers: Vec<_> = claims.iter().map(|claim| (claim.key, claim.number())).collect();
    let mut encoded = Vec::new();
    let check = |(claim, opened): (&Claim, Result<Limbs, Error>)| {
        let opened = opened?;
        encoded.resize(claim.key.size(), 0);
        limbs::to_be_bytes(&opened, &mut encoded);
        claim.check(&mut encoded)
    };
    claims.iter().zip(each(&numbers, open)).map(check).collect()
}

/// `x^e mod n` for each number.
pub(super) fn open(numbers: &[(&PublicKey, &[u64])]) -> Vec<Result<Limbs, Error>> {
    let mut out: Vec<_> = numbers.iter().map(|_| Err(Error::Fault)).collect();
    for (_, mine) in dispatch::groups(numbers.len(), |i| numbers[i].0.route().dispatch) {
        let powers: Vec<_> = mine.iter().map(|&i| numbers[i].0.power(numbers[i].1)).collect();
        for (&i, result) in mine.iter().zip(jobs::pow_vartime(numbers[mine[0]].0.route(), &powers)) {
            out[i] = Ok(result);
        }
    }
    out
}

impl Claim<'_> {
    /// The signature as the number that the public operation raises to `e`.
    fn number(&self) -> Result<Limbs, Error> {
        self.key.usage().allows(self.algorithm)?;
        self.algorithm.hash().check_digest(self.digest)?;
        self.key.below_modulus(self.signature)
    }

    /// Checks that `encoded`, the opened signature, encodes the digest. Overwrites `encoded`.
    fn check(&self, encoded: &mut [u8]) -> Result<(), Error> {
        match self.algorithm {
            Algorithm::Pkcs1v15(hash) => {
                let expected = pkcs1v15::encode_signature(hash, self.digest, encoded.len())?;
                if expected == *encoded { Ok(()) } else { Err(Error::Verification) }
            }
            Algorithm::Pss { hash, mgf, salt_len } => {
                pss::verify(hash, mgf, Some(salt_len), self.digest, encoded, self.key.bits())
            }
        }
    }
}
