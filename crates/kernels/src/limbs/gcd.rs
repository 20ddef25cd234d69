//! Greatest common divisors, inverses, and exact division.

use alloc::vec::Vec;
use core::hint::black_box;

use super::{Limbs, digits_of, from_digits, negative_inverse, zero};

/// `gcd(a, m)` for an odd `m`. Time depends on the lengths alone.
pub fn gcd(a: &[u64], m: &[u64]) -> Limbs {
    divsteps::<false>(a, m).0
}

/// `gcd(a, m)` for an odd `m > 1`, and the `s < m` with `s·a ≡ gcd (mod m)`: the inverse of `a`, if the first is
/// 1. Time depends on the lengths alone. Precondition: `a < m`.
pub fn gcd_inverse(a: &[u64], m: &[u64]) -> (Limbs, Limbs) {
    debug_assert!(super::less(a, m));
    divsteps::<true>(a, m)
}

/// The divsteps of one [`Matrix`], and the bits of a digit: numbers are `Σ digit·2^{62i}`, the highest digit signed.
const STEPS: u32 = 62;
/// All bits of a digit.
const DIGIT: i64 = (1 << STEPS) - 1;

/// `gcd(a, m)`, and the `s` with `s·a ≡ gcd (mod m)` if asked for: by divsteps (Bernstein and Yang, Fast constant-time
/// gcd computation and modular inversion, 2019), many at a time.
///
/// `f` and `g` begin as `m` and `a`, and stay congruent to `d·a` and `e·a` modulo `m`. For numbers below `2^b`, `g` is 0
/// after `(49b + 57)/17` divsteps (their theorem 11.2; `b ≥ 46`), and `f` is the result or its negative.
fn divsteps<const INVERSE: bool>(a: &[u64], m: &[u64]) -> (Limbs, Limbs) {
    debug_assert!(m[0] & 1 == 1);
    let bits = 64 * a.len().max(m.len());
    // Numbers are above −2^{b+1}, and below 2^b.
    let digits = |x: &[u64]| digits_of(x, STEPS, (bits + 2).div_ceil(STEPS as usize));
    let (mut f, mut g) = (digits(m), digits(a));
    let (mut d, mut e) = (digits(&[]), digits(&[1]));
    let inverse = negative_inverse(m[0]).wrapping_neg();
    let m = digits(m);
    let mut delta = 1;
    for _ in 0..((49 * bits + 57) / 17).div_ceil(STEPS as usize) {
        let matrix = Matrix::of_steps(&mut delta, f[0], g[0]);
        matrix.apply::<false>(&mut f, &mut g, &m, inverse);
        if INVERSE {
            matrix.apply::<true>(&mut d, &mut e, &m, inverse);
        }
    }
    let negative = black_box(sign(&f));
    adjust(&mut f, negative, &m, 0);
    if INVERSE {
        // −2m < d < m.
        let below = black_box(sign(&d));
        adjust(&mut d, 0, &m, below);
        adjust(&mut d, negative, &m, 0);
        let below = black_box(sign(&d));
        adjust(&mut d, 0, &m, below);
    }
    let limbs = |x: &[u64]| {
        let mut out = zero(bits / 64);
        from_digits(x, STEPS, &mut out);
        out
    };
    (limbs(&f), limbs(&d))
}

/// What [`STEPS`] divsteps do to two numbers, times `2^STEPS`: `x ← u·x + v·y` and `y ← q·x + r·y`, where
/// `|u| + |v|` and `|q| + |r|` are at most `2^STEPS`.
struct Matrix {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

impl Matrix {
    /// Of the divsteps that begin with these lowest digits. A divstep is `(δ, f, g) ← (1 − δ, g, (g − f)/2)` where
    /// `δ > 0` and `g` is odd, else `(1 + δ, f, (g + (g mod 2)·f)/2)`.
    fn of_steps(delta: &mut i64, f: u64, g: u64) -> Self {
        let (mut f, mut g) = (f.cast_signed(), g.cast_signed());
        let (mut u, mut v, mut q, mut r) = (1, 0, 0, 1);
        for _ in 0..STEPS {
            let odd = black_box((g & 1).wrapping_neg());
            let swap = black_box((-*delta >> 63) & odd);
            let summand = |x: i64| ((x ^ swap) - swap) & odd;
            g = g.wrapping_add((f ^ swap).wrapping_sub(swap) & odd);
            (q, r) = (q + summand(u), r + summand(v));
            // f + (g − f) is the g of before.
            f = f.wrapping_add(g & swap);
            (u, v) = (u + (q & swap), v + (r & swap));
            *delta = (*delta ^ swap) - swap + 1;
            g >>= 1;
            (u, v) = (u << 1, v << 1);
        }
        Self { u, v, q, r }
    }

    /// Applies it to two numbers, and takes the power of two away. `MODULAR`: modulo `m`, of which `inverse` is
    /// `m^{−1} mod 2^64`, if both are above `−2m` and below `m`. So are the results: where `m` is added to what is
    /// negative, sums of products are below `2^STEPS·m` in size, and a multiple of `m` that is not larger is taken off.
    fn apply<const MODULAR: bool>(&self, x: &mut [u64], y: &mut [u64], m: &[u64], inverse: u64) {
        let &Self { u, v, q, r } = self;
        let product = |a: i64, b: u64| i128::from(a) * i128::from(b.cast_signed());
        let (mut of_x, mut of_y) = (0, 0);
        if MODULAR {
            let (x_sign, y_sign) = (black_box(sign(x)), black_box(sign(y)));
            let multiple = |a: i64, b: i64| {
                let above = (a & x_sign) + (b & y_sign);
                let low = (product(a, x[0]) + product(b, y[0]) + product(above, m[0])) as u64;
                above - (low.wrapping_mul(inverse).cast_signed() & DIGIT)
            };
            (of_x, of_y) = (multiple(u, v), multiple(q, r));
        }
        let (mut x_sum, mut y_sum) = (0, 0);
        for i in 0..x.len() {
            x_sum += product(u, x[i]) + product(v, y[i]);
            y_sum += product(q, x[i]) + product(r, y[i]);
            if MODULAR {
                x_sum += product(of_x, m[i]);
                y_sum += product(of_y, m[i]);
            }
            // The lowest digit is zero.
            if i > 0 {
                x[i - 1] = (x_sum as i64 & DIGIT).cast_unsigned();
                y[i - 1] = (y_sum as i64 & DIGIT).cast_unsigned();
            }
            x_sum >>= STEPS;
            y_sum >>= STEPS;
        }
        let highest = x.len() - 1;
        x[highest] = (x_sum as i64).cast_unsigned();
        y[highest] = (y_sum as i64).cast_unsigned();
    }
}

/// All ones if a number is negative, else 0.
fn sign(x: &[u64]) -> i64 {
    x[x.len() - 1].cast_signed() >> 63
}

/// `x ← ±x + m`: negated where `negative` is all ones, and with `m` where `plus` is. Else they are 0.
fn adjust(x: &mut [u64], negative: i64, m: &[u64], plus: i64) {
    let mut sum = 0;
    for (x, m) in x.iter_mut().zip(m) {
        sum += (x.cast_signed() ^ negative) - negative + (m.cast_signed() & plus);
        *x = (sum & DIGIT).cast_unsigned();
        sum >>= STEPS;
    }
    let highest = x.len() - 1;
    x[highest] |= (sum << STEPS).cast_unsigned();
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
