//! Decrypting batches.

use zariz_kernels::limbs::{self, Limbs};
use zeroize::Zeroizing;

use super::algorithm::Padding;
use super::error::Error;
use super::oaep;
use super::pkcs1v15::{self, Substitute};
use super::private::PrivateKey;
use super::private_op::{Request, private_op};

/// Decrypts many ciphertexts with one key, in order.
pub(super) fn decrypt_batch(
    key: &PrivateKey,
    padding: &Padding,
    ciphertexts: &[&[u8]],
) -> Vec<Result<Zeroizing<Vec<u8>>, Error>> {
    if key.public_key().pss_only() {
        return ciphertexts.iter().map(|_| Err(Error::PssOnly)).collect();
    }
    let numbers: Vec<Result<Limbs, Error>> =
        ciphertexts.iter().map(|ciphertext| key.public_key().below_modulus(ciphertext)).collect();
    let requests: Vec<Request> = numbers.iter().flatten().map(|number| (key, &number[..])).collect();
    let mut results = private_op(&requests).into_iter();
    let mut d = Zeroizing::new(vec![0; key.size()]);
    limbs::to_be_bytes(&key.0.d, &mut d);
    numbers
        .iter()
        .zip(ciphertexts)
        .map(|(number, ciphertext)| {
            number.as_ref().map_err(|&error| error)?;
            // There is one result for every good number.
            let number = results.next().ok_or(Error::Fault)??;
            let mut encoded = Zeroizing::new(vec![0; key.size()]);
            limbs::to_be_bytes(&number, &mut encoded);
            match padding {
                Padding::Oaep { hash, mgf, label } => oaep::decode(*hash, *mgf, label, &mut encoded),
                Padding::Pkcs1v15 => Ok(pkcs1v15::decode_message(&encoded, &Substitute::new(&d, ciphertext))),
            }
        })
        .collect()
}
