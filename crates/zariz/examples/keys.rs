//! Keys: made, written, read, checked, and taken apart.

use zariz::rsa::{KeyError, PrivateKey, PublicKey};

fn main() -> Result<(), KeyError> {
    let key = PrivateKey::generate(2048)?;
    println!("{}", key.public_key().to_pem()?);

    // PKCS#8 and SPKI are written; PKCS#1 is read, too.
    let pem = key.to_pem()?;
    let again = PrivateKey::parse(pem.as_bytes())?;
    assert_eq!(again.public_key(), key.public_key());
    assert_eq!(PublicKey::parse(&key.public_key().to_der()?)?, *key.public_key());

    // Loading checks that the numbers fit together; only this tests that the primes are prime.
    again.validate()?;

    // The numbers, for other programs' formats.
    let mut components = key.components();
    assert_eq!(PrivateKey::from_components(&components)?.public_key(), key.public_key());
    components.dp[5] ^= 1;
    if let Err(error) = PrivateKey::from_components(&components) {
        println!("a bit flipped in dP: {error}");
    }
    let public = PublicKey::from_components(&components.n, &components.e)?;
    println!("{} bits, signatures of {} bytes", public.bits(), public.size());
    for bad in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        if let Err(error) = PrivateKey::parse(bad.as_bytes()) {
            println!("{bad:.27?}: {error}");
        }
    }
    Ok(())
}
