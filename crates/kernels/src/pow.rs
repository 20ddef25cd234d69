//! Batches of modular powers.

use alloc::vec::Vec;

use crate::block::MAX_LANES;
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

/// Up to `LANES` powers at once, in constant time; all moduli of one digit count.
///
/// The time depends on the digit count, on the longest `base_bits` and the longest `exponent_bits`. Results are
/// canonical, of `⌈bits/64⌉` limbs. Fixed windows, every table entry read for every window.
pub fn pow<M: Machine>(machine: M, batch: &[Power]) -> Vec<Limbs> {
    let (mut frame, base) = enter(machine, batch);
    let bits = batch.iter().map(|p| p.exponent_bits).max().unwrap_or(0);
    let window = window_bits(bits);

    // table[i] = base^i
    let mut table: Number<M> = frame.one();
    let l = table.len();
    table.reserve_exact(((1 << window) - 1) * l);
    table.extend_from_slice(&base);
    let mut entry = frame.zero();
    for i in 2..1usize << window {
        if i % 2 == 0 {
            entry.copy_from_slice(&table[i / 2 * l..(i / 2 + 1) * l]);
            frame.ams(&mut entry);
        } else {
            entry.copy_from_slice(&table[(i - 1) * l..i * l]);
            frame.amm(&mut entry, &base);
        }
        table.extend_from_slice(&entry);
    }

    let mut x = frame.one();
    let mut index = [0u64; MAX_LANES];
    let index = &mut index[..M::LANES];
    for at in (0..bits.div_ceil(window)).rev() {
        if (at + 1) * window < bits {
            for _ in 0..window {
                frame.ams(&mut x);
            }
        }
        for (i, index) in index.iter_mut().enumerate() {
            *index = window_at(batch[i.min(batch.len() - 1)].exponent, at * window, window);
        }
        frame.select(&mut entry, &table, index);
        if (at + 1) * window < bits {
            frame.amm(&mut x, &entry);
        } else {
            x.copy_from_slice(&entry); // the first window
        }
    }
    zeroize::Zeroize::zeroize(index);
    frame.wipe(&mut table);
    frame.wipe(&mut entry);
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
    let (mut frame, base) = enter(machine, batch);
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
    for power in &mut odd {
        frame.wipe(power);
    }
    let x = x.unwrap_or_else(|| frame.one());
    leave(frame, x, batch.len())
}

fn enter<'a, M: Machine>(machine: M, batch: &[Power<'a>]) -> (Frame<'a, M>, Number<M>) {
    let moduli: Vec<_> = batch.iter().map(|p| p.modulus).collect();
    let bases: Vec<_> = batch.iter().map(|p| p.base).collect();
    let bits = batch.iter().map(|p| p.base_bits).max().unwrap_or(0);
    let mut frame = Frame::new(machine, &moduli);
    let base = frame.enter(&bases, bits);
    (frame, base)
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

/// The fixed window that makes an exponentiation cheapest, with reading the table counted as a tenth of a
/// multiplication per 16 entries.
fn window_bits(exponent_bits: usize) -> usize {
    let cost = |w: usize| {
        let windows = exponent_bits.div_ceil(w);
        10 * (1 << w) + windows * (10 + (1 << w) / 16)
    };
    (1..=6).min_by_key(|&w| cost(w)).unwrap_or(1)
}
