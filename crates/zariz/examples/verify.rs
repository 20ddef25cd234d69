//! Verifies many signatures at once, of one signer and of several. A wrong one fails alone.

use zariz::rsa::{Algorithm, Error, PrivateKey, PublicKey, Signed, VerifyJob, verify_many};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (key, other) = (PrivateKey::generate(2048)?, PrivateKey::generate(2048)?);
    let signature = key.sign(Algorithm::RS256, "a message")?;

    // What the verifier has is the public key, from PEM or DER.
    let public = PublicKey::parse(key.public_key().to_pem()?.as_bytes())?;
    let signed =
        ["a message", "another message"].map(|m| Signed { message: m.into(), signature: &signature });
    assert_eq!(public.verify_batch(Algorithm::RS256, &signed), [Ok(()), Err(Error::Verification)]);

    // With a key for each signature.
    let jobs = [&public, other.public_key()].map(|key| VerifyJob::new(key, Algorithm::RS256, signed[0]));
    let results = verify_many(&jobs);
    assert!(results[0].is_ok() && results[1].is_err());
    println!("{results:?}");
    Ok(())
}
