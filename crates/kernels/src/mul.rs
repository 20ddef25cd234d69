//! Modular products.

use alloc::vec::Vec;

use crate::batch::Constants;
use crate::limbs::Numbers;
use crate::montgomery::Montgomery;

/// One product `a·b mod M`.
pub struct Product<'a, C = Constants> {
    /// The constants of the modulus.
    pub modulus: &'a C,
    /// A factor of any length.
    pub a: &'a [u64],
    /// A public bound on its length.
    pub a_bits: usize,
    /// A factor below the modulus.
    pub b: &'a [u64],
}

// Derived implementations would require the same of `C`.
impl<C> Copy for Product<'_, C> {}
impl<C> Clone for Product<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

/// The moduli of a batch, for its context.
pub fn moduli<'a, C>(batch: &[Product<'a, C>]) -> Vec<&'a C> {
    batch.iter().map(|product| product.modulus).collect()
}

/// From 1 to `count` products at once in a context of their moduli. Results are canonical, of `⌈bits/64⌉`
/// limbs.
///
/// `a` enters Montgomery form, and is multiplied by a plain `b`: the result is plain.
pub fn mul<C>(mont: &mut dyn Montgomery, batch: &[Product<C>]) -> Numbers {
    let bits = batch.iter().map(|p| p.a_bits).max().unwrap_or(0);
    let a: Vec<_> = batch.iter().map(|p| p.a).collect();
    let mut x = mont.enter(&a, bits);
    let b: Vec<_> = batch.iter().map(|p| p.b).collect();
    let y = mont.plain(&b);
    mont.amm(&mut x, &y);
    let out = mont.canonical(&x, batch.len());
    mont.recycle(x);
    mont.recycle(y);
    out
}
