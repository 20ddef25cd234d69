//! Keys from files: the right PEM block of several, and errors that name the file and say what to do.

use std::io::Read;
use std::path::Path;

use zariz::Engine;
use zariz::rsa::{KeyError, PrivateKey, PublicKey};
use zeroize::Zeroizing;

use crate::exit::Failure;
use crate::input::Input;

/// The largest key there is, in PEM with a chain of certificates around it, is far below this.
const LARGEST: u64 = 1 << 20;

/// Reads a private key.
pub fn private(path: &Path, engine: Engine) -> Result<PrivateKey, Failure> {
    let contents = read(path)?;
    let block = Block::choose(&contents, &[Block::is_private]);
    PrivateKey::parse_with(block.text, engine).map_err(|error| block.failure(path, &error))
}

/// Reads a public key, or a private key for the public key in it.
pub fn public(path: &Path, engine: Engine) -> Result<PublicKey, Failure> {
    let contents = read(path)?;
    let block = Block::choose(&contents, &[Block::is_public, Block::is_private]);
    let private = || PrivateKey::parse_with(block.text, engine).map(|key| key.public_key().clone());
    let key = if block.is_private() {
        private()
    } else if block.label.is_some() {
        PublicKey::parse_with(block.text, engine)
    } else {
        PublicKey::parse_with(block.text, engine).or_else(|error| {
            // DER does not say what it is: unless it is recognised as a private key, what is wrong is what keeps it
            // from being a public one.
            private().map_err(|other| if matches!(other, KeyError::Der(_)) { error } else { other })
        })
    };
    key.map_err(|error| block.failure(path, &error))
}

fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let input = Input::open(path)?;
    // Reserved at once: growing would leave copies of the key behind.
    let mut contents = Zeroizing::new(Vec::with_capacity(input.size.unwrap_or(LARGEST).min(LARGEST) as usize + 1));
    let mut limited = input.reader.into_inner().take(LARGEST + 1);
    limited.read_to_end(&mut contents).map_err(|e| Failure::io(&input.name, &e))?;
    match contents.len() as u64 {
        0 => Err(Failure::Input(format!("{}: empty where a key should be", input.name))),
        1..=LARGEST => Ok(contents),
        _ => Err(Failure::Input(format!("{}: too long to be a key", input.name))),
    }
}

/// A PEM block with its label; the whole file, without a label, if there is no block in it.
#[derive(Clone, Copy)]
struct Block<'a> {
    label: Option<&'a str>,
    text: &'a [u8],
}

impl<'a> Block<'a> {
    /// The first block of the first kind that there is one of, else the first block, else the file.
    fn choose(contents: &'a [u8], kinds: &[fn(&Self) -> bool]) -> Self {
        let Ok(text) = str::from_utf8(contents) else { return Self { label: None, text: contents } };
        let blocks: Vec<Self> = text.match_indices("-----BEGIN ").filter_map(|(at, _)| Self::at(&text[at..])).collect();
        let wanted = kinds.iter().find_map(|kind| blocks.iter().find(|block| kind(block)));
        wanted.or(blocks.first()).copied().unwrap_or(Self { label: None, text: contents })
    }

    /// The block that `text` begins with; if its end is missing, it goes on to the end of the text.
    fn at(text: &'a str) -> Option<Self> {
        let (label, _) = text.strip_prefix("-----BEGIN ")?.split_once("-----")?;
        let end = format!("-----END {label}-----");
        let length = text.find(&end).map_or(text.len(), |at| at + end.len());
        Some(Self { label: Some(label), text: text[..length].as_bytes() })
    }

    fn is_private(&self) -> bool {
        self.label.is_some_and(|label| label.ends_with("PRIVATE KEY"))
    }

    fn is_public(&self) -> bool {
        self.label.is_some_and(|label| label.ends_with("PUBLIC KEY"))
    }

    /// What is wrong with the key at `path`, and what to do about kinds of file that people try.
    fn failure(&self, path: &Path, error: &KeyError) -> Failure {
        let path = path.display();
        let hint = match self.label {
            Some("CERTIFICATE") => format!("; take its public key with: openssl x509 -in {path} -noout -pubkey"),
            Some("OPENSSH PRIVATE KEY") => "; convert a copy of it with: ssh-keygen -p -m PEM -f COPY".into(),
            _ => String::new(),
        };
        Failure::Input(format!("{path}: {error}{hint}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen<'a>(text: &'a str, kinds: &[fn(&Block<'a>) -> bool]) -> Option<&'a str> {
        Block::choose(text.as_bytes(), kinds).label
    }

    #[test]
    fn the_right_block_of_several_is_chosen() {
        let block = |label: &str| format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n");
        let chain = ["CERTIFICATE", "EC PARAMETERS", "RSA PRIVATE KEY", "PUBLIC KEY"].map(block).concat();
        assert_eq!(chosen(&chain, &[Block::is_private]), Some("RSA PRIVATE KEY"));
        assert_eq!(chosen(&chain, &[Block::is_public, Block::is_private]), Some("PUBLIC KEY"));
        assert_eq!(chosen(&block("CERTIFICATE"), &[Block::is_private]), Some("CERTIFICATE"));
        assert_eq!(chosen("no key", &[Block::is_private]), None);
        let bag = format!("Bag Attributes\n  name: x\n{}trailing", block("PRIVATE KEY"));
        let found = Block::choose(bag.as_bytes(), &[Block::is_private]);
        assert_eq!(found.text, block("PRIVATE KEY").trim_end().as_bytes());
    }

    #[test]
    fn broken_armour_is_no_panic() {
        for text in ["-----BEGIN ", "-----BEGIN PRIVATE KEY", "-----BEGIN A-----", "-----BEGIN -----END -----"] {
            Block::choose(text.as_bytes(), &[Block::is_private]);
        }
    }
}
