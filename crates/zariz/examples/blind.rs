//! Blind signatures (RFC 9474): the server signs tokens that it does not see.

use zariz::rsa::blind::{PrivateKey, Variant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The server's key serves blind signatures of one variant, and nothing else.
    let server = PrivateKey::generate(Variant::RECOMMENDED, 2048)?;

    // The client blinds a message; blinded.message goes to the server.
    let client = server.public_key();
    let prepared = client.variant().prepare(b"a token")?;
    let blinded = client.blind(&prepared)?;

    // The server signs; blind_sign_batch and blind_sign_many sign many at once.
    let blind_signature = server.blind_sign(&blinded.message)?;

    // The client has an ordinary PSS signature, which the server has not seen. Anyone may verify it.
    let signature = client.finalize(&prepared, &blind_signature, &blinded.inverse)?;
    client.verify(&prepared, &signature)?;
    println!("a signature of {} bytes", signature.len());
    Ok(())
}
