//! Signs many messages at once, with one key and with several.

use zariz::rsa::{Algorithm, Error, PrivateKey, SignJob, sign_many};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (key, other) = (PrivateKey::generate(2048)?, PrivateKey::generate(3072)?);
    let messages: Vec<String> = (0..16).map(|i| format!("message {i}")).collect();
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();

    // One result for each message, in order. 16 at once fill the lanes of every engine.
    let signatures =
        key.sign_batch(Algorithm::RS256, &messages).into_iter().collect::<Result<Vec<_>, Error>>()?;
    println!("{} signatures with one key", signatures.len());

    // Keys and algorithms of their own. A job that fails leaves the others alone.
    let jobs = [
        SignJob::new(&key, Algorithm::RS256, messages[0]),
        SignJob::new(&other, Algorithm::PS384, messages[1]),
        SignJob::new(&other, Algorithm::RS512, messages[2]),
    ];
    for signature in sign_many(&jobs) {
        println!("a signature of {} bytes", signature?.len());
    }
    Ok(())
}
