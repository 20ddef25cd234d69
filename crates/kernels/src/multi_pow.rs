//! Products of several powers: squarings are shared (Straus 1964).

use alloc::vec::Vec;

use crate::batch::Constants;
use crate::limbs::{self, Numbers};
use crate::montgomery::Montgomery;
use crate::place::AlignedBuf;
use crate::pow::{fixed_windows, odd_powers, sliding_window, table, window_at};

/// One product of powers `Π bases[i]^exponents[i] mod M`.
pub struct MultiPower<'a, C = Constants> {
    /// The constants of the modulus.
    pub modulus: &'a C,
    /// The bases, of any length.
    pub bases: &'a [&'a [u64]],
    /// A public bound on the bases' lengths.
    pub base_bits: usize,
    /// An exponent for each base.
    pub exponents: &'a [&'a [u64]],
    /// A public bound on the exponents' lengths: the number of bits that are processed.
    pub exponent_bits: usize,
}

// Derived implementations would require the same of `C`.
impl<C> Copy for MultiPower<'_, C> {}
impl<C> Clone for MultiPower<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

/// From 1 to `count` products of powers at once in a context of their moduli, in constant time. All have
/// equally many bases.
///
/// The time depends on the context, on the number of bases, on the longest `base_bits` and the longest
/// `exponent_bits`. Results are canonical. Fixed windows with a table for each base; every table entry is
/// read for every window.
///
/// Cost for `k` bases: the squarings of one power, and `k` times its tables and its other products.
pub fn multi_pow<C>(mont: &mut dyn Montgomery, batch: &[MultiPower<C>]) -> Numbers {
    let bits = batch.iter().map(|p| p.exponent_bits).max().unwrap_or(0);
    let window = mont.window_bits(bits);
    let bases = enter(mont, batch);
    let mut finished = |base: &AlignedBuf| {
        let table = table(mont, base, window);
        mont.finish_table(table)
    };
    let tables: Vec<_> = bases.iter().map(&mut finished).collect();
    bases.into_iter().for_each(|number| mont.recycle(number));
    let last = batch.len() - 1;
    let x = fixed_windows(mont, &tables, window, bits, |base, lane| batch[lane.min(last)].exponents[base]);
    tables.into_iter().for_each(|number| mont.recycle(number));
    mont.leave(x, batch.len())
}

/// Like [`multi_pow`], for exponents that are public: the time depends on them, but not on bases or moduli.
///
/// If all lanes share their exponents (a verification with one key), it uses sliding windows over their set
/// bits (Möller 2001); else [`multi_pow`].
pub fn multi_pow_vartime<C>(mont: &mut dyn Montgomery, batch: &[MultiPower<C>]) -> Numbers {
    let exponents = batch[0].exponents;
    let shared = |p: &MultiPower<C>| p.exponents.iter().zip(exponents).all(|(a, b)| limbs::equal(a, b));
    if !batch.iter().all(shared) {
        let longest =
            |p: &MultiPower<C>| p.exponents.iter().map(|e| limbs::bits_vartime(e)).max().unwrap_or(0);
        let batch: Vec<_> = batch.iter().map(|p| MultiPower { exponent_bits: longest(p), ..*p }).collect();
        return multi_pow(mont, &batch);
    }
    let mut odd = Vec::with_capacity(exponents.len());
    // What to multiply by, and at which bit: from the uppermost bit down.
    let mut factors = Vec::new();
    for (base, number) in enter(mont, batch).into_iter().enumerate() {
        let window = sliding_window(limbs::bits_vartime(exponents[base]));
        odd.push(odd_powers(mont, number, window));
        let found = windows(exponents[base], window);
        factors.extend(found.into_iter().map(|(low, digit)| (low, base, digit as usize / 2)));
    }
    factors.sort_unstable_by_key(|&(low, base, _)| (core::cmp::Reverse(low), base));

    let mut x: Option<AlignedBuf> = None;
    let mut at = 0;
    for (low, base, i) in factors {
        let factor = &odd[base][i];
        match &mut x {
            None => x = Some(mont.copy_of(factor)),
            Some(x) => {
                mont.ams(x, at - low);
                mont.amm(x, factor);
            }
        }
        at = low;
    }
    let x = match x {
        Some(mut x) => {
            mont.ams(&mut x, at);
            x
        }
        None => mont.one(),
    };
    odd.into_iter().flatten().for_each(|number| mont.recycle(number));
    mont.leave(x, batch.len())
}

/// The sliding windows of a public exponent from the top down: the lowest bit of each, and its odd digit.
fn windows(exponent: &[u64], width: usize) -> Vec<(usize, u64)> {
    let bit = |i: usize| exponent[i / 64] >> (i % 64) & 1;
    let mut out = Vec::new();
    let mut top = limbs::bits_vartime(exponent);
    while top > 0 {
        if bit(top - 1) == 0 {
            top -= 1;
            continue;
        }
        // The longest window below `top` that ends in a set bit.
        let mut low = top.saturating_sub(width);
        while bit(low) == 0 {
            low += 1;
        }
        out.push((low, window_at(exponent, low, top - low)));
        top = low;
    }
    out
}

/// The bases in Montgomery form, one number of all lanes for each.
fn enter<C>(mont: &mut dyn Montgomery, batch: &[MultiPower<C>]) -> Vec<AlignedBuf> {
    let bits = batch.iter().map(|p| p.base_bits).max().unwrap_or(0);
    let bases = |i: usize| batch.iter().map(|p| p.bases[i]).collect::<Vec<_>>();
    (0..batch[0].bases.len()).map(|i| mont.enter(&bases(i), bits)).collect()
}
