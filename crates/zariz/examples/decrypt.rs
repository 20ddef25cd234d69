//! Decrypting batches: OAEP, and PKCS#1 v1.5, whose decryption never says that a padding was bad.

use zariz::rsa::{Error, Hash, Padding, PrivateKey};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = PrivateKey::generate(2048)?;
    let public = key.public_key();

    let padding = Padding::oaep(Hash::Sha256);
    let messages: [&[u8]; 3] = [b"one", b"two", b"three"];
    let mut ciphertexts =
        messages.iter().map(|message| public.encrypt(&padding, message)).collect::<Result<Vec<_>, Error>>()?;
    ciphertexts[1][200] ^= 1;
    let ciphertexts: Vec<&[u8]> = ciphertexts.iter().map(|ciphertext| &ciphertext[..]).collect();
    for (i, result) in key.decrypt_batch(&padding, &ciphertexts).into_iter().enumerate() {
        match result {
            // A message is wiped when it is dropped.
            Ok(message) => assert_eq!(*message, messages[i]),
            Err(error) => println!("ciphertext {i}: {error}"),
        }
    }

    // Of a damaged ciphertext comes a message that depends on it and on the key, but no error.
    let mut ciphertext = public.encrypt(&Padding::Pkcs1v15, b"secret")?;
    assert_eq!(*key.decrypt(&Padding::Pkcs1v15, &ciphertext)?, b"secret"[..]);
    ciphertext[255] ^= 1;
    let substitute = key.decrypt(&Padding::Pkcs1v15, &ciphertext);
    println!("PKCS#1 v1.5, damaged: {:?} bytes", substitute.map(|message| message.len()));
    Ok(())
}
