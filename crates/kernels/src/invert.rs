//! Inverses of many numbers with one inversion (Montgomery's trick: Speeding the Pollard and elliptic curve
//! methods of factorization, 1987).

use alloc::vec::Vec;

use crate::limbs::{Limbs, Numbers};
use crate::montgomery::Montgomery;
use crate::place::AlignedBuf;

/// The inverses of numbers in a context whose moduli are all the same; `bits` bounds their lengths and is
/// public. `invert` returns the inverse of a number below the modulus, if it has one.
///
/// Returns `None` if `invert` does: some number has no inverse. Apart from this, the time depends on lengths
/// and on how many numbers there are. Results are canonical.
///
/// Each lane multiplies its numbers in turn and keeps every product. The lanes' last products are multiplied
/// in pairs, these in pairs again, and inverted together; then each lane goes back from its last number to
/// its first.
///
/// Cost: for each number, a lane's share of five products. For the whole list, one inversion and `2⌈log₂ n⌉`
/// batches of products, for `n` lanes in use.
pub fn invert(
    mont: &mut dyn Montgomery,
    numbers: &[&[u64]],
    bits: usize,
    invert: impl FnOnce(&[u64]) -> Option<Limbs>,
) -> Option<Numbers> {
    let count = mont.count();
    let mut factors = Vec::with_capacity(numbers.len().div_ceil(count));
    // products[i] = factors[0]·…·factors[i]
    let mut products: Vec<AlignedBuf> = Vec::with_capacity(factors.capacity());
    for numbers in numbers.chunks(count) {
        // Lanes without a number have 1.
        let mut lanes = numbers.to_vec();
        lanes.resize(count, &[1]);
        let factor = mont.enter(&lanes, bits.max(1));
        let product = match products.last() {
            None => mont.copy_of(&factor),
            Some(last) => {
                let mut product = mont.copy_of(last);
                mont.amm(&mut product, &factor);
                product
            }
        };
        factors.push(factor);
        products.push(product);
    }
    let Some(last) = products.last() else { return Some(Numbers::default()) };

    let last = mont.copy_of(last);
    let lanes = mont.leave(last, count.min(numbers.len()));
    let inverses = invert_each(mont, &lanes, invert)?;
    let inverses: Vec<&[u64]> = inverses.iter().collect();

    // The inverse of products[i], from the last down.
    let mut inverse = mont.enter(&inverses, 64 * lanes[0].len());
    let mut out = Vec::with_capacity(factors.len());
    for (i, factor) in factors.iter().enumerate().rev() {
        let mut result = mont.copy_of(&inverse);
        if i > 0 {
            mont.amm(&mut result, &products[i - 1]);
            mont.amm(&mut inverse, factor);
        }
        out.push(mont.leave(result, count));
    }
    Some(out.iter().rev().flat_map(Numbers::iter).take(numbers.len()).collect())
}

/// The inverse of each plain number, with one inversion. There is at least one number, and each is below the
/// modulus.
fn invert_each(
    mont: &mut dyn Montgomery,
    numbers: &Numbers,
    invert: impl FnOnce(&[u64]) -> Option<Limbs>,
) -> Option<Numbers> {
    if numbers.len() == 1 {
        return invert(&numbers[0]).map(Numbers::from);
    }
    // The product of each pair. A last number without a partner stays as it is.
    let pairs = || (0..numbers.len() / 2).map(|i| [&numbers[2 * i], &numbers[2 * i + 1]]);
    let mut products = multiply(mont, pairs());
    numbers.iter().skip(2 * products.len()).for_each(|last| products.push(last));
    let inverses = invert_each(mont, &products, invert)?;
    let others = pairs().flat_map(|[a, b]| [b, a]);
    let of_pairs = inverses.iter().flat_map(|inverse| [inverse; 2]);
    let mut out = multiply(mont, of_pairs.zip(others).map(|(inverse, other)| [inverse, other]));
    inverses.iter().skip(out.len() / 2).for_each(|last| out.push(last));
    Some(out)
}

/// Products of plain numbers below the modulus.
fn multiply<'b>(mont: &mut dyn Montgomery, pairs: impl Iterator<Item = [&'b [u64]; 2]>) -> Numbers {
    let (a, b): (Vec<_>, Vec<_>) = pairs.map(<[_; 2]>::into).unzip();
    let mut out = Numbers::default();
    for (a, b) in a.chunks(mont.count()).zip(b.chunks(mont.count())) {
        let mut x = mont.enter(a, 64 * a[0].len());
        let y = mont.plain(b);
        mont.amm(&mut x, &y);
        out.append(mont.canonical(&x, a.len()));
        mont.recycle(x);
        mont.recycle(y);
    }
    out
}
