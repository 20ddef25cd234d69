//! Rows beside Intel's crypto_mb, where the user named its file: eight operations in one call, as in our
//! rows.
//!
//! crypto_mb has RSA's primitives alone. Hashing and padding are ours, and are measured.

use zariz::rsa::Hash;
use zariz::rsa::hazmat::pkcs1v15::pad_signature;
use zariz_cli::exit::Failure;
use zariz_cli::measure::benchmark::Rsa;
use zariz_peers::{CrtKey, CryptoMb, Error};

use super::BATCH;

/// What the rows do not say.
pub fn note(library: &CryptoMb) -> String {
    format!(
        "{} signs without blinding and without a check of the result. Hashing and padding are done for it here, and \
         its public keys have the exponent 65537 only.",
        library.version()
    )
}

/// Does a batch.
pub type Call<'a> = Box<dyn FnMut() -> Result<(), Failure> + 'a>;

/// Prepares crypto_mb for a batch; nothing where it has no keys of this size. Its results are compared with
/// ours.
pub type Prepare = for<'a> fn(&CryptoMb, &'a Rsa) -> Result<Option<Call<'a>>, Failure>;

// A batch is one call.
const _: () = assert!(BATCH == CryptoMb::LANES);

/// Signing the batch.
pub fn sign<'a>(library: &CryptoMb, load: &'a Rsa) -> Result<Option<Call<'a>>, Failure> {
    let (key, size) = (load.key().components(), load.key().size());
    let numbers = CrtKey { p: &key.p, q: &key.q, dp: &key.dp, dq: &key.dq, q_inverse: &key.qinv };
    let Some(mut private) = known(library.private(load.key().bits(), [numbers; BATCH]))? else {
        return Ok(None);
    };
    let messages = load.messages();
    let mut batch = move || {
        let padded = messages.iter().map(|message| pad(message, size)).collect::<Result<Vec<_>, _>>()?;
        let mut signatures = vec![vec![0; size]; BATCH];
        let numbers: Vec<&[u8]> = padded.iter().map(Vec::as_slice).collect();
        private.compute(&numbers, &mut signatures).map_err(failed)?;
        Ok(signatures)
    };
    agree(batch()?.iter().zip(load.signed()).all(|(theirs, ours)| theirs == ours.signature))?;
    Ok(Some(Box::new(move || batch().map(|signatures| drop(std::hint::black_box(signatures))))))
}

/// Verifying the batch.
pub fn verify<'a>(library: &CryptoMb, load: &'a Rsa) -> Result<Option<Call<'a>>, Failure> {
    let (key, size) = (load.key().components(), load.key().size());
    let Some(mut public) = known(library.public(load.key().bits(), [&key.n; BATCH]))? else {
        return Ok(None);
    };
    let (messages, signed) = (load.messages(), load.signed());
    let signatures: Vec<&[u8]> = signed.iter().map(|signed| signed.signature).collect();
    let mut opened = vec![vec![0; size]; BATCH];
    let mut batch = move || {
        public.compute(&signatures, &mut opened).map_err(failed)?;
        for (message, opened) in messages.iter().zip(&opened) {
            agree(pad(message, size)? == *opened)?;
        }
        Ok(())
    };
    batch()?;
    Ok(Some(Box::new(batch)))
}

/// A message as its signature opens to (EMSA-PKCS1-v1_5 with SHA-256).
fn pad(message: &[u8], size: usize) -> Result<Vec<u8>, Failure> {
    let info = Hash::Sha256.digest_info().unwrap_or_default();
    let digest = Hash::Sha256.digest(&[message]);
    pad_signature(&[info, &digest], size).map_err(|error| Failure::Input(error.to_string()))
}

/// Nothing for a size that crypto_mb does not have.
fn known<T>(prepared: Result<T, Error>) -> Result<Option<T>, Failure> {
    match prepared {
        Ok(prepared) => Ok(Some(prepared)),
        Err(Error::Bits(_)) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

fn agree(equal: bool) -> Result<(), Failure> {
    let differ =
        || Failure::Input("crypto_mb and zariz compute different results: nothing was measured".into());
    equal.then_some(()).ok_or_else(differ)
}

fn failed(error: Error) -> Failure {
    Failure::Input(format!("crypto_mb: {error}"))
}
