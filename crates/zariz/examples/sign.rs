//! Signing and verifying batches, with one key and with several. A bad signature fails alone.

use zariz::rsa::{Algorithm, Error, Hash, Message, PrivateKey, SignJob, Signed, VerifyJob, sign_many, verify_many};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = PrivateKey::generate(2048)?;
    let messages: Vec<String> = (0..16).map(|i| format!("message {i}")).collect();
    let messages: Vec<&[u8]> = messages.iter().map(|message| message.as_bytes()).collect();

    // One result for each message, in order.
    let signatures = key.sign_batch(Algorithm::RS256, &messages).into_iter().collect::<Result<Vec<_>, Error>>()?;
    let pairs = messages.iter().zip(&signatures);
    let mut signed: Vec<_> = pairs.map(|(message, signature)| Signed { message: message.into(), signature }).collect();
    signed[3].message = "another message".into();
    for (i, result) in key.public_key().verify_batch(Algorithm::RS256, &signed).into_iter().enumerate() {
        assert_eq!(result, if i == 3 { Err(Error::Verification) } else { Ok(()) });
    }
    println!("{} signatures, of which number 3 is not of its message", signed.len());

    // A message that was hashed elsewhere.
    let digest = Hash::Sha256.digest(&[messages[0]]);
    assert_eq!(key.sign(Algorithm::RS256, Message::Digest(&digest))?, signatures[0]);

    // Several keys and algorithms in one call.
    let other = PrivateKey::generate(1024)?;
    let algorithms = [(&key, Algorithm::PS384), (&other, Algorithm::RS512)];
    let jobs = algorithms.map(|(key, algorithm)| SignJob::new(key, algorithm, messages[0]));
    let signatures = sign_many(&jobs).into_iter().collect::<Result<Vec<_>, Error>>()?;
    let jobs: Vec<_> = jobs
        .iter()
        .zip(&signatures)
        .map(|(job, signature)| {
            let signed = Signed { message: job.message, signature };
            VerifyJob::new(job.key.public_key(), job.algorithm, signed)
        })
        .collect();
    assert_eq!(verify_many(&jobs), [Ok(()), Ok(())]);
    println!("signatures of {} and {} bytes in one call", signatures[0].len(), signatures[1].len());
    Ok(())
}
