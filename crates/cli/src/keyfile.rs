//! Reads keys from files. Errors name the file and say what to do.

use std::io::Read;
use std::path::Path;

use zariz::Dispatch;
use zariz::rsa::{KeyError, PrivateKey, PublicKey};
use zeroize::Zeroizing;

use crate::exit::Failure;
use crate::input::Input;
use crate::password::{self, Password};

/// The largest key file that is read. Even the largest key, in PEM with a chain of certificates around it, is
/// far smaller.
const LARGEST: u64 = 1 << 20;

/// Reads a private key, encrypted or not.
pub fn private(path: &Path, password: &Password, engine: Dispatch) -> Result<PrivateKey, Failure> {
    let key = parse(path, &read(path)?, password)?.map_err(|error| failure(path, &error))?;
    Ok(key.with_engine(engine)?)
}

/// Reads a public key, or the public half of a private key.
pub fn public(path: &Path, password: &Password, engine: Dispatch) -> Result<PublicKey, Failure> {
    let contents = read(path)?;
    let key = match PublicKey::parse(&contents) {
        Err(KeyError::PrivateOnly) => parse(path, &contents, password)?.map(|key| key.public_key().clone()),
        key => key,
    };
    Ok(key.map_err(|error| failure(path, &error))?.with_engine(engine)?)
}

/// Parses a private key. If it is encrypted, its password comes from the given file, or from the terminal.
fn parse(path: &Path, contents: &[u8], password: &Password) -> Result<Result<PrivateKey, KeyError>, Failure> {
    Ok(match password.read()? {
        Some(password) => PrivateKey::parse_encrypted(contents, &password),
        None => match PrivateKey::parse(contents) {
            Err(KeyError::Encrypted) if password::can_ask() => {
                PrivateKey::parse_encrypted(contents, &password::ask(path)?)
            }
            key => key,
        },
    })
}

fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let input = Input::open(path)?;
    // Reserved at once: growing would leave copies of the key behind.
    let mut contents =
        Zeroizing::new(Vec::with_capacity(input.size.unwrap_or(LARGEST).min(LARGEST) as usize + 1));
    let mut limited = input.reader.into_inner().take(LARGEST + 1);
    limited.read_to_end(&mut contents).map_err(|e| Failure::io(&input.name, &e))?;
    match contents.len() as u64 {
        0 => Err(Failure::Input(format!("{}: empty; a key was expected", input.name))),
        1..=LARGEST => Ok(contents),
        _ => Err(Failure::Input(format!("{}: too long to be a key", input.name))),
    }
}

/// The error for the key at `path`, with a hint if its password is missing.
fn failure(path: &Path, error: &KeyError) -> Failure {
    let hint =
        if *error == KeyError::Encrypted { " (give the password with --password-file FILE)" } else { "" };
    Failure::Input(format!("{}: {error}{hint}", path.display()))
}
