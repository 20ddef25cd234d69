//! Modular powers.

use alloc::vec::Vec;

use crate::batch::Constants;
use crate::domain::Domain;
use crate::limbs::{self, Limbs};
use crate::place::Placed;

/// One power `base^exponent mod M`.
pub struct Power<'a, C = Constants> {
    /// The constants of the modulus.
    pub modulus: &'a C,
    /// The base, of any length.
    pub base: &'a [u64],
    /// A public bound on the base's length.
    pub base_bits: usize,
    /// The exponent.
    pub exponent: &'a [u64],
    /// A public bound on the exponent's length: the number of bits that are processed.
    pub exponent_bits: usize,
}

// Derived implementations would require the same of `C`.
impl<C> Copy for Power<'_, C> {}
impl<C> Clone for Power<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

/// The moduli of a batch, for its domain.
pub fn moduli<'a, C>(batch: &[Power<'a, C>]) -> Vec<&'a C> {
    batch.iter().map(|power| power.modulus).collect()
}

/// From 1 to `count` powers at once in a domain of their moduli, in constant time.
///
/// The time depends on the domain, on the longest `base_bits` and the longest `exponent_bits`. Results are
/// canonical, of `⌈bits/64⌉` limbs. Fixed windows, every table entry read for every window.
pub fn pow<D: Domain, C>(mut domain: D, batch: &[Power<C>]) -> Vec<Limbs> {
    let base = enter(&mut domain, batch);
    let bits = batch.iter().map(|p| p.exponent_bits).max().unwrap_or(0);
    let window = domain.window_bits(bits);

    // table[i] = base^i
    let (words, size) = (domain.words(), domain.entry_words());
    let mut table = domain.zeros(size << window);
    let mut entry = domain.zeros(size);
    for i in 0..1usize << window {
        let number = &mut entry[..words];
        match i {
            0 => number.copy_from_slice(&domain.one()),
            1 => number.copy_from_slice(&base),
            _ if i % 2 == 0 => {
                number.copy_from_slice(&table[i / 2 * size..][..words]);
                domain.ams(number, 1);
            }
            _ => {
                number.copy_from_slice(&table[(i - 1) * size..][..words]);
                domain.amm(number, &base);
            }
        }
        domain.complete_entry(&mut entry);
        table[i * size..][..size].copy_from_slice(&entry);
    }

    let count = domain.count();
    let mut x = domain.one();
    let mut entries = domain.zeros(size * D::WINDOWS);
    let mut index = limbs::zero(D::WINDOWS * count);
    for (i, at) in (0..bits.div_ceil(window)).rev().enumerate() {
        if i > 0 {
            domain.ams(&mut x, window);
        }
        // The table is read for this window and the next ones; below the last, for the last again.
        if i % D::WINDOWS == 0 {
            for (k, index) in index.iter_mut().enumerate() {
                let (ahead, lane) = (k / count, k % count);
                let exponent = batch[lane.min(batch.len() - 1)].exponent;
                *index = window_at(exponent, at.saturating_sub(ahead) * window, window);
            }
            domain.select(&mut entries, &table, &index);
        }
        let entry = &entries[i % D::WINDOWS * size..][..size];
        if i > 0 {
            domain.multiply_entry(&mut x, entry);
        } else {
            x.copy_from_slice(&entry[..words]);
        }
    }
    leave(domain, x, batch.len())
}

/// Like [`pow`], for exponents that are public: the time depends on them, but not on bases or moduli.
///
/// If all lanes share one exponent (RSA verification), it uses sliding windows over its set bits; else
/// [`pow`].
pub fn pow_vartime<D: Domain, C>(mut domain: D, batch: &[Power<C>]) -> Vec<Limbs> {
    let exponent = batch.first().map_or(&[][..], |p| p.exponent);
    if !batch.iter().all(|p| limbs::equal(p.exponent, exponent)) {
        let trim = |p: &Power<C>| limbs::bits_vartime(p.exponent);
        let batch: Vec<_> = batch.iter().map(|p| Power { exponent_bits: trim(p), ..*p }).collect();
        return pow(domain, &batch);
    }
    let base = enter(&mut domain, batch);
    let bits = limbs::bits_vartime(exponent);
    if bits == 0 {
        let x = domain.one();
        return leave(domain, x, batch.len());
    }
    let window = match bits {
        0..=32 => 1,
        33..=96 => 3,
        97..=320 => 4,
        321..=1024 => 5,
        _ => 6,
    };
    // odd[i] = base^(2i + 1)
    let mut odd = Vec::with_capacity(1 << (window - 1));
    odd.push(base);
    if window > 1 {
        let mut square = odd[0].clone();
        domain.ams(&mut square, 1);
        for i in 1..1 << (window - 1) {
            let mut next: Placed<D::Word> = odd[i - 1].clone();
            domain.amm(&mut next, &square);
            odd.push(next);
        }
    }
    let bit = |i: usize| exponent[i / 64] >> (i % 64) & 1;
    let mut x: Option<Placed<D::Word>> = None;
    let mut top = bits;
    while top > 0 {
        if bit(top - 1) == 0 {
            if let Some(x) = &mut x {
                domain.ams(x, 1);
            }
            top -= 1;
            continue;
        }
        // The longest window below `top` that ends in a set bit.
        let mut low = top.saturating_sub(window);
        while bit(low) == 0 {
            low += 1;
        }
        let factor = &odd[window_at(exponent, low, top - low) as usize / 2];
        match &mut x {
            None => x = Some(factor.clone()),
            Some(x) => {
                domain.ams(x, top - low);
                domain.amm(x, factor);
            }
        }
        top = low;
    }
    let x = x.unwrap_or_else(|| domain.one());
    leave(domain, x, batch.len())
}

fn enter<D: Domain, C>(domain: &mut D, batch: &[Power<C>]) -> Placed<D::Word> {
    let bases: Vec<_> = batch.iter().map(|p| p.base).collect();
    let bits = batch.iter().map(|p| p.base_bits).max().unwrap_or(0);
    domain.enter(&bases, bits)
}

fn leave<D: Domain>(mut domain: D, x: Placed<D::Word>, count: usize) -> Vec<Limbs> {
    let mut out = domain.leave(x);
    out.truncate(count);
    out
}

/// The `width` bits of an exponent from bit `at` up; the address depends on the position alone.
fn window_at(exponent: &[u64], at: usize, width: usize) -> u64 {
    let limb = |i: usize| exponent.get(i).copied().unwrap_or(0);
    let (i, shift) = (at / 64, at % 64);
    let pair = u128::from(limb(i + 1)) << 64 | u128::from(limb(i));
    (pair >> shift) as u64 & ((1 << width) - 1)
}
