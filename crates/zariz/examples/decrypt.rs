//! Decrypts ciphertexts: one, and many at once, with OAEP; and with PKCS#1 v1.5, which never says that a
//! padding was bad.

use zariz::rsa::{Error, Hash, Padding, PrivateKey};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = PrivateKey::generate(2048)?;
    let (public, padding) = (key.public_key(), Padding::oaep(Hash::Sha256));

    let mut ciphertexts =
        public.encrypt_batch(&padding, &[b"one", b"two"]).into_iter().collect::<Result<Vec<_>, _>>()?;
    // A message is wiped when it is dropped.
    assert_eq!(*key.decrypt(&padding, &ciphertexts[0])?, b"one"[..]);

    // One result for each ciphertext, in order.
    ciphertexts[1][200] ^= 1;
    let ciphertexts: Vec<&[u8]> = ciphertexts.iter().map(|ciphertext| &ciphertext[..]).collect();
    let messages = key.decrypt_batch(&padding, &ciphertexts);
    assert!(messages[0].is_ok() && messages[1] == Err(Error::Decryption));

    // Of a damaged ciphertext comes a message that depends on it and on the key, but no error.
    let mut ciphertext = public.encrypt(&Padding::Pkcs1v15, b"secret")?;
    ciphertext[255] ^= 1;
    let substitute = key.decrypt(&Padding::Pkcs1v15, &ciphertext)?;
    println!("PKCS#1 v1.5, damaged: {} bytes", substitute.len());
    Ok(())
}
