//! Signs one message, or its digest, into a new vector or a buffer, and verifies the signature.

use zariz::rsa::{Algorithm, Error, Hash, Message, PrivateKey};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = PrivateKey::generate(2048)?; // or PrivateKey::parse, for PEM and DER
    let signature = key.sign(Algorithm::RS256, b"a message")?;
    println!("a signature of {} bytes", signature.len());

    let public = key.public_key();
    public.verify(Algorithm::RS256, b"a message", &signature)?;
    assert_eq!(public.verify(Algorithm::RS256, b"another message", &signature), Err(Error::Verification));

    // A message that was hashed elsewhere, and a buffer of the caller's.
    let digest = Hash::Sha256.digest(&[b"a ", b"message"]);
    let mut buffer = vec![0; key.size()];
    key.sign_into(Algorithm::RS256, Message::Digest(&digest), &mut buffer)?;
    assert_eq!(buffer, signature);
    Ok(())
}
