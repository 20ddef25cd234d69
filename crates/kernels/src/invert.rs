//! Inverses of many numbers with one inversion (Montgomery's trick: Speeding the Pollard and elliptic curve
//! methods of factorization, 1987).

use alloc::vec::Vec;

use crate::domain::Domain;
use crate::limbs::Limbs;
use crate::place::Placed;

/// The inverses of numbers in a domain whose moduli are all the same; `bits` bounds their lengths and is
/// public. `invert` returns the inverse of a number below the modulus, if it has one.
///
/// `None` where `invert` returns that: some number has no inverse. Apart from this, the time depends on
/// lengths and on how many numbers there are. Results are canonical.
///
/// Each lane multiplies its numbers in turn and keeps every product. The lanes' last products are multiplied,
/// one by one, and inverted together; then each lane goes back from its last number to its first.
///
/// Cost for each number: five products, a lane's share; for each lane six; and one inversion.
pub fn invert<D: Domain>(
    mut domain: D,
    numbers: &[&[u64]],
    bits: usize,
    invert: impl FnOnce(&[u64]) -> Option<Limbs>,
) -> Option<Vec<Limbs>> {
    let count = domain.count();
    let mut factors = Vec::with_capacity(numbers.len().div_ceil(count));
    // products[i] = factors[0]·…·factors[i]
    let mut products: Vec<Placed<D::Word>> = Vec::with_capacity(factors.capacity());
    for numbers in numbers.chunks(count) {
        // Lanes without a number have 1.
        let mut lanes = numbers.to_vec();
        lanes.resize(count, &[1]);
        let factor = domain.enter(&lanes, bits.max(1));
        let product = match products.last() {
            None => domain.copy_of(&factor),
            Some(last) => {
                let mut product = domain.copy_of(last);
                domain.amm(&mut product, &factor);
                product
            }
        };
        factors.push(factor);
        products.push(product);
    }
    let Some(last) = products.last() else { return Some(Vec::new()) };

    let last = domain.copy_of(last);
    let mut lanes = domain.leave(last);
    lanes.truncate(numbers.len());
    let inverses = invert_each(&mut domain, &lanes, invert)?;
    let inverses: Vec<&[u64]> = inverses.iter().map(|inverse| &inverse[..]).collect();

    // The inverse of products[i], from the last down.
    let mut inverse = domain.enter(&inverses, 64 * lanes[0].len());
    let mut out = Vec::with_capacity(factors.len());
    for (i, factor) in factors.iter().enumerate().rev() {
        let mut result = domain.copy_of(&inverse);
        if i > 0 {
            domain.amm(&mut result, &products[i - 1]);
            domain.amm(&mut inverse, factor);
        }
        out.push(domain.leave(result));
    }
    let mut out: Vec<Limbs> = out.into_iter().rev().flatten().collect();
    out.truncate(numbers.len());
    Some(out)
}

/// The inverse of each plain number, with one inversion. There is at least one number, and each is below the
/// modulus.
fn invert_each<D: Domain>(
    domain: &mut D,
    numbers: &[Limbs],
    invert: impl FnOnce(&[u64]) -> Option<Limbs>,
) -> Option<Vec<Limbs>> {
    let mut products = Vec::from([numbers[0].clone()]);
    for number in &numbers[1..] {
        products.push(multiply(domain, &products[products.len() - 1], number));
    }
    let mut inverse = invert(&products[products.len() - 1])?;
    let mut out = Vec::with_capacity(numbers.len());
    for i in (1..numbers.len()).rev() {
        out.push(multiply(domain, &inverse, &products[i - 1]));
        inverse = multiply(domain, &inverse, &numbers[i]);
    }
    out.push(inverse);
    out.reverse();
    Some(out)
}

/// `a·b` of plain numbers below the modulus.
fn multiply<D: Domain>(domain: &mut D, a: &[u64], b: &[u64]) -> Limbs {
    let mut x = domain.enter(&[a], 64 * a.len());
    let y = domain.plain(&[b]);
    domain.amm(&mut x, &y);
    let product = domain.canonical(&x).swap_remove(0);
    domain.recycle([x, y]);
    product
}
