//! Powers of 512 bits, every lane full.

use anyhow::Result;
use rand::RngCore;
use rand::rngs::StdRng;
use zariz::{Engine, Modulus, PowJob, pow_many};

use crate::sample::Experiment;

/// Bytes of modulus, base and exponent.
const BYTES: usize = 64;

/// The classes, in order. Each is compared with the first; the second is the control.
pub const CLASSES: [&str; 4] =
    ["random", "random again (control)", "secret base: 0 in every lane", "secret exponent: 0 in every lane"];

/// A batch of powers on one engine. All lanes of a sample have its class.
pub struct Powers {
    modulus: Modulus,
    /// Bases, then exponents.
    numbers: Vec<u8>,
    lanes: usize,
}

impl Powers {
    /// Powers modulo a random number.
    pub fn new(engine: Engine, random: &mut StdRng) -> Result<Self> {
        let mut modulus = [0; BYTES];
        random.fill_bytes(&mut modulus);
        (modulus[0], modulus[BYTES - 1]) = (modulus[0] | 0x80, modulus[BYTES - 1] | 1);
        let modulus = Modulus::new(&modulus)?.with_engine(engine)?;
        Ok(Self { modulus, numbers: vec![0; 2 * engine.lanes() * BYTES], lanes: engine.lanes() })
    }
}

impl Experiment for Powers {
    type Output = Vec<Vec<u8>>;

    fn classes(&self) -> usize {
        CLASSES.len()
    }

    fn input_len(&self) -> usize {
        self.numbers.len()
    }

    fn prepare(&mut self, class: usize, random: &mut StdRng, input: &mut [u8]) -> Result<()> {
        random.fill_bytes(input);
        let (bases, exponents) = input.split_at_mut(self.lanes * BYTES);
        match class {
            2 => bases.fill(0),
            3 => exponents.fill(0),
            _ => {}
        }
        Ok(())
    }

    fn place(&mut self, input: &[u8]) -> Result<()> {
        self.numbers.copy_from_slice(input);
        Ok(())
    }

    fn run(&mut self) -> Result<Self::Output> {
        let (bases, exponents) = self.numbers.split_at(self.lanes * BYTES);
        let pairs = bases.chunks_exact(BYTES).zip(exponents.chunks_exact(BYTES));
        let jobs: Vec<_> =
            pairs.map(|(base, exponent)| PowJob { modulus: &self.modulus, base, exponent }).collect();
        Ok(pow_many(&jobs))
    }
}
