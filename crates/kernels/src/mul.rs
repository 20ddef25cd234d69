//! Batches of modular products.

use alloc::vec::Vec;

use crate::constants::{Constants, digits_of};
use crate::frame::Frame;
use crate::limbs::Limbs;
use crate::machine::Machine;

/// One product `a·b mod M`.
#[derive(Clone, Copy)]
pub struct Product<'a> {
    /// The modulus.
    pub modulus: &'a Constants,
    /// A factor of any length.
    pub a: &'a [u64],
    /// A public bound on its length.
    pub a_bits: usize,
    /// A factor below the modulus.
    pub b: &'a [u64],
}

/// Up to `LANES` products at once; all moduli of one digit count. Results are canonical, of `⌈bits/64⌉` limbs.
///
/// `a` enters the domain (`aR < 3M`), and is multiplied by a plain `b < M`: the result is a plain number below
/// `3M·M/R + 2M < 3M`.
pub fn mul<M: Machine>(machine: M, batch: &[Product]) -> Vec<Limbs> {
    let moduli: Vec<_> = batch.iter().map(|p| p.modulus).collect();
    let bits = batch.iter().map(|p| p.a_bits).max().unwrap_or(0);
    let mut frame = Frame::new(machine, &moduli);
    let a: Vec<_> = batch.iter().map(|p| p.a).collect();
    let mut x = frame.enter(&a, bits);
    let b: Vec<_> = batch.iter().map(|p| digits_of(p.b, M::DIGIT_BITS, p.modulus.digits())).collect();
    let y = frame.load(moduli[0].digits(), |i, _| &b[i.min(b.len() - 1)]);
    frame.amm(&mut x, &y);
    let mut out = frame.canonical(&x);
    out.truncate(batch.len());
    out
}
