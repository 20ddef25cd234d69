//! Greatest common divisors, inverses, and exact division.

use alloc::vec::Vec;
use core::hint::black_box;

use super::{Limbs, add_masked, negative_inverse, sub_masked, zero};

/// `gcd(a, m)` for an odd `m`.
///
/// Stein's algorithm with a fixed number of steps: time depends on the lengths alone.
pub fn gcd(a: &[u64], m: &[u64]) -> Limbs {
    stein::<false>(a, m).0
}

/// `gcd(a, m)` for an odd `m > 1`, and the `s < m` with `s·a ≡ gcd (mod m)`: the inverse of `a`, if the first is
/// 1. Time depends on the lengths alone. Precondition: `a < m`.
pub fn gcd_inverse(a: &[u64], m: &[u64]) -> (Limbs, Limbs) {
    debug_assert!(super::less(a, m));
    stein::<true>(a, m)
}

/// `gcd(a, m)`, and the `s` with `s·a ≡ gcd (mod m)` if asked for.
///
/// `u` and `v` begin as `a` and `m`, with `u ≡ r·a` and `v ≡ s·a`. Each step halves `u`, after it has
/// subtracted the odd `v` from an odd `u` (the smaller from the larger), and so takes away a bit of one of
/// them: after as many steps as both have bits, `u = 0` and `v` is the result.
fn stein<const INVERSE: bool>(a: &[u64], m: &[u64]) -> (Limbs, Limbs) {
    debug_assert!(m[0] & 1 == 1);
    let n = a.len().max(m.len());
    let padded = |x: &[u64]| {
        let mut out = zero(n);
        out[..x.len()].copy_from_slice(x);
        out
    };
    let (mut u, mut v, m) = (padded(a), padded(m), padded(m));
    let (mut r, mut s) = (padded(&[1]), zero(n));
    let mut difference = zero(n);
    for _ in 0..128 * n {
        let odd = black_box(mask(u[0]));
        difference.copy_from_slice(&u);
        let swap = black_box(odd & mask(sub_masked(&mut difference, &v, u64::MAX)));
        exchange(&mut u, &mut v, swap);
        sub_masked(&mut u, &v, odd);
        halve(&mut u, 0);
        if INVERSE {
            exchange(&mut r, &mut s, swap);
            let borrow = sub_masked(&mut r, &s, odd);
            add_masked(&mut r, &m, black_box(mask(borrow)));
            let odd = black_box(mask(r[0]));
            let carry = add_masked(&mut r, &m, odd);
            halve(&mut r, carry);
        }
    }
    (v, s)
}

/// All ones if the lowest bit is set, else 0.
fn mask(bit: u64) -> u64 {
    (bit & 1).wrapping_neg()
}

/// Exchanges two numbers of one length where the mask is all ones.
fn exchange(a: &mut [u64], b: &mut [u64], mask: u64) {
    for (a, b) in a.iter_mut().zip(b) {
        let changed = (*a ^ *b) & mask;
        *a ^= changed;
        *b ^= changed;
    }
}

/// `x ← ⌊(top·2^{64n} + x)/2⌋`.
fn halve(x: &mut [u64], top: u64) {
    let mut above = top;
    for limb in x.iter_mut().rev() {
        let next = *limb;
        *limb = above << 63 | next >> 1;
        above = next & 1;
    }
}

/// `a/d` for an odd `d` that divides `a`, in the length of `a`.
///
/// Exact division from the lowest limb up: `q_i = a_i·d^{−1} mod 2^64`, then `a ← a − q_i·d·2^{64i}`.
pub fn div_exact(a: &[u64], d: &[u64]) -> Limbs {
    debug_assert!(d[0] & 1 == 1);
    let inverse = negative_inverse(d[0]).wrapping_neg();
    let mut rest = Limbs::new(a.to_vec());
    let mut out: Vec<u64> = Vec::with_capacity(a.len());
    for i in 0..a.len() {
        let q = rest[i].wrapping_mul(inverse);
        let mut carry = 0u64;
        for (j, rest) in rest[i..].iter_mut().enumerate() {
            let product = u128::from(q) * u128::from(d.get(j).copied().unwrap_or(0)) + u128::from(carry);
            let (difference, borrow) = rest.overflowing_sub(product as u64);
            *rest = difference;
            carry = (product >> 64) as u64 + u64::from(borrow);
        }
        out.push(q);
    }
    Limbs::new(out)
}

#[cfg(test)]
mod tests {
    use super::super::{equal, from_be_bytes, less, mul, rem};
    use super::*;

    #[test]
    fn small_numbers_agree_with_euclid() {
        for m in (1..200u64).step_by(2) {
            for a in 0..300u64 {
                let (mut x, mut y) = (a, m);
                while x != 0 {
                    (x, y) = (y % x, x);
                }
                assert!(equal(&gcd(&[a], &[m]), &[y]), "gcd({a}, {m})");
                if a < m && m > 1 {
                    let (gcd, inverse) = gcd_inverse(&[a], &[m]);
                    assert!(gcd[0] == y && inverse[0] < m && a * inverse[0] % m == y % m, "{a}, {m}");
                }
            }
        }
    }

    #[test]
    fn long_numbers_keep_their_laws() {
        let number = |seed: u8, bytes: usize| {
            let bytes: Vec<u8> = (0..bytes).map(|i| (i as u8).wrapping_mul(seed).wrapping_add(seed)).collect();
            from_be_bytes(&bytes)
        };
        for bytes in [8, 16, 24, 32, 128, 256] {
            let mut m = number(201, bytes);
            m[0] |= 1;
            for seed in [3, 7, 77, 255] {
                let a = rem(&number(seed, bytes), &m);
                let common = gcd(&a, &m);
                assert!(equal(&mul(&div_exact(&a, &common), &common), &a));
                assert!(equal(&mul(&div_exact(&m, &common), &common), &m));
                let (again, inverse) = gcd_inverse(&a, &m);
                assert!(equal(&again, &common) && less(&inverse, &m));
                assert!(equal(&rem(&mul(&inverse, &a), &m), &rem(&common, &m)));
                // A common factor is found.
                let factor = [0xffff_ffff_ffff_ffc5];
                let (a, m) = (mul(&a, &factor), mul(&m, &factor));
                assert!(equal(&gcd(&a, &m), &mul(&common, &factor)));
            }
        }
        let all_ones = [u64::MAX; 4];
        assert!(equal(&gcd_inverse(&[2], &all_ones).1, &[0, 0, 0, 1 << 63]));
    }
}
