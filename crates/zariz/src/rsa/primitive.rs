//! The primitives of RFC 8017 section 5, without any padding: for programs that do their own, like the
//! OpenSSL provider. A signature or ciphertext made with these alone is not secure.

use zariz_kernels::limbs::{self, Limbs};
use zeroize::Zeroizing;

use super::each::each;
use super::error::Error;
use super::private::PrivateKey;
use super::private_op::private_op;
use super::public::PublicKey;
use super::verify::open;

/// `x^d mod n` for numbers, each with its own key, in order (RSASP1 and RSADP): blinded and checked like
/// every private operation. Keys of similar size share batches. Each number succeeds or fails on its own.
///
/// Numbers and results are big-endian and as long as their key ([`PrivateKey::size`]). A number of another
/// length, or not below the modulus, is [`Error::Length`].
pub fn private_many(jobs: &[(&PrivateKey, &[u8])]) -> Vec<Result<Zeroizing<Vec<u8>>, Error>> {
    let numbers: Vec<_> = jobs.iter().map(|&(key, number)| (key, key.public_key().below_modulus(number))).collect();
    let bytes = |(key, result): (&PrivateKey, Result<Limbs, Error>)| {
        let mut out = Zeroizing::new(vec![0; key.size()]);
        limbs::to_be_bytes(&result?, &mut out);
        Ok(out)
    };
    jobs.iter().map(|job| job.0).zip(each(&numbers, private_op)).map(bytes).collect()
}

/// `x^e mod n` for numbers, each with its own key, in order (RSAEP and RSAVP1). Lengths and errors are those
/// of [`private_many`].
pub fn public_many(jobs: &[(&PublicKey, &[u8])]) -> Vec<Result<Vec<u8>, Error>> {
    let numbers: Vec<_> = jobs.iter().map(|&(key, number)| (key, key.below_modulus(number))).collect();
    let bytes = |(key, result): (&PublicKey, Result<Limbs, Error>)| {
        let mut out = vec![0; key.size()];
        limbs::to_be_bytes(&result?, &mut out);
        Ok(out)
    };
    jobs.iter().map(|job| job.0).zip(each(&numbers, open)).map(bytes).collect()
}
