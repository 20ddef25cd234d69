//! Modular powers.

use alloc::vec::Vec;

use crate::batch::Constants;
use crate::limbs::{self, Numbers};
use crate::montgomery::Montgomery;
use crate::place::AlignedBuf;

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

/// The moduli of a batch, for its context.
pub fn moduli<'a, C>(batch: &[Power<'a, C>]) -> Vec<&'a C> {
    batch.iter().map(|power| power.modulus).collect()
}

/// From 1 to `count` powers at once in a context of their moduli, in constant time.
///
/// The time depends on the context, on the longest `base_bits` and the longest `exponent_bits`. Results are
/// canonical, of `⌈bits/64⌉` limbs. Fixed windows, every table entry read for every window.
pub fn pow<C>(mont: &mut dyn Montgomery, batch: &[Power<C>]) -> Numbers {
    let base = enter(mont, batch);
    let bits = batch.iter().map(|p| p.exponent_bits).max().unwrap_or(0);
    let exponents: Vec<_> = batch.iter().map(|p| p.exponent).collect();
    let x = power(mont, &base, bits, &exponents);
    mont.recycle(base);
    mont.leave(x, batch.len())
}

/// A number in Montgomery form, raised to the `bits` lowest bits of an exponent for each lane, in constant
/// time. Where there are fewer exponents than lanes, the last is repeated.
pub fn power(mont: &mut dyn Montgomery, base: &[u64], bits: usize, exponents: &[&[u64]]) -> AlignedBuf {
    let last = exponents.len() - 1;
    let window = mont.window_bits(bits);
    let table = table(mont, base, window);
    let tables = [mont.finish_table(table)];
    let x = fixed_windows(mont, &tables, window, bits, |_, lane| exponents[lane.min(last)]);
    tables.into_iter().for_each(|number| mont.recycle(number));
    x
}

/// The powers of a number from 0 to `2^window − 1`, as table entries.
pub(crate) fn table(mont: &mut dyn Montgomery, base: &[u64], window: usize) -> AlignedBuf {
    let (words, size) = (mont.words(), mont.entry_words());
    let mut table = mont.scratch(size << window);
    let mut entry = mont.scratch(size);
    for i in 0..1usize << window {
        let number = &mut entry[..words];
        match i {
            0 => {
                let one = mont.one();
                number.copy_from_slice(&one);
                mont.recycle(one);
            }
            1 => number.copy_from_slice(&base[..words]),
            _ if i % 2 == 0 => {
                number.copy_from_slice(&table[i / 2 * size..][..words]);
                mont.ams(number, 1);
            }
            _ => {
                number.copy_from_slice(&table[(i - 1) * size..][..words]);
                mont.amm(number, &base[..words]);
            }
        }
        mont.complete_entry(&mut entry);
        table[i * size..][..size].copy_from_slice(&entry);
    }
    mont.recycle(entry);
    table
}

/// Windows taken out of an exponent at once: eight of at most six bits fit a limb.
const WINDOWS_AT_ONCE: usize = 8;

/// The product of powers of some bases, by a finished [`table`] of each: squarings are those of one power
/// (Straus). Of each exponent `bits` bits are processed; `exponent` returns the one of a base and a lane.
///
/// Every table is read as a whole for every window of its exponents.
pub(crate) fn fixed_windows<'e>(
    mont: &mut dyn Montgomery,
    tables: &[AlignedBuf],
    window: usize,
    bits: usize,
    exponent: impl Fn(usize, usize) -> &'e [u64],
) -> AlignedBuf {
    let (count, words, size) = (mont.count(), mont.words(), mont.entry_words());
    let mut x = mont.one();
    let at_once = mont.windows();
    let mut entries = mont.scratch(size * at_once * tables.len());
    let (mut index, mut windows) = (limbs::zero(at_once * count), limbs::zero(count));
    for (i, at) in (0..bits.div_ceil(window)).rev().enumerate() {
        if i > 0 {
            mont.ams(&mut x, window);
        }
        for (base, (table, entries)) in
            tables.iter().zip(entries.chunks_exact_mut(size * at_once)).enumerate()
        {
            // Read the table for this window and the next ones; if fewer are left, for the last one again.
            if i % at_once == 0 {
                debug_assert!(window * WINDOWS_AT_ONCE < 64);
                for (group, index) in index.chunks_mut(WINDOWS_AT_ONCE * count).enumerate() {
                    let at = at.saturating_sub(group * WINDOWS_AT_ONCE);
                    let ahead = at.min(index.len() / count - 1);
                    // First the windows of each lane in one word, then each window of all lanes: a loop that
                    // the compiler vectorizes.
                    for (lane, windows) in windows.iter_mut().enumerate() {
                        *windows =
                            window_at(exponent(base, lane), (at - ahead) * window, (ahead + 1) * window);
                    }
                    for (k, index) in index.chunks_exact_mut(count).enumerate() {
                        let shift = ahead.saturating_sub(k) * window;
                        for (index, windows) in index.iter_mut().zip(windows.iter()) {
                            *index = windows >> shift & ((1 << window) - 1);
                        }
                    }
                }
                mont.select(entries, table, &index);
            }
            let entry = &entries[i % at_once * size..][..size];
            if i > 0 || base > 0 {
                mont.multiply_entry(&mut x, entry);
            } else {
                x.copy_from_slice(&entry[..words]);
            }
        }
    }
    mont.recycle(entries);
    x
}

/// Like [`pow`], for the base 2 in every lane: it needs no table and no products except squares.
///
/// Each window's factor `2^{e_i}`, `e_i < 2^w`, is a shift: the number grows, but not so far that its square
/// would not be reduced as usual. Where the context has no room for that, it is [`pow`].
///
/// Precondition: every base is 2.
pub fn pow_of_two<C>(mont: &mut dyn Montgomery, batch: &[Power<C>]) -> Numbers {
    debug_assert!(batch.iter().all(|power| limbs::equal(power.base, &[2])));
    let window = mont.doubling_window();
    if window == 0 {
        return pow(mont, batch);
    }
    let bits = batch.iter().map(|p| p.exponent_bits).max().unwrap_or(0);
    let mut x = mont.one();
    let mut times = limbs::zero(mont.count());
    for at in (0..bits.div_ceil(window)).rev() {
        mont.ams(&mut x, window);
        for (lane, times) in times.iter_mut().enumerate() {
            *times = window_at(batch[lane.min(batch.len() - 1)].exponent, at * window, window);
        }
        mont.double(&mut x, &times);
    }
    mont.leave(x, batch.len())
}

/// Like [`pow`], for exponents that are public: the time depends on them, but not on bases or moduli.
///
/// If all lanes share one exponent (RSA verification), it uses sliding windows over its set bits; else
/// [`pow`].
pub fn pow_vartime<C>(mont: &mut dyn Montgomery, batch: &[Power<C>]) -> Numbers {
    let Some(exponent) = shared_exponent(batch) else { return pow_each_vartime(mont, batch) };
    let base = enter(mont, batch);
    let x = power_vartime(mont, base, exponent);
    mont.leave(x, batch.len())
}

/// Like [`pow_vartime`], for bases below their moduli, which spares odd exponents a product.
pub fn pow_reduced_vartime<C>(mont: &mut dyn Montgomery, batch: &[Power<C>]) -> Numbers {
    let Some(exponent) = shared_exponent(batch) else { return pow_each_vartime(mont, batch) };
    power_of_reduced_vartime(mont, &batch.iter().map(|p| p.base).collect::<Vec<_>>(), exponent)
}

/// The exponent of all powers, if they have the same.
fn shared_exponent<'a, C>(batch: &[Power<'a, C>]) -> Option<&'a [u64]> {
    let first = batch.first().map_or(&[][..], |p| p.exponent);
    batch.iter().all(|p| limbs::equal(p.exponent, first)).then_some(first)
}

/// [`pow`], as long as the exponents are.
fn pow_each_vartime<C>(mont: &mut dyn Montgomery, batch: &[Power<C>]) -> Numbers {
    let trim = |p: &Power<C>| limbs::bits_vartime(p.exponent);
    pow(mont, &batch.iter().map(|p| Power { exponent_bits: trim(p), ..*p }).collect::<Vec<_>>())
}

/// Numbers below their moduli, raised to a public exponent; canonical.
///
/// If it is odd, the last product is by the plain number: it takes the power out of Montgomery form too.
pub(crate) fn power_of_reduced_vartime(
    mont: &mut dyn Montgomery,
    numbers: &[&[u64]],
    exponent: &[u64],
) -> Numbers {
    let plain = mont.plain(numbers);
    let base = mont.enter_plain(&plain);
    let is_odd = exponent.first().is_some_and(|low| low & 1 == 1);
    let mut even = exponent.to_vec();
    if is_odd {
        even[0] -= 1;
    }
    let mut x = power_vartime(mont, base, &even);
    if is_odd {
        mont.amm(&mut x, &plain);
    } else {
        mont.leave_in_place(&mut x);
    }
    let out = mont.canonical(&x, numbers.len());
    mont.recycle(x);
    mont.recycle(plain);
    out
}

/// A number in Montgomery form, raised to a public exponent.
pub(crate) fn power_vartime(mont: &mut dyn Montgomery, base: AlignedBuf, exponent: &[u64]) -> AlignedBuf {
    let bits = limbs::bits_vartime(exponent);
    if bits == 0 {
        return mont.one();
    }
    let window = sliding_window(bits);
    let odd = odd_powers(mont, base, window);
    let bit = |i: usize| exponent[i / 64] >> (i % 64) & 1;
    let mut x: Option<AlignedBuf> = None;
    let mut top = bits;
    while top > 0 {
        if bit(top - 1) == 0 {
            if let Some(x) = &mut x {
                mont.ams(x, 1);
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
            None => x = Some(mont.copy_of(factor)),
            Some(x) => {
                mont.ams(x, top - low);
                mont.amm(x, factor);
            }
        }
        top = low;
    }
    odd.into_iter().for_each(|number| mont.recycle(number));
    x.unwrap_or_else(|| mont.one())
}

/// The widest sliding window for a public exponent of `bits` bits.
pub(crate) fn sliding_window(bits: usize) -> usize {
    match bits {
        0..=32 => 1,
        33..=96 => 3,
        97..=320 => 4,
        321..=1024 => 5,
        _ => 6,
    }
}

/// `base^(2i + 1)` for each `i` below `2^(window − 1)`.
pub(crate) fn odd_powers(mont: &mut dyn Montgomery, base: AlignedBuf, window: usize) -> Vec<AlignedBuf> {
    let mut odd = Vec::with_capacity(1 << (window - 1));
    odd.push(base);
    if window > 1 {
        let mut square = mont.copy_of(&odd[0]);
        mont.ams(&mut square, 1);
        for i in 1..1 << (window - 1) {
            let mut next = mont.copy_of(&odd[i - 1]);
            mont.amm(&mut next, &square);
            odd.push(next);
        }
        mont.recycle(square);
    }
    odd
}

fn enter<C>(mont: &mut dyn Montgomery, batch: &[Power<C>]) -> AlignedBuf {
    let bases: Vec<_> = batch.iter().map(|p| p.base).collect();
    let bits = batch.iter().map(|p| p.base_bits).max().unwrap_or(0);
    mont.enter(&bases, bits)
}

/// The `width` bits of an exponent from bit `at` up; the address depends only on the position.
pub(crate) fn window_at(exponent: &[u64], at: usize, width: usize) -> u64 {
    let limb = |i: usize| exponent.get(i).copied().unwrap_or(0);
    let (i, shift) = (at / 64, at % 64);
    let pair = u128::from(limb(i + 1)) << 64 | u128::from(limb(i));
    (pair >> shift) as u64 & ((1 << width) - 1)
}
