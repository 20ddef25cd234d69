//! A leak that the measurement must find: powers that skip the multiplication of a window that is zero.

use anyhow::{Context, Result};
use rand::RngCore;
use rand::rngs::StdRng;
use zariz_kernels::limbs::{self, Limbs, Numbers};
use zariz_kernels::scalar::{self, Constants, Kernels};
use zariz_kernels::{Montgomery as _, OddModulus};

use crate::sample::Experiment;

/// Bytes of modulus, base and exponent.
const BYTES: usize = 64;
/// Bits of a window: two in each byte.
const WINDOW: usize = 4;

/// The classes, in order.
pub const CLASSES: [&str; 2] = ["no window is zero", "one of 128 windows is zero"];

/// Powers by a machine for single numbers, with a loop of our own. Whether it skips is known to the compiler:
/// without the leak, no branch depends on a window.
pub struct Planted<S, const SKIPS: bool> {
    machine: S,
    constants: Constants,
    base: Limbs,
    exponent: [u8; BYTES],
}

impl<S: Kernels, const SKIPS: bool> Planted<S, SKIPS> {
    /// Powers of a random number modulo another one.
    pub fn new(machine: S, random: &mut StdRng) -> Result<Self> {
        let mut number = || {
            let mut bytes = [0; BYTES];
            random.fill_bytes(&mut bytes);
            (bytes[0], bytes[BYTES - 1]) = (bytes[0] | 0x80, bytes[BYTES - 1] | 1);
            limbs::from_be_bytes(&bytes)
        };
        let modulus = number();
        let modulus = OddModulus::new(&modulus).context("the modulus is not odd")?;
        let constants = Constants::new(&modulus, S::STEP);
        Ok(Self { machine, constants, base: number(), exponent: [0; BYTES] })
    }
}

impl<S: Kernels, const SKIPS: bool> Experiment for Planted<S, SKIPS> {
    type Output = Numbers;

    fn classes(&self) -> usize {
        CLASSES.len()
    }

    fn input_len(&self) -> usize {
        BYTES
    }

    fn prepare(&mut self, class: usize, random: &mut StdRng, input: &mut [u8]) -> Result<()> {
        random.fill_bytes(input);
        for byte in input.iter_mut() {
            *byte |= u8::from(*byte & 0x0f == 0) | u8::from(*byte & 0xf0 == 0) << 4;
        }
        if class == 1 {
            input[BYTES / 2] &= 0xf0;
        }
        Ok(())
    }

    fn place(&mut self, input: &[u8]) -> Result<()> {
        self.exponent.copy_from_slice(input);
        Ok(())
    }

    fn run(&mut self) -> Result<Self::Output> {
        let mut mont = scalar::Context::new(self.machine, &self.constants);
        let base = mont.enter(&[&self.base], 8 * BYTES);
        let size = mont.words();
        let (mut next, mut table) = (mont.one(), mont.zeros(size << WINDOW));
        for entry in table.chunks_exact_mut(size) {
            entry.copy_from_slice(&next);
            mont.amm(&mut next, &base);
        }
        let (mut x, mut entry) = (mont.one(), mont.zeros(size));
        for byte in self.exponent {
            for window in [byte >> WINDOW, byte & 0x0f] {
                mont.ams(&mut x, WINDOW);
                mont.select(&mut entry, &table, &[window.into()]);
                if !SKIPS || window != 0 {
                    mont.amm(&mut x, &entry);
                }
            }
        }
        Ok(mont.leave(x, 1))
    }
}
