//! Decrypting batches.

use zariz_kernels::limbs::{self, Limbs};
use zeroize::Zeroizing;

use super::algorithm::Padding;
use super::error::Error;
use super::oaep;
use super::pkcs1v15::{self, Substitute};
use super::private::PrivateKey;
use super::private_op::{Request, private_op};

/// One ciphertext to decrypt.
#[derive(Clone, Copy, Debug)]
pub struct DecryptJob<'a> {
    /// The key.
    pub key: &'a PrivateKey,
    /// The padding.
    pub padding: &'a Padding,
    /// The ciphertext.
    pub ciphertext: &'a [u8],
}

/// Decrypts many ciphertexts with keys of their own, in order. Keys of like size share batches. One that fails does not
/// touch the others.
pub fn decrypt_many(jobs: &[DecryptJob]) -> Vec<Result<Zeroizing<Vec<u8>>, Error>> {
    let numbers: Vec<_> = jobs.iter().map(number).collect();
    let good = jobs.iter().zip(&numbers).filter_map(|(job, number)| Some((job.key, number.as_deref().ok()?)));
    let requests: Vec<Request> = good.map(|(key, number)| (key, &number[..])).collect();
    let mut results = private_op(&requests).into_iter();
    jobs.iter()
        .zip(&numbers)
        .map(|(job, number)| {
            number.as_ref().map_err(|&error| error)?;
            // There is one result for every good number.
            decode(job, &results.next().ok_or(Error::Fault)??)
        })
        .collect()
}

/// The number that the private operation raises to `d`.
fn number(job: &DecryptJob) -> Result<Limbs, Error> {
    let public = job.key.public_key();
    if public.pss_only() { Err(Error::PssOnly) } else { public.below_modulus(job.ciphertext) }
}

/// The message in a decrypted number.
fn decode(job: &DecryptJob, number: &[u64]) -> Result<Zeroizing<Vec<u8>>, Error> {
    let bytes = |number: &[u64]| {
        let mut out = Zeroizing::new(vec![0; job.key.size()]);
        limbs::to_be_bytes(number, &mut out);
        out
    };
    let mut encoded = bytes(number);
    match job.padding {
        Padding::Oaep { hash, mgf, label } => oaep::decode(*hash, *mgf, label, &mut encoded),
        Padding::Pkcs1v15 => {
            let substitute = Substitute::new(&bytes(&job.key.0.d), job.ciphertext);
            Ok(pkcs1v15::decode_message(&encoded, &substitute))
        }
    }
}
