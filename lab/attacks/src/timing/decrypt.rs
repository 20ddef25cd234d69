//! Decryption with RSA-2048: ciphertexts whose padding is right, or wrong in different ways.

use anyhow::{Result, ensure};
use rand::rngs::StdRng;
use rand::{Rng, RngCore};
use zariz::rsa::hazmat::primitive::{PublicJob, public_many_vartime};
use zariz::rsa::{Hash, Padding, PrivateKey};

use crate::keys::BYTES;
use crate::sample::Experiment;

/// Ciphertexts of each class.
const POOL: usize = 1024;

/// The classes of PKCS#1 v1.5, in order. Each is compared with the first; the second is the control.
pub const PKCS1: [&str; 5] = [
    "right padding",
    "right padding again (control)",
    "another type than 2",
    "no separator",
    "a separator in the first eight bytes",
];

/// The classes of OAEP, in order. All are refused: a program that decrypts may tell the world that a
/// ciphertext was refused, but not why (Manger's attack).
pub const OAEP: [&str; 5] = [
    "another label",
    "another label again (control)",
    "first byte not 0",
    "no separator",
    "a byte before the separator that is not 0",
];

/// Decrypting one ciphertext.
pub struct Decrypt {
    key: PrivateKey,
    padding: Padding,
    /// For each class.
    ciphertexts: Vec<Vec<Vec<u8>>>,
    ciphertext: Vec<u8>,
}

impl Decrypt {
    /// PKCS#1 v1.5.
    ///
    /// The length of a message is no secret, and shows in the time. So messages with right padding are as
    /// long as those that replace the messages of wrong ones.
    pub fn pkcs1(key: PrivateKey, random: &mut StdRng) -> Result<Self> {
        let padding = Padding::Pkcs1v15;
        let mut ciphertexts = vec![Vec::new(); PKCS1.len()];
        for _ in 0..POOL {
            let encrypted = encrypt(&key, &pkcs1_block(3, 0, random))?;
            let length = key.decrypt(&padding, &encrypted)?.len();
            for (class, mine) in ciphertexts.iter_mut().enumerate() {
                let block = pkcs1_block(class, length, random);
                let encrypted = encrypt(&key, &block)?;
                let message = key.decrypt(&padding, &encrypted)?;
                ensure!(
                    (class < 2) == (block.ends_with(&message) && message.len() == length),
                    "class {class}"
                );
                mine.push(encrypted);
            }
        }
        Ok(Self { key, padding, ciphertexts, ciphertext: vec![0; BYTES] })
    }

    /// OAEP with SHA-256 and an empty label.
    pub fn oaep(key: PrivateKey, random: &mut StdRng) -> Result<Self> {
        let padding = Padding::oaep(Hash::Sha256);
        let right = encrypt(&key, &oaep_block(None, random))?;
        ensure!(key.decrypt(&padding, &right).is_ok(), "right padding was refused");
        let mut ciphertexts = vec![Vec::new(); OAEP.len()];
        for (class, mine) in ciphertexts.iter_mut().enumerate() {
            for _ in 0..POOL {
                let encrypted = encrypt(&key, &oaep_block(Some(class), random))?;
                ensure!(key.decrypt(&padding, &encrypted).is_err(), "class {class} was not refused");
                mine.push(encrypted);
            }
        }
        Ok(Self { key, padding, ciphertexts, ciphertext: vec![0; BYTES] })
    }
}

/// A block of a class of [`PKCS1`]; what ends in a message has one of `length` bytes.
fn pkcs1_block(class: usize, length: usize, random: &mut StdRng) -> Vec<u8> {
    let mut block: Vec<u8> = (0..BYTES).map(|_| random.random_range(1..=255)).collect();
    (block[0], block[1]) = (0, 2);
    match class {
        0 | 1 => block[BYTES - length - 1] = 0,
        2 => (block[1], block[BYTES - length - 1]) = (1, 0),
        3 => {}
        _ => block[random.random_range(2..10)] = 0,
    }
    block
}

/// A block with right padding, or of a class of [`OAEP`] (RFC 8017 section 7.1.1); its message has 32 bytes.
fn oaep_block(class: Option<usize>, random: &mut StdRng) -> Vec<u8> {
    const HASH: usize = 32;
    let label: &[u8] = if matches!(class, Some(0 | 1)) { b"another" } else { b"" };
    let mut db = Hash::Sha256.digest(&[label]);
    db.resize(BYTES - 1 - HASH, 0);
    let separator = db.len() - HASH - 1;
    random.fill_bytes(&mut db[separator..]);
    db[separator] = 1;
    match class {
        Some(3) => db[HASH..].fill(0),
        Some(4) => db[random.random_range(HASH..separator)] = random.random_range(2..=255),
        _ => {}
    }
    let mut seed = vec![0; HASH];
    random.fill_bytes(&mut seed);
    mask(&seed, &mut db);
    mask(&db, &mut seed);
    let first = if class == Some(2) { random.random_range(1..0x80) } else { 0 };
    [&[first][..], &seed, &db].concat()
}

/// Adds MGF1 with SHA-256 (RFC 8017, appendix B.2.1).
fn mask(seed: &[u8], out: &mut [u8]) {
    for (counter, piece) in (0u32..).zip(out.chunks_mut(32)) {
        let mask = Hash::Sha256.digest(&[seed, &counter.to_be_bytes()]);
        piece.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
    }
}

/// `block^e mod n`.
fn encrypt(key: &PrivateKey, block: &[u8]) -> Result<Vec<u8>> {
    Ok(public_many_vartime(&[PublicJob { key: key.public_key(), number: block }]).swap_remove(0)?)
}

impl Experiment for Decrypt {
    type Output = Option<Vec<u8>>;

    fn classes(&self) -> usize {
        self.ciphertexts.len()
    }

    fn input_len(&self) -> usize {
        BYTES
    }

    fn prepare(&mut self, class: usize, random: &mut StdRng, input: &mut [u8]) -> Result<()> {
        input.copy_from_slice(&self.ciphertexts[class][random.random_range(0..POOL)]);
        Ok(())
    }

    fn place(&mut self, input: &[u8]) -> Result<()> {
        self.ciphertext.copy_from_slice(input);
        Ok(())
    }

    fn run(&mut self) -> Result<Self::Output> {
        // A refusal is one of the results that are measured.
        Ok(self.key.decrypt(&self.padding, &self.ciphertext).ok().map(|message| message.to_vec()))
    }
}
