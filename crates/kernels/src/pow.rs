//! Batches of modular powers.

use alloc::vec::Vec;

use crate::block::{MAX_LANES, WINDOWS};
use crate::constants::Constants;
use crate::frame::{Frame, Number};
use crate::limbs::{self, Limbs};
use crate::machine::Machine;

/// One power `base^exponent mod M`.
#[derive(Clone, Copy)]
pub struct Power<'a> {
    /// The modulus.
    pub modulus: &'a Constants,
    /// The base, of any length.
    pub base: &'a [u64],
    /// A public bound on the base's length.
    pub base_bits: usize,
    /// The exponent.
    pub exponent: &'a [u64],
    /// A public bound on the exponent's length: the number of bits that are processed.
    pub exponent_bits: usize,
}

/// Up to `LANES` powers at once, in constant time; all moduli of one digit count and method.
///
/// The time depends on the digit count, on the longest `base_bits` and the longest `exponent_bits`. Results are
/// canonical, of `⌈bits/64⌉` limbs. Fixed windows, every table entry read for every window.
pub fn pow<M: Machine>(machine: M, batch: &[Power]) -> Vec<Limbs> {
    let mut frame = Frame::new(machine, &moduli(batch));
    let base = enter(&mut frame, batch);
    let bits = batch.iter().map(|p| p.exponent_bits).max().unwrap_or(0);
    let window = window_bits(&frame, bits);

    // table[i] = base^i
    let (l, size) = (base.len(), frame.entry_digits());
    let mut table = frame.entries(1 << window);
    let mut entry = frame.entries(1);
    for i in 0..1usize << window {
        let number = &mut entry[..l];
        match i {
            0 => number.copy_from_slice(&frame.one()),
            1 => number.copy_from_slice(&base),
            _ if i % 2 == 0 => {
                number.copy_from_slice(&table[i / 2 * size..][..l]);
                frame.ams(number);
            }
            _ => {
                number.copy_from_slice(&table[(i - 1) * size..][..l]);
                frame.amm(number, &base);
            }
        }
        frame.complete_entry(&mut entry);
        table[i * size..][..size].copy_from_slice(&entry);
    }

    let mut x = frame.one();
    let mut entries = frame.entries(WINDOWS);
    let mut index = [0u64; WINDOWS * MAX_LANES];
    let index = &mut index[..WINDOWS * M::LANES];
    for (i, at) in (0..bits.div_ceil(window)).rev().enumerate() {
        if i > 0 {
            for _ in 0..window {
                frame.ams(&mut x);
            }
        }
        // The table is read for this window and the next ones; below the last, for the last again.
        if i % WINDOWS == 0 {
            for (k, index) in index.iter_mut().enumerate() {
                let (ahead, lane) = (k / M::LANES, k % M::LANES);
                let exponent = batch[lane.min(batch.len() - 1)].exponent;
                *index = window_at(exponent, at.saturating_sub(ahead) * window, window);
            }
            frame.select(&mut entries, &table, index);
        }
        let entry = &entries[i % WINDOWS * size..][..size];
        if i > 0 {
            frame.multiply_entry(&mut x, entry);
        } else {
            x.copy_from_slice(&entry[..l]);
        }
    }
    zeroize::Zeroize::zeroize(index);
    leave(frame, x, batch.len())
}

/// The same for public exponents, in time that depends on them (not on bases or moduli).
///
/// When all lanes share one exponent (RSA verification), sliding windows over its set bits; else as [`pow`].
pub fn pow_vartime<M: Machine>(machine: M, batch: &[Power]) -> Vec<Limbs> {
    let exponent = batch.first().map_or(&[][..], |p| p.exponent);
    if !batch.iter().all(|p| limbs::equal(p.exponent, exponent)) {
        let trim = |p: &Power| limbs::bits_vartime(p.exponent);
        let batch: Vec<_> = batch.iter().map(|p| Power { exponent_bits: trim(p), ..*p }).collect();
        return pow(machine, &batch);
    }
    let mut frame = Frame::new(machine, &moduli(batch));
    let base = enter(&mut frame, batch);
    let bits = limbs::bits_vartime(exponent);
    if bits == 0 {
        let x = frame.one();
        return leave(frame, x, batch.len());
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
        frame.ams(&mut square);
        for i in 1..1 << (window - 1) {
            let mut next: Number<M> = odd[i - 1].clone();
            frame.amm(&mut next, &square);
            odd.push(next);
        }
    }
    let bit = |i: usize| exponent[i / 64] >> (i % 64) & 1;
    let mut x: Option<Number<M>> = None;
    let mut top = bits;
    while top > 0 {
        if bit(top - 1) == 0 {
            if let Some(x) = &mut x {
                frame.ams(x);
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
                for _ in low..top {
                    frame.ams(x);
                }
                frame.amm(x, factor);
            }
        }
        top = low;
    }
    let x = x.unwrap_or_else(|| frame.one());
    leave(frame, x, batch.len())
}

fn moduli<'a>(batch: &[Power<'a>]) -> Vec<&'a Constants> {
    batch.iter().map(|p| p.modulus).collect()
}

fn enter<M: Machine>(frame: &mut Frame<M>, batch: &[Power]) -> Number<M> {
    let bases: Vec<_> = batch.iter().map(|p| p.base).collect();
    let bits = batch.iter().map(|p| p.base_bits).max().unwrap_or(0);
    frame.enter(&bases, bits)
}

fn leave<M: Machine>(mut frame: Frame<M>, x: Number<M>, count: usize) -> Vec<Limbs> {
    let mut out = frame.leave(x);
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

/// The fixed window that makes an exponentiation cheapest, in tenths of a processor cycle.
///
/// Reading a table is not free beside fast products: each vector of it costs [`TABLE`] in each window.
fn window_bits<M: Machine>(frame: &Frame<M>, exponent_bits: usize) -> usize {
    let product = M::PRODUCT_TENTHS as usize;
    let (build, multiply) = (product * frame.build_products(), product * frame.entry_products());
    let cost = |w: usize| {
        let read = (frame.entry_digits() << w) * TABLE;
        (build << w) + exponent_bits.div_ceil(w) * (multiply + read)
    };
    (1..=6).min_by_key(|&w| cost(w)).unwrap_or(1)
}

/// Measured: a masked move, two a cycle, and its share of a comparison and of a load from the second-level cache.
const TABLE: usize = 7;
