//! Greatest common divisors, inverses, and exact division.

use alloc::vec::Vec;
use core::hint::black_box;

use super::{Limbs, digits_of, from_digits, negative_inverse, zero};

/// `gcd(a, m)` for an odd `m`. Time depends only on the lengths.
pub fn gcd(a: &[u64], m: &[u64]) -> Limbs {
    divsteps::<false>(a, m).0
}

/// `gcd(a, m)` for an odd `m > 1`, and the `s < m` with `s·a ≡ gcd (mod m)`: the inverse of `a`, if the gcd
/// is one. Time depends only on the lengths. Precondition: `a < m`.
pub fn gcd_inverse(a: &[u64], m: &[u64]) -> (Limbs, Limbs) {
    debug_assert!(super::less(a, m));
    divsteps::<true>(a, m)
}

/// How many divsteps one [`Matrix`] combines. Numbers are `Σ digit·2^{62i}` here, and the highest digit is
/// signed.
const STEPS: u32 = 62;
/// The lowest `STEPS` bits.
const DIGIT_MASK: i64 = (1 << STEPS) - 1;

/// `gcd(a, m)`, and the `s` with `s·a ≡ gcd (mod m)` if asked for.
///
/// `f` and `g` begin as `m` and `a`. They stay congruent to `d·a` and `e·a` modulo `m`. For numbers below
/// `2^b`, with `b ≥ 46`, `g` is 0 after `⌊(49b + 57)/17⌋` divsteps; then `f` is the result or its negative.
///
/// * Cost: for each 62 divsteps, four products for each digit, and six more for `s`.
/// * Source: Bernstein and Yang, Fast constant-time gcd computation and modular inversion, 2019, theorem
///   11.2; 62 divsteps at a time, and the range of `d` and `e`: Wuille, The safegcd implementation in
///   libsecp256k1 explained.
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
    debug_assert!(g.iter().all(|&digit| digit == 0), "too few divsteps");
    let negative = black_box(sign(&f));
    adjust(&mut f, &m, 0, negative);
    if INVERSE {
        // −2m < d < m, then −m < d < m, then 0 ≤ d < m.
        for negative in [negative, 0] {
            let below_zero = black_box(sign(&d));
            adjust(&mut d, &m, below_zero, negative);
        }
    }
    let limbs = |x: &[u64]| {
        let mut out = zero(bits / 64);
        from_digits(x, STEPS, &mut out);
        out
    };
    (limbs(&f), limbs(&d))
}

/// The effect of [`STEPS`] divsteps on two numbers, times `2^STEPS`: `x ← u·x + v·y` and `y ← q·x + r·y`,
/// where `|u| + |v|` and `|q| + |r|` are at most `2^STEPS`.
struct Matrix {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

impl Matrix {
    /// The matrix of the divsteps that begin with `δ` and these lowest digits. A divstep is
    /// `(δ, f, g) ← (1 − δ, g, (g − f)/2)` where `δ > 0` and `g` is odd, else
    /// `(1 + δ, f, (g + (g mod 2)·f)/2)`.
    fn of_steps(delta: &mut i64, f: u64, g: u64) -> Self {
        let (mut f, mut g) = (f.cast_signed(), g.cast_signed());
        let (mut u, mut v, mut q, mut r) = (1, 0, 0, 1);
        for _ in 0..STEPS {
            let odd = black_box((g & 1).wrapping_neg());
            let swap = black_box(-*delta >> 63) & odd;
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
        let size = |a: i64, b: i64| a.unsigned_abs() + b.unsigned_abs();
        debug_assert!(size(u, v).max(size(q, r)) <= 1 << STEPS);
        Self { u, v, q, r }
    }

    /// Applies the matrix to two numbers, and divides by `2^STEPS`.
    ///
    /// `MODULAR`: modulo `m`; `inverse` is `m^{−1} mod 2^64`. Both numbers must be above `−2m` and below `m`.
    /// So are the results: `m` is added to negative numbers, so sums of products are below `2^STEPS·m` in
    /// size. Then less than `2^STEPS` times `m` is subtracted, so that the lowest digit is 0.
    fn apply<const MODULAR: bool>(&self, x: &mut [u64], y: &mut [u64], m: &[u64], inverse: u64) {
        let &Self { u, v, q, r } = self;
        let product = |a: i64, b: u64| i128::from(a) * i128::from(b.cast_signed());
        let (mut x_multiple, mut y_multiple) = (0, 0);
        if MODULAR {
            let (x_sign, y_sign) = (black_box(sign(x)), black_box(sign(y)));
            let multiple = |a: i64, b: i64| {
                let added = (a & x_sign) + (b & y_sign);
                let low = (product(a, x[0]) + product(b, y[0]) + product(added, m[0])) as u64;
                added - (low.wrapping_mul(inverse).cast_signed() & DIGIT_MASK)
            };
            (x_multiple, y_multiple) = (multiple(u, v), multiple(q, r));
        }
        let (mut x_sum, mut y_sum) = (0, 0);
        for i in 0..x.len() {
            x_sum += product(u, x[i]) + product(v, y[i]);
            y_sum += product(q, x[i]) + product(r, y[i]);
            if MODULAR {
                x_sum += product(x_multiple, m[i]);
                y_sum += product(y_multiple, m[i]);
            }
            debug_assert!(i > 0 || (x_sum | y_sum) as i64 & DIGIT_MASK == 0, "the lowest digit is 0");
            if i > 0 {
                x[i - 1] = (x_sum as i64 & DIGIT_MASK).cast_unsigned();
                y[i - 1] = (y_sum as i64 & DIGIT_MASK).cast_unsigned();
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

/// Adds `m` if `plus` is all ones, then negates if `negative` is. Else they are 0.
fn adjust(x: &mut [u64], m: &[u64], plus: i64, negative: i64) {
    let mut sum = 0;
    for (x, m) in x.iter_mut().zip(m) {
        sum += ((x.cast_signed() + (m.cast_signed() & plus)) ^ negative) - negative;
        *x = (sum & DIGIT_MASK).cast_unsigned();
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
    fn extreme_numbers_keep_their_laws() {
        // 30 and 61 limbs leave no bit of their digits free: 64n + 2 is a multiple of 62.
        for n in [1, 2, 29, 30, 31, 61, 62] {
            let all_ones = Limbs::new(alloc::vec![u64::MAX; n]);
            let (mut highest, mut three) = (zero(n), zero(n));
            highest[n - 1] = 1 << 63;
            highest[0] |= 1;
            three[0] = 3; // with leading zeros
            for m in [&all_ones, &highest, &three] {
                let (common, inverse) = gcd_inverse(&zero(n), m);
                assert!(equal(&common, m) && less(&inverse, m));
                let mut minus_one = m.clone();
                minus_one[0] -= 1;
                for a in [&[1][..], &minus_one] {
                    let (common, inverse) = gcd_inverse(a, m);
                    assert!(equal(&common, &[1]) && equal(&inverse, a));
                }
            }
            for m in [&all_ones, &highest] {
                for bit in [1, 61, 62, 63, 64, 123, 124, 64 * n - 1].into_iter().filter(|&bit| bit < 64 * n) {
                    let mut power = zero(n);
                    power[bit / 64] |= 1 << (bit % 64);
                    let (common, inverse) = gcd_inverse(&power, m);
                    assert!(
                        equal(&common, &[1]) && equal(&rem(&mul(&inverse, &power), m), &[1]),
                        "2^{bit}, {n} limbs"
                    );
                }
                assert!(equal(&gcd(&mul(m, &all_ones), m), m) && equal(&gcd(m, &[1]), &[1]));
            }
        }
    }

    #[test]
    fn long_numbers_keep_their_laws() {
        let number = |seed: u8, bytes: usize| {
            let bytes: Vec<u8> =
                (0..bytes).map(|i| (i as u8).wrapping_mul(seed).wrapping_add(seed)).collect();
            from_be_bytes(&bytes)
        };
        for bytes in [8, 16, 24, 32, 128, 240, 256, 488, 2048] {
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
