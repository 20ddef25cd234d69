//! RSA-2048 keys: random ones, and one whose primes have an unusual shape.

use anyhow::{Context, Result, ensure};
use num_bigint::BigUint;
use rand::rngs::StdRng;
use rand::{Rng, RngCore};
use zariz::Dispatch;
use zariz::primes::is_prime_many;
use zariz::rsa::hazmat::primitive::{PrivateJob, private_many};
use zariz::rsa::{Components, PrimeComponents, PrivateKey};

use crate::sample::Experiment;

/// Bytes of a modulus.
pub const BYTES: usize = 256;
/// How many random keys there are.
const POOL: usize = 64;
/// The public exponent.
const E: u32 = 65537;

/// The classes of [`Keys`], in order. Each is compared with the first; the second is the control.
pub const CLASSES: [&str; 4] =
    ["random keys", "random keys again (control)", "one random key", "p almost all zeros, q almost all ones"];

/// The private operation on one number or several, each time with a key that was just loaded and used once.
pub struct Keys {
    random: Vec<Vec<u8>>,
    shaped: Vec<u8>,
    dispatch: Dispatch,
    /// Of all requests, one after the other.
    numbers: Vec<u8>,
    /// The numbers of the key that is in use.
    components: Components,
    key: Option<PrivateKey>,
}

impl Keys {
    /// Makes all keys, and one number for each of the `requests`.
    pub fn new(dispatch: Dispatch, requests: usize, random: &mut StdRng) -> Result<Self> {
        let keys = PrivateKey::generate_many(8 * BYTES, POOL)?;
        let components = keys[0].components();
        let pool = keys.iter().map(|key| bytes(&key.components())).collect();
        let numbers = random_numbers(requests, random);
        Ok(Self {
            random: pool,
            shaped: bytes(&shaped()?.components()),
            dispatch,
            numbers,
            components,
            key: None,
        })
    }
}

/// A key with `p = 3·2^1022 + …` and `q = 2^1024 − …`: of their limbs, all are zero or all ones but the outer
/// two.
fn shaped() -> Result<PrivateKey> {
    let (one, half) = (BigUint::from(1u32), 4 * BYTES);
    let e = BigUint::from(E);
    let find = |start: BigUint, up: bool| -> Result<BigUint> {
        let numbers: Vec<BigUint> =
            (0..4096u32).map(|i| if up { &start + (2 * i + 1) } else { &start - (2 * i + 1) }).collect();
        let numbers: Vec<_> =
            numbers.into_iter().filter(|number| (number - &one).modinv(&e).is_some()).collect();
        let encoded: Vec<_> = numbers.iter().map(BigUint::to_bytes_be).collect();
        let prime = is_prime_many(&encoded.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        let (_, prime) =
            prime.iter().zip(numbers).find(|(prime, _)| **prime).context("no prime of that shape")?;
        Ok(prime)
    };
    let (p, q) = (find(BigUint::from(3u32) << (half - 2), true)?, find(&one << half, false)?);
    let (n, order) = (&p * &q, (&p - &one) * (&q - &one));
    let d = e.modinv(&order).context("the public exponent has no inverse")?;
    let [n, e, d, p, q] = [n, e, d, p, q].map(|number| number.to_bytes_be());
    let key = PrivateKey::from_primes(&PrimeComponents { n: &n, e: &e, d: &d, p: &p, q: &q })?;
    ensure!(key.size() == BYTES, "the key has {} bytes", key.size());
    Ok(key)
}

/// The bytes of each number of [`bytes`].
const WIDTHS: [usize; 7] = [BYTES, BYTES, BYTES / 2, BYTES / 2, BYTES / 2, BYTES / 2, BYTES / 2];

/// The numbers of a key one after the other, padded, but for the public exponent, which all keys share.
fn bytes(key: &Components) -> Vec<u8> {
    let numbers = [&key.n[..], &key.d, &key.p, &key.q, &key.dp, &key.dq, &key.qinv];
    let padded = |(number, width): (&[u8], usize)| [&vec![0; width - number.len()][..], number].concat();
    numbers.into_iter().zip(WIDTHS).flat_map(padded).collect()
}

impl Experiment for Keys {
    type Output = Vec<Vec<u8>>;

    fn classes(&self) -> usize {
        CLASSES.len()
    }

    fn input_len(&self) -> usize {
        self.shaped.len()
    }

    fn prepare(&mut self, class: usize, random: &mut StdRng, input: &mut [u8]) -> Result<()> {
        let one = if class == 2 { 0 } else { random.random_range(0..POOL) };
        input.copy_from_slice(if class == 3 { &self.shaped } else { &self.random[one] });
        Ok(())
    }

    /// Loads the key. Its first use prepares what later uses share, and its mask.
    fn place(&mut self, input: &[u8]) -> Result<()> {
        self.key = None;
        let Components { n, e: _, d, p, q, dp, dq, qinv } = &mut self.components;
        let mut rest = input;
        let numbers = [n, &mut **d, &mut **p, &mut **q, &mut **dp, &mut **dq, &mut **qinv];
        for (number, width) in numbers.into_iter().zip(WIDTHS) {
            let (mine, others) = rest.split_at(width);
            number.resize(width, 0);
            number.copy_from_slice(mine);
            rest = others;
        }
        self.key = Some(PrivateKey::from_components(&self.components)?.with_engine(self.dispatch)?);
        self.run()?;
        Ok(())
    }

    fn run(&mut self) -> Result<Self::Output> {
        let key = self.key.as_ref().context("there is no key")?;
        private(key, &self.numbers)
    }
}

/// The classes of [`Messages`], in order. Each is compared with the first; the second is the control.
pub const MESSAGES: [&str; 3] = ["random numbers", "random numbers again (control)", "the number 2"];

/// The private operation of one key, on one number or several. All numbers of a sample have its class.
pub struct Messages {
    key: PrivateKey,
    numbers: Vec<u8>,
}

impl Messages {
    /// With this key, and so many requests at once.
    pub fn new(key: PrivateKey, requests: usize) -> Self {
        Self { key, numbers: vec![0; requests * BYTES] }
    }
}

impl Experiment for Messages {
    type Output = Vec<Vec<u8>>;

    fn classes(&self) -> usize {
        MESSAGES.len()
    }

    fn input_len(&self) -> usize {
        self.numbers.len()
    }

    fn prepare(&mut self, class: usize, random: &mut StdRng, input: &mut [u8]) -> Result<()> {
        let requests = input.len() / BYTES;
        input.copy_from_slice(&match class {
            2 => [&[0; BYTES - 1][..], &[2]].concat().repeat(requests),
            _ => random_numbers(requests, random),
        });
        Ok(())
    }

    fn place(&mut self, input: &[u8]) -> Result<()> {
        self.numbers.copy_from_slice(input);
        Ok(())
    }

    fn run(&mut self) -> Result<Self::Output> {
        private(&self.key, &self.numbers)
    }
}

/// Random numbers one after the other, each below every modulus.
fn random_numbers(count: usize, random: &mut StdRng) -> Vec<u8> {
    let mut out = vec![0; count * BYTES];
    out.chunks_exact_mut(BYTES).for_each(|number| random.fill_bytes(&mut number[1..]));
    out
}

/// `number^d mod n` for each number.
fn private(key: &PrivateKey, numbers: &[u8]) -> Result<Vec<Vec<u8>>> {
    let jobs: Vec<_> = numbers.chunks_exact(BYTES).map(|number| PrivateJob { key, number }).collect();
    private_many(&jobs).into_iter().map(|result| Ok(result?.to_vec())).collect()
}
